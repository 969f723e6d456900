#include "api/transport/message_events.hpp"

#include <string>

namespace skein::api {

namespace {

/// Calls `say(observer, attempt)` after the commit.
template <class Say>
void note(runtime::batch& batch, const held_message& claim, Say say)
{
    if (!batch.is_observed()) {
        return;
    }
    message_attempt about;
    about.transport = claim.transport.source->name();
    about.seq = claim.fence.seq;
    if (claim.since) {
        about.held = batch.owner().steady_now() - *claim.since;
    }
    batch.note([about, group = claim.fence.group_id, say](runtime::event_sink& told) {
        message_attempt whole = about;
        whole.group = group;
        told.tell([&](observer& who) { say(who, whole); });
    });
}

} // namespace

void note_published(runtime::batch& batch, const transport_source& transport,
                    std::string_view group)
{
    if (batch.is_observed()) {
        batch.note([&transport, kept = std::string(group)](runtime::event_sink& told) {
            told.tell([&](observer& who) { who.on_message_published({transport.name(), kept}); });
        });
    }
}

void note_acked(runtime::batch& batch, const held_message& claim)
{
    note(batch, claim,
         [](observer& who, const message_attempt& about) { who.on_message_acked({about}); });
}

void note_nacked(runtime::batch& batch, const held_message& claim, double delay)
{
    note(batch, claim, [delay](observer& who, const message_attempt& about) {
        who.on_message_nacked({about, duration(delay > 0 ? delay : 0)});
    });
}

void note_message_lost(runtime::batch& batch, const held_message& claim, std::string_view verb)
{
    note(batch, claim, [verb](observer& who, const message_attempt& about) {
        who.on_message_lease_lost({about, verb});
    });
}

} // namespace skein::api
