// SPDX-License-Identifier: GPL-2.0-or-later
// Decision clock of the flows under a policy.
#pragma once

#include "units.h"

#include <optional>

namespace ns3::env
{

/// Clock of decisions; one of the first three members is set.
struct ClockSpec
{
    std::optional<double>
        rttFraction; ///< per flow: again after this fraction of its last RTT; 0: every ACK
    double startBdps{
        0}; ///< above 0: and the first time before its first packet, with a window of so
            ///< many BDPs, having seen nothing
    std::optional<Picos> interval; ///< all live flows at a fixed interval
    bool onNotification{false};    ///< per flow: at each feedback frame of a switch
    std::optional<Picos> quantum;  ///< decisions due within this time are made together;
                                   ///< absent: each on the spot (the clock per_ack)
};

} // namespace ns3::env
