#pragma once

#include "rethrow.hpp"

#include <skein/skein.hpp>

#include <asio/co_spawn.hpp>
#include <asio/io_context.hpp>

#include <string>

namespace benchmarks {

inline asio::awaitable<void> publish_claim_and_ack(skein::transport transport)
{
    co_await transport.publish("first", "m");
    skein::message message = co_await transport.claim();
    const bool is_ours = co_await message.ack();
    static_cast<void>(is_ours);
}

/// Creates a file with an empty transport in it, for those who write it without skein.
inline void create_tables(const std::string& path)
{
    asio::io_context io;
    const skein::database database(io.get_executor(), path);
    asio::co_spawn(io, publish_claim_and_ack(database.transport()), rethrow);
    io.run();
}

} // namespace benchmarks
