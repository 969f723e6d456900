#include "store/family_file.hpp"
#include "store/log/stream_schema.hpp"
#include "store/log/streams.hpp"
#include "support/temporary_directory.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <map>
#include <random>
#include <string>
#include <vector>

namespace {

using namespace skein::store;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::int64_t now = 1000;
constexpr std::int64_t all = -1;
constexpr std::int64_t most_negative = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t most_positive = std::numeric_limits<std::int64_t>::max();

class Streams : public testing::Test {
protected:
    std::int64_t publish(std::string_view topic, std::int64_t time = now)
    {
        return tables_.write([&] { return streams_.publish(topic, std::nullopt, "1", time); });
    }

    void publish_many(std::string_view topic, int count)
    {
        for (int each = 0; each < count; ++each) {
            publish(topic, now + each);
        }
    }

    bool save(std::string_view consumer, std::string_view topic, std::int64_t offset)
    {
        return tables_.write([&] { return streams_.save_offset(consumer, topic, offset); });
    }

    std::int64_t trim_through(std::string_view topic, std::int64_t offset, std::int64_t most = all)
    {
        return tables_.write([&] { return streams_.trim_through(topic, offset, most); });
    }

    std::int64_t trim_older(std::string_view topic, std::int64_t before, std::int64_t most = all)
    {
        return tables_.write([&] { return streams_.trim_older(topic, before, most); });
    }

    std::vector<std::int64_t> offsets(std::string_view topic, std::int64_t since = 0,
                                      std::int64_t limit = all)
    {
        std::vector<std::int64_t> numbers;
        for (const stream_event& each : streams_.read_since(topic, since, limit)) {
            numbers.push_back(each.offset);
        }
        return numbers;
    }

    std::vector<std::string> consumers(std::string_view topic)
    {
        std::vector<std::string> texts;
        for (const stream_consumer& each : streams_.consumers(topic)) {
            texts.push_back(each.name + "|" + std::to_string(each.offset));
        }
        return texts;
    }

    [[nodiscard]] const skein::support::plain_connection& file() const { return tables_.file(); }

