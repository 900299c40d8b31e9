// SPDX-License-Identifier: GPL-2.0-or-later
// Model and optimal rate of RTT-driven MPC (Lynn et al. 2020, eqs. 2, 7 and 8).
#include "rttmpc-step.h"

#include <algorithm>

namespace ns3::env::tcp
{

double
PredictRtt(const RttMpcStep& step, double largestNs)
{
    const double rtt =
        step.rttNs + (step.rateBps - step.bottleneckBps) / step.bottleneckBps * step.dtNs;
    return std::clamp(rtt, step.leastNs, std::max(step.leastNs, largestNs));
}

double
OptimalRate(const RttMpcWeights& weights, const RttMpcStep& step)
{
    const double ofRate = 1 - weights.target - weights.variance; // c3
    const double ofVariance = weights.smoothing * weights.variance;
    const double ofRtt = ofVariance + weights.target;
    const double lambda = ofRtt * (step.rttNs - step.dtNs) - weights.target * step.targetNs -
                          ofVariance * step.meanNs; // eq. 8
    const double leastSquared = step.leastNs * step.leastNs;
    return (ofRate * leastSquared * step.rateBps - step.dtNs * step.bottleneckBps * lambda) /
           (ofRate * leastSquared + step.dtNs * step.dtNs * ofRtt); // eq. 7
}

} // namespace ns3::env::tcp
