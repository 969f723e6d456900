#pragma once

#include "observer/recording_observer.hpp"
#include "queue/queue_fixture.hpp"

#include <SQLiteCpp/Database.h>

#include <functional>
#include <memory>
#include <utility>

namespace skein::support {

/// A recording observer, made before the database that it is given to.
struct observed {
    std::shared_ptr<recording_observer> observer_ = std::make_shared<recording_observer>();

    [[nodiscard]] database_options options() const
    {
        database_options options = manual_database::quick();
        options.observer = observer_;
        return options;
    }
};

/// A queue of a database that is observed; nothing has been told yet.
class observer_fixture : protected observed, public queue_fixture {
protected:
    observer_fixture() : queue_fixture(observed::options())
    {
        EXPECT_FALSE(db_.run(db_.database().transport().try_claim()));
        static_cast<void>(take());
    }

    [[nodiscard]] std::vector<std::string> take() { return observer_->take(); }
    [[nodiscard]] std::vector<std::string> take_deeds() { return observer_->take_deeds(); }

    void transact(const std::function<void(transaction&)>& work)
    {
        db_.run(db_.database().transaction(work));
    }

    /// A job that was enqueued and claimed, of which nothing is told any more.
    job claim_new(const enqueue_options& options = {})
    {
        enqueue("null", options);
        job claimed = claim({.worker = "w"});
        static_cast<void>(take());
        return claimed;
    }

    sqlite3* const handle_ = db_.handle(); ///< the database's own connection
};

} // namespace skein::support
