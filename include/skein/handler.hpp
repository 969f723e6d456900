#pragma once

#include <skein/await_argument.hpp>
#include <skein/clock.hpp>
#include <skein/export.hpp>
#include <skein/handler_outcome.hpp>
#include <skein/job.hpp>
#include <skein/message.hpp>
#include <skein/payload.hpp>

#include <asio/awaitable.hpp>

#include <concepts>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

// How `run` calls what it is given. Users write handlers, see <skein/worker.hpp>; this is for the
// library.
namespace skein::worker {

/// What came of one call of a handler.
struct handled {
    enum class way { returned, failed, failed_for_good, snoozed };

    way how = way::failed;
    std::string reason;                ///< why it has failed
    std::optional<std::string> result; ///< the text of what it has returned
    duration delay{0};                 ///< how long it is snoozed
};

/// What a handler's exception says.
[[nodiscard]] SKEIN_EXPORT handled handled_failure(const std::exception_ptr& failure);

/// `Held` is `job` or `message`.
template <class Held>
using handler_function = std::function<asio::awaitable<handled>(Held&)>;

/// The parameters and the result of what can be called in one way only.
template <class Function>
struct signature {};
template <class Result, class... Parameters>
struct signature<Result (*)(Parameters...)> {
    using result = Result;
    using parameters = std::tuple<Parameters...>;
};
template <class Result, class... Parameters>
struct signature<Result (*)(Parameters...) noexcept> : signature<Result (*)(Parameters...)> {};
template <class Result, class Object, class... Parameters>
struct signature<Result (Object::*)(Parameters...)> : signature<Result (*)(Parameters...)> {};
template <class Result, class Object, class... Parameters>
struct signature<Result (Object::*)(Parameters...) const> : signature<Result (*)(Parameters...)> {};
template <class Result, class Object, class... Parameters>
struct signature<Result (Object::*)(Parameters...) noexcept>
    : signature<Result (*)(Parameters...)> {};
template <class Result, class Object, class... Parameters>
struct signature<Result (Object::*)(Parameters...) const noexcept>
    : signature<Result (*)(Parameters...)> {};
template <class Object>
    requires requires { &Object::operator(); }
struct signature<Object> : signature<decltype(&Object::operator())> {};

template <class Handler>
concept has_signature = requires { typename signature<Handler>::result; };

template <class Type>
inline constexpr bool is_awaitable = false;
template <class Result>
inline constexpr bool is_awaitable<asio::awaitable<Result>> = true;

template <class Type>
concept text = std::same_as<Type, std::string> || std::same_as<Type, std::string_view>;

/// What a payload can be handed over as.
template <class Type>
concept decodable = text<Type> || requires(std::string_view payload) {
    { payload_codec<Type>::decode(payload) } -> std::convertible_to<Type>;
};

/// What a handler's result can be: nothing, JSON text, or a value with a codec.
template <class Type>
concept storable =
    std::is_void_v<Type> || std::convertible_to<const Type&, std::string_view> || encodable<Type>;

/// What a handler takes: the job, its payload, or both in this order.
template <class Held, class... Parameters>
struct handler_parameters {
    static constexpr bool are_accepted = false;
};
template <class Held>
struct handler_parameters<Held, Held&> {
    static constexpr bool are_accepted = true;
    static constexpr bool have_payload = false;
};
template <class Held, class Payload>
    requires(!std::same_as<std::remove_cvref_t<Payload>, Held>)
struct handler_parameters<Held, Payload> {
    static constexpr bool are_accepted = true;
    static constexpr bool have_payload = true;
    static constexpr bool have_held = false;
    using payload = Payload;
};
template <class Held, class Payload>
    requires(!std::same_as<std::remove_cvref_t<Payload>, Held>)
struct handler_parameters<Held, Held&, Payload> {
    static constexpr bool are_accepted = true;
    static constexpr bool have_payload = true;
    static constexpr bool have_held = true;
    using payload = Payload;
};

template <class Held, class Parameters>
struct handler_form;
template <class Held, class... Parameters>
struct handler_form<Held, std::tuple<Parameters...>> : handler_parameters<Held, Parameters...> {};

template <class Held, class Handler>
using form_of = handler_form<Held, typename signature<Handler>::parameters>;

template <class Handler>
using result_of = typename signature<Handler>::result::value_type;

/// The payload as a value. One that cannot be decoded is not going to be.
template <class Value, class Held>
Value decoded(const Held& held)
{
    if constexpr (text<Value>) {
        return Value(held.payload());
    } else {
        try {
            return held.template payload<Value>();
        } catch (const std::exception& refused) {
            throw permanent_failure(std::string("the payload cannot be decoded: ") +
                                    refused.what());
        }
    }
}

template <class Result>
std::string encoded(const Result& result)
{
    if constexpr (std::convertible_to<const Result&, std::string_view>) {
        return std::string(std::string_view(result));
    } else {
        return payload_codec<Result>::encode(result);
    }
}

/// Awaits what a handler does. Nothing that it throws gets out.
template <class Result> // `came` lives in the frame that awaits this
// NOLINTNEXTLINE(cppcoreguidelines-avoid-reference-coroutine-parameters)
asio::awaitable<void> note_work(asio::awaitable<Result> work, handled& came)
{
    if constexpr (std::is_void_v<Result>) {
        co_await std::move(work);
    } else {
        const Result result = co_await std::move(work);
        came.result = encoded(result);
    }
    came.how = handled::way::returned;
}

/// Calls a handler, which lives until that call has ended, as what is held does.
template <class Held, class Handler>
// NOLINTNEXTLINE(cppcoreguidelines-avoid-reference-coroutine-parameters)
asio::awaitable<handled> call(std::shared_ptr<Handler> handler, Held& held)
{
    using form = form_of<Held, Handler>;
    handled came;
    try {
        if constexpr (!form::have_payload) {
            co_await note_work((*handler)(held), came);
        } else {
            using value_type = std::remove_cvref_t<typename form::payload>;
            auto value = decoded<value_type>(held);
            if constexpr (form::have_held) {
                auto work = (*handler)(held, static_cast<typename form::payload&&>(value));
                co_await note_work(std::move(work), came);
            } else {
                auto work = (*handler)(static_cast<typename form::payload&&>(value));
                co_await note_work(std::move(work), came);
            }
        }
    } catch (...) {
        came = handled_failure(std::current_exception());
    }
    co_return came;
}

/// Refuses what cannot be called, or not be passed, and says what can.
template <class Held, class Argument>
consteval void require_handler()
{
    using handler = std::decay_t<Argument>;
    static_assert(is_safe_await_argument<Argument>,
                  "g++ 12 destroys this temporary twice inside co_await. Name the handler first: "
                  "const auto handler = [...](job& job, T payload) -> asio::awaitable<void> {...}; "
                  "co_await skein::run(queue, handler);");
    static_assert(has_signature<handler>,
                  "a handler is a function, or an object with one operator() that is not "
                  "overloaded and no template: write the type of its payload instead of auto");
    if constexpr (has_signature<handler>) {
        using result = typename signature<handler>::result;
        static_assert(is_awaitable<result>, "a handler is a coroutine: it returns asio::awaitable");
        static_assert(form_of<Held, handler>::are_accepted,
                      "a handler takes the job (job&), its payload (T), or both (job&, T); one for "
                      "a transport takes message& instead of job&");
        if constexpr (is_awaitable<result>) {
            static_assert(std::same_as<Held, job> || std::is_void_v<result_of<handler>>,
                          "a message has no result: its handler returns asio::awaitable<void>");
            static_assert(storable<result_of<handler>>,
                          "what a handler returns is kept as JSON: it returns text, or a type with "
                          "a payload_codec (see <skein/json.hpp>), or nothing");
        }
        if constexpr (requires { typename form_of<Held, handler>::payload; }) {
            static_assert(
                decodable<std::remove_cvref_t<typename form_of<Held, handler>::payload>>,
                "a payload is taken as std::string_view, as std::string, or as a type with a "
                "payload_codec (see <skein/json.hpp>)");
        }
    }
}

/// A handler of whatever form, in one form. The copy is shared by all calls.
template <class Held, class Argument>
handler_function<Held> make_handler(Argument&& handler)
{
    require_handler<Held, Argument>();
    auto kept = std::make_shared<std::decay_t<Argument>>(std::forward<Argument>(handler));
    return [kept](Held& held) { return call(kept, held); };
}

} // namespace skein::worker
