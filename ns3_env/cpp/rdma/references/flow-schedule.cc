// SPDX-License-Identifier: GPL-2.0-or-later
// Schedule of a network's live flows: links for senders that know them all.
#include "flow-schedule.h"

#include "clairvoyant.h"

#include "ns3/simulator.h"
#include "ns3_env/cpp/decision/processor-sharing.h"

#include <algorithm>
#include <iterator>

namespace ns3::env::rdma
{

namespace
{

uint64_t
LeftToSend(const Flow& flow)
{
    return flow.SizeBytes() - flow.SentBytes();
}

/// The less, the sooner a flow gets links.
double
Place(const Flow& flow, Order order)
{
    const auto left = static_cast<double>(LeftToSend(flow));
    const bool counts = order == Order::Slowdown && flow.Standalone() > 0; // not of an endless flow
    return counts ? left * static_cast<double>(flow.Standalone()) / PS_PER_SECOND : left;
}

} // namespace

FlowSchedule::FlowSchedule(Episode& episode, Order order)
    : m_episode(episode),
      m_order(order)
{
    episode.Traces().created.ConnectWithoutContext(MakeCallback(&FlowSchedule::OnCreated, this));
    episode.Traces().finished.ConnectWithoutContext(MakeCallback(&FlowSchedule::OnFinished, this));
}

void
FlowSchedule::Change()
{
    if (!m_changed)
    {
        m_changed = true;
        Simulator::ScheduleNow(&FlowSchedule::Share, this);
    }
}

void
FlowSchedule::Share()
{
    m_changed = false;
    const std::vector<Flow*> flows = Waiting();
    std::vector<FluidRoute> links;
    FluidRoutes routes;
    links.reserve(flows.size());
    for (const Flow* flow : flows)
    {
        routes.push_back(&links.emplace_back(LinksOf(flow->Path())));
    }
    const auto last =
        std::ranges::find_if(flows, [](const Flow* x) { return x->Standalone() < 0; });
    const auto ordered = m_order == Order::Fair ? 0 : last - flows.begin();
    const std::vector<double> rates = RatesOf(routes, static_cast<size_t>(ordered));
    for (size_t i = 0; i < flows.size(); ++i)
    {
        auto* control = dynamic_cast<Clairvoyant*>(&flows[i]->Controller());
        if (control != nullptr && control->IsUnder(*this))
        {
            control->Allow(*flows[i], rates[i]);
        }
    }
}

std::vector<Flow*>
FlowSchedule::Waiting() const
{
    std::vector<Flow*> flows;
    std::ranges::copy_if(m_episode.LiveFlows(),
                         std::back_inserter(flows),
                         [](const Flow* flow) { return LeftToSend(*flow) > 0; });
    std::ranges::stable_sort(flows, {}, [this](const Flow* flow) { return Place(*flow, m_order); });
    return flows;
}

std::vector<double>
FlowSchedule::RatesOf(const FluidRoutes& routes, size_t ordered) const
{
    const auto end = routes.begin() + static_cast<std::ptrdiff_t>(ordered);
    std::vector<double> rates = PriorityRates(m_capacities, {routes.begin(), end});
    std::vector<double> left = m_capacities;
    for (size_t i = 0; i < ordered; ++i)
    {
        for (const uint32_t link : *routes[i])
        {
            left[link] -= rates[i];
        }
    }
    std::ranges::copy(MaxMinRates(left, {end, routes.end()}), std::back_inserter(rates));
    return rates;
}

FluidRoute
FlowSchedule::LinksOf(const PathFacts& path)
{
    FluidRoute route;
    for (size_t hop = 0; hop < path.links.size(); ++hop)
    {
        const auto [found, isNew] =
            m_index.try_emplace(path.links[hop], static_cast<uint32_t>(m_capacities.size()));
        if (isNew)
        {
            m_capacities.push_back(RateOfLink(path, hop));
        }
        route.push_back(found->second);
    }
    return route;
}

} // namespace ns3::env::rdma
