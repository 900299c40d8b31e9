// SPDX-License-Identifier: GPL-2.0-or-later
#include "telemetry.h"

#include <algorithm>

namespace ns3::rdma
{

namespace
{

constexpr double TERA = 1e12; // larger than any rate, size or time of an episode

constexpr std::array<FieldSpec, FIELD_COUNT> FIELDS{{
    {"rtt", "1", "base RTT of the path", 0.0, 1e4},
    {"qlen", "1", "BDP of the most congested hop", 0.0, 1e4},
    {"switch_rate", "1", "rate of the most congested hop", 0.0, 2.0},
    {"goodput", "1", "rate of the receiver's link", 0.0, 1e2},
    {"rtt_slope", "1/ms", "base RTT of the path", -1e4, 1e4},
    {"qlen_slope", "1/ms", "BDP of the most congested hop", -1e4, 1e4},
    {"pacing_rate", "1", "rate of the sender's link", 0.0, 1.0},
    {"last_action", "1", "", -1.0, 1.0},
    {"throughput", "1", "rate of the most congested hop", 0.0, 1e2},
    {"flow_count", "flows", "", 0.0, 1e6},
    {"ecn_fraction", "1", "ACKs since the last decision", 0.0, 1.0},
    {"window_bytes", "B", "", 0.0, TERA},
    {"rate_bps", "bit/s", "", 0.0, 1e15},
    {"rtt_ns", "ns", "", 0.0, TERA},
    {"base_rtt_ns", "ns", "", 0.0, TERA},
    {"host_rate_bps", "bit/s", "", 0.0, 1e15},
    {"bdp_bytes", "B", "", 0.0, TERA},
    {"packet_bytes", "B", "", 0.0, 1e5},
    {"inflight_bytes", "B", "", 0.0, TERA},
    {"acked_bytes", "B", "", 0.0, 1e15},
    {"state_queue_bytes", "B", "", 0.0, TERA},
    {"state_flows", "flows", "", 0.0, 1e6},
    {"state_rate_bps", "bit/s", "", 0.0, 1e15},
    {"state_input_delay_ns", "ns", "", 0.0, TERA},
    {"state_feedback_delay_ns", "ns", "", 0.0, TERA},
    {"time_ns", "ns", "", 0.0, 1e15},
    {"interval_ns", "ns", "", 0.0, 1e15},
}};

} // namespace

std::span<const FieldSpec, FIELD_COUNT>
TelemetryFields()
{
    return FIELDS;
}

void
TelemetryRecord::Clip()
{
    for (size_t i = 0; i < FIELD_COUNT; ++i)
    {
        values[i] = std::clamp(values[i], FIELDS[i].low, FIELDS[i].high);
    }
}

} // namespace ns3::rdma
