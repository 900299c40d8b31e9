// SPDX-License-Identifier: GPL-2.0-or-later
// What would MPCC do without constraints? The finite-horizon regulator in closed form.
#include "mpcc-lqr.h"

#include <algorithm>

namespace ns3::rdma
{

void
LqrGains(double b, double weightQueue, double weightWindow, std::span<double> gains)
{
    double cost =
        weightQueue; // S_P: the last state's cost, no terminal weight (Zheng 2024, sec. 4.4)
    for (size_t k = gains.size(); k-- > 0;)
    {
        // Riccati recursion of a scalar integrator (A = 1).
        const double denominator = weightWindow + b * b * cost;
        gains[k] = b * cost / denominator;
        cost = weightQueue + cost * weightWindow / denominator;
    }
}

double
LqrMove(const MpccModel& model, double firstGain)
{
    const double upper = std::min(model.upper, (model.SoftBound(1) - model.q) / model.b);
    return std::max(std::min(-firstGain * model.q, upper), model.lower);
}

bool
LqrSequence(const MpccModel& model, std::span<const double> gains, std::span<double> moves)
{
    double q = model.q;
    for (size_t k = 0; k < gains.size(); ++k)
    {
        const double move = -gains[k] * q;
        q += model.b * move;
        moves[k] = move;
        if (move < model.lower || move > model.upper || q < 0.0 ||
            q > model.SoftBound(static_cast<int>(k) + 1))
        {
            return false;
        }
    }
    return true;
}

} // namespace ns3::rdma
