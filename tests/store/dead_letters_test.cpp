#include "store/queue/dead_letters.hpp"
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

    /// The numbers in each part of a walk that looks at so many letters at a time.
    std::vector<std::vector<std::int64_t>> slices(dead_letter_walk walk, std::int64_t most)
    {
        std::vector<std::vector<std::int64_t>> parts;
        for (bool goes_on = true; goes_on && parts.size() < 100;) {
            dead_letter_slice slice = letters_.next_slice(walk, most);
            parts.push_back(std::move(slice.ids));
            walk.after = slice.end;
            goes_on = !slice.is_last;
        }
        return parts;
    }

    std::optional<std::int64_t> redrive(std::string_view queue, std::int64_t id)
    {
        return client_.write([&] { return letters_.redrive(queue, id, now); });
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

TEST_F(DeadLetters, AreRemoved)
{
    const auto first = die(now);
    const auto second = die(now);
    client_.write([&] {
        letters_.remove(first);
        letters_.remove(first);
        return true;
    });
    EXPECT_FALSE(letters_.find(first));
    EXPECT_TRUE(letters_.find(second));
}

TEST_F(DeadLetters, AreWalkedThroughInParts)
{
    std::vector<std::int64_t> all;
    for (int each = 0; each < 7; ++each) {
        all.push_back(die(now + each / 3));
    }
    die(now, "e", "another");
    const dead_letter_walk walk{"q", {}, letters_.newest_but("q", 0).value()};
    EXPECT_THAT(slices(walk, 3),
                ElementsAre(ElementsAre(all[0], all[1], all[2]),
                            ElementsAre(all[3], all[4], all[5]), ElementsAre(all[6])));
    EXPECT_THAT(slices(walk, 7), ElementsAre(all)) << "no empty part at the end";
    EXPECT_THAT(slices(walk, 100), ElementsAre(all));
    EXPECT_EQ(slices(walk, 1).size(), 7U);
    EXPECT_THAT(slices({"none", {}, walk.last}, 3), ElementsAre(IsEmpty()));
}

TEST_F(DeadLetters, AreWalkedThroughUpToALastOne)
{
    const auto first = die(now);
    const auto second = die(now);
    die(now);
    die(now + 1);
    EXPECT_THAT(slices({"q", {}, {now, second}}, 10), ElementsAre(ElementsAre(first, second)));
    EXPECT_THAT(slices({"q", {}, {now, second}}, 1),
                ElementsAre(ElementsAre(first), ElementsAre(second)));
    EXPECT_THAT(slices({"q", {}, {now - 1, second}}, 10), ElementsAre(IsEmpty()));
    EXPECT_THAT(slices({"q", {}, {}}, 10), ElementsAre(IsEmpty()));
    EXPECT_THAT(slices({"q", {now, first}, {now, second}}, 10), ElementsAre(ElementsAre(second)));
}

TEST_F(DeadLetters, OfAnotherErrorAreWalkedPast)
{
    std::vector<std::int64_t> timeouts;
    for (int each = 0; each < 4; ++each) {
        timeouts.push_back(die(now, "timeout"));
        die(now, "rejected");
    }
    client_.file().sql("INSERT INTO _honker_dead (id, queue, payload, died_at)"
                       " VALUES (70, 'q', '1', 1000)");
    const dead_letter_position last{now, 100};
    EXPECT_THAT(slices({"q", {}, last, "timeout"}, 100), ElementsAre(timeouts));
    EXPECT_THAT(
        slices({"q", {}, last, "timeout"}, 5),
        ElementsAre(ElementsAre(timeouts[0], timeouts[1], timeouts[2]), ElementsAre(timeouts[3])));
    EXPECT_THAT(slices({"q", {}, last, ""}, 100), ElementsAre(IsEmpty()));
    EXPECT_EQ(slices({"q", {}, last}, 100).front().size(), 9U);
}

TEST_F(DeadLetters, AreTheNewestButSomeThatAreNewer)
{
    EXPECT_FALSE(letters_.newest_but("q", 0));
    const auto oldest = die(now);
    const auto middle = die(now);
    const auto newest = die(now + 1);
    die(now + 2, "e", "another");
    const auto id_but = [&](std::int64_t kept) { return letters_.newest_but("q", kept)->id; };
    EXPECT_EQ(id_but(0), newest);
    EXPECT_EQ(id_but(1), middle);
    EXPECT_EQ(id_but(2), oldest);
    EXPECT_FALSE(letters_.newest_but("q", 3));
    EXPECT_FALSE(letters_.newest_but("q", std::numeric_limits<std::int64_t>::max()));
}

TEST_F(DeadLetters, WhoseTimeIsNoNumberAreWalkedPast)
{
    const std::int64_t first = die(100);
    const std::int64_t second = die(200);
    client_.file().sql("INSERT INTO _honker_dead (id, queue, payload, died_at)"
                       " VALUES (77, 'q', '1', 'just now')");
    const auto newest = letters_.newest_but("q", 0);
    ASSERT_TRUE(newest);
    EXPECT_EQ(newest->id, second);
    EXPECT_THAT(slices({.queue = "q", .after = {}, .last = *newest}, 500),
                ElementsAre(ElementsAre(first, second)));
}

} // namespace
