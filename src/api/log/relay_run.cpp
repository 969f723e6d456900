#include "api/log/relay_run.hpp"

#include "api/lock/lock_waiter.hpp"
#include "api/log/consumer_place.hpp"
#include "api/log/relay_pause.hpp"
#include "api/small_unit.hpp"
#include "runtime/await_run.hpp"
#include "runtime/awaiting.hpp"
#include "runtime/log_line.hpp"

#include <skein/consumer.hpp>
#include <skein/error.hpp>

#include <asio/bind_cancellation_slot.hpp>
#include <asio/bind_executor.hpp>
#include <asio/cancellation_signal.hpp>
#include <asio/co_spawn.hpp>
#include <asio/post.hpp>
#include <asio/strand.hpp>
#include <asio/this_coro.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <exception>
#include <optional>
#include <string>
#include <utility>

namespace skein::api {

namespace {

bool is_lagged(const std::exception_ptr& failure)
{
    try {
        std::rethrow_exception(failure);
    } catch (const lagged&) {
        return true;
    } catch (...) {
        return false;
    }
}

std::string in_seconds(clock::steady_time::duration length)
{
    return std::to_string(std::chrono::duration<double>(length).count()) + " s";
}

/// One call of `relay::run`: a coroutine on a strand of its own, to which a cancellation comes
/// whenever it need not be put off. All of it happens on the strand.
class relay_run : public std::enable_shared_from_this<relay_run> {
public:
    relay_run(const asio::any_io_executor& executor, std::shared_ptr<const relay_state> state,
              relay::sink sink)
        : strand_(asio::make_strand(executor)), state_(std::move(state)), sink_(std::move(sink)),
          pause_(state_->first_pause)
    {
    }

    // From any thread.

    void start(std::unique_ptr<runtime::caller> waiting)
    {
        caller_ = std::move(waiting);
        asio::post(strand_, [self = shared_from_this()] { self->begin(); });
    }

    void cancel()
    {
        asio::post(strand_, [self = shared_from_this()] { self->stop(); });
    }

private:
    using self_handle = std::shared_ptr<relay_run>;

    /// While one of these lives, a cancellation is put off.
    class delivery_scope {
    public:
        explicit delivery_scope(relay_run& run) noexcept : run_(run) { run_.is_delivering_ = true; }
        delivery_scope(const delivery_scope&) = delete;
        delivery_scope& operator=(const delivery_scope&) = delete;
        ~delivery_scope() { run_.is_delivering_ = false; }

    private:
        relay_run& run_;
    };

    void begin()
    {
        auto end = [self = shared_from_this()](std::exception_ptr failure) {
            self->finish(std::move(failure));
        };
        asio::co_spawn(strand_, work(shared_from_this()),
                       asio::bind_cancellation_slot(signal_.slot(),
                                                    asio::bind_executor(strand_, std::move(end))));
    }

    void stop()
    {
        is_stopping_ = true;
        if (!is_delivering_) {
            signal_.emit(asio::cancellation_type::terminal);
        }
    }

    /// Once the coroutine is gone, which holds what it has thrown, too: the caller may look at it
    /// on another thread. What the sink refers to is the caller's.
    void finish(std::exception_ptr failure)
    {
        asio::post(strand_, [self = shared_from_this(), failure = std::move(failure)]() mutable {
            self->sink_ = nullptr;
            self->caller_->resume(std::move(failure));
        });
    }

    void require_going_on() const
    {
        if (is_stopping_) {
            std::rethrow_exception(runtime::cancelled_failure());
        }
    }

    // The coroutines own what they run on.

    static asio::awaitable<void> work(self_handle self)
    {
        while (true) {
            std::exception_ptr failure;
            try {
                co_await serve(self);
            } catch (...) {
                failure = std::current_exception();
            }
            self->reader_.reset();
            self->guard_ = lock_guard(); // another may try it meanwhile
            self->require_going_on();
            if (failure && (runtime::is_final(failure) || is_lagged(failure))) {
                std::rethrow_exception(failure);
            }
            if (failure) {
                co_await rest(self, runtime::one_line_of(failure));
            }
        }
    }

