// SPDX-License-Identifier: GPL-2.0-or-later
// Facts of a flow's path before its first packet: rates, delays, BDP.
#pragma once

#include "units.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace ns3::env
{

/// One switch port of a flow's path, sender's side first.
struct PathHop
{
    double rateBps; ///< link rate of the egress port
    Picos
        inputDelay; ///< sender's NIC to this port's queue, without queueing: tau_1 (Zheng 2024, sec. 3.3)
    Picos
        feedbackDelay; ///< this port's queue, by the receiver, back to the sender, without queueing: tau_2
};

/// Facts of a flow's path; they never change while the flow lives.
struct PathFacts
{
    double hostRateBps{0};       ///< R_in,max: rate of the sender's link
    Picos baseRtt{0};            ///< RTT of one full packet on this idle path (Zheng 2024, eq. 2.2)
    double slowestBps{0};        ///< minimum link rate on the path of baseRtt
    Picos maxBaseRtt{0};         ///< the largest such RTT between any two hosts
    double bdpBytes{0};          ///< baseRtt * hostRateBps / 8 (Zheng 2024, eq. 2.3)
    double maxBdpBytes{0};       ///< maxBaseRtt * hostRateBps / 8
    double minRateBps{0};        ///< minimum pacing rate
    uint32_t payloadBytes{1000}; ///< of a full packet
    uint32_t packetBytes{1048};  ///< a full packet on the wire, telemetry included
    Rounding rounding{Rounding::Exact};
    bool windowsWrap{false}; ///< HPCC's product of BDP and rate is cut to 64 bits (NetworkRules)
    std::vector<PathHop> hops;
    std::vector<uint64_t> links; ///< ids of all links, sender's side first

    /// Window of a rate: W = maxBDP * rate / line rate in whole bytes, at least a packet
    /// (docs/sources/published-simulator.md, "Sender").
    double WindowAt(double rateBps) const
    {
        return std::max<double>(payloadBytes, std::floor(maxBdpBytes * rateBps / hostRateBps));
    }
};

} // namespace ns3::env
