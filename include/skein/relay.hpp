#pragma once

#include <skein/await_argument.hpp>
#include <skein/clock.hpp>
#include <skein/export.hpp>
#include <skein/stream_event.hpp>

#include <asio/awaitable.hpp>

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace skein {

namespace api {
struct relay_state;
}

/// An event as a relay hands it to its sink.
struct relayed_event {
    /// `<topic>:<offset>`: the same each time that the event is handed out, by whatever process,
    /// and of no other event of the file. What is behind the sink can tell a repetition by it.
    std::string id;

    std::string topic;
    stream_event event;
};

/// How a relay works.
struct relay_options {
    /// After a failure it tries again: the first time after this long, and after each further
    /// failure in a row after twice the time. More than zero.
    duration first_pause = std::chrono::milliseconds{100};

    /// What the pauses grow to: not less than the first.
    duration longest_pause = std::chrono::seconds{30};

    /// How long the others that run under the same name wait when its process dies. More than zero.
    std::chrono::seconds lock_ttl = std::chrono::seconds{30};
};

/// Hands the events of a topic to something outside of the file, one after the other in their
/// order: what was written in one transaction with the user's rows reaches a broker, or another
/// service, once it is committed, and only then.
///
///     auto send = [&](const skein::relayed_event& each) -> asio::awaitable<void> {
///         co_await broker.send(each.id, each.event.payload);
///     };
///     co_await db.stream("outbox").relay("broker").run(send);
///
/// At least once: how far it has come is saved, as that of the `consumer` of its name, when the
/// sink has returned. So an event is handed out again if the process dies between the two, or if
/// the sink has thrown; it has the same id then.
///
/// However many run under one name and topic, in whatever processes, one of them works; the others
/// wait for its end. It holds a named lock meanwhile: one whose process is stopped for longer than
/// `relay_options::lock_ttl` is replaced, and if it then goes on it finishes the event that it was
/// at, which may be handed out twice.
///
/// A name that is new begins with the first event that is there. Nothing removes events by itself:
/// `stream::trim` with `passed_by_all` removes what has been handed out.
///
/// A handle: cheap to copy, safe from any thread and executor. Made by `stream::relay`.
class SKEIN_EXPORT relay {
public:
    using sink = std::function<asio::awaitable<void>(const relayed_event&)>;

    /// Works until it is cancelled: waits for events, awaits `taker(event)` for each, and saves.
    ///
    /// Whatever the sink throws, it is told to the log, and the same event is handed to it again
    /// after a pause; no other comes before. So it is with what keeps the file from being read or
    /// written, such as `errc::busy`, but that the sink is not called again for what it has taken.
    ///
    /// `taker`: a sink. It is copied, and called on a strand over the caller's executor.
    /// Throws: the final errors of `database`, such as `errc::closed`; `lagged` when events were
    /// removed before they were handed out. It goes on behind them when that was taken note of, by
    /// `consumer::save` under its name or by `stream::forget_consumer`.
    /// Cancellation: all types. The sink is not cancelled: when it has returned, and that is saved,
    /// this ends with `asio::error::operation_aborted`. A sink limits its time by itself.
    template <class Sink>
    [[nodiscard]] asio::awaitable<void> run(Sink&& taker) const
    {
        static_assert(is_safe_await_argument<Sink>,
                      "g++ 12 destroys this temporary twice inside co_await. Name the sink first: "
                      "auto send = [...](const auto& event) {...}; co_await relay.run(send);");
        return run_into(std::forward<Sink>(taker));
    }

private:
    friend class stream;

    explicit relay(std::shared_ptr<const api::relay_state> state) noexcept;

    [[nodiscard]] asio::awaitable<void> run_into(sink taker) const;

    std::shared_ptr<const api::relay_state> state_;
};

} // namespace skein