    /// As long as it is the one that works; from its saved offset on, since another may have worked
    /// meanwhile.
    static asio::awaitable<void> serve(self_handle self)
    {
        self->require_going_on();
        const relay_state& state = *self->state_;
        const auto wait = std::make_shared<lock_waiter>(state.lock, runtime::patience{});
        self->guard_ = *co_await runtime::await_result(state.topic->engine, wait);
        if (self->delivered_) {
            const delivery_scope delivering(*self);
            co_await save(self);
        }
        self->reader_ = co_await consumer_place::make(state.topic, state.name, {});
        while (self->guard_.is_held()) {
            self->event_ = self->relayed(co_await self->reader_->next());
            co_await deliver(self);
        }
    }

    /// Hands the event out until it is taken, or another has to do it.
    static asio::awaitable<void> deliver(self_handle self)
    {
        bool is_taken = false;
        while (!is_taken && self->guard_.is_held()) {
            self->require_going_on();
            const std::exception_ptr failure = co_await try_delivery(self);
            self->require_going_on();
            if (self->delivered_) {
                std::rethrow_exception(failure); // it is the file that has refused
            }
            is_taken = failure == nullptr;
            if (!is_taken) {
                co_await rest(self, "event " + std::to_string(self->event_.event.offset) +
                                        " was not taken: " + runtime::one_line_of(failure));
            }
        }
    }

    static asio::awaitable<std::exception_ptr> try_delivery(self_handle self)
    {
        const delivery_scope delivering(*self);
        std::exception_ptr failure;
        try {
            co_await self->sink_(self->event_);
            self->delivered_ = self->event_.event.offset;
            co_await save(self);
        } catch (...) {
            failure = std::current_exception();
        }
        co_return failure;
    }

    static asio::awaitable<void> save(self_handle self)
    {
        const auto work = [state = self->state_,
                           offset = *self->delivered_](runtime::batch& batch) {
            const stream_state& topic = *state->topic;
            return topic.ready(batch).save_offset(state->name, topic.topic(), offset);
        };
        co_await write(self->state_->topic->engine, work);
        self->delivered_.reset();
        self->pause_ = self->state_->first_pause;
    }

    static asio::awaitable<void> rest(self_handle self, std::string why)
    {
        const relay_state& state = *self->state_;
        const auto length = self->pause_;
        self->pause_ = std::min(length * 2, state.longest_pause);
        const auto pause = std::make_shared<relay_pause>(
            self->state_, length,
            runtime::in_one_line("relay '" + state.name + "' of '" + state.topic->topic() +
                                 "': " + why + "; the next try is in " + in_seconds(length)));
        co_await runtime::await_operation(state.topic->engine, pause);
    }

    [[nodiscard]] relayed_event relayed(stream_event event) const
    {
        const std::string& topic = state_->topic->topic();
        return {topic + ':' + std::to_string(event.offset), topic, std::move(event)};
    }

    asio::strand<asio::any_io_executor> strand_;
    std::shared_ptr<const relay_state> state_;
    relay::sink sink_;
    std::unique_ptr<runtime::caller> caller_;
    asio::cancellation_signal signal_;
    lock_guard guard_;
    std::optional<consumer> reader_;
    relayed_event event_;
    clock::steady_time::duration pause_;    ///< after the next failure
    std::optional<std::int64_t> delivered_; ///< the sink has taken it, and that is not saved
    bool is_stopping_ = false;
    bool is_delivering_ = false;
};

} // namespace

asio::awaitable<void> run_relay(std::shared_ptr<const relay_state> state, relay::sink sink)
{
    const asio::any_io_executor executor = co_await asio::this_coro::executor;
    auto run = std::make_shared<relay_run>(executor, std::move(state), std::move(sink));
    co_await runtime::await_run(std::move(run));
}

} // namespace skein::api
