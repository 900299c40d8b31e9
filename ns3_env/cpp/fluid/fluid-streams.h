// SPDX-License-Identifier: GPL-2.0-or-later
// Streams of constant rate in a fluid: they get their share of links before any flow.
#pragma once

#include "allocation.h"
#include "fluid-links.h"

#include "ns3_env/cpp/events/now.h"
#include "ns3_env/cpp/run/run-report.h"
#include "ns3_env/cpp/run/scenario.h"

#include <cstdint>
#include <functional>
#include <vector>

namespace ns3::env
{

/// The streams of one network, each at its rate while it is on. If they exceed a link, they get all of it, in
/// proportion to their rates, and the excess is never sent.
class FluidStreams
{
  public:
    /// \param routes of the scenario's streams
    /// \param packetBytes of a stream's full packet on the wire
    FluidStreams(const Scenario& scenario,
                 FluidLinks links,
                 std::vector<FluidRoute> routes,
                 uint32_t packetBytes);

    /// Calls `changed` whenever one starts or stops, or a link has another rate.
    void Schedule(const std::function<void()>& changed);

    /// bit/s that they leave of each link.
    const std::vector<double>& CapacitiesLeft() const { return m_left; }
    StreamCounts Of(size_t stream) const;
    uint64_t Payload() const; ///< bytes, of all
    /// Adds the bytes that each link has carried, on the wire.
    void AddCarried(std::vector<double>& bytes) const;

  private:
    struct Stream
    {
        const StreamEntry* entry;
        FluidRoute links;
        double rateBps{0}; ///< now
        double bits{0};    ///< on the wire by m_since
    };

    void Share();
    double BitsOf(const Stream& stream) const
    {
        return stream.bits +
               stream.rateBps * static_cast<double>(NowPicos() - m_since) / PS_PER_SECOND;
    }

    FluidLinks m_links;
    std::vector<double> m_left;
    std::vector<Stream> m_streams;
    double m_payloadShare;
    Picos m_since{0};
};

} // namespace ns3::env
