// SPDX-License-Identifier: GPL-2.0-or-later
// The recorders that a scenario requests, and their results as JSON.
#pragma once

#include "controller-log.h"
#include "film.h"
#include "measurement-window.h"
#include "queue-series.h"

#include "ns3_env/cpp/run/episode.h"

#include <map>
#include <optional>
#include <ostream>
#include <string>

namespace ns3::env
{

/// The recorders of one run; made before it runs.
struct Recorders
{
    explicit Recorders(Episode& episode);

    Recorders(Recorders&&) = delete;

    Counters counters;
    CommonInterval commonInterval;
    std::optional<MeasurementWindow> measurement;
    std::optional<WindowLog> windows;
    std::optional<QueueSampler> queues;
    std::optional<Film> film;
    std::optional<EventLog> events;
    std::optional<ControllerLog> states;
    std::optional<ControllerLog> counts;
};

/// The results of a finished run: times in ns, sizes in bytes, -1 for events that did not happen.
/// `counters` contains the controllers' counters over all flows, `flow_counters` by flow (null: not this one's).
/// `sharing` has the time, in ps, that equally shared links would need for the bytes beyond a horizon, by flow.
/// Series are included if the scenario requests them; with `columns`, those of queues, port by port, and then
/// windows follow the JSON as columns.
std::string ResultsToJson(const Episode& episode,
                          const Recorders& recorders,
                          const std::map<uint32_t, double>& sharing = {});

/// The same without columns, streamed to `out`: the text of many flows is never in memory at once.
void WriteResults(std::ostream& out,
                  const Episode& episode,
                  const Recorders& recorders,
                  const std::map<uint32_t, double>& sharing);

} // namespace ns3::env
