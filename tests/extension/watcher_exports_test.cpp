#include "extension/watcher_fixture.hpp"

#include "support/child_process.hpp"

#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <limits>

namespace {

using skein::support::child_process;
using skein::support::extension_file;
using skein::support::watcher_fixture;
using ::testing::HasSubstr;

class WatcherExports : public watcher_fixture {
protected:
    template <class Function>
    Function* find(const char* name) const
    {
        void* const found = dlsym(library_, name);
        if (found == nullptr) {
            throw std::runtime_error(dlerror());
        }
        return reinterpret_cast<Function*>(found);
    }

    void* open(const char* backend = nullptr)
    {
        return open_(path_.c_str(), backend, error_, sizeof error_);
    }

    void* const library_ = dlopen(extension_file().c_str(), RTLD_NOW | RTLD_LOCAL);
    void* (*const open_)(const char*, const char*, char*, std::size_t) =
        find<void*(const char*, const char*, char*, std::size_t)>("honker_watcher_open");
    void* (*const open_v2_)(const char*, const char*, std::uint64_t, char*, std::size_t) =
        find<void*(const char*, const char*, std::uint64_t, char*, std::size_t)>(
            "honker_watcher_open_v2");
    int (*const wait_)(void*,
                       std::uint64_t) = find<int(void*, std::uint64_t)>("honker_watcher_wait");
    void (*const close_)(void*) = find<void(void*)>("honker_watcher_close");
    char error_[200] = "";
};

constexpr std::uint64_t without_end = std::numeric_limits<std::uint64_t>::max();

TEST_F(WatcherExports, WatchAFile)
{
    for (const char* const backend : {static_cast<const char*>(nullptr), "", "poll", "kernel"}) {
        void* const watcher = open(backend);
        ASSERT_NE(watcher, nullptr) << error_;
        EXPECT_STREQ(error_, "");
        EXPECT_EQ(wait_(watcher, 0), 0);
        commit();
        EXPECT_EQ(wait_(watcher, without_end), 1);
        EXPECT_EQ(wait_(watcher, 0), 0);
        close_(watcher);
    }
}

TEST_F(WatcherExports, TakeAnInterval)
{
    EXPECT_EQ(open_v2_(path_.c_str(), nullptr, 0, error_, sizeof error_), nullptr);
    EXPECT_STREQ(error_, "watcher poll interval must be positive");
    void* const watcher = open_v2_(path_.c_str(), nullptr, 5, error_, sizeof error_);
    ASSERT_NE(watcher, nullptr) << error_;
    commit();
    EXPECT_EQ(wait_(watcher, without_end), 1);
    close_(watcher);
    void* const seldom = open_v2_(path_.c_str(), nullptr, without_end, error_, sizeof error_);
    ASSERT_NE(seldom, nullptr) << error_;
    close_(seldom);
}

TEST_F(WatcherExports, AcceptNullHandles)
{
    EXPECT_EQ(wait_(nullptr, 0), -1);
    close_(nullptr);
}

TEST_F(WatcherExports, SayWhatTheyRefuse)
{
    EXPECT_EQ(open("nonsense"), nullptr);
    EXPECT_STREQ(error_,
                 "unknown watcher backend \"nonsense\"; valid: None, 'polling', 'kernel', 'shm'");
    EXPECT_EQ(open_(nullptr, nullptr, error_, sizeof error_), nullptr);
    EXPECT_THAT(error_, HasSubstr("needs the path"));
    EXPECT_EQ(open_(directory_.path().c_str(), nullptr, error_, sizeof error_), nullptr);
    EXPECT_STREQ(error_, "unable to open database file");
}

TEST_F(WatcherExports, CutWhatThereIsNoRoomFor)
{
    std::memset(error_, 'x', sizeof error_);
    EXPECT_EQ(open_(path_.c_str(), "nonsense", error_, 8), nullptr);
    EXPECT_STREQ(error_, "unknown");
    EXPECT_EQ(error_[8], 'x');
    EXPECT_EQ(open_(path_.c_str(), "nonsense", error_, 1), nullptr);
    EXPECT_STREQ(error_, "");
    EXPECT_EQ(open_(path_.c_str(), "nonsense", error_, 0), nullptr);
    EXPECT_EQ(open_(path_.c_str(), "nonsense", nullptr, 8), nullptr);
}

TEST_F(WatcherExports, EndWithTheFile)
{
    void* const watcher = open();
    std::filesystem::remove(path_);
    EXPECT_EQ(wait_(watcher, without_end), -1);
    EXPECT_EQ(wait_(watcher, without_end), -1);
    close_(watcher);
}

TEST_F(WatcherExports, NeedALoadedExtension)
{
    child_process program(SKEIN_UNLOADED_WATCHER, {extension_file().string(), path_.string()});
    EXPECT_THAT(program.read_line().value_or(""),
                HasSubstr("no connection of this process has loaded the extension yet"));
    EXPECT_EQ(program.wait(), 0);
}

/// In a child made by fork. Returns its exit status; negative when the alarm has ended it.
template <class Work>
int in_child(const Work& work)
{
    const pid_t child = fork();
    if (child == 0) {
        alarm(120);
        _exit(work());
    }
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

TEST_F(WatcherExports, AreOverInAChildProcess)
{
    void* const watcher = open();
    const std::string by_number = watcher_fixture::open(path_);
    commit();
    EXPECT_EQ(wait_(watcher, without_end), 1);
    EXPECT_EQ(in_child([&] {
                  const bool are_over =
                      wait_(watcher, without_end) == -1 && wait(by_number) == "-1";
                  close_(watcher);
                  return are_over ? 0 : 1;
              }),
              0);
    commit();
    EXPECT_EQ(wait_(watcher, without_end), 1);
    close_(watcher);
}

#ifndef __SANITIZE_THREAD__ // which lets no such child have threads
TEST_F(WatcherExports, AreThereForAChildProcessToo)
{
    void* const watcher = open();
    for (int each = 0; each < 20; ++each) {
        EXPECT_EQ(in_child([&] {
                      void* const own = open();
                      const skein::support::plain_connection file(path_);
                      file.sql("INSERT INTO t VALUES (1)");
                      const bool is_told = wait_(own, without_end) == 1;
                      close_(own);
                      return is_told ? 0 : 1;
                  }),
                  0);
    }
    EXPECT_EQ(wait_(watcher, without_end), 1);
    close_(watcher);
}
#endif

} // namespace
