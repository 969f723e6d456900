#include "queue/dead_letter_fixture.hpp"

#include <limits>
#include <optional>
#include <type_traits>

namespace {

using namespace std::chrono_literals;
using namespace skein;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

// As arguments of a `co_await` these are safe with every compiler.
static_assert(std::is_trivially_destructible_v<dead_letter_filter> &&
              std::is_trivially_destructible_v<dead_letter_list_options> &&
              std::is_trivially_destructible_v<dead_letter_retention> &&
              std::is_trivially_destructible_v<job_list_options>);

asio::awaitable<std::vector<std::int64_t>> read_pages(skein::dead_letters letters,
                                                      std::size_t page_size)
{
    std::vector<std::int64_t> all;
    std::optional<job_place> last;
    do {
        const auto page = co_await letters.list({.limit = page_size, .after = last});
        for (const job_info& each : page) {
            all.push_back(each.id);
        }
        last = page.empty() ? std::nullopt : std::optional(page.back().place());
    } while (last && all.size() < 1000);
    co_return all;
}

class DeadLetters : public support::dead_letter_fixture {};

TEST_F(DeadLetters, AreFoundByTheirNumber)
{
    const std::int64_t id = die("no such address");
    const job_info letter = db_.run(letters_.find(id)).value();
    EXPECT_EQ(letter.id, id);
    EXPECT_EQ(letter.queue, "q");
    EXPECT_EQ(letter.payload, "[1]");
    EXPECT_EQ(letter.state, job_state::dead);
    EXPECT_EQ(letter.priority, 2);
    EXPECT_EQ(letter.attempts, 1);
    EXPECT_EQ(letter.max_attempts, 5);
    EXPECT_EQ(letter.created_at, at(100));
    EXPECT_EQ(letter.last_error, "no such address");
    EXPECT_EQ(letter.died_at, at(100));
}

TEST_F(DeadLetters, OfOtherQueuesAndLiveJobsAreNotFound)
{
    const std::int64_t dead = die();
    const std::int64_t live = enqueue();
    using limits = std::numeric_limits<std::int64_t>;
    for (const std::int64_t each : {live, live + 1, limits::min(), limits::max()}) {
        EXPECT_FALSE(db_.run(letters_.find(each)));
        EXPECT_FALSE(db_.run(letters_.redrive(each)));
    }
    const skein::dead_letters others = db_.database().queue("another").dead_letters();
    EXPECT_FALSE(db_.run(others.find(dead)));
    EXPECT_FALSE(db_.run(others.redrive(dead)));
    EXPECT_THAT(db_.run(others.list()), IsEmpty());
    EXPECT_THAT(db_.run(others.redrive_all()), IsEmpty());
    EXPECT_EQ(db_.run(others.purge_all()), 0U);
    EXPECT_EQ(db_.run(others.prune({.older_than = 0s, .keep = 0})), 0U);
    EXPECT_THAT(left(), ElementsAre(dead));
}

TEST_F(DeadLetters, AreListedInTheOrderOfTheirDeaths)
{
    enqueue();
    job first_made = claim();
    const std::int64_t first = die();
    const std::int64_t second = die();
    db_.advance(1s);
    EXPECT_TRUE(db_.run(first_made.fail("e")));
    const auto letters = db_.run(letters_.list());
    EXPECT_THAT(ids(letters), ElementsAre(first, second, first_made.id()));
    EXPECT_EQ(letters[2].died_at, at(101));
    EXPECT_EQ(letters[2].state, job_state::dead);
}

TEST_F(DeadLetters, AreListedPageByPageWhateverHappensToThoseBefore)
{
    write_letters(200);
    const ids_type all = left();
    ASSERT_EQ(all.size(), 200U);
    EXPECT_EQ(db_.run(letters_.list()).size(), 100U) << "unless more are asked for";
    for (const std::size_t page_size : {1U, 7U, 200U, 201U}) {
        EXPECT_EQ(db_.run(read_pages(letters_, page_size)), all);
    }
    const auto page = db_.run(letters_.list({.limit = 10}));
    EXPECT_TRUE(db_.run(letters_.redrive(all[9])));
    EXPECT_TRUE(db_.run(letters_.redrive(all[11])));
    const auto next = ids(db_.run(letters_.list({.limit = 2, .after = page.back().place()})));
    EXPECT_THAT(next, ElementsAre(all[10], all[12]));
    EXPECT_EQ(db_.run(letters_.list({.limit = static_cast<std::size_t>(-1)})).size(), 198U);
}

TEST_F(DeadLetters, OfTheEndsOfTimeAreListedOnceEach)
{
    other_.sql("INSERT INTO _honker_dead (queue, payload, died_at) VALUES"
               " ('q', '1', 9223372036854775807), ('q', '1', 9223372036854775807),"
               " ('q', '1', -9223372036854775808), ('q', '1', -9223372036854775808)");
    EXPECT_EQ(db_.run(read_pages(letters_, 1)).size(), 4U);
    EXPECT_EQ(left({.died_before = clock::wall_time::max()}).size(), 2U);
    EXPECT_EQ(db_.run(letters_.purge({.died_before = clock::wall_time::max()})), 2U);
    EXPECT_EQ(db_.run(letters_.purge_all()), 2U);
}

TEST_F(DeadLetters, AreListedByAgeAndByTheWholeError)
{
    const std::int64_t old_timeout = die("timeout");
    const std::int64_t old_rejected = die("rejected");
    db_.advance(10s);
    const std::int64_t new_timeout = die("timeout");
    EXPECT_THAT(left({.last_error = "timeout"}), ElementsAre(old_timeout, new_timeout));
    EXPECT_THAT(left({.last_error = "time"}), IsEmpty());
    EXPECT_THAT(left({.last_error = ""}), IsEmpty());
    EXPECT_THAT(left({.died_before = at(110)}), ElementsAre(old_timeout, old_rejected));
    EXPECT_THAT(left({.died_before = at(100)}), IsEmpty());
    EXPECT_THAT(left({.died_before = at(100) + 1ms}), ElementsAre(old_timeout, old_rejected));
    EXPECT_THAT(left({.died_before = at(105), .last_error = "rejected"}),
                ElementsAre(old_rejected));
    EXPECT_THAT(left({.died_before = clock::wall_time::min()}), IsEmpty());
    EXPECT_EQ(left({.died_before = clock::wall_time::max()}).size(), 3U);
}

TEST_F(DeadLetters, BecomeNewJobsWithAllTheirAttempts)
{
    const std::int64_t dead = die();
    db_.advance(7s);
    const std::int64_t id = db_.run(letters_.redrive(dead)).value();
    EXPECT_GT(id, dead);
    EXPECT_EQ(state_of(dead), "gone");
    const job_info made = db_.run(queue_.find(id)).value();
    EXPECT_EQ(made.state, job_state::pending);
    EXPECT_EQ(made.payload, "[1]");
    EXPECT_EQ(made.priority, 2);
    EXPECT_EQ(made.attempts, 0);
    EXPECT_EQ(made.max_attempts, 5);
    EXPECT_EQ(made.run_at, at(107));
    EXPECT_EQ(made.created_at, at(107));
    EXPECT_FALSE(made.expires_at);
    EXPECT_FALSE(db_.run(letters_.redrive(dead))) << "once";
    EXPECT_EQ(claim().id(), id);
}

TEST_F(DeadLetters, ThatAreRedrivenCannotBeFinishedByTheOldWorker)
{
    enqueue();
    job failing = claim({.worker = "w"});
    const std::int64_t id = failing.id();
    EXPECT_TRUE(db_.run(failing.fail("e")));
    const std::int64_t made = db_.run(letters_.redrive(id)).value();
    const job again = claim({.worker = "w"});
    EXPECT_EQ(again.id(), made);
    EXPECT_FALSE(db_.run(queue_.ack(job_fence(id, "w", 1))));
    EXPECT_EQ(state_of(made), "processing");
}

TEST_F(DeadLetters, ThatAreRedrivenWakeAClaimThatWaits)
{
    const std::int64_t first = die();
    const std::int64_t second = die();
    auto waiting = db_.start(queue_.claim());
    auto another = db_.start(queue_choice{db_.database().queue("other"), queue_}.claim());
    db_.settle();
    EXPECT_FALSE(waiting.is_done());
    const auto made = db_.run(letters_.redrive(first));
    ASSERT_TRUE(waiting.is_done());
    const job claimed = waiting.result();
    EXPECT_EQ(claimed.id(), made);
    EXPECT_FALSE(another.is_done());
    const auto more = db_.run(letters_.redrive_all());
    ASSERT_TRUE(another.is_done());
    EXPECT_THAT(more, ElementsAre(redriven_job{second, another.result().id()}));
}

TEST_F(DeadLetters, AreRedrivenIfAndWhenTheTransactionCommits)
{
    const std::int64_t dead = die();
    auto waiting = db_.start(queue_.claim());
    auto undone = [&](transaction& tx) {
        EXPECT_TRUE(letters_.redrive(tx, dead));
        EXPECT_FALSE(letters_.redrive(tx, dead));
        throw std::runtime_error("no");
    };
    EXPECT_THROW(db_.run(db_.database().transaction(undone)), std::runtime_error);
    EXPECT_THAT(left(), ElementsAre(dead));
    EXPECT_FALSE(waiting.is_done());

    std::optional<std::int64_t> made;
    auto done = [&](transaction& tx) { made = letters_.redrive(tx, dead); };
    db_.run(db_.database().transaction(done));
    EXPECT_EQ(waiting.result().id(), made);
    EXPECT_THAT(left(), IsEmpty());
}

TEST_F(DeadLetters, AreRedrivenManyAtATimeByAgeAndError)
{
    const std::int64_t first = die("timeout");
    const std::int64_t rejected = die("rejected");
    const std::int64_t second = die("timeout");
    db_.advance(5s);
    const std::int64_t last = die("timeout");
    const auto made =
        db_.run(letters_.redrive_many({.died_before = at(105), .last_error = "timeout"}));
    ASSERT_EQ(made.size(), 2U);
    EXPECT_EQ(made[0].dead_id, first);
    EXPECT_EQ(made[1].dead_id, second);
    EXPECT_EQ(claim().id(), made[0].job_id);
    EXPECT_THAT(left(), ElementsAre(rejected, last));
    EXPECT_EQ(db_.run(letters_.redrive_all()).size(), 2U);
    EXPECT_THAT(db_.run(letters_.redrive_all()), IsEmpty());
}

TEST_F(DeadLetters, WrittenByAnotherProgramAreRedrivenAsTheyAre)
{
    other_.sql("INSERT INTO _honker_dead (id, queue, payload, max_attempts) VALUES"
               " (-5, 'q', x'5b00', 0), (9223372036854775000, 'q', 'no json', -7)");
    EXPECT_TRUE(db_.run(letters_.redrive(-5)));
    EXPECT_EQ(db_.run(letters_.redrive_all()).size(), 1U);
    const auto jobs = db_.run(queue_.list(job_state::pending));
    ASSERT_EQ(jobs.size(), 2U);
    EXPECT_EQ(jobs[0].payload, std::string("[\0", 2));
    EXPECT_EQ(jobs[0].max_attempts, 1);
    EXPECT_EQ(jobs[1].payload, "no json");
}

TEST_F(DeadLetters, OwnTheTextOfTheirFilter)
{
    die("timeout");
    std::string reason = "timeout";
    auto look = letters_.list({.last_error = reason});
    auto purge = letters_.purge({.last_error = reason});
    reason = "another";
    EXPECT_EQ(db_.run(std::move(look)).size(), 1U);
    EXPECT_EQ(db_.run(std::move(purge)), 1U);
}

TEST_F(DeadLetters, HandlesOfOneQueueAreEqual)
{
    EXPECT_EQ(letters_, db_.database().queue("q").dead_letters());
    EXPECT_NE(letters_, db_.database().queue("another").dead_letters());
}

TEST_F(DeadLetters, GiveTheirNumberToAJobThatDiesWithIt)
{
    const auto put_back_beside_its_letter = [&](std::int64_t id) {
        const std::string number = std::to_string(id);
        other_.sql("INSERT INTO _honker_dead (id, queue, payload, last_error) VALUES (" + number +
                   ", 'q', '\"old\"', 'old')");
    };
    const std::int64_t lapsed = enqueue("1", {.max_attempts = 1});
    (void)claim({.visibility = 1s}).detach();
    const std::int64_t expired = enqueue("2", {.expires_in = 1s});
    const std::int64_t failed = enqueue("3");
    const std::int64_t retried = enqueue("4", {.max_attempts = 1});
    for (const std::int64_t id : {lapsed, expired, failed, retried}) {
        put_back_beside_its_letter(id);
    }
    db_.advance(2s);
    auto waiting = db_.start(db_.database().results().wait(lapsed));
    job first = claim();
    job second = claim();
    EXPECT_TRUE(db_.run(first.fail("no route")));
    EXPECT_EQ(db_.run(second.retry()), retry_outcome::dead);
    EXPECT_EQ(state_of(lapsed), "dead: max attempts exceeded");
    EXPECT_EQ(state_of(expired), "dead: expired");
    EXPECT_EQ(state_of(failed), "dead: no route");
    EXPECT_EQ(state_of(retried), "dead: max attempts exceeded");
    EXPECT_EQ(waiting.result().death->last_error, "max attempts exceeded");
    EXPECT_EQ(value("SELECT count(*) FROM _honker_dead WHERE last_error = 'old'"), "4");

    const std::int64_t next = enqueue();
    EXPECT_EQ(value("SELECT max(id) < " + std::to_string(next) + " FROM _honker_dead"), "1");
}

TEST_F(DeadLetters, KeepTheirNumberWhenAWorkerComesTooLate)
{
    const std::int64_t id = enqueue();
    const job_fence fence = claim().detach();
    EXPECT_TRUE(db_.run(queue_.fail(fence, "no route")));
    EXPECT_FALSE(db_.run(queue_.fail(fence, "again")));
    EXPECT_EQ(state_of(id), "dead: no route");
}

} // namespace
