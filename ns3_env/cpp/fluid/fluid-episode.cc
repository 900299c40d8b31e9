// SPDX-License-Identifier: GPL-2.0-or-later
// Episode of fluid flows: at each instant every flow has its ideal rate, and no packets are simulated.
#include "fluid-episode.h"

#include "ns3/simulator.h"
#include "ns3_env/cpp/events/now.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace ns3::env
{

namespace
{

/// Index of each node's first link, and behind the last node the number of links.
std::vector<uint32_t>
FirstLinks(const Routing& routing, size_t nodes)
{
    std::vector<uint32_t> first{0};
    for (uint32_t node = 0; node < nodes; ++node)
    {
        first.push_back(first.back() + static_cast<uint32_t>(routing.Neighbours(node).size()));
    }
    return first;
}

} // namespace

FluidEpisode::FluidEpisode(Scenario scenario,
                           Sharing sharing,
                           const PathsMaker& paths,
                           FlowHook onCreate)
    : Episode(std::move(scenario), std::move(onCreate)),
      m_sharing(sharing),
      m_paths(paths(m_scenario)),
      m_firstLink(FirstLinks(m_paths->GetRouting(), m_scenario.isSwitch.size())),
      m_streams(m_scenario, Links(), StreamLinks(), m_paths->StreamPacketBytes()),
      m_carried(m_firstLink.back(), 0),
      m_empty(m_scenario.CountedFrom())
{
}

FluidEpisode::~FluidEpisode()
{
    ForgetFlows();
}

FluidLinks
FluidEpisode::Links() const
{
    std::vector<double> rates;
    std::vector<std::pair<uint32_t, LinkSchedule>> changing;
    for (uint32_t node = 0; node < m_scenario.isSwitch.size(); ++node)
    {
        for (const Neighbour& link : m_paths->GetRouting().Neighbours(node))
        {
            if (const LinkSchedule* schedule = m_scenario.ScheduleOf(node, link.node))
            {
                changing.emplace_back(static_cast<uint32_t>(rates.size()), *schedule);
            }
            rates.push_back(link.rateBps);
        }
    }
    return {std::move(rates), std::move(changing)};
}

std::vector<FluidRoute>
FluidEpisode::StreamLinks() const
{
    std::vector<FluidRoute> links;
    for (const Hops& path : m_paths->OfStreams())
    {
        links.push_back(LinksOf(path));
    }
    return links;
}

FluidRoute
FluidEpisode::LinksOf(const Hops& path) const
{
    FluidRoute links;
    for (const auto& [node, link] : path)
    {
        links.push_back(m_firstLink[node] + link->port);
    }
    return links;
}

std::unique_ptr<Flow>
FluidEpisode::Connect(const FlowEntry& entry, uint16_t sourcePort)
{
    FluidPath path = m_paths->OfFlow(entry.flow, sourcePort);
    FluidRoute links = LinksOf(path.hops);
    const auto changes = [this](const auto& hop)
    { return m_scenario.ScheduleOf(hop.first, hop.second->node) != nullptr; };
    const auto first = std::find_if(path.hops.begin(), path.hops.end(), changes);
    const auto changing = static_cast<size_t>(first - path.hops.begin());
    return std::make_unique<FluidFlow>(entry.flow, std::move(path), std::move(links), changing);
}

void
FluidEpisode::StartFlow(Flow& flow)
{
    auto* fluid = static_cast<FluidFlow*>(&flow);
    const auto enter = [this, fluid]
    {
        m_running.push_back(fluid);
        Change();
    };
    if (fluid->Lead() == 0)
    {
        enter();
        return;
    }
    Simulator::Schedule(Time(fluid->Lead()), enter);
}

// --- rates ---------------------------------------------------------------------------------------

void
FluidEpisode::Change()
{
    if (!m_changed)
    {
        m_changed = true;
        Simulator::ScheduleNow(&FluidEpisode::Share, this);
    }
}

void
FluidEpisode::Share()
{
    m_changed = false;
    const Picos now = NowPicos();
    TakeThrough(now);
    const Picos next = Allocate(now);
    if (!m_report.IsNull())
    {
        for (FluidFlow* flow : m_running)
        {
            if (flow->TakeChange())
            {
                m_report(*flow, now);
            }
        }
    }
    m_next.Cancel();
    if (next != NEVER)
    {
        m_next = Simulator::Schedule(Time(next - now), &FluidEpisode::Change, this);
    }
}

void
FluidEpisode::TakeThrough(Picos now)
{
    std::erase_if(
        m_running,
        [&](FluidFlow* flow)
        {
            if (flow->ThroughAt() > now)
            {
                return false;
            }
            flow->PassThrough();
            AddTo(m_carried, *flow);
            m_delivered += flow->ReceivedBytes();
            if (!m_report.IsNull() && flow->TakeChange())
            {
                m_report(*flow, now);
            }
            const Picos wait = flow->EndAfter(now) - now;
            if (flow->IsAwaited())
            {
                Simulator::Schedule(Time(wait - flow->WayBack()), &FluidFlow::Arrive, flow);
            }
            Simulator::Schedule(Time(wait), &FluidFlow::Finish, flow);
            return true;
        });
}

Picos
FluidEpisode::Allocate(Picos now)
{
    const bool ordered = m_sharing == Sharing::LeastRemaining;
    std::vector<std::pair<double, FluidFlow*>> flows; // remaining bytes, as far as they matter
    for (FluidFlow* flow : m_running)
    {
        flows.emplace_back(ordered ? flow->LeftAt(now) : 0, flow);
    }
    if (ordered)
    {
        std::stable_sort(flows.begin(),
                         flows.end(),
                         [](const auto& a, const auto& b) { return a.first < b.first; });
    }
    FluidRoutes routes;
    for (const auto& [left, flow] : flows)
    {
        routes.push_back(&flow->Links());
    }
    const std::vector<double>& capacities = m_streams.CapacitiesLeft();
    const std::vector<double> rates =
        ordered ? PriorityRates(capacities, routes) : MaxMinRates(capacities, routes);
    Picos next = NEVER;
    for (size_t i = 0; i < flows.size(); ++i)
    {
        flows[i].second->Allocate(rates[i], now);
        next = std::min(next, flows[i].second->ThroughAt());
    }
    if (ordered)
    {
        std::vector<double> left;
        std::vector<double> speeds;
        for (const auto& [bytes, flow] : flows)
        {
            left.push_back(bytes);
            speeds.push_back(flow->Speed());
        }
        const double wait = TimeToOvertaking(capacities.size(), routes, left, speeds);
        if (wait < LONGEST_PS)
        {
            next = std::min(next, now + std::max<Picos>(static_cast<Picos>(std::ceil(wait)), 1));
        }
    }
    return next;
}

// --- the network as recorders see it -------------------------------------------------------------

void
FluidEpisode::OnRunEnds()
{
    for (const FluidFlow* flow : m_running) // cut
    {
        AddTo(m_carried, *flow);
        m_delivered += flow->ReceivedBytes();
    }
    m_running.clear();
    m_empty.Finish(EndTime());
}

void
FluidEpisode::AddTo(std::vector<double>& carried, const FluidFlow& flow) const
{
    const PathFacts& path = flow.Path();
    const double bytes = flow.PassedBy(NowPicos()) * path.packetBytes / path.payloadBytes;
    for (const uint32_t link : flow.Links())
    {
        carried[link] += bytes;
    }
}

std::vector<std::pair<uint32_t, uint32_t>>
FluidEpisode::RouteOf(const Flow& flow) const
{
    std::vector<std::pair<uint32_t, uint32_t>> route;
    for (const uint32_t link : static_cast<const FluidFlow&>(flow).Links())
    {
        const auto next = std::upper_bound(m_firstLink.begin(), m_firstLink.end(), link);
        const auto node = static_cast<uint32_t>(next - m_firstLink.begin() - 1);
        route.emplace_back(node, link - m_firstLink[node]);
    }
    return route;
}

void
FluidEpisode::ForEachPort(bool ofSwitches, const QueueVisitor& visit) const
{
    std::vector<double> carried = m_carried;
    m_streams.AddCarried(carried);
    for (const FluidFlow* flow : m_running)
    {
        AddTo(carried, *flow);
    }
    for (uint32_t node = 0; node < m_scenario.isSwitch.size(); ++node)
    {
        if (m_scenario.isSwitch[node] != ofSwitches)
        {
            continue;
        }
        for (const Neighbour& link : m_paths->GetRouting().Neighbours(node))
        {
            const double bytes = carried[m_firstLink[node] + link.port];
            visit({.node = node,
                   .port = link.port,
                   .peer = link.node,
                   .rateBps = link.rateBps,
                   .txBytes = static_cast<uint64_t>(std::llround(bytes)),
                   .stats = ofSwitches && m_scenario.recordQueues ? &m_empty : nullptr});
        }
    }
}

RunTotals
FluidEpisode::Totals() const
{
    RunTotals totals;
    totals.transmittedPayload = TransmittedByFlows() + m_streams.Payload();
    totals.deliveredPayload = m_delivered + m_streams.Payload();
    return totals;
}

std::unique_ptr<Capture>
FluidEpisode::MakeCapture()
{
    throw ScenarioError("record.pcap", "there are no packets to capture: the flows are fluids");
}

} // namespace ns3::env
