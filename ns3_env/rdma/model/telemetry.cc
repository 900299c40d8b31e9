// SPDX-License-Identifier: GPL-2.0-or-later
#include "telemetry.h"

#include <algorithm>

namespace ns3::rdma
{

namespace
{

constexpr double TERA = 1e12; // larger than any rate, size or time of an episode

constexpr std::array<FieldSpec, FIELD_COUNT> FIELDS{{
    {Field::Rtt, "rtt", "1", "base RTT of the path", 0.0, 1e4},
    {Field::Qlen, "qlen", "1", "BDP of the most congested hop", 0.0, 1e4},
    {Field::SwitchRate, "switch_rate", "1", "rate of the most congested hop", 0.0, 2.0},
    {Field::Goodput, "goodput", "1", "rate of the receiver's link", 0.0, 1e2},
    {Field::RttSlope, "rtt_slope", "1/ms", "base RTT of the path", -1e4, 1e4},
    {Field::QlenSlope, "qlen_slope", "1/ms", "BDP of the most congested hop", -1e4, 1e4},
    {Field::PacingRate, "pacing_rate", "1", "rate of the sender's link", 0.0, 1.0},
    {Field::LastAction, "last_action", "1", "", -1.0, 1.0},
    {Field::Throughput, "throughput", "1", "rate of the most congested hop", 0.0, 1e2},
    {Field::FlowCount, "flow_count", "flows", "", 0.0, 1e6},
    {Field::EcnFraction, "ecn_fraction", "1", "ACKs since the last decision", 0.0, 1.0},
    {Field::WindowBytes, "window_bytes", "B", "", 0.0, TERA},
    {Field::RateBps, "rate_bps", "bit/s", "", 0.0, 1e15},
    {Field::RttNs, "rtt_ns", "ns", "", 0.0, TERA},
    {Field::BaseRttNs, "base_rtt_ns", "ns", "", 0.0, TERA},
    {Field::HostRateBps, "host_rate_bps", "bit/s", "", 0.0, 1e15},
    {Field::BdpBytes, "bdp_bytes", "B", "", 0.0, TERA},
    {Field::PacketBytes, "packet_bytes", "B", "", 0.0, 1e5},
    {Field::InflightBytes, "inflight_bytes", "B", "", 0.0, TERA},
    {Field::AckedBytes, "acked_bytes", "B", "", 0.0, 1e15},
    {Field::StateQueueBytes, "state_queue_bytes", "B", "", 0.0, TERA},
    {Field::StateFlows, "state_flows", "flows", "", 0.0, 1e6},
    {Field::StateRateBps, "state_rate_bps", "bit/s", "", 0.0, 1e15},
    {Field::StateInputDelayNs, "state_input_delay_ns", "ns", "", 0.0, TERA},
    {Field::StateFeedbackDelayNs, "state_feedback_delay_ns", "ns", "", 0.0, TERA},
    {Field::TimeNs, "time_ns", "ns", "", 0.0, 1e15},
    {Field::IntervalNs, "interval_ns", "ns", "", 0.0, 1e15},
}};

/// Whether each row stands at the index that its field has in a record.
constexpr bool
InOrder()
{
    for (size_t i = 0; i < FIELD_COUNT; ++i)
    {
        if (static_cast<size_t>(FIELDS[i].field) != i)
        {
            return false;
        }
    }
    return true;
}

static_assert(InOrder(), "the rows of FIELDS must stand in the order of the enumeration Field");

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
