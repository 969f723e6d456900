#include "queue/queue_fixture.hpp"
#include "store/older_queue_program.hpp"
#include "support/statement_counter.hpp"

#include <skein/json.hpp>

#include <sys/mman.h>

#include <limits>
#include <vector>

namespace {

using namespace std::chrono_literals;
using namespace skein;
using support::manual_database;
using support::plain_connection;
using support::statement_counter;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class Results : public support::queue_fixture {
protected:
    void save(std::int64_t id, std::string_view text, const save_options& options = {})
    {
        db_.run(results_.save(id, text, options));
    }

    std::string get(std::int64_t id) { return db_.run(results_.get(id)).value_or("none"); }

    /// The numbers of the results that are in the file.
    std::vector<std::string> left()
    {
        return other_.sql("SELECT job_id FROM _honker_results ORDER BY job_id");
    }

    /// Expects misuse that is told at the call, before anything is written.
    template <class Function>
    void expect_refused(Function&& function, errc code, const char* part)
    {
        try {
            static_cast<void>(function());
            ADD_FAILURE() << "accepted: " << part;
        } catch (const error& refused) {
            EXPECT_EQ(refused.code(), make_error_code(code));
            EXPECT_THAT(refused.what(), HasSubstr(part));
        }
        EXPECT_THAT(left(), IsEmpty());
    }

    skein::results results_ = db_.database().results();
};

TEST_F(Results, AreKeptByteForByteWhateverJobsThereAre)
{
    save(7, " {\"ok\":  true}\n");
    save(std::numeric_limits<std::int64_t>::min(), "null");
    save(std::numeric_limits<std::int64_t>::max(), "\"\xc3\xa4\"");
    EXPECT_EQ(get(7), " {\"ok\":  true}\n");
    EXPECT_EQ(get(std::numeric_limits<std::int64_t>::min()), "null");
    EXPECT_EQ(get(std::numeric_limits<std::int64_t>::max()), "\"\xc3\xa4\"");
    EXPECT_EQ(get(8), "none");
}

TEST_F(Results, TakeThePlaceOfEarlierOnes)
{
    save(7, "1", {.ttl = 10s});
    db_.advance(5s);
    save(7, "2");
    db_.advance(100s);
    EXPECT_EQ(get(7), "2");
    EXPECT_EQ(value("SELECT created_at, expires_at FROM _honker_results"), "100|NULL");
}

TEST_F(Results, AreThereUntilTheirTimeIsOver)
{
    save(7, "1", {.ttl = 60s});
    db_.advance(59s);
    EXPECT_EQ(get(7), "1");
    db_.advance(1s);
    EXPECT_EQ(get(7), "none");
    EXPECT_THAT(left(), ElementsAre("7"));
}

TEST_F(Results, WithTheLongestTimesStayForEver)
{
    save(1, "1", {.ttl = std::chrono::years{200}});
    save(2, "2", {.ttl = std::chrono::seconds::max()});
    EXPECT_THAT(
        other_.sql("SELECT expires_at FROM _honker_results ORDER BY job_id"),
        ElementsAre(std::to_string(100 + std::chrono::seconds(std::chrono::years{200}).count()),
                    "9223372036854775807"));
    db_.advance(std::chrono::years{100});
    EXPECT_EQ(get(1) + get(2), "12");
}

TEST_F(Results, RefuseTimesThatAreOverAtOnce)
{
    for (const std::chrono::seconds ttl : {0s, -1s, std::chrono::seconds::min()}) {
        expect_refused([&] { return results_.save(7, "1", {.ttl = ttl}); }, errc::invalid_argument,
                       "ttl");
    }
}

TEST_F(Results, AreJson)
{
    for (const char* text : {"", "{", "nul", "\"\\ud800\"", "1e999", "\xff", "{} {}"}) {
        expect_refused([&] { return results_.save(7, text); }, errc::invalid_payload, "line 1");
    }
}

TEST_F(Results, AreNoLongerThanSqliteTakes)
{
    // Address space without memory behind it: the first look at it would end the test.
    constexpr std::size_t size = 1'000'000'000;
    void* const nothing =
        mmap(nullptr, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    ASSERT_NE(nothing, MAP_FAILED);
    const std::string_view text(static_cast<const char*>(nothing), size);
    expect_refused([&] { return results_.save(7, text); }, errc::payload_too_large, "payload");
    munmap(nothing, size);
}

TEST_F(Results, OwnTheirTextFromTheCallOn)
{
    std::optional<support::operation<void>> save;
    {
        std::string text = "\"a text that is not short at all, and that goes away\"";
        save.emplace(db_.start(results_.save(7, text)));
        text.assign(text.size(), '#');
    }
    db_.settle();
    save->result();
    EXPECT_EQ(get(7), "\"a text that is not short at all, and that goes away\"");
}

TEST_F(Results, MayBeValues)
{
    const nlohmann::json pages = {{"pages", 3}};
    db_.run(results_.save(7, pages));
    EXPECT_EQ(get(7), R"({"pages":3})");
    const auto work = [&](transaction& tx) { results_.save(tx, 8, std::vector{1, 2}); };
    db_.run(db_.database().transaction(work));
    EXPECT_EQ(get(8), "[1,2]");
    const nlohmann::json no_text = "\xff";
    EXPECT_THROW(static_cast<void>(results_.save(9, no_text)), error);
    EXPECT_THAT(left(), ElementsAre("7", "8"));
}

TEST_F(Results, AreSavedTogetherWithTheEndOfTheJob)
{
    const std::int64_t id = enqueue();
    job claimed = claim();
    const auto finish = [&](transaction& tx) {
        const bool is_ours = claimed.ack(tx);
        if (is_ours) {
            results_.save(tx, id, "1", {.ttl = 1h});
        }
        EXPECT_EQ(results_.get(tx, id), "1");
        return is_ours;
    };
    EXPECT_TRUE(db_.run(db_.database().transaction(finish)));
    EXPECT_EQ(state_of(id), "gone");
    EXPECT_EQ(get(id), "1");
}

TEST_F(Results, OfATransactionThatIsRolledBackAreNotThere)
{
    const auto work = [&](transaction& tx) {
        results_.save(tx, 7, "1");
        throw std::runtime_error("undone");
    };
    EXPECT_THROW(db_.run(db_.database().transaction(work)), std::runtime_error);
    EXPECT_EQ(get(7), "none");
}

TEST_F(Results, RefuseATransactionOfAnotherDatabaseAndMisuseInTheirOwn)
{
    manual_database elsewhere;
    const auto foreign = [&](transaction& tx) { results_.save(tx, 7, "1"); };
    const auto look = [&](transaction& tx) { static_cast<void>(results_.get(tx, 7)); };
    const auto misuse = [&](transaction& tx) { results_.save(tx, 7, "1", {.ttl = 0s}); };
    expect_refused(
        [&] {
            elsewhere.run(elsewhere.database().transaction(foreign));
            return 0;
        },
        errc::invalid_argument, "tx");
    expect_refused(
        [&] {
            elsewhere.run(elsewhere.database().transaction(look));
            return 0;
        },
        errc::invalid_argument, "tx");
    expect_refused(
        [&] {
            db_.run(db_.database().transaction(misuse));
            return 0;
        },
        errc::invalid_argument, "ttl");
}

TEST_F(Results, OfOtherProgramsAreReadAsTheyAre)
{
    other_.sql(
        "INSERT INTO _honker_results (job_id, value, expires_at) VALUES (1, 'no json', NULL),"
        " (2, NULL, NULL), (3, '3', 100), (4, '4', 101)");
    EXPECT_EQ(get(1), "no json");
    EXPECT_EQ(get(2), "none");
    EXPECT_EQ(get(3), "none");
    EXPECT_EQ(get(4), "4");
}

TEST_F(Results, AreReadWithoutTheWriteLock)
{
    save(7, "1");
    other_.sql("BEGIN IMMEDIATE");
    EXPECT_EQ(get(7), "1");
    other_.sql("UPDATE _honker_results SET value = '2'; COMMIT");
    EXPECT_EQ(get(7), "2");
}

TEST_F(Results, WhoseTimeIsOverAreSwept)
{
    save(1, "1", {.ttl = 10s});
    save(2, "2", {.ttl = 20s});
    save(3, "3");
    EXPECT_EQ(db_.run(results_.sweep()), 0U);
    db_.advance(10s);
    EXPECT_EQ(db_.run(results_.sweep()), 1U);
    EXPECT_THAT(left(), ElementsAre("2", "3"));
}

TEST_F(Results, ArePrunedByAge)
{
    for (int each = 0; each < 5; ++each) {
        save(each, "1");
        db_.advance(1s);
    }
    save(0, "2"); // not its first save
    EXPECT_EQ(db_.run(results_.prune({.older_than = 3s})), 2U);
    EXPECT_THAT(left(), ElementsAre("2", "3", "4"));
    EXPECT_EQ(db_.run(results_.prune({.older_than = 200h * 365 * 24})), 0U);
    EXPECT_EQ(db_.run(results_.prune({.older_than = std::chrono::seconds::max()})), 0U);
    EXPECT_EQ(db_.run(results_.prune({.older_than = 0s})), 3U);
}

TEST_F(Results, ArePrunedByNumber)
{
    for (int each = 0; each < 5; ++each) {
        save(each, "1", {.ttl = 1s});
        db_.advance(1s);
    }
    EXPECT_EQ(db_.run(results_.prune({.keep = 5})), 0U);
    EXPECT_EQ(db_.run(results_.prune({.keep = std::numeric_limits<std::size_t>::max()})), 0U);
    EXPECT_EQ(db_.run(results_.prune({.keep = 3})), 2U);
    EXPECT_THAT(left(), ElementsAre("2", "3", "4"));
    EXPECT_EQ(db_.run(results_.prune({.older_than = 2s, .keep = 1})), 2U);
    EXPECT_THAT(left(), ElementsAre("4"));
    EXPECT_EQ(db_.run(results_.prune({.keep = 0})), 1U);
}

TEST_F(Results, RefuseToPruneWithoutMeasureOrByANegativeAge)
{
    expect_refused([&] { return results_.prune({}); }, errc::invalid_argument, "neither");
    for (const std::chrono::seconds age : {-1s, std::chrono::seconds::min()}) {
        expect_refused([&] { return results_.prune({.older_than = age}); }, errc::invalid_argument,
                       "older_than");
    }
}

class ManyResults : public Results {
protected:
    ManyResults()
    {
        other_.sql("WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 1200)"
                   " INSERT INTO _honker_results (job_id, value, created_at, expires_at)"
                   " SELECT i, '1', 50, 60 FROM n");
    }
};

TEST_F(ManyResults, AreRemovedInSlicesBetweenWhichOthersCommit)
{
    statement_counter statements(db_.handle());
    std::vector<std::string> seen;
    const plain_connection beside(db_.path());
    statements.when_finished(
        "COMMIT", [&] { seen.push_back(beside.value("SELECT count(*) FROM _honker_results")); });
    EXPECT_EQ(db_.run(results_.sweep()), 1200U);
    EXPECT_THAT(seen, ElementsAre("700", "200", "0"));
}

TEST_F(ManyResults, ArePrunedInSlicesOfBothKinds)
{
    other_.sql("UPDATE _honker_results SET created_at = 100 WHERE job_id > 600");
    statement_counter statements(db_.handle());
    EXPECT_EQ(db_.run(results_.prune({.older_than = 10s, .keep = 50})), 1150U);
    EXPECT_EQ(statements.count("COMMIT"), 4U);
    EXPECT_EQ(value("SELECT count(*), min(job_id) FROM _honker_results"), "50|1151");
}

TEST_F(ManyResults, AreLeftBetweenSlicesWhenTheSweepIsCancelled)
{
    statement_counter statements(db_.handle());
    auto sweep = db_.start(results_.sweep());
    statements.when_finished("COMMIT", [&] { sweep.cancel(); });
    db_.settle();
    EXPECT_EQ(sweep.error(), asio::error::operation_aborted);
    EXPECT_EQ(value("SELECT count(*) FROM _honker_results"), "700");
    EXPECT_EQ(db_.run(results_.sweep()), 700U);
}

TEST_F(ManyResults, AreLeftBetweenSlicesWhenTheDatabaseIsClosed)
{
    auto sweep = db_.start(results_.sweep());
    const auto close = [&](transaction&) { static_cast<void>(db_.start(db_.database().close())); };
    auto transaction = db_.start(db_.database().transaction(close));
    db_.settle();
    EXPECT_TRUE(transaction.is_done());
    EXPECT_EQ(sweep.error(), make_error_code(errc::closed));
    EXPECT_EQ(value("SELECT count(*) FROM _honker_results"), "700");
}

TEST_F(Results, OfAClosedDatabaseAreRefused)
{
    db_.run(db_.database().close());
    const auto code = [](auto&& function) {
        try {
            function();
        } catch (const error& refused) {
            return refused.code();
        }
        return std::error_code();
    };
    EXPECT_EQ(code([&] { save(7, "1"); }), make_error_code(errc::closed));
    EXPECT_EQ(code([&] { get(7); }), make_error_code(errc::closed));
    EXPECT_EQ(code([&] { db_.run(results_.sweep()); }), make_error_code(errc::closed));
    EXPECT_EQ(code([&] { db_.run(results_.prune({.keep = 1})); }), make_error_code(errc::closed));
    EXPECT_EQ(code([&] { db_.run(results_.wait(7)); }), make_error_code(errc::closed));
}

TEST_F(Results, OfOneDatabaseAreEqual)
{
    const manual_database elsewhere;
    manual_database other;
    EXPECT_EQ(results_, db_.database().results({.create_schema = false}));
    EXPECT_FALSE(results_ == other.database().results());
}

class ResultsWithoutTables : public ::testing::Test {
protected:
    /// Everything about the tables; nothing in an empty file.
    std::vector<std::string> schema() { return other_.sql("SELECT name FROM sqlite_schema"); }

    std::string get() { return db_.run(results_.get(7)).value_or("none"); }

    manual_database db_;
    skein::results results_ = db_.database().results();
    plain_connection other_{db_.path()};
};

TEST_F(ResultsWithoutTables, AreNoneAndMakeNone)
{
    EXPECT_EQ(get(), "none");
    EXPECT_THAT(schema(), IsEmpty());
    db_.run(results_.save(7, "1"));
    EXPECT_EQ(get(), "1");
    const auto queue = db_.database().queue("q");
    EXPECT_FALSE(db_.run(queue.try_claim()));
}

TEST_F(ResultsWithoutTables, AreSweptAndPrunedToo)
{
    EXPECT_EQ(db_.run(results_.sweep()), 0U);
    EXPECT_EQ(db_.run(results_.prune({.keep = 0})), 0U);
}

TEST_F(ResultsWithoutTables, AreMadeAndUndoneWithATransaction)
{
    const auto work = [&](transaction& tx) {
        EXPECT_FALSE(results_.get(tx, 7));
        results_.save(tx, 7, "1");
        throw std::runtime_error("undone");
    };
    EXPECT_THROW(db_.run(db_.database().transaction(work)), std::runtime_error);
    EXPECT_THAT(schema(), IsEmpty());
    EXPECT_EQ(get(), "none");
    db_.run(results_.save(7, "1"));
    EXPECT_EQ(get(), "1");
}

TEST_F(ResultsWithoutTables, FailWhereTheSchemaIsSomebodyElses)
{
    const auto theirs = db_.database().results({.create_schema = false});
    EXPECT_THROW(db_.run(theirs.get(7)), error);
    EXPECT_THROW(db_.run(theirs.wait(7)), error);
    EXPECT_THROW(db_.run(theirs.save(7, "1")), error);
    EXPECT_THROW(db_.run(theirs.sweep()), error);
    EXPECT_THAT(schema(), IsEmpty());
}

TEST_F(ResultsWithoutTables, OfAnOlderShapeAreReadAsTheyAreAndUpgradedByASave)
{
    store::create_queue_format(other_, store::queue_format::without_claimed_at);
    other_.sql("INSERT INTO _honker_results (job_id, value) VALUES (7, '1')");
    const auto before = schema();
    EXPECT_EQ(get(), "1");
    EXPECT_EQ(schema(), before);
    db_.run(results_.save(8, "2"));
    EXPECT_NE(schema(), before);
    EXPECT_EQ(get(), "1");
}

TEST_F(ResultsWithoutTables, OfAnOlderShapeMayBeMissing)
{
    store::create_queue_format(other_, store::queue_format::without_scheduled);
    other_.sql("DROP TABLE _honker_results");
    EXPECT_EQ(get(), "none");
    db_.run(results_.save(7, "1"));
    EXPECT_EQ(get(), "1");
}

TEST_F(ResultsWithoutTables, OfANewerSkeinAreRefused)
{
    db_.run(results_.save(7, "1"));
    other_.sql("UPDATE _skein_meta SET version = version + 1 WHERE name = 'queue'");
    db_.reopen();
    const auto results = db_.database().results();
    const auto code = [&](auto operation) {
        try {
            db_.run(std::move(operation));
        } catch (const error& refused) {
            return refused.code();
        }
        return std::error_code();
    };
    EXPECT_EQ(code(results.get(7)), make_error_code(errc::schema_too_new));
    EXPECT_EQ(code(results.wait(7)), make_error_code(errc::schema_too_new));
    EXPECT_EQ(code(results.save(7, "1")), make_error_code(errc::schema_too_new));
}

} // namespace
