#!/bin/sh
# What package_log makes of its input and how it ends.
# Usage: test.sh PROGRAM SAMPLE
set -u

program=$1
sample=$2
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
mkdir "$directory/tmp" "$directory/bin"
export TMPDIR="$directory/tmp"
failures=0

fail() {
    echo "FAILED: $*"
    failures=$((failures + 1))
}

# The program's last output has this text in it, too.
also() {
    case $output in
        *"$1"*) ;;
        *) fail "no \"$1\" in: $output" ;;
    esac
}

# expect STATUS TEXT ARGUMENT...: the program ends with the status and prints the text.
expect() {
    status=$1 text=$2
    shift 2
    output=$("$program" "$@" 2>&1)
    actual=$?
    [ "$actual" -eq "$status" ] || fail "$*: status $actual, not $status: $output"
    also "$text"
    [ -z "$(ls -A "$TMPDIR")" ] || fail "$*: something was left in $TMPDIR"
}

# A dpkg-query that tells what its standard input says, and ends with a status.
pretend_dpkg_query() {
    cat >"$directory/answer"
    printf '#!/bin/sh\ncat "%s"\nexit %s\n' "$directory/answer" "$1" >"$directory/bin/dpkg-query"
    chmod +x "$directory/bin/dpkg-query"
}
PATH="$directory/bin:$PATH"

# Input
cd "$directory" || exit 1
expect 2 "usage:" --nonsense
expect 2 "missing.log: No such file or directory" missing.log
expect 2 "tmp: Is a directory" tmp

: >empty.log
expect 0 "Nothing to publish" empty.log

echo "2026-03-02 09:14:05 startup archives unpack" >nothing.log
expect 0 "Nothing to publish" nothing.log

printf 'To be, or not to be.\n\nThat is the question.\n' >hamlet.log
expect 2 "is no log of dpkg's; see line 1" hamlet.log

printf '\037\213\010\000rest' >packed.log.gz
expect 2 "is compressed" packed.log.gz

head -n 2 "$sample" >one.log
expect 0 "1 event of 1 package" one.log

sed 's/$/\r/' "$sample" >crlf.log
expect 0 "59 events of 7 packages" crlf.log

# Cut off by a crash, and with a line of something else in it.
{ head -n 20 "$sample"; echo "2026-03-02 status"; head -c 70 "$sample" | tail -c 26; } >torn.log
expect 0 "left out 2 lines that dpkg did not write, line 21 first" torn.log

# Comparison
expect 0 "not this machine's log" "$sample"

pretend_dpkg_query 0 <<'EOF'
libc-bin:amd64 installed 2.36-9+deb12u10
libyarn2:amd64 installed 1:2.3.1-4
loom:amd64 triggers-awaited 1.5-1
someone-elses:all installed 7
spindle:amd64 config-files 0.9-1
wool-data:amd64 installed 20260301-1
EOF
expect 0 "the same as in dpkg-query" --compare "$sample"

pretend_dpkg_query 0 <<'EOF'
libc-bin:amd64 installed 2.36-9+deb12u10
libyarn2:amd64 installed 1:2.3.1-4
libyarn2:i386 installed 1:2.3.1-4
loom:amd64 installed 1.4-2
spindle:amd64 not-installed
wool-data:amd64 installed 20260301-1
EOF
expect 1 "7 expected" --compare "$sample"
also 'libyarn2:i386 is "not-installed <none>" here and "installed 1:2.3.1-4"'
also 'loom:amd64 is "installed 1.5-1" here and "installed 1.4-2"'
also 'spindle:amd64 is "config-files 0.9-1" here and "not-installed <none>"'

pretend_dpkg_query 2 </dev/null
expect 1 "dpkg-query failed with status 2" --compare "$sample"

# Interruption, once the work has begun, and with enough of it that it cannot be over by then
i=0
while [ "$i" -lt 1000 ]; do
    cat "$sample"
    i=$((i + 1))
done >long.log
"$program" long.log >output 2>&1 &
while [ -z "$(ls -A "$TMPDIR")" ] && kill -0 $!; do
    sleep 0.01
done
kill -TERM $!
wait $!
status=$?
[ "$status" -eq 143 ] || fail "ended by SIGTERM: status $status, $(cat output)"
[ -z "$(ls -A "$TMPDIR")" ] || fail "ended by SIGTERM: something was left in $TMPDIR"

[ "$failures" -eq 0 ]
