// SPDX-License-Identifier: GPL-2.0-or-later
// What can an agent see of a flow? The one table of fields, and the record that holds their values.
#ifndef RDMA_TELEMETRY_H
#define RDMA_TELEMETRY_H

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace ns3::rdma
{

/// Index of each field in a TelemetryRecord; the order of TelemetryFields(), which the compiler checks.
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
    // The flow and its path, in units (Zheng 2024, ch. 3).
    WindowBytes,
    RateBps,
    RttNs,
    BaseRttNs,
    HostRateBps,
    BdpBytes,
    PacketBytes,
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
    Count,
};

inline constexpr size_t FIELD_COUNT = static_cast<size_t>(Field::Count);

/// A field's declaration; it travels to Python in the shared region's header.
struct FieldSpec
{
    Field field;
    const char* name;       ///< at most 31 characters
    const char* unit;       ///< of the value as it stands in the record; "1" where normalised
    const char* normaliser; ///< what the raw quantity was divided by; "" where none
    double low;             ///< least value (inclusive)
    double high;            ///< largest value (inclusive); values are clipped to [low, high]
};

std::span<const FieldSpec, FIELD_COUNT> TelemetryFields();

/// One flow's values at one decision.
struct TelemetryRecord
{
    std::array<double, FIELD_COUNT> values{};

    double& operator[](Field f) { return values[static_cast<size_t>(f)]; }
    double operator[](Field f) const { return values[static_cast<size_t>(f)]; }
    /// Cuts every value to its declared range.
    void Clip();
};

} // namespace ns3::rdma

#endif // RDMA_TELEMETRY_H