    skein::support::temporary_directory directory_;
    family_file tables_{directory_ / "test.db", stream_tables()};
    streams streams_{tables_.connection(), family_shape::complete};
};

TEST_F(Streams, AreReadByteForByteInTheirOrder)
{
    tables_.write([&] {
        streams_.publish("t", "k", " [1,  2]\n", 5);
        streams_.publish("another", "", "2", 6);
        streams_.publish("t", std::nullopt, "3", 4);
        streams_.publish("t", "", "4", 7);
    });
    const auto events = streams_.read_since("t", 0, all);
    ASSERT_EQ(events.size(), 3U);
    EXPECT_EQ(events[0].offset, 1);
    EXPECT_EQ(events[0].key, "k");
    EXPECT_EQ(events[0].payload, " [1,  2]\n");
    EXPECT_EQ(events[0].created_at, 5);
    EXPECT_EQ(events[1].offset, 3);
    EXPECT_EQ(events[1].key, std::nullopt);
    EXPECT_EQ(events[2].key, "");
}

TEST_F(Streams, AreReadBehindAnOffsetUpToALimit)
{
    publish_many("t", 5);
    EXPECT_THAT(offsets("t", 2), ElementsAre(3, 4, 5));
    EXPECT_THAT(offsets("t", 2, 2), ElementsAre(3, 4));
    EXPECT_THAT(offsets("t", 0, 0), IsEmpty());
    EXPECT_THAT(offsets("t", 0, most_negative), ElementsAre(1, 2, 3, 4, 5));
    EXPECT_THAT(offsets("t", most_negative, most_positive), ElementsAre(1, 2, 3, 4, 5));
    EXPECT_THAT(offsets("t", most_positive), IsEmpty());
    EXPECT_THAT(offsets("none"), IsEmpty());
}

TEST_F(Streams, OfAnotherProgramAreReadWhateverItHasStored)
{
    file().sql("INSERT INTO _honker_stream (offset, topic, key, payload, created_at) VALUES"
               " (-5, 't', 7, 'no json', 'yesterday'), (0, 't', x'6b', x'3132', 2.5)");
    const auto events = streams_.read_since("t", most_negative, all);
    ASSERT_EQ(events.size(), 2U);
    EXPECT_EQ(events[0].key, "7");
    EXPECT_EQ(events[0].payload, "no json");
    EXPECT_EQ(events[1].key, "k");
    EXPECT_EQ(events[1].payload, "12");
    EXPECT_EQ(streams_.first_offset("t"), -5);
    EXPECT_EQ(streams_.last_offset("t"), 0);
    EXPECT_EQ(trim_through("t", -1), 1);
    EXPECT_EQ(streams_.last_removed("t"), -5);
    file().sql("UPDATE _honker_stream SET offset = -7 WHERE offset = 0");
    file().sql("INSERT INTO _honker_stream (offset, topic, payload) VALUES (-3, 'u', '1')");
    EXPECT_EQ(streams_.last_offset("t"), 0);
    EXPECT_EQ(streams_.last_offset("u"), -3);
}

TEST_F(Streams, AreRefusedWhereATriggerIgnoresTheEvent)
{
    file().sql("CREATE TRIGGER t BEFORE INSERT ON _honker_stream BEGIN SELECT RAISE(IGNORE); END");
    EXPECT_THROW(publish("t"), skein::sqlite::error);
}

TEST_F(Streams, EndWithTheOffsets)
{
    file().sql("INSERT INTO _honker_stream (offset, topic, payload)"
               " VALUES (9223372036854775807, 't', '1')");
    EXPECT_EQ(streams_.last_offset("t"), most_positive);
    EXPECT_THROW(streams_.publish("t", std::nullopt, "1", now), skein::sqlite::error);
}

TEST_F(Streams, KnowTheFirstAndTheLastOffsetOfATopic)
{
    EXPECT_EQ(streams_.first_offset("t"), 0);
    EXPECT_EQ(streams_.last_offset("t"), 0);
    publish("another");
    publish("t");
    publish("t");
    publish("another");
    EXPECT_EQ(streams_.first_offset("t"), 2);
    EXPECT_EQ(streams_.last_offset("t"), 3);
}

TEST_F(Streams, KeepTheMeaningOfOffsetsWhenAllEventsAreGone)
{
    publish_many("t", 3);
    EXPECT_EQ(trim_through("t", most_positive), 3);
    EXPECT_EQ(streams_.first_offset("t"), 0);
    EXPECT_EQ(streams_.last_offset("t"), 3);
    EXPECT_EQ(streams_.last_removed("t"), 3);
    EXPECT_EQ(publish("t"), 4);
    EXPECT_EQ(streams_.last_offset("t"), 4);
    EXPECT_EQ(streams_.last_removed("t"), 3);
    EXPECT_EQ(streams_.last_removed("another"), 0);
}

TEST_F(Streams, KnowWhatIsGoneWhoeverHasRemovedIt)
{
    publish_many("t", 4);
    const skein::support::plain_connection other(directory_ / "test.db");
    other.sql("DELETE FROM _honker_stream WHERE offset = 2");
    EXPECT_EQ(streams_.last_removed("t"), 2);
    other.sql("UPDATE OR REPLACE _honker_stream SET topic = 'another' WHERE offset = 3");
    EXPECT_EQ(streams_.last_removed("t"), 3);
    other.sql("DELETE FROM _honker_stream");
    EXPECT_EQ(streams_.last_removed("t"), 4);
    EXPECT_EQ(streams_.last_removed("another"), 3);
}

TEST_F(Streams, KnowHowFarConsumersHaveCome)
{
    EXPECT_EQ(streams_.saved_offset("a", "t"), std::nullopt);
    EXPECT_EQ(streams_.offset("a", "t"), 0);
    EXPECT_TRUE(save("a", "t", 5));
    EXPECT_FALSE(save("a", "t", 5));
    EXPECT_FALSE(save("a", "t", 4));
    EXPECT_EQ(streams_.offset("a", "t"), 5);
    EXPECT_TRUE(save("a", "t", 6));
    EXPECT_EQ(streams_.offset("a", "t"), 6);
    EXPECT_EQ(streams_.offset("a", "another"), 0);
    EXPECT_EQ(streams_.offset("b", "t"), 0);
}

TEST_F(Streams, TakeAnyFirstOffsetOfAConsumer)
{
    EXPECT_TRUE(save("a", "t", 0));
    EXPECT_EQ(streams_.saved_offset("a", "t"), 0) << "which is not the same as none";
    EXPECT_EQ(streams_.saved_offset("a", "another"), std::nullopt);
    EXPECT_FALSE(save("a", "t", -1));
    EXPECT_TRUE(save("b", "t", most_negative));
    EXPECT_EQ(streams_.offset("b", "t"), most_negative);
    EXPECT_TRUE(save("b", "t", most_positive));
    EXPECT_FALSE(save("b", "t", most_positive));
    EXPECT_EQ(streams_.offset("b", "t"), most_positive);
}

TEST_F(Streams, ListTheSlowestConsumerFirst)
{
    save("a", "t", 9);
    save("c", "t", 2);
    save("b", "t", 2);
    save("d", "another", 1);
    EXPECT_THAT(consumers("t"), ElementsAre("b|2", "c|2", "a|9"));
    EXPECT_THAT(consumers("none"), IsEmpty());
}

TEST_F(Streams, ForgetConsumers)
{
    save("a", "t", 9);
    save("a", "another", 9);
    EXPECT_TRUE(tables_.write([&] { return streams_.forget_consumer("a", "t"); }));
    EXPECT_FALSE(tables_.write([&] { return streams_.forget_consumer("a", "t"); }));
    EXPECT_THAT(consumers("t"), IsEmpty());
    EXPECT_THAT(consumers("another"), ElementsAre("a|9"));
}

TEST_F(Streams, AreTrimmedUpToTheSlowestConsumer)
{
    publish_many("t", 6);
    EXPECT_EQ(streams_.passed_by_all("t"), std::nullopt);
    save("a", "t", 4);
    save("b", "t", 3);
    save("c", "another", 1);
    EXPECT_EQ(streams_.passed_by_all("t"), 3);
    EXPECT_EQ(trim_through("t", 3, 2), 2);
    EXPECT_EQ(trim_through("t", 3, 2), 1);
    EXPECT_EQ(trim_through("t", 3, 2), 0);
    EXPECT_THAT(offsets("t"), ElementsAre(4, 5, 6));
}

TEST_F(Streams, AreTrimmedToANumberOfEventsWhateverTheGaps)
{
    for (int each = 0; each < 5; ++each) {
        publish("t");
        publish("another");
    }
    EXPECT_EQ(streams_.last_but("t", 5), std::nullopt);
    EXPECT_EQ(streams_.last_but("t", most_positive), std::nullopt);
    EXPECT_EQ(streams_.last_but("t", 0), 9);
    EXPECT_EQ(streams_.last_but("t", 2), 5);
    EXPECT_EQ(trim_through("t", 5), 3);
    EXPECT_THAT(offsets("t"), ElementsAre(7, 9));
    EXPECT_THAT(offsets("another"), ElementsAre(2, 4, 6, 8, 10));
    EXPECT_EQ(trim_through("t", most_negative), 0);
}

TEST_F(Streams, AreTrimmedByAgeInSlices)
{
    publish_many("t", 6);
    publish("another", 1);
    EXPECT_EQ(trim_older("t", now), 0);
    EXPECT_EQ(trim_older("t", now + 5, 3), 3);
    EXPECT_EQ(trim_older("t", now + 5, 3), 2);
    EXPECT_EQ(trim_older("t", now + 5, 3), 0);
    EXPECT_EQ(trim_older("t", most_positive, 0), 0);
    EXPECT_EQ(trim_older("t", most_negative), 0);
    EXPECT_THAT(offsets("t"), ElementsAre(6));
    EXPECT_EQ(trim_older("t", most_positive), 1);
    EXPECT_THAT(offsets("another"), ElementsAre(7));
}

TEST_F(Streams, AreTrimmedByAgeOnlyUpToTheFirstThatStays)
{
    publish("t", now);
    publish("t", now + 10);
    publish("t", now + 2);
    EXPECT_EQ(trim_older("t", now + 5), 1);
    EXPECT_THAT(offsets("t"), ElementsAre(2, 3));
}

TEST_F(Streams, OfAPlainFileDoTheSameButForWhatIsGone)
{
    const skein::support::plain_connection plain_file(directory_ / "plain.db");
    for (const std::string& each : stream_tables().statements) {
        if (each.find("_skein_") == std::string::npos) {
            plain_file.sql(each);
        }
    }
    const skein::sqlite::connection connection(plain_file.handle());
    streams plain(connection, inspect_family(connection, stream_tables()));
    for (int each = 0; each < 3; ++each) {
        plain.publish("t", std::nullopt, "1", now + each);
    }
    EXPECT_TRUE(plain.save_offset("a", "t", 1));
    EXPECT_EQ(plain.trim_through("t", plain.passed_by_all("t").value(), all), 1);
    EXPECT_EQ(plain.trim_older("t", now + 2, all), 1);
    EXPECT_EQ(plain.consumers("t").size(), 1U);
    EXPECT_EQ(plain.first_offset("t"), 3);
    EXPECT_EQ(plain.last_offset("t"), 3);
    EXPECT_EQ(plain.last_removed("t"), std::nullopt);
    plain_file.sql("UPDATE _honker_stream SET offset = -7");
    EXPECT_EQ(plain.last_offset("t"), -7);
}

/// The same with nothing but vectors and maps.
struct stream_model {
    struct event {
        std::int64_t offset;
        std::int64_t created_at;
    };

