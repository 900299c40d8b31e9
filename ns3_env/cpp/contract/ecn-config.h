// SPDX-License-Identifier: GPL-2.0-or-later
// Thresholds of ECN marking at a link rate.
#ifndef NS3_ENV_CONTRACT_ECN_CONFIG_H
#define NS3_ENV_CONTRACT_ECN_CONFIG_H

#include <limits>

namespace ns3::env
{

/// Marking thresholds at one link rate; they scale linearly with a port's rate.
struct EcnConfig
{
    bool enabled{false};
    double kminBytes{100e3};
    double kmaxBytes{400e3};
    double pmax{0.2};
    double atRateBps{25e9};
    /// At any port; Kmin shrinks with it. Of a shallow buffer, above which no queue is ever marked.
    double mostKmaxBytes{std::numeric_limits<double>::infinity()};
};

} // namespace ns3::env

#endif // NS3_ENV_CONTRACT_ECN_CONFIG_H
