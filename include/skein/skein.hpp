#pragma once

// Everything but the opt-in parts: <skein/json.hpp>, and <skein/testing/…> for tests.
#include <skein/clock.hpp>
#include <skein/database.hpp>
#include <skein/database_options.hpp>
#include <skein/dead_letters.hpp>
#include <skein/error.hpp>
#include <skein/job.hpp>
#include <skein/job_info.hpp>
#include <skein/listener.hpp>
#include <skein/log.hpp>
#include <skein/message.hpp>
#include <skein/notification.hpp>
#include <skein/payload.hpp>
#include <skein/queue.hpp>
#include <skein/queue_choice.hpp>
#include <skein/rate_limit.hpp>
#include <skein/results.hpp>
#include <skein/schema.hpp>
#include <skein/transaction.hpp>
#include <skein/transport.hpp>
#include <skein/transport_inspection.hpp>
#include <skein/version.hpp>
