#include "store/dead_letters.hpp"
#include "store/queue_client.hpp"
#include "support/temporary_directory.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

namespace {

using namespace skein::store;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::int64_t now = 1000;
constexpr std::int64_t all = -1;

std::vector<std::int64_t> ids(const std::vector<dead_letter>& letters)
{
    std::vector<std::int64_t> numbers;
    for (const dead_letter& each : letters) {
        numbers.push_back(each.id);
    }
    return numbers;
}

class DeadLetters : public testing::Test {
protected:
    /// A job that fails at `died_at`. Returns its number.
    std::int64_t die(std::int64_t died_at, std::string_view error = "e",
                     std::string_view queue = "q")
    {
        const std::int64_t id = client_.enqueue(
            {.queue = queue, .payload = "[1]", .priority = 2, .max_attempts = 5}, 900);
        client_.file().sql("UPDATE _honker_live SET state = 'processing', worker_id = 'w',"
                           " attempts = 1 WHERE id = " +
                           std::to_string(id));
        EXPECT_TRUE(client_.fail({id, "w", 1}, error, died_at));
        return id;
    }

    [[nodiscard]] std::vector<std::string> left() const
    {
        return client_.file().sql("SELECT id FROM _honker_dead ORDER BY id");
    }

    std::int64_t purge(const dead_letter_filter& filter, std::int64_t most = all)
    {
        return client_.write([&] { return letters_.purge(filter, most); });
    }

    std::optional<std::int64_t> redrive(std::string_view queue, std::int64_t id)
    {
        return client_.write([&] { return letters_.redrive(queue, id, now); });
    }

    std::vector<redriven_job> redrive_many(const dead_letter_filter& filter,
                                           std::int64_t most = all)
    {
        return client_.write([&] { return letters_.redrive_many(filter, most, now); });
    }

