// SPDX-License-Identifier: GPL-2.0-or-later
// Film of a run: every port and every active flow, sampled together at a fixed interval.
#pragma once

#include "ns3_env/cpp/run/episode.h"

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <utility>
#include <vector>

namespace ns3::env
{

/// Samples while the network runs, and once more as the run ends, so that the samples of sent bytes add up to the total.
///
/// Ports (also hosts' ports) have a row if anything differs from the sample before: the queue's length, and the bytes
/// sent and the time paused since then. Flows have a row at each sample while they are live.
class Film
{
  public:
    Film(Episode& episode, Picos interval);

    Film(Film&&) = delete;

    /// Rows as base64 of little-endian numbers: u32 of ports, f64 of flows (docs/films.md).
    nlohmann::json ToJson() const;

  private:
    /// A port as it was at the last sample.
    struct PortState
    {
        uint32_t index;
        uint64_t bytes{0};
        uint64_t txBytes{0};
        Picos paused{0};
    };

    /// A port's losses in the interval before a sample.
    struct LossRow
    {
        uint32_t sample;
        LossRecord lost; ///< since the sample before
    };

    using PortKey = std::pair<uint32_t, uint32_t>;

    void OnBegin();
    void OnCreated(Flow& flow) { m_routes[flow.Id()] = m_episode.RouteOf(flow); }
    void OnTick();
    void Sample();
    void SamplePort(const EgressQueue& port);
    void SampleFlow(const Flow& flow);
    void SampleLosses();

    const Episode& m_episode;
    Picos m_interval;
    std::vector<Picos> m_times;

    std::map<PortKey, PortState> m_states;
    std::vector<EgressQueue> m_ports; ///< each once, in the order of appearance
    std::vector<uint32_t> m_portRows; ///< sample, port, queue bytes, sent bytes, paused ns
    std::vector<double> m_flowRows;   ///< sample, flow, acked, sent, window, rate, RTT
    std::map<std::pair<PortKey, LossCause>, Losses> m_lost;
    std::vector<LossRow> m_losses;
    std::map<uint32_t, std::vector<PortKey>> m_routes; ///< by flow
};

} // namespace ns3::env
