#include "runtime/running_queue.hpp"

#include <asio/execution.hpp>

#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <future>

namespace {

using skein::errc;
using skein::support::operation;
using skein::support::plain_connection;

/// Runs `work` in a child made by fork, which ends without the rest of the test. Returns what
/// `work` returns; something negative when the child was killed, by the alarm if it hangs.
template <class Work>
int in_child(const Work& work)
{
    const pid_t child = fork();
    if (child == 0) {
        alarm(120);
        int result = 111;
        try {
            result = work();
        } catch (...) {
        }
        _exit(result);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

/// Whether the operation is refused in a context of the child's own.
template <class Result>
bool is_refused(asio::awaitable<Result> work)
{
    asio::io_context context;
    const operation<Result> started(context, std::move(work));
    context.run();
    return started.error() == errc::forked;
}

/// How many of the things that can be done with the handles are not refused.
int count_allowed(const skein::database& database, const skein::transport& queue,
                  skein::message& message)
{
    const auto look = [](const SQLite::Database&) {};
    const auto write = [](skein::transaction&) {};
    int allowed = 0;
    allowed += is_refused(queue.publish("g", "child")) ? 0 : 1;
    allowed += is_refused(queue.claim()) ? 0 : 1;
    allowed += is_refused(queue.try_claim()) ? 0 : 1;
    allowed += is_refused(message.ack()) ? 0 : 1;
    allowed += is_refused(database.read(look)) ? 0 : 1;
    allowed += is_refused(database.transaction(write)) ? 0 : 1;
    allowed += is_refused(database.close()) ? 0 : 1;
    try {
        static_cast<void>(database.transport());
        ++allowed;
    } catch (const skein::error& refused) {
        allowed += refused.code() == errc::forked && !refused.is_retryable() ? 0 : 1;
    }
    return allowed;
}

/// Runs on an io_context, and calls `before_post` first. A database posts to its own executor and
/// to its callers' with its mutexes locked, so that this is the moment for a fork.
class interrupted_executor {
public:
    interrupted_executor(asio::io_context& context, const std::function<void()>& before_post)
        : target_(context.get_executor()), before_post_(&before_post)
    {
    }

    template <class Work>
    void execute(Work&& work) const
    {
        (*before_post_)();
        asio::post(target_, std::forward<Work>(work));
    }

    [[nodiscard]] asio::execution_context& query(asio::execution::context_t /*of*/) const noexcept
    {
        return target_.context();
    }

    [[nodiscard]] static constexpr asio::execution::blocking_t
    query(asio::execution::blocking_t /*how*/) noexcept
    {
        return asio::execution::blocking.never;
    }

    bool operator==(const interrupted_executor&) const noexcept = default;

private:
    asio::io_context::executor_type target_;
    const std::function<void()>* before_post_;
};

/// Whether this process has the file open.
bool has_open(const std::filesystem::path& file)
{
    std::error_code gone; // the listing's own descriptor
    for (const auto& each : std::filesystem::directory_iterator("/proc/self/fd")) {
        if (std::filesystem::read_symlink(each.path(), gone) == file) {
            return true;
        }
    }
    return false;
}

class Fork : public testing::Test {
protected:
    template <class Result>
    Result run(asio::awaitable<Result> work)
    {
        return asio::co_spawn(callers_, std::move(work), asio::use_future).get();
    }

    void expect_intact(const std::string& messages)
    {
        const plain_connection other(path_);
        EXPECT_EQ(other.value("PRAGMA integrity_check"), "ok");
        EXPECT_EQ(other.value("SELECT count(*) FROM harel_transport_messages"), messages);
    }

    /// Tries everything in a child, where all is to be refused, and drops the handles there.
    void use_and_drop_in_child(std::optional<skein::message>& held)
    {
        EXPECT_EQ(in_child([&] {
                      const int allowed = count_allowed(*database_, *queue_, *held);
                      held.reset();
                      queue_.reset();
                      database_.reset();
                      return allowed;
                  }),
                  0);
    }

    skein::support::temporary_directory directory_;
    const std::filesystem::path path_ = directory_ / "test.db";
    asio::thread_pool callers_{1};
    std::optional<skein::database> database_{
        std::in_place, path_, skein::database_options{.durability = skein::durability::off}};
    std::optional<skein::transport> queue_ = database_->transport();
};

TEST_F(Fork, LeavesADatabaseWithAThreadToTheParent)
{
    run(queue_->publish("a", "held"));
    std::optional<skein::message> held = run(queue_->claim());
    auto waiting = asio::co_spawn(callers_, queue_->claim(), asio::use_future);
    EXPECT_FALSE(run(queue_->try_claim())); // the other one waits by now
    use_and_drop_in_child(held);
    EXPECT_FALSE(run(queue_->try_claim())) << "the child gave the message back";
    EXPECT_TRUE(std::filesystem::exists(path_.string() + "-wal"));
    run(queue_->publish("b", "later"));
    EXPECT_EQ(waiting.get().payload(), "later");
    EXPECT_TRUE(run(held->ack()));
    expect_intact("1");
    run(database_->close());
    expect_intact("1");
}

TEST_F(Fork, KeepsTheConnectionOpenInTheChild)
{
    run(queue_->publish("g", "m"));
    EXPECT_EQ(in_child([&] {
                  queue_.reset();
                  database_.reset();
                  return has_open(path_) ? 0 : 98;
              }),
              0);
    expect_intact("1");
}

TEST_F(Fork, LetsTheChildOpenAFileOfItsOwn)
{
    EXPECT_EQ(in_child([&] {
                  asio::io_context context;
                  const skein::database own(context.get_executor(), directory_ / "child.db");
                  skein::support::run_coroutine(context, own.transport().publish("g", "m"));
                  return 0;
              }),
              0);
    EXPECT_EQ(plain_connection(directory_ / "child.db")
                  .value("SELECT count(*) FROM harel_transport_messages"),
              "1");
}

class ForkOnOneThread : public skein::support::running_queue {};

TEST_F(ForkOnOneThread, LeavesTheContextsWorkToTheParent)
{
    publish("held", "a");
    std::optional<skein::message> held = db_.run(queue_.claim());
    auto waiting = start_claim();
    db_.settle();
    auto pending = start_publish("m", "b"); // begins in the one process and in the other
    EXPECT_EQ(in_child([&] {
                  db_.advance(std::chrono::seconds{1}); // whatever was due
                  const int allowed = count_allowed(db_.database(), queue_, *held);
                  held.reset();
                  db_.drop_database();
                  return pending.error() == errc::forked && !waiting.is_done() ? allowed : 99;
              }),
              0);
    EXPECT_EQ(other_.value("SELECT count(*) FROM harel_transport_messages"), "1");
    db_.settle();
    EXPECT_EQ(waiting.result().payload(), "m");
    EXPECT_TRUE(db_.run(held->ack()));
    EXPECT_EQ(other_.value("PRAGMA integrity_check"), "ok");
}

TEST_F(ForkOnOneThread, MayHappenWhileMutexesAreLocked)
{
    asio::io_context context;
    std::function<void()> before_post = [] {};
    const interrupted_executor executor(context, before_post);
    const std::filesystem::path path = db_.path().parent_path() / "other.db";
    const skein::database database(executor, path);
    const skein::transport queue = database.transport();
    skein::support::run_coroutine(context, queue.publish("a", "held"));
    skein::support::run_coroutine(context, queue.publish("b", "dropped"));
    std::optional<skein::message> held = skein::support::run_coroutine(context, queue.try_claim());
    auto dropped = skein::support::run_coroutine(context, queue.try_claim());
    int forks = 0;
    before_post = [&] {
        ++forks;
        EXPECT_EQ(in_child([&] {
                      dropped.reset();
                      return count_allowed(database, queue, *held);
                  }),
                  0);
    };
    auto published = asio::co_spawn(executor, queue.publish("c", "m"), asio::use_future);
    context.restart();
    context.run();
    published.get();
    EXPECT_GE(forks, 3) << "to start, to wake the strand, and to resume the caller";
    before_post = [] {};
    EXPECT_TRUE(skein::support::run_coroutine(context, held->ack()));
    EXPECT_TRUE(skein::support::run_coroutine(context, dropped->ack()));
}

TEST_F(ForkOnOneThread, LetsTheChildEndTheContextFirst)
{
    const std::filesystem::path path = db_.path().parent_path() / "other.db";
    std::optional<asio::io_context> context(std::in_place);
    std::optional<skein::database> database(std::in_place, context->get_executor(), path);
    std::optional<skein::transport> queue = database->transport();
    std::optional<operation<skein::message>> waiting(std::in_place, *context, queue->claim());
    skein::support::settle(*context);
    EXPECT_EQ(in_child([&] {
                  waiting.reset();
                  context.reset();
                  queue.reset();
                  database.reset();
                  return 0;
              }),
              0);
    EXPECT_FALSE(waiting->is_done());
    skein::support::run_coroutine(*context, queue->publish("g", "m"));
    skein::support::run_until(*context, [&] { return waiting->is_done(); });
    EXPECT_EQ(waiting->result().payload(), "m");
}

} // namespace
