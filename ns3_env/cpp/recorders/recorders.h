// SPDX-License-Identifier: GPL-2.0-or-later
// All recorders that a scenario asks for, hooked onto a run's traces.
#ifndef NS3_ENV_RECORDERS_RECORDERS_H
#define NS3_ENV_RECORDERS_RECORDERS_H

#include "common-interval.h"
#include "controller-log.h"
#include "counters.h"
#include "event-log.h"
#include "measurement-window.h"
#include "queue-series.h"
#include "window-log.h"

#include <optional>

namespace ns3::env
{

/// The recorders of one run; made before it runs.
struct Recorders
{
    explicit Recorders(Episode& episode);

    Recorders(const Recorders&) = delete;
    Recorders& operator=(const Recorders&) = delete;

    Counters counters;
    CommonInterval commonInterval;
    std::optional<MeasurementWindow> measurement;
    std::optional<WindowLog> windows;
    std::optional<QueueSampler> queues;
    std::optional<EventLog> events;
    std::optional<ControllerLog> states;
    std::optional<ControllerLog> counts;
};

} // namespace ns3::env

#endif // NS3_ENV_RECORDERS_RECORDERS_H