    skein::support::temporary_directory directory_;
    queue_client client_{directory_ / "test.db"};
    dead_letters letters_{client_.connection()};
};

TEST_F(DeadLetters, TellWhatHasBecomeOfTheJob)
{
    const std::int64_t id = die(now, "rejected");
    const dead_letter letter = letters_.find(id).value();
    EXPECT_EQ(letter.id, id);
    EXPECT_EQ(letter.queue, "q");
    EXPECT_EQ(letter.payload, "[1]");
    EXPECT_EQ(letter.priority, 2);
    EXPECT_EQ(letter.run_at, 900);
    EXPECT_EQ(letter.attempts, 1);
    EXPECT_EQ(letter.max_attempts, 5);
    EXPECT_EQ(letter.last_error, "rejected");
    EXPECT_EQ(letter.created_at, 900);
    EXPECT_EQ(letter.died_at, now);
    EXPECT_FALSE(letters_.find(id + 1));
}

TEST_F(DeadLetters, MayHaveNoError)
{
    client_.file().sql("INSERT INTO _honker_dead (id, queue, payload) VALUES (7, 'q', '1')");
    EXPECT_EQ(letters_.find(7).value().last_error, std::nullopt);
}

TEST_F(DeadLetters, AreListedInTheOrderOfTheirDeaths)
{
    const auto third = die(now + 2);
    const auto first = die(now);
    const auto second = die(now);
    die(now, "e", "another");
    EXPECT_THAT(ids(letters_.list({.queue = "q"}, {}, 10)), ElementsAre(first, second, third));
    EXPECT_THAT(ids(letters_.list({.queue = "none"}, {}, 10)), IsEmpty());
}

TEST_F(DeadLetters, AreListedPageByPageAlsoWhenManyDiedAtOnce)
{
    std::vector<std::int64_t> expected;
    for (int each = 0; each < 50; ++each) {
        expected.push_back(die(now + each / 20));
    }
    std::vector<std::int64_t> seen;
    dead_letter_position after;
    while (true) {
        const auto page = letters_.list({.queue = "q"}, after, 7);
        if (page.empty()) {
            break;
        }
        for (const dead_letter& each : page) {
            seen.push_back(each.id);
        }
        after = {page.back().died_at, page.back().id};
    }
    EXPECT_EQ(seen, expected);
}

TEST_F(DeadLetters, AreFilteredByAgeAndError)
{
    const auto old_timeout = die(now, "timeout");
    const auto old_rejected = die(now, "rejected");
    const auto new_timeout = die(now + 10, "timeout");
    EXPECT_THAT(ids(letters_.list({.queue = "q", .last_error = "timeout"}, {}, 10)),
                ElementsAre(old_timeout, new_timeout));
    EXPECT_THAT(ids(letters_.list({.queue = "q", .died_before = now + 10}, {}, 10)),
                ElementsAre(old_timeout, old_rejected));
    EXPECT_THAT(ids(letters_.list({.queue = "q", .died_before = now}, {}, 10)), IsEmpty());
    EXPECT_THAT(ids(letters_.list({.queue = "q", .last_error = "time"}, {}, 10)), IsEmpty());
    constexpr auto first = std::numeric_limits<std::int64_t>::min();
    EXPECT_THAT(ids(letters_.list({.queue = "q", .died_before = first}, {}, 10)), IsEmpty());
}

TEST_F(DeadLetters, RedrivenAreNewJobsWithAllTheirAttempts)
{
    const std::int64_t id = die(950);
    const std::int64_t job = redrive("q", id).value();
    EXPECT_GT(job, id);
    EXPECT_EQ(client_.live(job, "queue, payload, state, priority, run_at, worker_id,"
                                " claim_expires_at, attempts, max_attempts, created_at,"
                                " expires_at, claimed_at"),
              "q|[1]|pending|2|1000|NULL|NULL|0|5|1000|NULL|NULL");
    EXPECT_THAT(left(), IsEmpty());
    EXPECT_FALSE(redrive("q", id));
    EXPECT_FALSE(client_.ack({id, "w", 1}, now));
    EXPECT_EQ(client_.claim(now).value().fence.id, job);
}

TEST_F(DeadLetters, RedrivenHaveAnAttemptAlsoWhereTheyHadNone)
{
    client_.file().sql("INSERT INTO _honker_dead (id, queue, payload) VALUES (7, 'q', '1')");
    EXPECT_EQ(client_.live(redrive("q", 7).value(), "max_attempts"), "1");
}

TEST_F(DeadLetters, OfAnotherQueueAreNotRedriven)
{
    const std::int64_t id = die(now);
    EXPECT_FALSE(redrive("another", id));
    EXPECT_TRUE(letters_.find(id));
    EXPECT_EQ(client_.claim_payload(now), "none");
}

TEST_F(DeadLetters, AreRedrivenManyAtATime)
{
    const auto first = die(now, "timeout");
    die(now, "rejected");
    const auto second = die(now, "timeout");
    const auto third = die(now, "timeout");
    const auto redriven = redrive_many({.queue = "q", .last_error = "timeout"}, 2);
    ASSERT_EQ(redriven.size(), 2U);
    EXPECT_EQ(redriven[0].dead_id, first);
    EXPECT_EQ(redriven[1].dead_id, second);
    EXPECT_LT(redriven[0].job_id, redriven[1].job_id);
    EXPECT_EQ(client_.claim(now).value().fence.id, redriven[0].job_id);
    EXPECT_EQ(redrive_many({.queue = "q", .last_error = "timeout"}).at(0).dead_id, third);
    EXPECT_EQ(left().size(), 1U);
}

TEST_F(DeadLetters, ArePurgedByAgeAndErrorInSlices)
{
    for (int each = 0; each < 5; ++each) {
        die(now + each, "timeout");
        die(now + each, "rejected");
    }
    die(now, "timeout", "another");
    const dead_letter_filter filter{.queue = "q", .died_before = now + 4, .last_error = "timeout"};
    EXPECT_EQ(purge(filter, 3), 3);
    EXPECT_EQ(purge(filter, 3), 1);
    EXPECT_EQ(purge(filter, 3), 0);
    EXPECT_EQ(left().size(), 7U);
    EXPECT_EQ(purge({.queue = "q"}), 6);
    EXPECT_EQ(left().size(), 1U);
}

TEST_F(DeadLetters, AreKeptUpToANumber)
{
    std::vector<std::string> newest;
    for (int each = 0; each < 10; ++each) {
        const std::int64_t id = die(now + each / 2);
        if (each >= 7) {
            newest.push_back(std::to_string(id));
        }
    }
    newest.push_back(std::to_string(die(now - 1, "e", "another")));
    const auto keep = [&](std::int64_t kept, std::int64_t most) {
        return client_.write([&] { return letters_.keep_newest("q", kept, most); });
    };
    EXPECT_EQ(keep(20, all), 0);
    EXPECT_EQ(keep(3, 5), 5);
    EXPECT_EQ(keep(3, 5), 2);
    EXPECT_EQ(keep(3, 5), 0);
    EXPECT_EQ(left(), newest);
    EXPECT_EQ(keep(0, all), 3);
}

} // namespace
