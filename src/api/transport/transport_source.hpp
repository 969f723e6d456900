#pragma once

#include "runtime/batch.hpp"
#include "runtime/source.hpp"
#include "store/transport/parked_groups.hpp"
#include "store/transport/transport.hpp"
#include "store/transport/transport_inspection.hpp"
#include "store/transport/transport_repair.hpp"

#include <memory>
#include <random>
#include <string>
#include <string_view>

namespace skein::api {

/// One transport of the file, as all its handles share it. Used on the strand only.
class transport_source final : public runtime::source {
public:
    explicit transport_source(store::transport_names names);

    [[nodiscard]] const std::string& name() const noexcept { return names_.key; }
    [[nodiscard]] const store::transport_names& names() const noexcept { return names_; }

    /// The transport, for writing; creates or upgrades its tables first where that is wanted and
    /// necessary.
    store::transport& ready(runtime::batch& batch, bool create_schema);

    /// As `ready`, for what else is done with the tables.
    store::parked_groups& parked(runtime::batch& batch, bool create_schema);
    store::transport_repair& repair(runtime::batch& batch, bool create_schema);

    /// Whether a claim is worth a write transaction. Only reads.
    bool has_work(sqlite::connection connection, bool create_schema,
                  const store::claim_filter& filter, double now);

    /// For looking at what is there; nothing when there are no tables and they are ours to make.
    store::transport_inspection* inspection(sqlite::connection connection, bool create_schema);

    /// A text for `locked_by` that no other claim has.
    std::string new_lock(std::string_view worker);

    std::optional<clock::wall_time> next_due(sqlite::connection connection,
                                             clock::wall_time since) override;
    void disconnect() noexcept override;

private:
    bool is_usable(bool create_schema) const noexcept;
    void note_commit(sqlite::connection connection) noexcept;
    void open(sqlite::connection connection, store::transport_shape shape);

    store::transport_names names_;
    std::unique_ptr<store::transport> store_;
    std::unique_ptr<store::parked_groups> parked_;
    std::unique_ptr<store::transport_repair> repair_;
    std::unique_ptr<store::transport_inspection> inspection_;
    store::transport_shape shape_ = store::transport_shape::missing;
    /// False while the tables could still vanish with the transaction that makes them.
    bool is_committed_ = false;
    std::mt19937_64 random_;
};

/// The worker that such a text names; all of a text that another program wrote.
[[nodiscard]] std::string worker_of(std::string_view lock);

} // namespace skein::api
