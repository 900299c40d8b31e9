// SPDX-License-Identifier: GPL-2.0-or-later
// Results of switch ports as JSON: queues, losses, and ports that pause each other.
#include "port-results.h"

#include "json-values.h"

#include "ns3_env/cpp/engine/heartbeat.h"

#include <optional>
#include <utility>
#include <vector>

namespace ns3::env
{

namespace
{

Json
SeriesToJson(const std::vector<Picos>& times, const std::vector<uint64_t>& lengths)
{
    Json inNanos = ArrayOf(times.size());
    for (Picos t : times)
    {
        inNanos.push_back(Nanos(t));
    }
    return {{"t_ns", std::move(inNanos)}, {"bytes", lengths}};
}

/// Classes of one port.
Json
ClassesToJson(const std::vector<ClassQueue>& classes)
{
    Json rows = Json::array();
    for (const ClassQueue& own : classes)
    {
        rows.push_back({{"name", own.name},
                        {"mean_bytes", own.stats->Mean()},
                        {"p50_bytes", own.stats->Percentile(0.50)},
                        {"p95_bytes", own.stats->Percentile(0.95)},
                        {"p99_bytes", own.stats->Percentile(0.99)},
                        {"max_bytes", own.stats->Max()},
                        {"tx_bytes", own.txBytes},
                        {"paused_ns", Nanos(own.paused)},
                        {"pause_frames", own.pauseFrames}});
    }
    return rows;
}

} // namespace

Json
QueuesToJson(const Episode& episode, const Recorders& recorders, Columns* columns)
{
    const std::optional<QueueSampler>& sampler = recorders.queues;
    bool first = true;
    Json queues = Json::array();
    episode.ForEachQueue(
        [&](const EgressQueue& port)
        {
            Heartbeat::Beat();
            if (port.stats == nullptr || port.txBytes == 0)
            {
                return;
            }
            const MeasurementWindow::PortCounts* window =
                recorders.measurement ? &recorders.measurement->Of(port.node, port.port) : nullptr;
            const QueueStats& stats = window != nullptr ? window->queue : *port.stats;
            Json queue{{"node", port.node},
                       {"port", port.port},
                       {"peer", port.peer},
                       {"rate_bps", port.rateBps},
                       {"mean_bytes", stats.Mean()},
                       {"p50_bytes", stats.Percentile(0.50)},
                       {"p95_bytes", stats.Percentile(0.95)},
                       {"p99_bytes", stats.Percentile(0.99)},
                       {"max_bytes", stats.Max()},
                       {"tx_bytes", port.txBytes},
                       {"paused_ns", Nanos(port.paused)},
                       {"pause_frames", port.pauseFrames},
                       {"pause_frames_sent", port.pauseFramesSent}};
            if (episode.GetScenario().watchdog)
            {
                queue["pause_storms"] = port.pauseStorms;
                queue["pause_storm_ns"] = Nanos(port.stormTime);
            }
            if (!port.classes.empty())
            {
                queue["classes"] = ClassesToJson(port.classes);
            }
            if (window != nullptr)
            {
                queue["window_tx_bytes"] = window->txBytes;
            }
            if (sampler && columns == nullptr)
            {
                queue["series"] = SeriesToJson(sampler->Times(), sampler->Of(port.node, port.port));
            }
            else if (sampler) // as columns, of times a single one: how many samples in their place
            {
                if (std::exchange(first, false))
                {
                    columns->Add(sampler->Times(), NanosOf);
                }
                columns->Add(sampler->Of(port.node, port.port),
                             [](uint64_t bytes) { return static_cast<double>(bytes); });
                queue["series"] = sampler->Times().size();
            }
            queues.push_back(std::move(queue));
        });
    return queues;
}

Json
LossesToJson(const Episode& episode)
{
    Json losses = Json::array();
    for (const LossRecord& record : episode.LossRecords())
    {
        losses.push_back({{"node", record.node},
                          {"port", record.port},
                          {"peer", record.peer},
                          {"cause", NameOf(record.cause)},
                          {"packets", record.lost.packets},
                          {"payload_bytes", record.lost.payloadBytes}});
    }
    return losses;
}

void
AddPauseCircle(Json& json, const Episode& episode)
{
    const PauseCircle circle = episode.FindPauseCircle();
    if (circle.ports.empty())
    {
        return;
    }
    Json ports = Json::array();
    for (const PauseCircle::Held& held : circle.ports)
    {
        ports.push_back({{"node", held.node}, {"port", held.port}, {"peer", held.peer}});
    }
    json["pause_circle"] = {{"ports", std::move(ports)},
                            {"others", circle.others},
                            {"text", circle.Text()}};
}

} // namespace ns3::env