    std::map<std::string, std::vector<event>> topics;
    std::map<std::string, std::int64_t> removed;
    std::map<std::string, std::map<std::string, std::int64_t>> positions; ///< by topic
    std::int64_t last = 0;

    template <class Condition>
    std::int64_t trim(const std::string& topic, std::int64_t most, Condition&& is_meant)
    {
        std::vector<event>& events = topics[topic];
        std::int64_t count = 0;
        while (!events.empty() && count != most && is_meant(events.front())) {
            removed[topic] = std::max(removed[topic], events.front().offset);
            events.erase(events.begin());
            ++count;
        }
        return count;
    }

    bool save(const std::string& consumer, const std::string& topic, std::int64_t offset)
    {
        const auto [position, is_new] = positions[topic].try_emplace(consumer, offset);
        const bool is_noted = is_new || offset > position->second;
        position->second = std::max(position->second, offset);
        return is_noted;
    }

    [[nodiscard]] std::optional<std::int64_t> passed_by_all(const std::string& topic)
    {
        std::optional<std::int64_t> lowest;
        for (const auto& [name, offset] : positions[topic]) {
            lowest = std::min(lowest.value_or(offset), offset);
        }
        return lowest;
    }
};

class StreamModel : public Streams, public testing::WithParamInterface<unsigned> {
protected:
    std::int64_t pick(std::int64_t count) { return static_cast<std::int64_t>(chance_()) % count; }

