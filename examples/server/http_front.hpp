#pragma once

#include "orders.hpp"

#include "../prometheus_observer.hpp"

#include <asio/io_context.hpp>

#include <cstdint>
#include <memory>

/// The service's HTTP interface, on the io_context of everything else:
///
///     POST /orders              {"item": "wool", "email": "ann@example.org"} -> 201 {"id": 7}
///     GET  /orders/7            the order, or 404
///     GET  /orders/7/events     its events as they happen, until it is mailed (server-sent events)
///     GET  /metrics             what the database does, as Prometheus reads it
class http_front {
public:
    /// Serves on 127.0.0.1; port 0 means any that is free. What is passed must live longer.
    http_front(asio::io_context& io, std::uint16_t port, order_book& orders,
               const prometheus_observer& metrics);
    ~http_front();

    /// The port that it listens on.
    [[nodiscard]] std::uint16_t port() const;

    /// From now on nobody is let in.
    void stop();

private:
    class server;
    std::unique_ptr<server> server_;
};
