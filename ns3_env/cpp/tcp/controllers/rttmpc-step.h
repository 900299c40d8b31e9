// SPDX-License-Identifier: GPL-2.0-or-later
// Model and optimal rate of RTT-driven MPC (Lynn et al. 2020, eqs. 2, 7 and 8).
#ifndef NS3_ENV_TCP_CONTROLLERS_RTTMPC_STEP_H
#define NS3_ENV_TCP_CONTROLLERS_RTTMPC_STEP_H

namespace ns3::env::tcp
{

/// What is weighed against what; c3 = 1 - c1 - c2 weighs changes of the rate.
struct RttMpcWeights
{
    double target;    ///< c1: distance of the RTT from its target
    double variance;  ///< c2: distance of the RTT from its running average
    double smoothing; ///< alpha of that average
};

/// A step of the model, by the paper's names.
struct RttMpcStep
{
    double rateBps;       ///< r(n)
    double rttNs;         ///< l(n)
    double meanNs;        ///< l-bar(n), before l(n) is part of it
    double targetNs;      ///< l_t
    double leastNs;       ///< l_P
    double dtNs;          ///< dt(n)
    double bottleneckBps; ///< r_B
};

/// l(n+1) of eq. 2, in `leastNs` .. `largestNs`: what the RTT becomes after dt at the rate r.
double PredictRtt(const RttMpcStep& step, double largestNs);

/// r(n+1) of eqs. 7 and 8, in bits per second: without bounds, it may be negative.
double OptimalRate(const RttMpcWeights& weights, const RttMpcStep& step);

} // namespace ns3::env::tcp

#endif // NS3_ENV_TCP_CONTROLLERS_RTTMPC_STEP_H
