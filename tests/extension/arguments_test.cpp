#include "extension/contract_fixture.hpp"

#include <string>
#include <vector>

namespace {

using skein::support::contract_fixture;
using ::testing::AllOf;
using ::testing::HasSubstr;

using Arguments = contract_fixture;

/// A function and its parameters: t a text, i an integer, capital where NULL is accepted.
struct signature {
    std::string name;
    std::string types;
};

const std::vector<signature>& signatures()
{
    static const std::vector<signature> all{
        {"honker_enqueue", "ttIIiiI"},
        {"honker_claim_batch", "ttii"},
        {"honker_queue_next_claim_at", "t"},
        {"honker_get_job", "i"},
        {"honker_cancel", "i"},
        {"honker_cancel", "ti"},
        {"honker_sweep_expired", "t"},
        {"honker_ack", "it"},
        {"honker_ack", "iti"},
        {"honker_ack_batch", "tt"},
        {"honker_retry", "itit"},
        {"honker_retry", "ititi"},
        {"honker_fail", "itt"},
        {"honker_fail", "itti"},
        {"honker_heartbeat", "iti"},
        {"honker_heartbeat", "itii"},
        {"honker_result_save", "iti"},
        {"honker_result_get", "i"},
        {"notify", "tt"},
        {"honker_stream_publish", "tTt"},
        {"honker_stream_read_since", "tii"},
        {"honker_stream_save_offset", "tti"},
        {"honker_stream_get_offset", "tt"},
        {"honker_lock_acquire", "tti"},
        {"honker_lock_renew", "tti"},
        {"honker_lock_release", "tt"},
        {"honker_rate_limit_try", "tii"},
        {"honker_rate_limit_sweep", "i"},
        {"honker_scheduler_register", "ttttiI"},
        {"honker_scheduler_register", "ttttiIi"},
        {"honker_scheduler_unregister", "t"},
        {"honker_scheduler_pause", "t"},
        {"honker_scheduler_resume", "t"},
        {"honker_scheduler_update", "tTTIIi"},
        {"honker_scheduler_update", "tTTIIiIi"},
        {"honker_scheduler_tick", "i"},
        {"honker_cron_next_after", "ti"},
        {"honker_update_watcher_open", "tT"},
        {"honker_update_watcher_open", "tTI"},
        {"honker_update_watcher_wait", "ii"},
        {"honker_update_watcher_close", "i"},
        {"skein_dead_letters", "ti"},
        {"skein_dead_letter_redrive", "ti"},
        {"skein_dead_letter_redrive_all", "t"},
        {"skein_dead_letter_prune", "tII"},
        {"skein_enqueue", "ttt"},
        {"skein_heartbeat", "itii"},
        {"skein_job_change", "tiTt"},
        {"skein_job_request_stop", "ti"},
        {"skein_lock_holder", "t"},
        {"skein_notification_prune", "II"},
        {"skein_queue_counts", "t"},
        {"skein_queue_is_paused", "t"},
        {"skein_queue_pause", "t"},
        {"skein_queue_resume", "t"},
        {"skein_rate_limit_try_paced", "tiii"},
        {"skein_release", "iti"},
        {"skein_result_prune", "II"},
        {"skein_scheduler_add", "ttttt"},
        {"skein_scheduler_change", "tTTt"},
        {"skein_scheduler_find", "t"},
        {"skein_snooze", "itii"},
        {"skein_stream_consumers", "t"},
        {"skein_stream_forget_consumer", "tt"},
        {"skein_stream_trim", "tII"},
        {"skein_stream_trim_passed", "t"},
    };
    return all;
}

bool is_text(char type)
{
    return type == 't' || type == 'T';
}

bool is_nullable(char type)
{
    return type == 'T' || type == 'I';
}

/// A call with one argument as given, and others that are accepted: each text is JSON, an object,
/// but for those that are expressions or paths.
std::string call_with(const signature& called, std::size_t index, const std::string& argument)
{
    std::string text = called.name + "(";
    for (std::size_t each = 0; each < called.types.size(); ++each) {
        const std::string plain = is_text(called.types[each]) ? "'{}'" : "1";
        text += (each == 0 ? "" : ", ") + (each == index ? argument : plain);
    }
    return text + ")";
}

TEST_F(Arguments, AreListedHereForEveryFunction)
{
    for (const std::string& each :
         sql("SELECT name || ' ' || narg FROM pragma_function_list WHERE (name LIKE"
             " 'honker\\_%' ESCAPE '\\' OR name LIKE 'skein\\_%' ESCAPE '\\' OR name = 'notify')"
             " AND narg > 0")) {
        const bool is_listed = std::ranges::any_of(signatures(), [&](const signature& known) {
            return known.name + " " + std::to_string(known.types.size()) == each;
        });
        EXPECT_TRUE(is_listed) << each;
    }
}

TEST_F(Arguments, AreNotConverted)
{
    for (const signature& called : signatures()) {
        for (std::size_t index = 0; index < called.types.size(); ++index) {
            const bool needs_text = is_text(called.types[index]);
            const std::string place = " at index " + std::to_string(index);
            const auto refused = [&](const std::string& argument) {
                return refusal_of(call_with(called, index, argument));
            };
            const std::string type = "Invalid function parameter type ";
            EXPECT_THAT(refused("x'31'"),
                        AllOf(HasSubstr(type + "Blob" + place), HasSubstr(called.name)));
            if (needs_text) {
                EXPECT_THAT(refused("1"), HasSubstr(type + "Integer" + place)) << called.name;
                EXPECT_THAT(refused("1.5"), HasSubstr(type + "Real" + place)) << called.name;
            } else {
                EXPECT_THAT(refused("'1'"), HasSubstr(type + "Text" + place)) << called.name;
            }
            if (!is_nullable(called.types[index])) {
                EXPECT_THAT(refused("NULL"), HasSubstr(type + "Null" + place)) << called.name;
            } else if (called.name != "honker_update_watcher_open") { // it would open one
                EXPECT_THAT(refused("NULL"), ::testing::Not(HasSubstr(type))) << called.name;
            }
        }
    }
}

TEST_F(Arguments, ThatAreRealMustBeWhole)
{
    for (const signature& called : signatures()) {
        for (std::size_t index = 0; index < called.types.size(); ++index) {
            if (is_text(called.types[index])) {
                continue;
            }
            const auto refused = [&](const std::string& argument) {
                return refusal_of(call_with(called, index, argument));
            };
            const std::string place = "at index " + std::to_string(index);
            const auto is_refused = [&](const std::string& why) {
                return AllOf(HasSubstr(called.name), HasSubstr(place),
                             HasSubstr("must be a whole number"), HasSubstr(why));
            };
            EXPECT_THAT(refused("1.5"), is_refused("1.5 has a fractional part"));
            EXPECT_THAT(refused("-0.25"), is_refused("has a fractional part"));
            EXPECT_THAT(refused("9e999"), is_refused("not finite"));
            EXPECT_THAT(refused("-9e999"), is_refused("not finite"));
            EXPECT_THAT(refused("9223372036854775808.0"), is_refused("out of range"));
            EXPECT_THAT(refused("-9223372036854777856.0"), is_refused("out of range"));
        }
    }
}

TEST_F(Arguments, MayBeRealWhenTheyAreWhole)
{
    EXPECT_EQ(call("honker_enqueue('q', '{}', 5.0, -0.0, 7.0, 3e0, 1e3)"), "1");
    EXPECT_EQ(value("SELECT run_at, priority, max_attempts, expires_at FROM _honker_live"),
              "1000|7|3|2000");
    EXPECT_EQ(call("json_array_length(honker_claim_batch('q', 'w', 1.0, 60.0))"), "1");
    EXPECT_EQ(call("honker_ack(1.0, 'w', 1.0)"), "1");
    EXPECT_EQ(call("honker_enqueue('q', '{}', NULL, NULL, -9223372036854775808.0, 3, NULL)"), "2");
    EXPECT_EQ(value("SELECT priority FROM _honker_live"), "-9223372036854775808");
}

TEST_F(Arguments, WriteNothingWhenTheyAreRefused)
{
    const int before = sqlite3_total_changes(connection_.handle());
    for (const signature& called : signatures()) {
        for (std::size_t index = 0; index < called.types.size(); ++index) {
            EXPECT_NE(refusal_of(call_with(called, index, "x'31'")), "");
            EXPECT_FALSE(in_transaction());
        }
    }
    EXPECT_EQ(sqlite3_total_changes(connection_.handle()), before);
}

TEST_F(Arguments, MayBeEmptyTexts)
{
    EXPECT_EQ(enqueue(""), "1");
    EXPECT_EQ(call("honker_claim_batch('', '', 1, 60) ->> '$[0].worker_id'"), "");
    EXPECT_EQ(call("honker_fail(1, '', '')"), "1");
    EXPECT_EQ(value("SELECT last_error = '' FROM _honker_dead"), "1");
    EXPECT_EQ(call("notify('', '{}')"), "1");
    EXPECT_EQ(call("honker_lock_acquire('', '', 60)"), "1");
}

/// The functions that take a payload, which stands for the question mark.
constexpr const char* payload_takers[] = {
    "honker_enqueue('q', ?, NULL, NULL, 0, 3, NULL)",
    "honker_stream_publish('t', NULL, ?)",
    "notify('c', ?)",
    "honker_result_save(1, ?, 0)",
    "honker_scheduler_register('s', 'q', '@every 1m', ?, 0, NULL)",
    "honker_scheduler_update('none', NULL, ?, NULL, NULL, 0)",
    "skein_enqueue('q', ?, '{}')",
    "skein_job_change('q', 99, ?, '{}')",
    "skein_scheduler_add('o', 'q', '@every 1m', ?, '{}')",
    "skein_scheduler_change('none', NULL, ?, '{}')",
};

std::string with(std::string taker, const std::string& payload)
{
    return taker.replace(taker.find('?'), 1, payload);
}

TEST_F(Arguments, ThatArePayloadsAreJson)
{
    for (const char* const taker : payload_takers) {
        for (const char* const payload : {"''", "'not json'", "'{'", "'[1,]'", "'{}' || char(0)",
                                          "char(65279) || '{}'", "'nan'", "'''a'''", "'01'"}) {
            EXPECT_THAT(
                refusal_of(with(taker, payload)),
                AllOf(HasSubstr("honker: payload must be valid JSON"), HasSubstr("line 1 column ")))
                << taker << payload;
        }
        for (const char* const payload : {"'\"\\ud800\"'", "'1e999'", "'[-1e999]'",
                                          "printf('%.*c', 129, '[') || printf('%.*c', 129, ']')"}) {
            EXPECT_THAT(refusal_of(with(taker, payload)),
                        HasSubstr("honker: payload is valid JSON but cannot be decoded"))
                << taker << payload;
        }
    }
    EXPECT_EQ(value("SELECT (SELECT count(*) FROM _honker_live) + (SELECT count(*) FROM"
                    " _honker_stream) + (SELECT count(*) FROM _honker_notifications) + (SELECT"
                    " count(*) FROM _honker_results) + (SELECT count(*) FROM"
                    " _honker_scheduler_tasks)"),
              "0");
}

TEST_F(Arguments, ThatArePayloadsMayBeAnyJsonAndStayAsTheyAre)
{
    for (const char* const taker : payload_takers) {
        for (const char* const payload :
             {"'{}'", "'[]'", "'42'", "'\"str\"'", "'true'", "'null'", "' { \"a\" : 1.50 } '",
              "'\"\u00e9\\u00e9/\\/\"'", "'18446744073709551616'"}) {
            EXPECT_EQ(refusal_of(with(taker, payload)), "") << taker << payload;
        }
    }
    EXPECT_EQ(call("honker_enqueue('w', ' { \"a\" : 1.50 } ', NULL, NULL, 0, 3, NULL) > 0"), "1");
    EXPECT_EQ(value("SELECT payload FROM _honker_live WHERE queue = 'w'"), " { \"a\" : 1.50 } ");
}

} // namespace
