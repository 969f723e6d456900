#include <skein/consumer.hpp>

#include "api/claim_arguments.hpp"
#include "api/log/consumer_place.hpp"
#include "api/misuse.hpp"

namespace skein {

namespace {

using events = std::vector<stream_event>;

asio::awaitable<events> start_next(const std::shared_ptr<api::consumer_place>& place,
                                   std::size_t most, runtime::patience how_long)
{
    place->topic().engine->require_outside_callback();
    return api::consumer_place::next(place, most, how_long);
}

asio::awaitable<std::optional<stream_event>> first_of(asio::awaitable<events> wait)
{
    events found = co_await std::move(wait);
    std::optional<stream_event> first;
    if (!found.empty()) {
        first = std::move(found.front());
    }
    co_return first;
}

asio::awaitable<stream_event> expect_first(asio::awaitable<events> wait)
{
    events found = co_await std::move(wait);
    co_return std::move(found.front());
}

} // namespace

consumer::consumer(std::shared_ptr<api::consumer_place> place) noexcept : place_(std::move(place))
{
}

consumer::consumer(consumer&& other) noexcept = default;
consumer& consumer::operator=(consumer&& other) noexcept = default;
consumer::~consumer() = default;

std::string_view consumer::topic() const noexcept
{
    return place_->topic().topic();
}

std::string_view consumer::name() const noexcept
{
    return place_->name();
}

std::int64_t consumer::offset() const noexcept
{
    return place_->offset();
}

asio::awaitable<stream_event> consumer::next()
{
    return expect_first(start_next(place_, 1, {}));
}

asio::awaitable<std::optional<stream_event>> consumer::try_next()
{
    return next_within(duration::zero());
}

asio::awaitable<std::optional<stream_event>> consumer::next_within(duration limit)
{
    return first_of(start_next(place_, 1, api::patience_of(limit)));
}

asio::awaitable<std::vector<stream_event>> consumer::next_many(std::size_t most)
{
    return start_next(place_, api::checked_most(most), {});
}

asio::awaitable<std::vector<stream_event>> consumer::try_next_many(std::size_t most)
{
    return next_many_within(duration::zero(), most);
}

asio::awaitable<std::vector<stream_event>> consumer::next_many_within(duration limit,
                                                                      std::size_t most)
{
    return start_next(place_, api::checked_most(most), api::patience_of(limit));
}

asio::awaitable<bool> consumer::save(std::int64_t offset)
{
    place_->topic().engine->require_outside_callback("save(tx, offset)");
    return api::consumer_place::save(place_, offset);
}

asio::awaitable<bool> consumer::save()
{
    place_->topic().engine->require_outside_callback("save(tx)");
    return api::consumer_place::save(place_, place_->handed_out());
}

bool consumer::save(transaction& tx, std::int64_t offset)
{
    return place_->save(api::own_batch(tx.batch_, *place_->topic().engine), offset);
}

bool consumer::save(transaction& tx)
{
    runtime::batch& batch = api::own_batch(tx.batch_, *place_->topic().engine);
    const std::optional<std::int64_t> last = place_->handed_out();
    return last && place_->save(batch, *last);
}

} // namespace skein
