#include "runtime/wal_hint.hpp"

#include "support/plain_connection.hpp"
#include "support/temporary_directory.hpp"

#include <asio/io_context.hpp>
#include <gtest/gtest.h>

#include <filesystem>

namespace {

using skein::runtime::make_wal_hint;
using skein::runtime::wal_hint;
using skein::sqlite::connection;

class WalHint : public testing::Test {
protected:
    WalHint() { file_.sql("PRAGMA journal_mode = wal; CREATE TABLE t (v)"); }

    std::unique_ptr<wal_hint> make(std::string& refusal)
    {
        return make_wal_hint(context_.get_executor(), connection(file_.handle()), refusal);
    }

    std::unique_ptr<wal_hint> make()
    {
        std::string refusal;
        std::unique_ptr<wal_hint> hint = make(refusal);
        EXPECT_EQ(refusal, "");
        return hint;
    }

    void settle()
    {
        context_.restart();
        context_.poll();
    }

    skein::support::temporary_directory directory_;
    skein::support::plain_connection file_{directory_ / "test.db"};
    asio::io_context context_;
    int calls_ = 0;
};

TEST_F(WalHint, ComesOnceWhenTheLogIsWritten)
{
    const auto hint = make();
    hint->await([this] { ++calls_; });
    settle();
    EXPECT_EQ(calls_, 0);
    file_.sql("INSERT INTO t VALUES (1)");
    settle();
    file_.sql("INSERT INTO t VALUES (1)");
    settle();
    EXPECT_EQ(calls_, 1);
}

TEST_F(WalHint, ComesForWhatWasWrittenBefore)
{
    const auto hint = make();
    file_.sql("INSERT INTO t VALUES (1)");
    hint->await([this] { ++calls_; });
    settle();
    EXPECT_EQ(calls_, 1);
    EXPECT_TRUE(hint->take());
    EXPECT_FALSE(hint->take());
    hint->await([this] { ++calls_; });
    settle();
    EXPECT_EQ(calls_, 1) << "it was taken";
}

TEST_F(WalHint, IsForgottenWhenItIsCancelled)
{
    auto hint = make();
    hint->await([this] { ++calls_; });
    file_.sql("INSERT INTO t VALUES (1)");
    hint->cancel();
    settle();
    hint->await([this] { ++calls_; });
    hint.reset();
    settle();
    EXPECT_EQ(calls_, 0);
}

TEST_F(WalHint, IsRefusedWithoutALog)
{
    file_.sql("PRAGMA journal_mode = delete");
    std::string refusal;
    EXPECT_EQ(make(refusal), nullptr);
    EXPECT_NE(refusal, "");
}

TEST_F(WalHint, IsRefusedForTheReasonThatTheSystemGives)
{
    std::filesystem::remove(directory_ / "test.db-wal");
    std::string refusal;
    EXPECT_EQ(make(refusal), nullptr);
    EXPECT_NE(refusal.find("inotify"), std::string::npos) << refusal;
}

} // namespace
