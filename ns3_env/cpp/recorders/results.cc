// SPDX-License-Identifier: GPL-2.0-or-later
// Results of an episode as JSON: flows, queues and totals.
#include "results.h"

#include "ns3/simulator.h"
#include "ns3_env/cpp/engine/heartbeat.h"
#include "ns3_env/cpp/json/json-writer.h"

#include <algorithm>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <utility>

namespace ns3::env
{

namespace
{

using Json = nlohmann::json;

/// ns, fractions kept where the simulation has them.
Json
Nanos(Picos t)
{
    if (t < 0)
    {
        return -1;
    }
    if (t % PS_PER_NS == 0)
    {
        return t / PS_PER_NS;
    }
    return static_cast<double>(t) / PS_PER_NS;
}

/// No array grows by copying all that it has.
Json
ArrayOf(size_t count)
{
    Json array = Json::array();
    array.get_ref<Json::array_t&>().reserve(count);
    return array;
}

/// A table without rows.
Json
Columns(std::initializer_list<const char*> names)
{
    Json columns;
    for (const char* name : names)
    {
        columns[name] = Json::array();
    }
    return columns;
}

constexpr std::initializer_list<const char*> RTT_COLUMNS = {"rtt_samples",
                                                            "rtt_mean_ns",
                                                            "rtt_p50_ns",
                                                            "rtt_p99_ns",
                                                            "rtt_max_ns"};

/// A row's; -1 where the flow has seen none.
void
PushRtts(Json& columns, const std::optional<RttSummary>& rtt)
{
    columns["rtt_samples"].push_back(rtt ? rtt->samples : 0);
    columns["rtt_mean_ns"].push_back(rtt ? Json(rtt->mean / PS_PER_NS) : Json(-1));
    columns["rtt_p50_ns"].push_back(Nanos(rtt ? rtt->p50 : -1));
    columns["rtt_p99_ns"].push_back(Nanos(rtt ? rtt->p99 : -1));
    columns["rtt_max_ns"].push_back(Nanos(rtt ? rtt->max : -1));
}

/// Of all flows together.
Json
RttsToJson(const RttSamples& rtts)
{
    const bool some = rtts.Count() > 0;
    const auto percentile = [&](double p) { return Nanos(some ? rtts.Percentile(p) : -1); };
    Json percentiles = Json::array();
    for (int percent = 1; some && percent < 100; ++percent)
    {
        percentiles.push_back(percentile(percent / 100.0));
    }
    return {{"samples", rtts.Count()},
            {"mean_ns", some ? Json(rtts.Mean() / PS_PER_NS) : Json(-1)},
            {"p50_ns", percentile(0.5)},
            {"p90_ns", percentile(0.9)},
            {"p99_ns", percentile(0.99)},
            {"p999_ns", percentile(0.999)},
            {"max_ns", Nanos(some ? rtts.Max() : -1)},
            {"percentiles_ns", std::move(percentiles)}};
}

Json
FlowsToJson(const Episode& episode)
{
    Json columns = Columns({"src",
                            "dst",
                            "size_bytes",
                            "start_ns",
                            "end_ns",
                            "fct_ns",
                            "standalone_ns",
                            "base_rtt_ns",
                            "payload_bytes",
                            "header_bytes",
                            "acked_bytes",
                            "retransmitted_bytes",
                            "pause_ns",
                            "timeouts"});
    const auto& flows = episode.GetScenario().flows;
    const std::optional<TimeSpan>& measured = episode.GetScenario().measurement;
    if (measured)
    {
        columns["counted"] = Json::array();
    }
    if (episode.Rtts() != nullptr)
    {
        columns.update(Columns(RTT_COLUMNS));
    }
    const bool someEndless = std::any_of(flows.begin(),
                                         flows.end(),
                                         [](const FlowEntry& x) { return x.flow.IsEndless(); });
    if (someEndless)
    {
        columns["endless"] = Json::array();
    }
    for (size_t i = 0; i < flows.size(); ++i)
    {
        Heartbeat::Beat();
        const FlowSpec& flow = flows[i].flow;
        const FlowRecord& record = episode.Records()[i];
        columns["src"].push_back(flow.source);
        columns["dst"].push_back(flow.destination);
        columns["size_bytes"].push_back(flow.IsEndless() ? 0 : flow.sizeBytes);
        columns["start_ns"].push_back(Nanos(flow.start));
        columns["end_ns"].push_back(Nanos(record.end));
        columns["fct_ns"].push_back(record.end < 0 ? Json(-1) : Nanos(record.end - flow.start));
        columns["standalone_ns"].push_back(Nanos(record.standalone));
        columns["base_rtt_ns"].push_back(Nanos(record.baseRtt));
        columns["payload_bytes"].push_back(episode.GetScenario().payloadBytes);
        columns["header_bytes"].push_back(record.headerBytes);
        columns["acked_bytes"].push_back(record.ackedBytes);
        columns["retransmitted_bytes"].push_back(record.retransmittedBytes);
        columns["pause_ns"].push_back(Nanos(record.pause));
        columns["timeouts"].push_back(record.timeouts);
        if (measured)
        {
            const bool within = measured->begin <= flow.start && flow.start < measured->end;
            columns["counted"].push_back(within ? 1 : 0);
        }
        if (episode.Rtts() != nullptr)
        {
            PushRtts(columns, record.rtt);
        }
        if (someEndless)
        {
            columns["endless"].push_back(flow.IsEndless() ? 1 : 0);
        }
    }
    return columns;
}

/// Background, one row each; payload bytes.
Json
StreamsToJson(const Episode& episode)
{
    Json columns = Columns({"src",
                            "dst",
                            "rate_bps",
                            "start_ns",
                            "stop_ns",
                            "sent_bytes",
                            "received_bytes",
                            "lost_bytes"});
    const auto& streams = episode.GetScenario().streams;
    for (size_t i = 0; i < streams.size(); ++i)
    {
        Heartbeat::Beat();
        const StreamEntry& stream = streams[i];
        const StreamCounts counts = episode.CountsOf(i);
        columns["src"].push_back(stream.flow.source);
        columns["dst"].push_back(stream.flow.destination);
        columns["rate_bps"].push_back(stream.rateBps);
        columns["start_ns"].push_back(Nanos(stream.flow.start));
        columns["stop_ns"].push_back(stream.stop == NEVER ? Json(-1) : Nanos(stream.stop));
        columns["sent_bytes"].push_back(counts.sent);
        columns["received_bytes"].push_back(counts.received);
        columns["lost_bytes"].push_back(counts.lost);
    }
    return columns;
}

Json
SeriesToJson(const QueueSeries& series)
{
    Json times = ArrayOf(series.time.size());
    for (Picos t : series.time)
    {
        Heartbeat::Beat();
        times.push_back(Nanos(t));
    }
    Heartbeat::Beat();
    Json json;
    json["t_ns"] = std::move(times);
    Heartbeat::Beat();
    json["bytes"] = series.bytes;
    return json;
}

Json
QueuesToJson(const Episode& episode, const Recorders& recorders)
{
    const std::optional<QueueSampler>& sampler = recorders.queues;
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
            if (window != nullptr)
            {
                queue["window_tx_bytes"] = window->txBytes;
            }
            if (sampler)
            {
                queue["series"] = SeriesToJson(sampler->Of(port.node, port.port));
            }
            queues.push_back(std::move(queue));
        });
    return queues;
}

