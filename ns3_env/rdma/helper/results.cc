// SPDX-License-Identifier: GPL-2.0-or-later
#include "results.h"

#include "ns3/simulator.h"
#include "ns3_env/rdma/json/json-writer.h"
#include "ns3_env/rdma/model/sign-of-life.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

namespace ns3::rdma
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

Json
FlowsToJson(const Network& network)
{
    Json columns;
    for (const char* name : {"src",
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
                             "timeouts"})
    {
        columns[name] = Json::array();
    }
    const auto& flows = network.GetScenario().flows;
    const std::optional<TimeSpan>& measured = network.GetScenario().measurement;
    if (measured)
    {
        columns["counted"] = Json::array();
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
        SignOfLife::Beat();
        const FlowSpec& flow = flows[i].flow;
        const FlowRecord& record = network.Records()[i];
        columns["src"].push_back(flow.source);
        columns["dst"].push_back(flow.destination);
        columns["size_bytes"].push_back(flow.IsEndless() ? 0 : flow.sizeBytes);
        columns["start_ns"].push_back(Nanos(flow.start));
        columns["end_ns"].push_back(Nanos(record.end));
        columns["fct_ns"].push_back(record.end < 0 ? Json(-1) : Nanos(record.end - flow.start));
        columns["standalone_ns"].push_back(Nanos(record.standalone));
        columns["base_rtt_ns"].push_back(Nanos(record.baseRtt));
        columns["payload_bytes"].push_back(network.GetScenario().payloadBytes);
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
        if (someEndless)
        {
            columns["endless"].push_back(flow.IsEndless() ? 1 : 0);
        }
    }
    return columns;
}

/// Background, one row each; payload bytes.
Json
StreamsToJson(const Network& network)
{
    Json columns;
    for (const char* name : {"src",
                             "dst",
                             "rate_bps",
                             "start_ns",
                             "stop_ns",
                             "sent_bytes",
                             "received_bytes",
                             "lost_bytes"})
    {
        columns[name] = Json::array();
    }
    const auto& streams = network.GetScenario().streams;
    for (size_t i = 0; i < streams.size(); ++i)
    {
        SignOfLife::Beat();
        const StreamEntry& stream = streams[i];
        const Streams::Counts counts = network.GetStreams().Of(i);
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
QueuesToJson(const Network& network, const Recorders& recorders)
{
    const std::optional<QueueSampler>& sampler = recorders.queues;
    Json queues = Json::array();
    for (const auto& [id, sw] : network.Switches())
    {
        for (const auto& port : sw->Ports())
        {
            SignOfLife::Beat();
            const QueueStats* stats = port->Stats();
            if (stats == nullptr || port->TxBytes() == 0)
            {
                continue;
            }
            const MeasurementWindow::PortCounts* window =
                recorders.measurement ? &recorders.measurement->Of(id, port->Index()) : nullptr;
            stats = window != nullptr ? &window->queue : stats;
            Json queue{{"node", id},
                       {"port", port->Index()},
                       {"peer", port->Peer().NodeId()},
                       {"rate_bps", port->RateBps()},
                       {"mean_bytes", stats->Mean()},
                       {"p50_bytes", stats->Percentile(0.50)},
                       {"p95_bytes", stats->Percentile(0.95)},
                       {"p99_bytes", stats->Percentile(0.99)},
                       {"max_bytes", stats->Max()},
                       {"tx_bytes", port->TxBytes()},
                       {"paused_ns", Nanos(port->PausedTime(network.EndTime()))},
                       {"pause_frames", port->PauseFramesReceived()},
                       {"pause_frames_sent", port->PauseFramesSent()}};
            if (window != nullptr)
            {
                queue["window_tx_bytes"] = window->txBytes;
            }
            if (sampler)
            {
                const QueueSeries& series = sampler->Of(id, port->Index());
                Json times = ArrayOf(series.time.size());
                for (Picos t : series.time)
                {
                    SignOfLife::Beat();
                    times.push_back(Nanos(t));
                }
                SignOfLife::Beat();
                queue["series"]["t_ns"] = std::move(times);
                SignOfLife::Beat();
                queue["series"]["bytes"] = series.bytes;
            }
            queues.push_back(std::move(queue));
        }
    }
    return queues;
}

/// A record for each port and cause that lost anything, hosts' ports included.
Json
LossesToJson(const Network& network)
{
    Json losses = Json::array();
    for (const Port* port : network.Ports())
    {
        SignOfLife::Beat();
        for (const LossCause cause : LOSS_CAUSES)
        {
            const Losses& lost = port->Lost().By(cause);
            if (lost.packets > 0)
            {
                losses.push_back({{"node", port->NodeId()},
                                  {"port", port->Index()},
                                  {"peer", port->Peer().NodeId()},
                                  {"cause", NameOf(cause)},
                                  {"packets", lost.packets},
                                  {"payload_bytes", lost.payloadBytes}});
            }
        }
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
        SignOfLife::Beat();
        rows.push_back({Nanos(change.time), change.flow, log.Names()[change.name], change.value});
    }
    return rows;
}

} // namespace

std::string
ResultsToJson(const Network& network, const Recorders& recorders)
{
    const NetworkContext& context = network.Context();
    Json json;
    json["flows"] = FlowsToJson(network);
    if (!network.GetScenario().streams.empty())
    {
        json["streams"] = StreamsToJson(network);
    }
    json["queues"] = QueuesToJson(network, recorders);
    json["losses"] = LossesToJson(network);
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
    if (recorders.knobs)
    {
        Json windows = ArrayOf(recorders.knobs->Changes().size());
        for (const KnobChange& k : recorders.knobs->Changes())
        {
            SignOfLife::Beat();
            windows.push_back({Nanos(k.time), k.flow, k.windowBytes, k.rateBps});
        }
        json["windows"] = std::move(windows);
    }
    if (recorders.events)
    {
        json["marks"] = ArrayOf(recorders.events->Marks().size());
        for (const MarkEvent& mark : recorders.events->Marks())
        {
            SignOfLife::Beat();
            json["marks"].push_back({Nanos(mark.time), mark.flow});
        }
        json["pauses"] = ArrayOf(recorders.events->Pauses().size());
        for (const PauseEvent& e : recorders.events->Pauses())
        {
            SignOfLife::Beat();
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
    double hostPause = 0;
    for (const auto& nic : network.Nics())
    {
        hostPause += nic ? static_cast<double>(nic->PausedTime(network.EndTime())) / PS_PER_NS : 0;
    }
    json["totals"] = {{"packets_sent", context.packetsSent},
                      {"packet_hops", context.packetHops},
                      {"events", Simulator::GetEventCount()},
                      {"dropped_packets", context.droppedPackets},
                      {"dropped_payload_bytes", context.droppedPayload},
                      {"transmitted_payload_bytes", network.TransmittedPayload()},
                      {"delivered_payload_bytes", network.DeliveredPayload()},
                      {"packets_left", context.pool.LiveCount()},
                      {"end_ns", Nanos(network.EndTime())},
                      {"unfinished", network.Unfinished()},
                      {"pfc_frames", context.pfcFrames},
                      {"notification_frames", context.notifications},
                      {"host_pause_ns", hostPause}};
    json["counters"] = recorders.counters.Totals();
    json["flow_counters"] = recorders.counters.ByFlow();
    return WriteJson(std::move(json));
}

} // namespace ns3::rdma
