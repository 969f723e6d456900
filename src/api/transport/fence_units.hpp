#pragma once

#include "api/transport/message_events.hpp"
#include "api/transport/message_lease.hpp"
#include "api/transport/transport_state.hpp"
#include "runtime/unit.hpp"

#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace skein::api {

/// What is done with a claimed message, by its fence. The result tells whether the fence was good.
class fence_unit : public runtime::unit {
public:
    using result_type = bool;

    fence_unit(std::shared_ptr<const transport_state> where, store::message_fence fence,
               std::optional<clock::steady_time> held_since = {});

    void run(runtime::batch& batch) final;

    bool result = false;

protected:
    /// `now` in epoch seconds.
    virtual bool apply(store::transport& store, const store::message_fence& fence, double now) = 0;

    /// Tells the observer of it, once it is done.
    virtual void note_done(runtime::batch& batch, const held_message& claim) const = 0;

    [[nodiscard]] virtual std::string_view verb() const noexcept = 0;

private:
    std::shared_ptr<const transport_state> where_;
    store::message_fence fence_;
    std::optional<clock::steady_time> held_since_;
};

class ack_unit final : public fence_unit {
public:
    using fence_unit::fence_unit;

private:
    bool apply(store::transport& store, const store::message_fence& fence, double now) override;
    void note_done(runtime::batch& batch, const held_message& claim) const override;
    std::string_view verb() const noexcept override { return "ack"; }
};

class nack_unit final : public fence_unit {
public:
    /// `delay` in seconds; at most zero means at once.
    nack_unit(std::shared_ptr<const transport_state> where, store::message_fence fence,
              double delay, std::optional<clock::steady_time> held_since = {})
        : fence_unit(std::move(where), std::move(fence), held_since), delay_(delay)
    {
    }

private:
    bool apply(store::transport& store, const store::message_fence& fence, double now) override;
    void note_done(runtime::batch& batch, const held_message& claim) const override;
    std::string_view verb() const noexcept override { return "nack"; }

    double delay_;
};

class extend_unit final : public fence_unit {
public:
    /// `visibility` in seconds from now.
    extend_unit(std::shared_ptr<const transport_state> where, store::message_fence fence,
                double visibility, std::optional<clock::steady_time> held_since = {})
        : fence_unit(std::move(where), std::move(fence), held_since), visibility_(visibility)
    {
    }

    /// The new end of the lease, in epoch seconds.
    [[nodiscard]] double expires_at() const noexcept { return expires_at_; }

private:
    bool apply(store::transport& store, const store::message_fence& fence, double now) override;
    void note_done(runtime::batch& /*batch*/, const held_message& /*claim*/) const override {}
    std::string_view verb() const noexcept override { return "extend"; }

    double visibility_;
    double expires_at_ = 0;
};

/// Acknowledges messages of one database, each by its own fence.
class ack_many_unit final : public runtime::unit {
public:
    using result_type = std::vector<bool>;

    /// Throws `errc::invalid_argument` for an empty handle, and for a message of another database
    /// than that of `where`.
    ack_many_unit(const transport_state& where, std::span<const message> messages);

    void run(runtime::batch& batch) override;

    /// Dropping the handles does not give the messages back any more.
    void keep_leases() const noexcept;

    std::vector<bool> result; ///< for each message whether its fence was good

private:
    std::vector<std::shared_ptr<message_lease>> leases_;
};

/// The delay of a nack, checked. Throws `errc::invalid_argument`.
[[nodiscard]] double checked_delay(duration delay);
/// The length of a lease, checked. Throws `errc::invalid_argument`.
[[nodiscard]] double checked_visibility(duration visibility);

} // namespace skein::api
