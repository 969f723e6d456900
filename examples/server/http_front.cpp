#include "http_front.hpp"

#include <restinio/all.hpp>

#include <asio/co_spawn.hpp>
#include <asio/detached.hpp>

#include <chrono>
#include <optional>
#include <string>

namespace {

using namespace std::chrono_literals;

using request = restinio::request_handle_t;
using router = restinio::router::express_router_t<>;

struct traits : restinio::default_single_thread_traits_t {
    using request_handler_t = router;
};

void respond(const request& asked, restinio::http_status_line_t status, const std::string& type,
             const std::string& body)
{
    asked->create_response(std::move(status))
        .append_header(restinio::http_field::content_type, type)
        .set_body(body)
        .done();
}

void refuse(const request& asked, restinio::http_status_line_t status, const std::string& reason)
{
    respond(asked, std::move(status), "text/plain; charset=utf-8", reason + "\n");
}

std::optional<order> parse(const std::string& body)
{
    try {
        return nlohmann::json::parse(body).get<order>();
    } catch (const nlohmann::json::exception&) {
        return std::nullopt;
    }
}

asio::awaitable<void> place(order_book& orders, request asked)
{
    std::optional<order> wanted = parse(asked->body());
    if (!wanted) {
        refuse(asked, restinio::status_bad_request(),
               R"(an order looks like {"item": "wool", "email": "ann@example.org"})");
        co_return;
    }
    const std::int64_t id = co_await orders.place(*std::move(wanted));
    respond(asked, restinio::status_created(), "application/json",
            nlohmann::json{{"id", id}}.dump());
}

asio::awaitable<void> show(order_book& orders, request asked, std::int64_t id)
{
    const std::optional<std::string> found = co_await orders.find(id);
    if (found) {
        respond(asked, restinio::status_ok(), "application/json", *found);
    } else {
        refuse(asked, restinio::status_not_found(), "no such order");
    }
}

using event_response = restinio::response_builder_t<restinio::chunked_output_t>;

/// Writes what has happened behind an event that is known. Returns whether that was the last.
bool write_events(event_response& response, const std::vector<skein::stream_event>& events,
                  std::int64_t& last)
{
    bool is_over = false;
    for (const skein::stream_event& each : events) {
        response.append_chunk("id: " + std::to_string(each.offset) + "\ndata: " + each.payload +
                              "\n\n");
        last = each.offset;
        is_over = each.payload.find("mailed") != std::string::npos;
    }
    response.flush();
    return is_over;
}

/// The listener comes before the first look: what happens in between is seen by one of the two.
asio::awaitable<void> write_all(order_book& orders, event_response& response, std::int64_t id)
{
    skein::listener changes = co_await orders.watch(id);
    std::int64_t last = 0;
    for (;;) {
        const std::vector<skein::stream_event> events = co_await orders.events(id, last);
        const bool is_over = write_events(response, events, last);
        if (is_over) {
            co_return;
        }
        const auto change = co_await changes.next_within(15s);
        if (!change) {
            response.append_chunk(": still waiting\n\n"); // or proxies give up
        }
    }
}

/// Server-sent events.
asio::awaitable<void> stream(order_book& orders, request asked, std::int64_t id)
{
    auto response = asked->create_response<restinio::chunked_output_t>();
    response.append_header(restinio::http_field::content_type, "text/event-stream");
    try {
        co_await write_all(orders, response, id);
    } catch (const skein::error&) {
        // The service stops: who watches comes again.
    }
    response.done();
}

/// Whatever goes wrong with one request is the answer to that request.
template <class Work>
asio::awaitable<void> answer(request asked, Work work)
{
    std::string problem;
    try {
        co_await std::move(work);
    } catch (const std::exception& failure) {
        problem = failure.what();
    }
    if (!problem.empty()) {
        refuse(asked, restinio::status_internal_server_error(), problem);
    }
}

/// What is no number of 64 bits is no order's.
std::int64_t id_in(const restinio::router::route_params_t& parameters)
{
    try {
        return restinio::cast_to<std::int64_t>(parameters["id"]);
    } catch (const std::exception&) {
        return 0;
    }
}

} // namespace

class http_front::server {
public:
    server(asio::io_context& io, std::uint16_t port, order_book& orders,
           const prometheus_observer& metrics)
        : io_(io), orders_(orders), metrics_(metrics),
          http_(restinio::external_io_context(io),
                restinio::server_settings_t<traits>()
                    .address("127.0.0.1")
                    .port(port)
                    .handle_request_timeout(1h) // events are watched for as long as that
                    .acceptor_post_bind_hook([this](asio::ip::tcp::acceptor& bound) {
                        port_ = bound.local_endpoint().port();
                    })
                    .request_handler(routes()))
    {
        http_.open_sync();
    }

    [[nodiscard]] std::uint16_t port() const noexcept { return port_; }
    void stop() { http_.close_sync(); }

private:
    std::unique_ptr<router> routes()
    {
        auto table = std::make_unique<router>();
        table->http_post(
            "/orders", [this](request asked, auto) { return start(asked, place(orders_, asked)); });
        table->http_get("/orders/:id", [this](request asked, auto parameters) {
            return start(asked, show(orders_, asked, id_in(parameters)));
        });
        table->http_get("/orders/:id/events", [this](request asked, auto parameters) {
            return start(asked, stream(orders_, asked, id_in(parameters)));
        });
        table->http_get("/metrics", [this](request asked, auto) {
            respond(asked, restinio::status_ok(), "text/plain; version=0.0.4", metrics_.text());
            return restinio::request_accepted();
        });
        table->non_matched_request_handler([](request asked) {
            refuse(asked, restinio::status_not_found(), "no such page");
            return restinio::request_accepted();
        });
        return table;
    }

    restinio::request_handling_status_t start(const request& asked, asio::awaitable<void> work)
    {
        asio::co_spawn(io_, answer(asked, std::move(work)), asio::detached);
        return restinio::request_accepted();
    }

    asio::io_context& io_;
    order_book& orders_;
    const prometheus_observer& metrics_;
    std::uint16_t port_ = 0;
    restinio::http_server_t<traits> http_;
};

http_front::http_front(asio::io_context& io, std::uint16_t port, order_book& orders,
                       const prometheus_observer& metrics)
    : server_(std::make_unique<server>(io, port, orders, metrics))
{
}

http_front::~http_front() = default;

std::uint16_t http_front::port() const
{
    return server_->port();
}

void http_front::stop()
{
    server_->stop();
}
