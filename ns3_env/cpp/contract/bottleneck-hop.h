// SPDX-License-Identifier: GPL-2.0-or-later
// MPCC's selection of the state switch, the bottleneck hop, from a packet's telemetry.
#pragma once

#include "flow-state.h"
#include "int-record.h"

#include <cstddef>
#include <span>

namespace ns3::env
{

/// Measure by which hops' queues are compared.
enum class Bottleneck
{
    LongestQueue, ///< its bytes (Zheng 2024, Algorithm 1)
    LongestDrain  ///< the time in which its link sends them; a single packet is no queue
};

/// The hop whose queue is the state of MPCC's model, as the sender knows it.
struct StateSwitch
{
    size_t hop{0};               ///< its place on the path, sender's side first
    double queueBytes{0.0};      ///< Q
    double flows{1.0};           ///< N, at least 1
    double rateBps{0.0};         ///< R_link
    double inputDelayNs{0.0};    ///< tau_1 in time: until the sender's action reaches the queue
    double feedbackDelayNs{0.0}; ///< tau_2 in time: until the sender learns of the queue
};

/// The hop with the longest queue by `rule` (the first of equals; Zheng 2024, Algorithm 1). If all queues are empty, the
/// hop with the smallest fair share (largest N / R_link), so that the window goes to its share (docs/sources/mpcc.md).
/// Rates come from the records, so every topology works.
///
/// Delays (sec. 3.3): the hop's own from the path, plus the waiting in the queues before it (input) and
/// behind it (feedback). The state queue's own waiting is part of the model, not of the delay.
///
/// Without records (no switch on the path) the sender's link replaces them: N = 1, an empty queue.
StateSwitch SelectStateSwitch(std::span<const IntRecord> hops,
                              const PathFacts& path,
                              Bottleneck rule = Bottleneck::LongestQueue);

} // namespace ns3::env
