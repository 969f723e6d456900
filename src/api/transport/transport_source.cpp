#include "api/transport/transport_source.hpp"

#include "runtime/epoch.hpp"

#include <cstdint>

namespace skein::api {

namespace {

constexpr std::size_t token_length = 32;
constexpr std::string_view token_digits = "0123456789abcdef";

std::mt19937_64 seeded()
{
    std::random_device device;
    std::seed_seq seed{device(), device(), device(), device(), device(), device()};
    return std::mt19937_64(seed);
}

} // namespace

transport_source::transport_source(store::transport_names names)
    : names_(std::move(names)), random_(seeded())
{
}

store::transport& transport_source::ready(runtime::batch& batch, bool create_schema)
{
    if (is_usable(create_schema)) {
        return *store_;
    }
    const sqlite::connection connection = batch.connection();
    store::transport_shape shape = store::inspect_transport(connection, names_);
    if (create_schema && shape != store::transport_shape::complete) {
        store::create_transport(connection, names_);
        shape = store::transport_shape::complete;
    }
    open(connection, shape);
    if (shape != store::transport_shape::missing) {
        batch.after_commit([this, connection] { note_commit(connection); });
    }
    return *store_;
}

/// The tables may have vanished all the same, with a savepoint of the user's.
void transport_source::note_commit(sqlite::connection connection) noexcept
{
    try {
        is_committed_ = is_committed_ || store::inspect_transport(connection, names_) == shape_;
    } catch (const sqlite::error&) {
        // The next one looks again.
    }
}

store::parked_groups& transport_source::parked(runtime::batch& batch, bool create_schema)
{
    ready(batch, create_schema);
    return *parked_;
}

store::transport_repair& transport_source::repair(runtime::batch& batch, bool create_schema)
{
    ready(batch, create_schema);
    return *repair_;
}

bool transport_source::has_work(sqlite::connection connection, bool create_schema,
                                const store::claim_filter& filter, double now)
{
    if (!is_usable(create_schema)) {
        const store::transport_shape shape = store::inspect_transport(connection, names_);
        if (create_schema && shape != store::transport_shape::complete) {
            return true; // the claim that follows makes the tables
        }
        open(connection, shape);
        is_committed_ = shape != store::transport_shape::missing;
    }
    return store_->has_work(filter, now);
}

store::transport_inspection* transport_source::inspection(sqlite::connection connection,
                                                          bool create_schema)
{
    if (!inspection_ || inspection_->is_of_older_shape()) {
        const store::transport_tables tables = store::find_transport(connection, names_);
        if (create_schema && !tables.has_messages) {
            return nullptr;
        }
        inspection_ = std::make_unique<store::transport_inspection>(connection, names_, tables);
    }
    return inspection_.get();
}

std::string transport_source::new_lock(std::string_view worker)
{
    std::string lock(worker);
    lock += '#';
    for (std::size_t digit = 0, bits = 0; digit < token_length; ++digit, bits >>= 4) {
        if (digit % 16 == 0) {
            bits = random_();
        }
        lock += token_digits[bits & 0xf];
    }
    return lock;
}

std::optional<clock::wall_time> transport_source::next_due(sqlite::connection /*connection*/,
                                                           clock::wall_time since)
{
    if (!store_ || !is_committed_) {
        return std::nullopt;
    }
    const std::optional<double> end = store_->next_lapse(runtime::to_epoch(since));
    if (!end) {
        return std::nullopt;
    }
    // A lease holds at its very end, and what a double tells is coarser than the clock.
    const clock::wall_time last = runtime::from_epoch(*end);
    const std::chrono::microseconds after{1};
    return last < clock::wall_time::max() - after ? last + after : last;
}

void transport_source::disconnect() noexcept
{
    store_.reset();
    parked_.reset();
    repair_.reset();
    inspection_.reset();
    is_committed_ = false;
}

bool transport_source::is_usable(bool create_schema) const noexcept
{
    return store_ && is_committed_ &&
           (!create_schema || shape_ == store::transport_shape::complete);
}

void transport_source::open(sqlite::connection connection, store::transport_shape shape)
{
    if (!store_ || shape != shape_) {
        is_committed_ = false;
        store_ = std::make_unique<store::transport>(connection, names_, shape);
        parked_ = std::make_unique<store::parked_groups>(connection, names_);
        repair_ = std::make_unique<store::transport_repair>(connection, names_, shape);
        shape_ = shape;
    }
}

std::string worker_of(std::string_view lock)
{
    const std::size_t mark = lock.rfind('#');
    const bool is_ours = mark != lock.npos && lock.size() - mark - 1 == token_length &&
                         lock.find_first_not_of(token_digits, mark + 1) == lock.npos;
    return std::string(is_ours ? lock.substr(0, mark) : lock);
}

} // namespace skein::api
