#include "extension/contract_fixture.hpp"

namespace {

using skein::support::contract_fixture;
using ::testing::HasSubstr;

using JobControlFunctions = contract_fixture;

TEST_F(JobControlFunctions, ChangeJobsThatWait)
{
    enqueue("q");
    EXPECT_EQ(call("skein_job_change('q', 1, '[2]', '{\"priority\":4,\"delay_s\":20}')"), "1");
    EXPECT_EQ(value("SELECT payload, priority, run_at, state FROM _honker_live"),
              "[2]|4|1020|scheduled");
    EXPECT_EQ(call("skein_job_change('q', 1, NULL, '{\"run_at\":900}')"), "1");
    EXPECT_EQ(value("SELECT payload, priority, run_at, state FROM _honker_live"),
              "[2]|4|900|pending");
    EXPECT_EQ(call("skein_job_change('other', 1, NULL, '{}')"), "0");
    claim("q");
    EXPECT_EQ(call("skein_job_change('q', 1, '[3]', '{}')"), "0");
    EXPECT_THAT(refusal_of("skein_job_change('q', 1, NULL, '{\"run_at\":1,\"delay_s\":1}')"),
                HasSubstr("option \"run_at\" does not go with \"delay_s\""));
    EXPECT_THAT(refusal_of("skein_job_change('q', 1, NULL, '{\"state\":\"pending\"}')"),
                HasSubstr("option \"state\" is not known; priority, run_at, delay_s are"));
}

TEST_F(JobControlFunctions, AskAJobThatRunsToStop)
{
    enqueue("q");
    EXPECT_EQ(call("skein_job_request_stop('q', 1)"), "0");
    claim("q");
    EXPECT_EQ(call("skein_heartbeat(1, 'w', 90, 1)"), "1");
    EXPECT_EQ(call("skein_job_request_stop('q', 1)"), "1");
    EXPECT_EQ(call("skein_heartbeat(1, 'w', 90, 1)"), "2");
    EXPECT_EQ(value("SELECT claim_expires_at FROM _honker_live"), "1090");
    EXPECT_EQ(call("honker_heartbeat(1, 'w', 90, 1)"), "1");
    call("honker_retry(1, 'w', 0, '', 1)");
    claim("q");
    EXPECT_EQ(call("skein_heartbeat(1, 'w', 90, 1)"), "0");
    EXPECT_EQ(call("skein_heartbeat(1, 'w', 90, 2)"), "1");
}

TEST_F(JobControlFunctions, PauseQueues)
{
    enqueue("q");
    enqueue("q");
    EXPECT_EQ(call("skein_queue_is_paused('q')"), "0");
    EXPECT_EQ(call("skein_queue_pause('q')"), "2");
    EXPECT_EQ(call("skein_queue_pause('q')"), "0");
    EXPECT_EQ(call("skein_queue_is_paused('q')"), "1");
    EXPECT_EQ(claim("q", 9), "[]");
    EXPECT_EQ(call("honker_queue_next_claim_at('q')"), "0");
    EXPECT_EQ(call("skein_queue_resume('q')"), "2");
    EXPECT_EQ(call("skein_queue_resume('q')"), "0");
    EXPECT_THAT(each(claim("q", 9), "id"), ::testing::ElementsAre("1", "2"));
}

TEST_F(JobControlFunctions, MoveLargeQueuesInSlices)
{
    for (int i = 0; i < 1500; ++i) {
        enqueue("q");
    }
    EXPECT_EQ(call("skein_queue_pause('q')"), "1000");
    EXPECT_EQ(claim("q", 9), "[]"); // and puts nine more aside
    EXPECT_EQ(call("skein_queue_pause('q')"), "491");
    EXPECT_EQ(call("skein_queue_resume('q')"), "1000");
    EXPECT_EQ(call("skein_queue_resume('q')"), "500");
}

} // namespace
