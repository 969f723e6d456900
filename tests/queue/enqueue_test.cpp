#include "queue/queue_fixture.hpp"

#include <sqlite3.h>
#include <sys/mman.h>

#include <random>
#include <vector>

namespace {

using namespace std::chrono_literals;
using namespace skein;
using ::testing::HasSubstr;

class QueueEnqueue : public support::queue_fixture {
protected:
    template <class Function>
    static void expect_refused(errc code, const char* said, Function&& function)
    {
        try {
            function();
            ADD_FAILURE() << said;
        } catch (const error& refused) {
            EXPECT_EQ(refused.code(), code);
            EXPECT_THAT(refused.what(), HasSubstr(said));
        }
    }

    std::string row(std::int64_t id)
    {
        return value("SELECT queue || ' ' || payload || ' ' || state || ' ' || priority || ' ' ||"
                     " run_at || ' ' || max_attempts || ' ' || created_at || ' ' ||"
                     " ifnull(expires_at, '-') FROM _honker_live WHERE id = " +
                     std::to_string(id));
    }
};

TEST_F(QueueEnqueue, WritesTheDefaults)
{
    EXPECT_EQ(row(enqueue("{}")), "q {} pending 0 100 3 100 -");
}

TEST_F(QueueEnqueue, WritesEveryOption)
{
    EXPECT_EQ(
        row(enqueue("[]", {.delay = 5s, .priority = -7, .expires_in = 60s, .max_attempts = 9})),
        "q [] scheduled -7 105 9 100 160");
    EXPECT_EQ(row(enqueue("[]", {.run_at = clock::wall_time(200s)})),
              "q [] scheduled 0 200 3 100 -");
}

TEST_F(QueueEnqueue, TakesTheQueuesNumberOfAttempts)
{
    const auto patient = db_.database().queue("q", {.max_attempts = 11});
    EXPECT_EQ(row(db_.run(patient.enqueue("0"))), "q 0 pending 0 100 11 100 -");
}

TEST_F(QueueEnqueue, RoundsAMomentUp)
{
    EXPECT_EQ(row(enqueue("0", {.run_at = clock::wall_time(100s + 1ns)})),
              "q 0 scheduled 0 101 3 100 -");
    EXPECT_EQ(row(enqueue("0", {.run_at = clock::wall_time(-1ns)})), "q 0 pending 0 0 3 100 -");
}

TEST_F(QueueEnqueue, NeverUsesANumberAgain)
{
    const std::int64_t first = enqueue();
    job claimed = claim();
    EXPECT_TRUE(db_.run(claimed.ack()));
    EXPECT_GT(enqueue(), first);
}

TEST_F(QueueEnqueue, GivesNumbersOfSixtyFourBits)
{
    other_.sql(
        "INSERT INTO _honker_live (id, queue, payload) VALUES (4611686018427387904, 'x', '0')");
    EXPECT_EQ(enqueue(), 4611686018427387905);
    EXPECT_EQ(claim().id(), 4611686018427387905);
}

TEST_F(QueueEnqueue, RefusesWhatIsNoJsonAtTheCall)
{
    for (const char* text : {"", "hello", "{", "{\"a\":1,}", "nan", "\"\xff\"", "[1] 2"}) {
        expect_refused(errc::invalid_payload, "payload must be valid JSON",
                       [&] { static_cast<void>(queue_.enqueue(std::string_view(text))); });
    }
    expect_refused(errc::invalid_payload, "payload is valid JSON but cannot be decoded",
                   [&] { static_cast<void>(queue_.enqueue(R"("\ud800")")); });
    const std::vector<new_job> jobs{{"1"}, {"x"}};
    expect_refused(errc::invalid_payload, "payload must be valid JSON",
                   [&] { static_cast<void>(queue_.enqueue_many(jobs)); });
    EXPECT_EQ(value("SELECT count(*) FROM _honker_live"), "0");
}

TEST_F(QueueEnqueue, KeepsThePayloadByteForByte)
{
    for (const char* text :
         {" { \"a\" : 1.0e0 } ", "\"\\u0000 \xc3\xbc\"", "18446744073709551616"}) {
        enqueue(text);
        job claimed = claim();
        EXPECT_EQ(claimed.payload(), text);
        EXPECT_TRUE(db_.run(claimed.ack()));
    }
}

TEST_F(QueueEnqueue, RefusesAPayloadThatIsTooLargeAtTheCall)
{
    // Address space that costs no memory.
    constexpr std::size_t size = 1'000'000'001;
    void* const pages =
        mmap(nullptr, size, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    ASSERT_NE(pages, MAP_FAILED);
    const std::string_view large(static_cast<const char*>(pages), size);
    expect_refused(errc::payload_too_large, "payload: 1000000001 bytes",
                   [&] { static_cast<void>(queue_.enqueue(large)); });
    munmap(pages, size);
    EXPECT_EQ(value("SELECT count(*) FROM _honker_live"), "0");
}

TEST_F(QueueEnqueue, OfWhatSqliteFindsTooLargeDoesNothing)
{
    sqlite3_limit(db_.handle(), SQLITE_LIMIT_LENGTH, 10'000);
    const std::string large = '"' + std::string(20'000, 'x') + '"';
    expect_refused(errc::payload_too_large, "", [&] { enqueue(large); });
    EXPECT_EQ(value("SELECT count(*) FROM _honker_live"), "0");
}

TEST_F(QueueEnqueue, RefusesAttemptsBelowOne)
{
    for (const std::int64_t attempts : {std::int64_t{0}, std::int64_t{-1}, INT64_MIN}) {
        expect_refused(errc::invalid_argument, "max_attempts must be at least 1",
                       [&] { static_cast<void>(queue_.enqueue("0", {.max_attempts = attempts})); });
        expect_refused(errc::invalid_argument, "max_attempts must be at least 1", [&] {
            static_cast<void>(db_.database().queue("x", {.max_attempts = attempts}));
        });
    }
}

TEST_F(QueueEnqueue, RefusesADelayAndAMomentTogether)
{
    expect_refused(errc::invalid_argument, "delay and run_at", [&] {
        static_cast<void>(queue_.enqueue("0", {.delay = 1s, .run_at = clock::wall_time(1s)}));
    });
}

TEST_F(QueueEnqueue, OfManyIsAllOrNothing)
{
    other_.sql("CREATE TRIGGER refuse BEFORE INSERT ON _honker_live WHEN new.payload = '3'"
               " BEGIN SELECT RAISE(ABORT, 'no'); END");
    const std::vector<new_job> jobs{{"1"}, {"2"}, {"3"}, {"4"}};
    auto refused = db_.start(queue_.enqueue_many(jobs));
    auto beside = db_.start(queue_.enqueue("5"));
    db_.settle();
    EXPECT_EQ(refused.error(), errc::storage_failure);
    EXPECT_GT(beside.result(), 0);
    EXPECT_EQ(value("SELECT group_concat(payload) FROM _honker_live"), "5");
}

TEST_F(QueueEnqueue, TellsItsOwnNumberWhateverATriggerInserts)
{
    other_.sql("CREATE TABLE audit (id INTEGER PRIMARY KEY, job INTEGER);"
               "INSERT INTO audit VALUES (1000, 0);"
               "CREATE TRIGGER note AFTER INSERT ON _honker_live"
               " BEGIN INSERT INTO audit (job) VALUES (new.id); END");
    const std::int64_t id = enqueue();
    EXPECT_EQ(value("SELECT id FROM _honker_live"), std::to_string(id));
    EXPECT_EQ(value("SELECT job FROM audit WHERE id = 1001"), std::to_string(id));
}

TEST_F(QueueEnqueue, OfAJobThatATriggerIgnoresFails)
{
    other_.sql("CREATE TRIGGER ignore BEFORE INSERT ON _honker_live"
               " BEGIN SELECT RAISE(IGNORE); END");
    expect_refused(errc::storage_failure, "ignores the job", [&] { enqueue(); });
}

TEST_F(QueueEnqueue, OfNoneIsFine)
{
    EXPECT_THAT(db_.run(queue_.enqueue_many({})), ::testing::IsEmpty());
}

TEST_F(QueueEnqueue, InATransactionHappensWithIt)
{
    const auto commit = [&](transaction& tx) {
        const std::vector<new_job> more{{"2"}, {"3", {.priority = 1}}};
        EXPECT_GT(queue_.enqueue(tx, "1"), 0);
        EXPECT_EQ(queue_.enqueue_many(tx, more).size(), 2U);
    };
    const auto roll_back = [&](transaction& tx) {
        queue_.enqueue(tx, "4");
        throw std::runtime_error("no");
    };
    auto waiting = db_.start(queue_.claim());
    db_.run(db_.database().transaction(commit));
    EXPECT_THROW(db_.run(db_.database().transaction(roll_back)), std::runtime_error);
    EXPECT_EQ(value("SELECT group_concat(payload) FROM _honker_live"), "1,2,3");
    EXPECT_EQ(waiting.result().payload(), "3");
}

TEST_F(QueueEnqueue, ThatFailsInsideATransactionLeavesNoHalfOfItself)
{
    other_.sql("CREATE TRIGGER refuse BEFORE INSERT ON _honker_live WHEN new.payload = '2'"
               " BEGIN SELECT RAISE(ABORT, 'no'); END");
    const auto go_on = [&](transaction& tx) {
        queue_.enqueue(tx, "0");
        const std::vector<new_job> jobs{{"1"}, {"2"}};
        EXPECT_ANY_THROW(queue_.enqueue_many(tx, jobs));
    };
    db_.run(db_.database().transaction(go_on));
    EXPECT_EQ(value("SELECT group_concat(payload) FROM _honker_live"), "0");
}

TEST_F(QueueEnqueue, IntoATransactionOfAnotherDatabaseIsRefused)
{
    support::manual_database other;
    const auto mistaken = [&](transaction& tx) { queue_.enqueue(tx, "1"); };
    expect_refused(errc::invalid_argument, "tx",
                   [&] { other.run(other.database().transaction(mistaken)); });
}

/// The same options at random, once through `enqueue` and once through `enqueue_many`.
TEST_F(QueueEnqueue, OneByOneOrTogetherMeansTheSame)
{
    std::mt19937 chance(1); // NOLINT(cert-msc51-cpp): the same in each run
    const auto pick = [&](int from, int to) {
        return std::uniform_int_distribution<int>(from, to)(chance);
    };
    std::vector<new_job> jobs;
    for (int each = 0; each < 300; ++each) {
        enqueue_options options{.priority = pick(-3, 3)};
        if (const int time = pick(0, 2); time == 1) {
            options.delay = std::chrono::seconds(pick(-5, 50));
        } else if (time == 2) {
            options.run_at = clock::wall_time(std::chrono::milliseconds(pick(0, 200'000)));
        }
        if (pick(0, 2) == 0) {
            options.expires_in = std::chrono::seconds(pick(-5, 50));
        }
        if (pick(0, 2) == 0) {
            options.max_attempts = pick(1, 5);
        }
        jobs.push_back({"null", options});
    }
    for (const new_job& each : jobs) {
        enqueue(each.payload, each.options);
    }
    db_.run(queue_.enqueue_many(jobs));
    const std::string columns = "queue, payload, state, priority, run_at, worker_id,"
                                " claim_expires_at, attempts, max_attempts, created_at, expires_at";
    const auto half = [&](const std::string& condition) {
        return other_.sql("SELECT " + columns + " FROM _honker_live WHERE id " + condition +
                          " 300 ORDER BY id");
    };
    EXPECT_EQ(half("<=").size(), 300U);
    EXPECT_EQ(half("<="), half(">"));
}

TEST_F(QueueEnqueue, AcceptsAnyNameOfAQueue)
{
    for (const char* name : {"", " ", "tables", "queue tables", "choice", "end of 1", "q'; --"}) {
        const skein::queue named = db_.database().queue(name);
        const std::int64_t id = db_.run(named.enqueue("1"));
        const std::optional<job> claimed = db_.run(named.try_claim());
        ASSERT_TRUE(claimed) << name;
        EXPECT_EQ(claimed->id(), id) << name;
        EXPECT_EQ(claimed->queue(), name);
    }
}

} // namespace
