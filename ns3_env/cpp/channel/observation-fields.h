// SPDX-License-Identifier: GPL-2.0-or-later
// Table of the fields that an agent can observe, and the records of values and actions.
#pragma once

#include "ns3_env/cpp/contract/switch-config.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>

namespace ns3::env
{

/// Index of each field in a ObservationRecord; the order of ObservationFields(), which the compiler checks.
enum class Field : uint8_t
{
    // Normalised features (Zhang 2023, sec. 4.2).
    Rtt,
    Qlen,
    SwitchRate,
    Goodput,
    RttSlope,
    QlenSlope,
    PacingRate,
    LastAction,
    Throughput,
    FlowCount,
    EcnFraction,
    RepeatedFraction,
    Attained,
    Remaining,
    // The last feedback frame of a switch (IEEE 802.1Q, 33.4; Jiang 2015, sec. 2.2).
    NotifiedOffset,
    NotifiedDelta,
    NotifiedFeedback,
    NotificationRecency,
    Notifications,
    // The flow and its path, in units (Zheng 2024, ch. 3).
    WindowBytes,
    RateBps,
    RttNs,
    BaseRttNs,
    HostRateBps,
    BdpBytes,
    PacketBytes,
    PayloadBytes,
    InflightBytes,
    AckedBytes,
    // The state switch (Zheng 2024, Algorithm 1).
    StateQueueBytes,
    StateFlows,
    StateRateBps,
    StateInputDelayNs,
    StateFeedbackDelayNs,
    // Clock.
    TimeNs,
    IntervalNs,
    // Time until completion, for rewards.
    Cost,
    SharingGain,
    Slowdown,
    JobCost,
    FairShare,
    ShorterBacklog,
    FairnessWeight,
    // A port of a switch since its last decision (Yan et al. 2021); 0 in a flow's record.
    PortQueueBytes,
    PortMeanQueueBytes,
    PortUtilisation,
    PortMarked,
    PortRateBps,
    PortKminBytes,
    PortKmaxBytes,
    PortPmax,
    Count,
};

inline constexpr size_t FIELD_COUNT = static_cast<size_t>(Field::Count);

/// Telemetry that packets must carry for the sender to know a field. Bytes of each: WireBytes().
enum class FieldSource : uint8_t
{
    Own,        ///< nothing: the sender knows it by itself, or by one bit of the ACK
    Timestamp,  ///< when the packet left
    Bottleneck, ///< only queue and rate of the most congested hop
    Flows,      ///< and how many flows share it
    Shorter,    ///< remaining bytes of the flow, and of shorter flows at one hop
    HopRecords, ///< a record of every hop
    Frames,     ///< nothing: a feedback frame of a switch
    Port,       ///< nothing: only a port's own agent observes it
};

/// Reports whether the sender knows the field without reports from switches.
inline bool
KnownWithoutSwitches(FieldSource source)
{
    return source == FieldSource::Own || source == FieldSource::Timestamp;
}

/// A field's declaration; it travels to Python in the shared region's header.
struct FieldSpec
{
    Field field;
    const char* name;       ///< at most 31 characters
    const char* unit;       ///< of the value in the record; "1" if normalised
    const char* normaliser; ///< divisor of the raw quantity; "" if none
    double low;             ///< least value (inclusive)
    double high;            ///< largest value (inclusive); values are clipped to [low, high]
    FieldSource source;
    const char* attribute{""}; ///< of "agent", which requests the field; "": it is always reported
};

std::span<const FieldSpec, FIELD_COUNT> ObservationFields();

/// Bytes of telemetry in a packet for an agent that observes these fields: 8 for a time, 8 for the most congested hop,
/// 2 for its flows, 8 for the remaining bytes of the flow and of shorter ones; for records of all hops HPCC's 42.
uint32_t WireBytes(std::span<const Field> fields);

/// Reports whether any field is of a hop, so that switches have to write records.
bool NeedsHops(std::span<const Field> fields);

/// One flow's values at one decision.
struct ObservationRecord
{
    std::array<double, FIELD_COUNT> values{};

    double& operator[](Field f) { return values[static_cast<size_t>(f)]; }
    double operator[](Field f) const { return values[static_cast<size_t>(f)]; }
    /// Cuts every value to its declared range.
    void Clip();
    /// Sets the values that only switches can report to NaN.
    void ForgetSwitches();
    /// Sets the values that packets would have to carry to 0, as before the first packet returned.
    void ClearTelemetry();
};

/// Action for one flow at one decision; for a port the numbers are its thresholds (AsThresholds).
struct ActionRow
{
    double windowBytes{0};
    double rateBps{0};
    double echo{0}; ///< comes back as the field "last_action"

    /// Window and rate may be infinite: none, and the link's. No number may be a NaN.
    bool IsValid() const { return windowBytes >= 0 && rateBps >= 0 && std::isfinite(echo); }
};

/// A port's action: Kmin and Kmax (B), and Pmax. A Kmax below Kmin counts as Kmin, Pmax is cut to [0, 1].
inline MarkingThresholds
AsThresholds(const ActionRow& action)
{
    return {action.windowBytes,
            std::max(action.windowBytes, action.rateBps),
            std::clamp(action.echo, 0.0, 1.0)};
}

} // namespace ns3::env
