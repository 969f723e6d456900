# Runs steps in Ruby, see run.py.
#
#     run.rb EXTENSION PROGRAM STEPS

require "sqlite3"
require "tmpdir"

extension, program, steps = ARGV

class Host
  def initialize(path, extension)
    @connection = SQLite3::Database.new(path)
    @connection.busy_timeout = 60_000
    @connection.enable_load_extension(true)
    @connection.load_extension(extension)
    @connection.enable_load_extension(false)
  end

  def run(statement)
    @connection.execute(statement).map { |row| "= " + row.join("|") }
  rescue SQLite3::Exception => failure
    ["! " + failure.message]
  end

  def close
    @connection.close
  end
end

def read(path)
  steps = []
  File.foreach(path, chomp: true).with_index(1) do |line, number|
    if line.start_with?("=", "!")
      steps.last[2] << line
    elsif !line.empty? && !line.start_with?("#")
      steps << [number, line, []]
    end
  end
  steps
end

def as_expected?(actual, expected)
  if expected.length == 1 && expected[0].start_with?("! ")
    return actual.length == 1 && actual[0].start_with?("! ") && actual[0].include?(expected[0][2..])
  end
  # "=" alone: no row, or an empty one.
  actual.reject { |line| line == "= " } == expected.reject { |line| line.strip == "=" }
end

Dir.mktmpdir do |directory|
  path = File.join(directory, "app.db")
  host = Host.new(path, extension)
  other = IO.popen([program, path], "r+")
  hear = -> { ["= " + other.gets.to_s.chomp] }
  read(steps).each do |number, step, expected|
    kind, rest = step.split(" ", 2)
    other.puts(rest) if kind == "cpp"
    actual = kind == "sql" ? host.run(rest) : hear.call
    unless as_expected?(actual, expected)
      abort "#{steps}:#{number}: #{step}\n  expected #{expected}\n  got      #{actual}"
    end
  end
  host.close
  other.close
  abort "#{program}: #{$?}" unless $?.success?
  left = Dir.children(directory)
  abort "left beside the closed file: #{left}" unless left == ["app.db"]
end
