#include "store/older_program.hpp"
#include "store/store_client.hpp"
#include "store/transport_model.hpp"
#include "support/temporary_directory.hpp"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

namespace {

using namespace skein::store;

/// Does the same to a store and to the model, at random, and expects the same answers.
class random_walk {
public:
    random_walk(const std::filesystem::path& path, schema_owner owner, unsigned seed)
        : store_(path, owner), older_(path), chance_(seed)
    {
    }

    void step()
    {
        switch (pick(12)) {
        case 0:
        case 1:
        case 2:
            return publish();
        case 3:
        case 4:
        case 5:
            return claim();
        case 6:
        case 7:
            return finish();
        case 8:
            return extend();
        case 9:
            return finish_elsewhere();
        default:
            return pass_time();
        }
    }

    /// Serves what is left: nothing may have been lost or doubled.
    void drain()
    {
        now_ += 1000;
        while (true) {
            const auto ours = store_.claim(now_);
            const auto expected = model_.claim({}, "end", 30, now_);
            ASSERT_EQ(ours.has_value(), expected.has_value());
            if (!ours) {
                return;
            }
            ASSERT_EQ(ours->payload, expected->payload);
            ASSERT_TRUE(store_.ack(ours->fence));
            ASSERT_TRUE(model_.ack(expected->fence));
        }
    }

    [[nodiscard]] const skein::support::plain_connection& file() const { return store_.file(); }

private:
    /// One claim, as the store and the model name it.
    struct lease {
        message_fence ours;
        message_fence expected;
    };

    int pick(int count) { return static_cast<int>(chance_() % static_cast<unsigned>(count)); }

    std::string group() { return "g" + std::to_string(pick(6)); }

    claim_filter filter()
    {
        claim_filter chosen;
        chosen.min_priority = pick(3) == 0 ? pick(5) : 0;
        if (pick(3) == 0) {
            chosen.routing_keys.emplace();
            for (int count = pick(3); count > 0; --count) {
                chosen.routing_keys->push_back(std::string(1, static_cast<char>('a' + pick(3))));
            }
        }
        return chosen;
    }

    void publish()
    {
        const std::string where = group();
        const std::string payload = std::to_string(++published_);
        const int priority = pick(5);
        std::optional<std::string> key;
        if (pick(2) == 0) {
            key = std::string(1, static_cast<char>('a' + pick(3)));
        }
        store_.publish(where, payload, priority, key);
        model_.publish(where, payload, priority, key);
    }

    void claim()
    {
        const claim_filter wanted = filter();
        const double visibility = pick(4) * 2.5;
        const bool has_work = store_.has_work(now_, wanted);
        const auto ours = store_.claim(now_, wanted, visibility);
        const auto expected =
            model_.claim(wanted, "claim#" + std::to_string(++claims_), visibility, now_);
        ASSERT_EQ(ours.has_value(), expected.has_value()) << "at " << now_;
        if (ours) {
            EXPECT_TRUE(has_work);
            ASSERT_EQ(ours->payload, expected->payload) << "at " << now_;
            EXPECT_EQ(ours->fence.group_id, expected->fence.group_id);
            EXPECT_EQ(ours->fence.seq, expected->fence.seq);
            EXPECT_EQ(ours->expires_at, expected->expires_at);
            leases_.push_back({ours->fence, expected->fence});
        } else {
            EXPECT_FALSE(store_.has_work(now_, wanted)) << "a claim finds nothing again and again";
        }
    }

    /// Any lease there ever was: most of them are stale.
    const lease* any_lease()
    {
        if (leases_.empty()) {
            return nullptr;
        }
        const std::size_t recent = std::min<std::size_t>(leases_.size(), 8);
        return &leases_[leases_.size() - 1 -
                        static_cast<std::size_t>(pick(static_cast<int>(recent)))];
    }

    void finish()
    {
        const lease* const which = any_lease();
        if (which == nullptr) {
            return;
        }
        const double end = now_ + 1 + pick(5);
        switch (pick(3)) {
        case 0:
            EXPECT_EQ(store_.ack(which->ours), model_.ack(which->expected));
            break;
        case 1:
            EXPECT_EQ(store_.release(which->ours), model_.release(which->expected));
            break;
        default:
            EXPECT_EQ(store_.park(which->ours, end), model_.park(which->expected, end));
        }
    }

    void extend()
    {
        if (const lease* const which = any_lease()) {
            const double end = now_ + pick(8);
            EXPECT_EQ(store_.extend(which->ours, end), model_.extend(which->expected, end));
        }
    }

    /// The other program, which compares nothing but the message's number.
    void finish_elsewhere()
    {
        const lease* const which = any_lease();
        if (which == nullptr) {
            return;
        }
        const older_program::claimed theirs{std::to_string(which->ours.seq), which->ours.group_id,
                                            ""};
        const double end = now_ + 1 + pick(5);
        switch (pick(3)) {
        case 0:
            older_.ack(theirs);
            model_.ack_unfenced(which->expected);
            break;
        case 1:
            older_.nack(theirs);
            model_.release_unfenced(which->expected);
            break;
        default:
            older_.park(theirs, end);
            model_.park_unfenced(which->expected, end);
        }
    }

    void pass_time()
    {
        now_ += pick(4) * 1.25;
        EXPECT_EQ(store_.next_lapse(now_), model_.next_lapse(now_)) << "at " << now_;
    }

    store_client store_;
    older_program older_;
    transport_model model_;
    std::minstd_rand chance_;
    std::vector<lease> leases_;
    double now_ = 100;
    int published_ = 0;
    int claims_ = 0;
};

struct walk {
    schema_owner owner;
    unsigned seed;
};

class TransportModel : public testing::TestWithParam<walk> {};

TEST_P(TransportModel, AnswersLikeTheStore)
{
    const skein::support::temporary_directory directory;
    const auto path = directory / "test.db";
    if (GetParam().owner == schema_owner::somebody_else) {
        create_format(skein::support::plain_connection(path), format_version::keys);
    }
    random_walk walking(path, GetParam().owner, GetParam().seed);
    for (int each = 0; each < 1'500 && !HasFailure(); ++each) {
        walking.step();
    }
    walking.drain();
    EXPECT_EQ(walking.file().value("SELECT count(*) FROM harel_transport_messages"), "0");
    EXPECT_EQ(walking.file().value("SELECT count(*) FROM harel_transport_groups"), "0");
    EXPECT_EQ(walking.file().value("PRAGMA integrity_check"), "ok");
}

std::vector<walk> walks()
{
    std::vector<walk> all;
    for (unsigned seed = 1; seed <= 8; ++seed) {
        all.push_back({schema_owner::skein, seed});
        all.push_back({schema_owner::somebody_else, seed});
    }
    return all;
}

INSTANTIATE_TEST_SUITE_P(AtRandom, TransportModel, testing::ValuesIn(walks()),
                         [](const auto& what) {
                             const bool is_ours = what.param.owner == schema_owner::skein;
                             return std::string(is_ours ? "WithOurAdditions" : "OfTheFormatAlone") +
                                    std::to_string(what.param.seed);
                         });

} // namespace
