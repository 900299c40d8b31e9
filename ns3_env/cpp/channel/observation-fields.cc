// SPDX-License-Identifier: GPL-2.0-or-later
// Table of the fields that an agent can observe, and the records of values and actions.
#include "observation-fields.h"

#include <algorithm>
#include <limits>

namespace ns3::env
{

namespace
{

constexpr double TERA = 1e12; // larger than any rate, size or time of an episode

constexpr std::array<FieldSpec, FIELD_COUNT> FIELDS{{
    {Field::Rtt, "rtt", "1", "base RTT of the path", 0.0, 1e4, FieldSource::Timestamp},
    {Field::Qlen, "qlen", "1", "BDP of the most congested hop", 0.0, 1e4, FieldSource::Bottleneck},
    {Field::SwitchRate,
     "switch_rate",
     "1",
     "rate of the most congested hop",
     0.0,
     2.0,
     FieldSource::Bottleneck},
    {Field::Goodput, "goodput", "1", "rate of the receiver's link", 0.0, 1e2, FieldSource::Own},
    {Field::RttSlope,
     "rtt_slope",
     "1/ms",
     "base RTT of the path",
     -1e4,
     1e4,
     FieldSource::Timestamp},
    {Field::QlenSlope,
     "qlen_slope",
     "1/ms",
     "BDP of the most congested hop",
     -1e4,
     1e4,
     FieldSource::Bottleneck},
    {Field::PacingRate,
     "pacing_rate",
     "1",
     "rate of the sender's link",
     0.0,
     1.0,
     FieldSource::Own},
    {Field::LastAction, "last_action", "1", "", -1.0, 1.0, FieldSource::Own},
    {Field::Throughput,
     "throughput",
     "1",
     "rate of the most congested hop",
     0.0,
     1e2,
     FieldSource::Bottleneck},
    {Field::FlowCount, "flow_count", "flows", "", 0.0, 1e6, FieldSource::Flows},
    {Field::EcnFraction,
     "ecn_fraction",
     "1",
     "ACKs since the last decision",
     0.0,
     1.0,
     FieldSource::Own},
    // Losses of the network, as the sender knows them.
    {Field::RepeatedFraction,
     "repeated_fraction",
     "1",
     "bytes sent since the last decision",
     0.0,
     1.0,
     FieldSource::Own},
    // A flow's attained and remaining service: the quantities that LAS and SRPT schedule by.
    {Field::Attained, "attained", "1", "BDP of the path", 0.0, 1e9, FieldSource::Own},
    {Field::Remaining, "remaining", "1", "BDP of the path", 0.0, 1e9, FieldSource::Own},
    // Layer 2: 0 before the first frame. Data packets do not carry it.
    {Field::NotifiedOffset,
     "notified_offset",
     "1",
     "BDP of the path",
     -1e4,
     1e4,
     FieldSource::Frames},
    {Field::NotifiedDelta,
     "notified_delta",
     "1",
     "BDP of the path",
     -1e4,
     1e4,
     FieldSource::Frames},
    {Field::NotifiedFeedback,
     "notified_feedback",
     "1",
     "63 levels of -Fb",
     0.0,
     1.0,
     FieldSource::Frames},
    {Field::NotificationRecency,
     "notification_recency",
     "1",
     "base RTT / (base RTT + age of the last frame)",
     0.0,
     1.0,
     FieldSource::Frames},
    {Field::Notifications, "notifications", "frames", "", 0.0, 1e6, FieldSource::Frames},
    {Field::WindowBytes, "window_bytes", "B", "", 0.0, TERA, FieldSource::Own},
    {Field::RateBps, "rate_bps", "bit/s", "", 0.0, 1e15, FieldSource::Own},
    {Field::RttNs, "rtt_ns", "ns", "", 0.0, TERA, FieldSource::Timestamp},
    {Field::BaseRttNs, "base_rtt_ns", "ns", "", 0.0, TERA, FieldSource::Own},
    {Field::HostRateBps, "host_rate_bps", "bit/s", "", 0.0, 1e15, FieldSource::Own},
    {Field::BdpBytes, "bdp_bytes", "B", "", 0.0, TERA, FieldSource::Own},
    {Field::PacketBytes, "packet_bytes", "B", "", 0.0, 1e5, FieldSource::Own},
    {Field::PayloadBytes, "payload_bytes", "B", "", 0.0, 1e5, FieldSource::Own},
    {Field::InflightBytes, "inflight_bytes", "B", "", 0.0, TERA, FieldSource::Own},
    {Field::AckedBytes, "acked_bytes", "B", "", 0.0, 1e15, FieldSource::Own},
    {Field::StateQueueBytes, "state_queue_bytes", "B", "", 0.0, TERA, FieldSource::HopRecords},
    {Field::StateFlows, "state_flows", "flows", "", 0.0, 1e6, FieldSource::HopRecords},
    {Field::StateRateBps, "state_rate_bps", "bit/s", "", 0.0, 1e15, FieldSource::HopRecords},
    {Field::StateInputDelayNs,
     "state_input_delay_ns",
     "ns",
     "",
     0.0,
     TERA,
     FieldSource::HopRecords},
    {Field::StateFeedbackDelayNs,
     "state_feedback_delay_ns",
     "ns",
     "",
     0.0,
     TERA,
     FieldSource::HopRecords},
    {Field::TimeNs, "time_ns", "ns", "", 0.0, 1e15, FieldSource::Own},
    {Field::IntervalNs, "interval_ns", "ns", "", 0.0, 1e15, FieldSource::Own},
    {Field::Cost, "cost", "1", "ideal completion time of the flow", 0.0, 1e15, FieldSource::Own},
    {Field::SharingGain,
     "sharing_gain",
     "1",
     "ideal completion times",
     -1e15,
     1e15,
     FieldSource::Own,
     "SharingGain"},
    {Field::Slowdown,
     "slowdown",
     "1",
     "ideal completion time of the flow",
     0.0,
     1e15,
     FieldSource::Own},
    {Field::JobCost,
     "job_cost",
     "1",
     "ideal completion times",
     0.0,
     1e15,
     FieldSource::Own,
     "JobCost"},
    // One field of the header is the minimum of all hops, as flow_count is the number of flows at one.
    {Field::FairShare,
     "fair_share",
     "1",
     "rate of the sender's link",
     0.0,
     1.0,
     FieldSource::Flows},
    // Backlog that a switch would serve first under least remaining time (Hong 2012, PDQ).
    {Field::ShorterBacklog,
     "shorter_backlog",
     "1",
     "BDP of the hop",
     0.0,
     1e9,
     FieldSource::Shorter,
     "ShorterBacklog"},
    // What the flow's user wishes (MOCC, Ma et al. 2022): 0 short completion times, 1 equal shares.
    {Field::FairnessWeight, "fairness_weight", "1", "", 0.0, 1.0, FieldSource::Own},
    // A port's counters in the interval before its decision, and the thresholds in force then.
    {Field::PortQueueBytes, "port_queue_bytes", "B", "", 0.0, TERA, FieldSource::Port},
    {Field::PortMeanQueueBytes, "port_mean_queue_bytes", "B", "", 0.0, TERA, FieldSource::Port},
    {Field::PortUtilisation,
     "port_utilisation",
     "1",
     "rate of the port's link",
     0.0,
     2.0,
     FieldSource::Port},
    {Field::PortMarked, "port_marked", "1", "rate of the port's link", 0.0, 2.0, FieldSource::Port},
    {Field::PortRateBps, "port_rate_bps", "bit/s", "", 0.0, 1e15, FieldSource::Port},
    {Field::PortKminBytes, "port_kmin_bytes", "B", "", 0.0, TERA, FieldSource::Port},
    {Field::PortKmaxBytes, "port_kmax_bytes", "B", "", 0.0, TERA, FieldSource::Port},
    {Field::PortPmax, "port_pmax", "1", "", 0.0, 1.0, FieldSource::Port},
}};

/// Reports whether each row is at the index of its field in a record.
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
ObservationFields()
{
    return FIELDS;
}

static bool
Need(std::span<const Field> fields, FieldSource source)
{
    return std::any_of(fields.begin(),
                       fields.end(),
                       [&](Field f) { return FIELDS[static_cast<size_t>(f)].source == source; });
}

uint32_t
WireBytes(std::span<const Field> fields)
{
    const uint32_t shorter = Need(fields, FieldSource::Shorter) ? 8 : 0;
    if (Need(fields, FieldSource::HopRecords))
    {
        return 42 + shorter; // HPCC's header (docs/sources/published-simulator.md, "Switch")
    }
    const bool flows = Need(fields, FieldSource::Flows);
    const bool bottleneck = flows || Need(fields, FieldSource::Bottleneck);
    const bool timestamp = bottleneck || Need(fields, FieldSource::Timestamp);
    return (timestamp ? 8U : 0U) + (bottleneck ? 8U : 0U) + (flows ? 2U : 0U) + shorter;
}

bool
NeedsHops(std::span<const Field> fields)
{
    return Need(fields, FieldSource::Bottleneck) || Need(fields, FieldSource::Flows) ||
           Need(fields, FieldSource::Shorter) || Need(fields, FieldSource::HopRecords);
}

void
ObservationRecord::Clip()
{
    for (size_t i = 0; i < FIELD_COUNT; ++i)
    {
        values[i] = std::clamp(values[i], FIELDS[i].low, FIELDS[i].high);
    }
}

void
ObservationRecord::ClearTelemetry()
{
    for (size_t i = 0; i < FIELD_COUNT; ++i)
    {
        if (FIELDS[i].source != FieldSource::Own && FIELDS[i].source != FieldSource::Frames)
        {
            values[i] = 0.0;
        }
    }
}

void
ObservationRecord::ForgetSwitches()
{
    for (size_t i = 0; i < FIELD_COUNT; ++i)
    {
        if (!KnownWithoutSwitches(FIELDS[i].source))
        {
            values[i] = std::numeric_limits<double>::quiet_NaN();
        }
    }
}

} // namespace ns3::env
