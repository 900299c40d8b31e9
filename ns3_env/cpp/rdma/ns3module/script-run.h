// SPDX-License-Identifier: GPL-2.0-or-later
// The engine's network of a script from the first event to Simulator::Destroy.
#pragma once

#include "other-frames.h"
#include "rdma-network.h"
#include "script-scenario.h"

#include "ns3/pcap-file-wrapper.h"
#include "ns3_env/cpp/channel/simulator-channel.h"
#include "ns3_env/cpp/decision/deciding-flows.h"
#include "ns3_env/cpp/engine/heartbeat.h"
#include "ns3_env/cpp/rdma/program/rdma-episode.h"
#include "ns3_env/cpp/recorders/capture-file.h"
#include "ns3_env/cpp/recorders/results.h"

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace ns3::env
{

/// An episode that a script's own Simulator::Run simulates, with what it reports to ns-3's objects.
class ScriptRun
{
  public:
    /// Builds the network and schedules its flows; aborts with a message if something does not fit.
    static std::unique_ptr<ScriptRun> Begin(const ScriptSettings& settings,
                                            const RdmaCapture& capture,
                                            const std::string& results,
                                            bool stopsWithLastFlow);
    ~ScriptRun();

    ScriptRun(ScriptRun&&) = delete;

    const rdma::RdmaEpisode& Network() const { return *m_episode; }
    /// Starts a flow that was added after the simulation's start; does nothing for earlier ones.
    void StartFlow(Ptr<RdmaApplication> application);
    /// A frame of another stack leaves a card.
    bool Carry(RdmaNetDevice& card,
               const Ptr<ns3::Packet>& packet,
               const Address& dest,
               uint16_t protocol,
               uint8_t trafficClass);
    /// A listener connects to this application's window and rate.
    void WatchWindows(const RdmaApplication& application);
    /// Ends the simulation: flows in progress are truncated, files are written.
    void End();

  private:
    ScriptRun(ScriptSettings settings, const std::string& results);

    void Build(const RdmaCapture& capture, bool stopsWithLastFlow);
    void OpenChannel();
    void BecomeCopy(const CopyTerms& terms);
    void ConnectDevices();
    PcapSpec PortsOf(const RdmaCapture& capture);
    void OnFinished(const Flow& flow);
    void OnWindowAndRate(const FlowState& flow, Picos now);
    void WriteFiles();
    /// Ends the program, with a message if it is not "".
    void Refuse(const std::string& why);

    ScriptSettings m_settings;
    std::string m_results; ///< file; "" without one
    std::optional<SimulatorChannel> m_channel;
    std::optional<Heartbeat::Listener> m_listener;
    nlohmann::json m_task;
    rdma::RdmaTransport m_transport;
    std::optional<ScriptScenario> m_script;
    std::optional<DecidingFlows> m_deciding;
    std::unique_ptr<rdma::RdmaEpisode> m_episode;
    std::optional<OtherFrames> m_others; ///< from the first one on
    std::optional<Recorders> m_recorders;
    std::unique_ptr<CaptureFile> m_capture;
    std::vector<Ptr<PcapFileWrapper>> m_deviceFiles; ///< of captured devices, by their interfaces
    std::vector<Ptr<RdmaApplication>> m_flows;       ///< by the engine's number
    std::set<uint32_t> m_watchedNodes;
};

} // namespace ns3::env