    std::string any(const std::string& kind) { return kind + std::to_string(pick(3)); }

    void step()
    {
        const std::string topic = any("t");
        switch (pick(8)) {
        case 0:
            trim(topic);
            break;
        case 1: {
            const std::string consumer = any("c");
            const std::int64_t offset = pick(model_.last + 2) - 1;
            ASSERT_EQ(save(consumer, topic, offset), model_.save(consumer, topic, offset));
            break;
        }
        case 2: {
            const std::string consumer = any("c");
            ASSERT_EQ(tables_.write([&] { return streams_.forget_consumer(consumer, topic); }),
                      model_.positions[topic].erase(consumer) == 1);
            break;
        }
        default:
            time_ += pick(4) - 1;
            ASSERT_EQ(publish(topic, time_), ++model_.last);
            model_.topics[topic].push_back({model_.last, time_});
        }
    }

    void trim(const std::string& topic)
    {
        const std::int64_t most = pick(8) - 1;
        std::optional<std::int64_t> end = streams_.passed_by_all(topic);
        if (pick(3) == 0) {
            const std::int64_t before = time_ - pick(20);
            ASSERT_EQ(trim_older(topic, before, most),
                      model_.trim(topic, most,
                                  [&](const auto& each) { return each.created_at < before; }));
            return;
        }
        if (pick(2) == 0) {
            end = streams_.last_but(topic, pick(10));
        }
        if (end) {
            ASSERT_EQ(
                trim_through(topic, *end, most),
                model_.trim(topic, most, [&](const auto& each) { return each.offset <= *end; }));
        }
    }

    void compare(const std::string& topic)
    {
        const auto& events = model_.topics[topic];
        std::vector<std::int64_t> expected;
        for (const auto& each : events) {
            expected.push_back(each.offset);
        }
        ASSERT_EQ(offsets(topic), expected);
        const std::int64_t removed = model_.removed[topic];
        ASSERT_EQ(streams_.last_removed(topic), removed);
        ASSERT_EQ(streams_.first_offset(topic), expected.empty() ? 0 : expected.front());
        ASSERT_EQ(streams_.last_offset(topic), expected.empty() ? removed : expected.back());
        ASSERT_EQ(streams_.passed_by_all(topic), model_.passed_by_all(topic));
        ASSERT_EQ(consumers(topic).size(), model_.positions[topic].size());
        for (const auto& [name, offset] : model_.positions[topic]) {
            ASSERT_EQ(streams_.offset(name, topic), offset);
        }
        const auto kept = static_cast<std::size_t>(pick(10));
        ASSERT_EQ(streams_.last_but(topic, static_cast<std::int64_t>(kept)),
                  kept < expected.size() ? std::optional(expected[expected.size() - 1 - kept])
                                         : std::nullopt);
    }

    std::mt19937 chance_{GetParam()};
    stream_model model_;
    std::int64_t time_ = now;
};

TEST_P(StreamModel, AndStoreDoTheSame)
{
    for (int turn = 0; turn < 500; ++turn) {
        step();
        for (const std::string topic : {"t0", "t1", "t2"}) {
            compare(topic);
        }
        ASSERT_FALSE(HasFailure()) << "in step " << turn;
    }
}

INSTANTIATE_TEST_SUITE_P(FromManySeeds, StreamModel, testing::Range(1U, 5U));

} // namespace
