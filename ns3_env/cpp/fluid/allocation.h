// SPDX-License-Identifier: GPL-2.0-or-later
// Rates of fluid flows on links of given capacities: max-min fair, or by priority.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ns3::env
{

/// Links of a flow, as indices into their capacities; none of them twice.
using FluidRoute = std::vector<uint32_t>;
/// Routes of flows, at least a link each.
using FluidRoutes = std::vector<const FluidRoute*>;

/// The max-min fair rate of each flow, by water filling (Bertsekas and Gallager 1992, sec. 6.5.2): the link that gives
/// its flows least fixes them at equal shares of its remaining capacity, then the next link among the rest.
std::vector<double> MaxMinRates(const std::vector<double>& capacities, const FluidRoutes& routes);

/// The rate of each flow if the first of `routes` gets its links' full capacity, and each further one the remainder.
std::vector<double> PriorityRates(const std::vector<double>& capacities, const FluidRoutes& routes);

/// Time for which PriorityRates in the order of least `left` stay valid: until a flow has less left than one before it on
/// a link of both. Infinity if that never happens.
/// \param left of each flow in this order, ascending; infinity of an endless one
/// \param speeds by which they fall
double TimeToOvertaking(size_t links,
                        const FluidRoutes& routes,
                        const std::vector<double>& left,
                        const std::vector<double>& speeds);

} // namespace ns3::env