/// A record for each port and cause that lost anything, hosts' ports included.
Json
LossesToJson(const Episode& episode)
{
    Json losses = Json::array();
    for (const LossRecord& record : episode.LossRecords())
    {
        Heartbeat::Beat();
        losses.push_back({{"node", record.node},
                          {"port", record.port},
                          {"peer", record.peer},
                          {"cause", NameOf(record.cause)},
                          {"packets", record.lost.packets},
                          {"payload_bytes", record.lost.payloadBytes}});
    }
    return losses;
}

/// Rows (time, flow, name, value).
Json
ChangesToJson(const ControllerLog& log)
{
    Json rows = ArrayOf(log.Changes().size());
    for (const ControllerChange& change : log.Changes())
    {
        Heartbeat::Beat();
        rows.push_back({Nanos(change.time), change.flow, log.Names()[change.name], change.value});
    }
    return rows;
}

} // namespace

std::string
ResultsToJson(const Episode& episode, const Recorders& recorders)
{
    Json json;
    json["flows"] = FlowsToJson(episode);
    if (!episode.GetScenario().streams.empty())
    {
        json["streams"] = StreamsToJson(episode);
    }
    if (episode.Rtts() != nullptr)
    {
        json["rtt"] = RttsToJson(*episode.Rtts());
    }
    json["queues"] = QueuesToJson(episode, recorders);
    json["losses"] = LossesToJson(episode);
    const CommonInterval& all = recorders.commonInterval;
    const bool overlap = all.End() > all.Begin();
    json["all_active"] = {
        {"interval_ns", overlap ? Json{Nanos(all.Begin()), Nanos(all.End())} : Json{0, 0}},
        {"received_bytes", overlap ? Json(all.ReceivedBytes()) : Json::array()}};
    if (recorders.measurement)
    {
        const MeasurementWindow& window = *recorders.measurement;
        json["measurement"] = {
            {"interval_ns", Json{Nanos(window.Span().begin), Nanos(window.Span().end)}},
            {"received_bytes", window.ReceivedBytes()}};
    }
    if (recorders.windows)
    {
        Json windows = ArrayOf(recorders.windows->Changes().size());
        for (const WindowChange& k : recorders.windows->Changes())
        {
            Heartbeat::Beat();
            windows.push_back({Nanos(k.time), k.flow, k.windowBytes, k.rateBps});
        }
        json["windows"] = std::move(windows);
    }
    if (recorders.events)
    {
        json["marks"] = ArrayOf(recorders.events->Marks().size());
        for (const MarkEvent& mark : recorders.events->Marks())
        {
            Heartbeat::Beat();
            json["marks"].push_back({Nanos(mark.time), mark.flow});
        }
        json["pauses"] = ArrayOf(recorders.events->Pauses().size());
        for (const PauseEvent& e : recorders.events->Pauses())
        {
            Heartbeat::Beat();
            json["pauses"].push_back({Nanos(e.time), e.node, e.port, e.paused ? 1 : 0});
        }
    }
    if (recorders.states)
    {
        json["controller_state"] = ChangesToJson(*recorders.states);
    }
    if (recorders.counts)
    {
        json["controller_counters"] = ChangesToJson(*recorders.counts);
    }
    const RunTotals totals = episode.Totals();
    json["totals"] = {{"packets_sent", totals.packetsSent},
                      {"packet_hops", totals.packetHops},
                      {"events", Simulator::GetEventCount()},
                      {"dropped_packets", totals.droppedPackets},
                      {"dropped_payload_bytes", totals.droppedPayload},
                      {"transmitted_payload_bytes", totals.transmittedPayload},
                      {"delivered_payload_bytes", totals.deliveredPayload},
                      {"packets_left", totals.packetsLeft},
                      {"end_ns", Nanos(episode.EndTime())},
                      {"unfinished", episode.Unfinished()},
                      {"pfc_frames", totals.pauseFrames},
                      {"notification_frames", totals.notificationFrames},
                      {"host_pause_ns", totals.hostPauseNs}};
    json["counters"] = recorders.counters.Totals();
    json["flow_counters"] = recorders.counters.ByFlow();
    return WriteJson(std::move(json));
}

} // namespace ns3::env
