#include "extension/contract_fixture.hpp"

namespace {

using skein::support::contract_fixture;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

using NotificationFunctions = contract_fixture;
using StreamFunctions = contract_fixture;
using ResultFunctions = contract_fixture;

TEST_F(NotificationFunctions, NumberWhatTheyWrite)
{
    EXPECT_EQ(call("notify('a', '{}')"), "1");
    sql("BEGIN; SELECT notify('a', '{}'); ROLLBACK");
    EXPECT_EQ(call("notify('b', '2')"), "2");
    EXPECT_THAT(sql("SELECT * FROM _honker_notifications"),
                ElementsAre("1|a|{}|1000", "2|b|2|1000"));
    sql("DELETE FROM _honker_notifications");
    EXPECT_EQ(call("notify('a', '{}')"), "3");
}

TEST_F(NotificationFunctions, PruneByAgeOrByCount)
{
    for (now_ = 1000; now_ < 1010; ++now_) {
        call("notify('a', '1')");
    }
    now_ = 1010;
    EXPECT_EQ(call("skein_notification_prune(8, NULL)"), "2"); // before 1002
    EXPECT_EQ(call("skein_notification_prune(NULL, 5)"), "3");
    EXPECT_EQ(call("skein_notification_prune(4, 4)"), "1"); // either is enough
    EXPECT_EQ(value("SELECT group_concat(id) FROM _honker_notifications"), "7,8,9,10");
    EXPECT_EQ(call("skein_notification_prune(NULL, 0)"), "4");
    EXPECT_THAT(refusal_of("skein_notification_prune(NULL, NULL)"), HasSubstr("both NULL"));
    EXPECT_THAT(refusal_of("skein_notification_prune(-1, NULL)"),
                HasSubstr("must not be negative"));
}

TEST_F(StreamFunctions, PublishAndRead)
{
    EXPECT_EQ(call("honker_stream_publish('t', 'k', '{\"a\":1}')"), "1");
    EXPECT_EQ(call("honker_stream_publish('other', NULL, '2')"), "2");
    EXPECT_EQ(call("honker_stream_publish('t', NULL, '3')"), "3");
    EXPECT_EQ(call("honker_stream_read_since('t', 0, 10)"),
              "[{\"created_at\":1000,\"key\":\"k\",\"offset\":1,\"payload\":\"{\\\"a\\\":1}\","
              "\"topic\":\"t\"},{\"created_at\":1000,\"key\":null,\"offset\":3,\"payload\":\"3\","
              "\"topic\":\"t\"}]");
    EXPECT_THAT(each(call("honker_stream_read_since('t', 1, -1)"), "offset"), ElementsAre("3"));
    EXPECT_THAT(each(call("honker_stream_read_since('t', -5, 1)"), "offset"), ElementsAre("1"));
    EXPECT_EQ(call("honker_stream_read_since('t', 0, 0)"), "[]");
    EXPECT_EQ(call("honker_stream_read_since('t', 9223372036854775807, -1)"), "[]");
    EXPECT_EQ(call("honker_stream_read_since('none', 0, 9)"), "[]");
}

TEST_F(StreamFunctions, SaveOffsetsThatOnlyGrow)
{
    EXPECT_EQ(call("honker_stream_get_offset('c', 't')"), "0");
    EXPECT_EQ(call("honker_stream_save_offset('c', 't', -3)"), "1");
    EXPECT_EQ(call("honker_stream_get_offset('c', 't')"), "-3");
    EXPECT_EQ(call("honker_stream_save_offset('c', 't', 0)"), "1");
    EXPECT_EQ(call("honker_stream_save_offset('c', 't', 5)"), "1");
    EXPECT_EQ(call("honker_stream_save_offset('c', 't', 5)"), "0");
    EXPECT_EQ(call("honker_stream_save_offset('c', 't', 4)"), "0");
    EXPECT_EQ(call("honker_stream_save_offset('c', 'u', 0)"), "1");
    EXPECT_EQ(call("honker_stream_get_offset('c', 't')"), "5");
    EXPECT_THAT(sql("SELECT * FROM _honker_stream_consumers ORDER BY topic"),
                ElementsAre("c|t|5", "c|u|0"));
}

TEST_F(StreamFunctions, DoNotTakeWhatIsNoOffsetForTheBeginning)
{
    sql("INSERT INTO _honker_stream_consumers VALUES ('c', 't', 'no offset'), ('d', 't', 1.5)");
    EXPECT_THAT(refusal_of("honker_stream_get_offset('c', 't')"),
                HasSubstr("Invalid column type text"));
    EXPECT_THAT(refusal_of("honker_stream_get_offset('d', 't')"),
                HasSubstr("Invalid column type real"));
    EXPECT_EQ(sqlite3_extended_errcode(connection_.handle()), SQLITE_ERROR);
}

TEST_F(StreamFunctions, ForgetConsumersAndTrim)
{
    for (now_ = 1000; now_ < 1010; ++now_) {
        call("honker_stream_publish('t', NULL, '1')");
    }
    call("honker_stream_save_offset('slow', 't', 2)");
    call("honker_stream_save_offset('fast', 't', 6)");
    EXPECT_EQ(call("skein_stream_consumers('t')"), "{\"fast\":6,\"slow\":2}");
    EXPECT_EQ(call("skein_stream_trim_passed('t')"), "2");
    EXPECT_EQ(call("skein_stream_forget_consumer('slow', 't')"), "1");
    EXPECT_EQ(call("skein_stream_forget_consumer('slow', 't')"), "0");
    EXPECT_EQ(call("skein_stream_trim_passed('t')"), "4");
    EXPECT_EQ(call("skein_stream_trim_passed('none')"), "0");
    now_ = 1010;
    EXPECT_EQ(call("skein_stream_trim('t', 3, NULL)"), "1");
    EXPECT_EQ(call("skein_stream_trim('t', NULL, 1)"), "2");
    EXPECT_EQ(value("SELECT group_concat(offset) FROM _honker_stream"), "10");
    EXPECT_THAT(refusal_of("skein_stream_trim('t', NULL, NULL)"), HasSubstr("both NULL"));
    EXPECT_EQ(call("skein_stream_consumers('none')"), "{}");
}

TEST_F(ResultFunctions, KeepOneForAJob)
{
    EXPECT_EQ(call("honker_result_get(7)"), "NULL");
    EXPECT_EQ(call("honker_result_save(7, '{\"ok\":true}', 10)"), "1");
    EXPECT_EQ(call("honker_result_get(7)"), "{\"ok\":true}");
    now_ = 1005;
    EXPECT_EQ(call("honker_result_save(7, '2', 0)"), "1");
    EXPECT_EQ(value("SELECT * FROM _honker_results"), "7|2|1000|NULL");
    EXPECT_EQ(call("honker_result_save(8, '3', -4)"), "1");
    EXPECT_EQ(call("honker_result_save(9, '4', 10)"), "1");
    now_ = 1015;
    EXPECT_EQ(call("honker_result_get(9)"), "NULL");
    EXPECT_EQ(value("SELECT count(*) FROM _honker_results"), "3");
    EXPECT_EQ(call("honker_result_sweep()"), "1");
    EXPECT_EQ(call("honker_result_get(7) || honker_result_get(8)"), "23");
}

TEST_F(ResultFunctions, AreTextsOrNothing)
{
    sql("INSERT INTO _honker_results (job_id, value) VALUES (1, x'00'), (2, NULL), (3, 7)");
    EXPECT_THAT(refusal_of("honker_result_get(1)"), HasSubstr("Invalid column type blob"));
    EXPECT_EQ(call("honker_result_get(2)"), "NULL");
    EXPECT_EQ(call("honker_result_get(3)"), "7"); // of a column that makes texts of numbers
}

TEST_F(ResultFunctions, PruneByAgeOrByCount)
{
    for (now_ = 1000; now_ < 1005; ++now_) {
        call("honker_result_save(" + std::to_string(now_) + ", '1', 0)");
    }
    now_ = 1005;
    EXPECT_EQ(call("skein_result_prune(4, NULL)"), "1");
    EXPECT_EQ(call("skein_result_prune(NULL, 3)"), "1");
    EXPECT_EQ(value("SELECT group_concat(job_id) FROM _honker_results"), "1002,1003,1004");
}

} // namespace
