// SPDX-License-Identifier: GPL-2.0-or-later
// The recorders that a scenario requests, and their results as JSON.
#include "results.h"

#include "columns.h"
#include "json-values.h"
#include "port-results.h"
#include "tasks.h"

#include "ns3/simulator.h"
#include "ns3_env/cpp/engine/heartbeat.h"

#include <algorithm>
#include <deque>
#include <functional>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string_view>
#include <utility>
#include <vector>

namespace ns3::env
{

Recorders::Recorders(Episode& episode)
    : counters(episode),
      commonInterval(episode)
{
    const Scenario& scenario = episode.GetScenario();
    if (scenario.measurement)
    {
        measurement.emplace(episode, *scenario.measurement);
    }
    if (scenario.recordWindows)
    {
        windows.emplace(episode);
    }
    if (scenario.queueSeriesInterval > 0)
    {
        queues.emplace(episode, scenario.queueSeriesInterval);
    }
    if (scenario.filmInterval > 0)
    {
        film.emplace(episode, scenario.filmInterval);
    }
    if (scenario.recordEvents)
    {
        events.emplace(episode);
    }
    if (scenario.recordControllerState)
    {
        states.emplace(episode, ControllerLog::Kind::States);
    }
    if (scenario.recordControllerCounters)
    {
        counts.emplace(episode, ControllerLog::Kind::Counters);
    }
}

namespace
{

/// The value of a column in a row.
using Cell = std::function<Json(size_t row)>;

/// A column of a table, by its name.
using Column = std::pair<const char*, Cell>;

void
AddColumns(Json& table, size_t rows, const std::vector<Column>& columns)
{
    for (const auto& [name, value] : columns)
    {
        Json& column = table[name] = ArrayOf(rows);
        for (size_t row = 0; row < rows; ++row)
        {
            column.push_back(value(row));
        }
    }
}

/// Writes a table as JSON would be written that has it, some rows of a column at a time.
void
WriteTable(std::ostream& out, size_t rows, const std::map<std::string, Cell>& columns)
{
    constexpr size_t TOGETHER = 1024;
    char separator = '{';
    for (const auto& [name, value] : columns)
    {
        out << std::exchange(separator, ',') << Json(name) << ":[";
        for (size_t row = 0; row < rows;)
        {
            Json some = ArrayOf(TOGETHER);
            for (const size_t end = std::min(rows, row + TOGETHER); row < end; ++row)
            {
                some.push_back(value(row));
            }
            const std::string text = some.dump();
            out << std::string_view(text).substr(1, text.size() - 2) << (row < rows ? "," : "");
        }
        out << ']';
    }
    out << '}';
}

/// RTTs of all flows together.
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

/// The table of flows. \param more its additional columns
void
WriteFlows(std::ostream& out,
           const Episode& episode,
           const std::map<uint32_t, double>& sharing,
           const Json& more)
{
    const auto& flows = episode.GetScenario().flows;
    const auto& records = episode.Records();
    const auto spec = [&](size_t i) -> const FlowSpec& { return flows[i].flow; };
    std::map<std::string, Cell> table{
        {"src", [&](size_t i) { return spec(i).source; }},
        {"dst", [&](size_t i) { return spec(i).destination; }},
        {"size_bytes", [&](size_t i) { return spec(i).IsEndless() ? 0 : spec(i).sizeBytes; }},
        {"start_ns", [&](size_t i) { return Nanos(spec(i).start); }},
        {"end_ns", [&](size_t i) { return Nanos(records[i].end); }},
        {"fct_ns",
         [&](size_t i) { return Nanos(records[i].end < 0 ? -1 : records[i].end - spec(i).start); }},
        {"standalone_ns", [&](size_t i) { return Nanos(records[i].standalone); }},
        {"base_rtt_ns", [&](size_t i) { return Nanos(records[i].baseRtt); }},
        {"payload_bytes", [&](size_t) { return episode.GetScenario().payloadBytes; }},
        {"header_bytes", [&](size_t i) { return records[i].headerBytes; }},
        {"acked_bytes", [&](size_t i) { return records[i].ackedBytes; }},
        {"retransmitted_bytes", [&](size_t i) { return records[i].retransmittedBytes; }},
        {"pause_ns", [&](size_t i) { return Nanos(records[i].pause); }},
        {"timeouts", [&](size_t i) { return records[i].timeouts; }}};
    if (!sharing.empty())
    {
        const auto left = [&](size_t i)
        {
            const auto found = sharing.find(spec(i).id);
            return found == sharing.end() ? -1.0 : found->second / PS_PER_NS;
        };
        table.insert({{"left_ns", left}});
    }
    if (const std::optional<TimeSpan>& measured = episode.GetScenario().measurement)
    {
        const auto within = [&](size_t i)
        { return measured->begin <= spec(i).start && spec(i).start < measured->end ? 1 : 0; };
        table.insert({{"counted", within}});
    }
    if (episode.GetScenario().recordReordering)
    {
        table.insert(
            {{"out_of_order_packets", [&](size_t i) { return records[i].outOfOrderPackets; }},
             {"duplicate_bytes", [&](size_t i) { return records[i].duplicateBytes; }}});
    }
    if (episode.GetScenario().paths)
    {
        const auto order = [&](size_t i, uint64_t OrderSummary::* which)
        { return records[i].order ? (*records[i].order).*which : 0; };
        table.insert(
            {{"reordered_packets", [order](size_t i) { return order(i, &OrderSummary::late); }},
             {"reorder_distance",
              [order](size_t i) { return order(i, &OrderSummary::distance); }}});
    }
    if (episode.Rtts() != nullptr)
    {
        const auto rtt = [&](size_t i, Picos RttSummary::* which)
        { return Nanos(records[i].rtt ? (*records[i].rtt).*which : -1); };
        table.insert(
            {{"rtt_samples",
              [&](size_t i) { return records[i].rtt ? records[i].rtt->samples : 0; }},
             {"rtt_mean_ns",
              [&](size_t i)
              { return records[i].rtt ? Json(records[i].rtt->mean / PS_PER_NS) : Json(-1); }},
             {"rtt_p50_ns", [rtt](size_t i) { return rtt(i, &RttSummary::p50); }},
             {"rtt_p99_ns", [rtt](size_t i) { return rtt(i, &RttSummary::p99); }},
             {"rtt_max_ns", [rtt](size_t i) { return rtt(i, &RttSummary::max); }}});
    }
    const Scenario& scenario = episode.GetScenario();
    if (!scenario.groups.empty())
    {
        const auto group = [&](size_t i) -> Json
        { return flows[i].group < 0 ? Json("") : Json(scenario.groups[flows[i].group]); };
        table.insert({{"group", group}});
    }
    if (!scenario.classes.empty())
    {
        const auto own = [&](size_t i) { return scenario.classes[spec(i).trafficClass].name; };
        table.insert({{"class", own}});
    }
    if (std::any_of(flows.begin(),
                    flows.end(),
                    [](const FlowEntry& x) { return x.flow.IsEndless(); }))
    {
        const auto endless = [&](size_t i) { return spec(i).IsEndless() ? 1 : 0; };
        table.insert({{"endless", endless}});
    }
    for (const auto& [name, column] : more.items())
    {
        table.insert({{name, [&column = column](size_t i) { return column[i]; }}});
    }
    WriteTable(out, flows.size(), table);
}

/// Totals over all flows.
Json
ReorderingToJson(const std::vector<FlowRecord>& records)
{
    uint64_t packets = 0;
    uint64_t bytes = 0;
    for (const FlowRecord& record : records)
    {
        packets += record.outOfOrderPackets;
        bytes += record.duplicateBytes;
    }
    return {{"out_of_order_packets", packets}, {"duplicate_bytes", bytes}};
}

/// Totals over all flows, in a network with switches that choose for each packet.
Json
PathsToJson(const Episode& episode)
{
    OrderSummary all{};
    for (const FlowRecord& record : episode.Records())
    {
        if (record.order)
        {
            all.arrived += record.order->arrived;
            all.late += record.order->late;
            all.distance = std::max(all.distance, record.order->distance);
        }
    }
    return {{"arrived_packets", all.arrived},
            {"reordered_packets", all.late},
            {"reorder_distance", all.distance},
            {"outages", episode.GetScenario().paths->outages.size()}};
}

/// Background, one row each; payload bytes.
Json
StreamsToJson(const Episode& episode)
{
    const auto& streams = episode.GetScenario().streams;
    std::vector<StreamCounts> counts;
    for (size_t i = 0; i < streams.size(); ++i)
    {
        counts.push_back(episode.CountsOf(i));
    }
    Json table;
    AddColumns(table,
               streams.size(),
               {{"src", [&](size_t i) { return streams[i].flow.source; }},
                {"dst", [&](size_t i) { return streams[i].flow.destination; }},
                {"rate_bps", [&](size_t i) { return streams[i].rateBps; }},
                {"start_ns", [&](size_t i) { return Nanos(streams[i].flow.start); }},
                {"stop_ns",
                 [&](size_t i) { return Nanos(streams[i].stop == NEVER ? -1 : streams[i].stop); }},
                {"sent_bytes", [&](size_t i) { return counts[i].sent; }},
                {"received_bytes", [&](size_t i) { return counts[i].received; }},
                {"lost_bytes", [&](size_t i) { return counts[i].lost; }}});
    return table;
}

/// Rows (time, flow, window, rate), null without a limit; as columns: the number of rows, with infinity without a
/// limit.
Json
WindowsToJson(const std::deque<WindowChange>& changes, Columns* columns)
{
    if (columns != nullptr)
    {
        columns->Add(changes, [](const WindowChange& x) { return NanosOf(x.time); });
        columns->Add(changes, [](const WindowChange& x) { return static_cast<double>(x.flow); });
        columns->Add(changes, [](const WindowChange& x) { return x.windowBytes; });
        columns->Add(changes, [](const WindowChange& x) { return x.rateBps; });
        return changes.size();
    }
    Json windows = ArrayOf(changes.size());
    for (const WindowChange& x : changes)
    {
        windows.push_back({Nanos(x.time), x.flow, x.windowBytes, x.rateBps});
    }
    return windows;
}

/// Rows (time, flow, name, value).
Json
ChangesToJson(const ControllerLog& log)
{
    Json rows = ArrayOf(log.Changes().size());
    for (const ControllerChange& change : log.Changes())
    {
        rows.push_back({Nanos(change.time), change.flow, log.Names()[change.name], change.value});
    }
    return rows;
}

/// \param columns receives series, if they are not to be in the JSON
void
Write(std::ostream& out,
      const Episode& episode,
      const Recorders& recorders,
      const std::map<uint32_t, double>& sharing,
      Columns* columns)
{
    Json json;
    json["flows"] = Json::object();
    AddTasks(json, episode);
    if (!episode.GetScenario().streams.empty())
    {
        json["streams"] = StreamsToJson(episode);
    }
    if (episode.Rtts() != nullptr)
    {
        json["rtt"] = RttsToJson(*episode.Rtts());
    }
    if (episode.GetScenario().recordReordering)
    {
        json["reordering"] = ReorderingToJson(episode.Records());
    }
    if (episode.GetScenario().paths)
    {
        json["paths"] = PathsToJson(episode);
    }
    json["queues"] = QueuesToJson(episode, recorders, columns);
    json["losses"] = LossesToJson(episode);
    AddPauseCircle(json, episode);
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
        json["windows"] = WindowsToJson(recorders.windows->Changes(), columns);
    }
    if (recorders.film)
    {
        json["film"] = recorders.film->ToJson();
    }
    if (recorders.events)
    {
        json["marks"] = ArrayOf(recorders.events->Marks().size());
        for (const MarkEvent& mark : recorders.events->Marks())
        {
            json["marks"].push_back({Nanos(mark.time), mark.flow});
        }
        json["pauses"] = ArrayOf(recorders.events->Pauses().size());
        for (const PauseEvent& e : recorders.events->Pauses())
        {
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
    const Json more = std::move(json["flows"]);
    char separator = '{';
    for (const auto& [key, value] : json.items())
    {
        out << std::exchange(separator, ',') << Json(key) << ':';
        if (key == "flows")
        {
            WriteFlows(out, episode, sharing, more); // some rows at a time: they may be very many
        }
        else
        {
            out << value;
        }
    }
    out << '}';
}

} // namespace

std::string
ResultsToJson(const Episode& episode,
              const Recorders& recorders,
              const std::map<uint32_t, double>& sharing)
{
    Columns behind;
    Columns* const columns = episode.GetScenario().columns ? &behind : nullptr;
    std::ostringstream out;
    Write(out, episode, recorders, sharing, columns);
    std::string text = std::move(out).str();
    return columns == nullptr ? text : columns->Behind(std::move(text));
}

void
WriteResults(std::ostream& out,
             const Episode& episode,
             const Recorders& recorders,
             const std::map<uint32_t, double>& sharing)
{
    Write(out, episode, recorders, sharing, nullptr);
}

} // namespace ns3::env
