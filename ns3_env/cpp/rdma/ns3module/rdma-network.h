// SPDX-License-Identifier: GPL-2.0-or-later
// The RDMA network of a simulation: settings and components for the engine's network.
#pragma once

#include "rdma-application.h"
#include "rdma-net-device.h"

#include "ns3/node.h"
#include "ns3/object.h"

#include <map>
#include <memory>
#include <set>
#include <string>

namespace ns3
{

namespace env
{
class ScriptRun;
struct ScriptSettings;
} // namespace env

/// A capture that a script requests.
struct RdmaCapture
{
    std::string prefix;
    std::map<Ptr<RdmaNetDevice>, std::string> files; ///< by device; ns-3's names
};

/// The one RDMA network of a simulation. A script describes it by devices, channels, applications and this object's
/// attributes until Simulator::Run; an event at time 0 makes the engine's network of them. Its attributes have the paths
/// /$ns3::RdmaNetwork/NAME.
class RdmaNetwork : public Object
{
  public:
    static TypeId GetTypeId();

    RdmaNetwork();
    ~RdmaNetwork() override;

    /// The network of this simulation; the first call creates it, and selects picoseconds and the engine's event loop:
    /// call it before the first event. Aborts if another loop runs.
    static Ptr<RdmaNetwork> Get();

    /// The node forwards between its devices.
    void AddSwitch(Ptr<Node> node) { m_switches.insert(node->GetId()); }
    bool IsSwitch(Ptr<Node> node) const { return m_switches.contains(node->GetId()); }
    /// Aborts with a message if there is no such controller, attribute or value.
    static void CheckController(const std::string& controller);
    /// Frames of a device go to a file, and those of all captured ones to PREFIX.pcapng.
    void Capture(const std::string& prefix, Ptr<RdmaNetDevice> device, const std::string& file);

    /// Flows that have started and not ended; 0 before the simulation.
    std::size_t GetNLiveFlows() const;
    /// Numbers of pause frames and of lost packets in the whole network.
    uint64_t GetNPauseFrames() const;
    uint64_t GetNDrops() const;

    // --- For devices and applications
    void StartFlow(Ptr<RdmaApplication> application);
    void WatchWindows(Ptr<RdmaApplication> application);
    /// Sends a frame of another stack from this host; false if it is refused.
    bool
    Carry(Ptr<RdmaNetDevice> device, Ptr<Packet> packet, const Address& dest, uint16_t protocol);

  protected:
    void DoDispose() override;

  private:
    void Build();
    void End();
    void Describe(env::ScriptSettings& settings) const;

    std::set<uint32_t> m_switches; ///< by node id
    RdmaCapture m_capture;
    std::unique_ptr<env::ScriptRun> m_run;

    uint32_t m_payloadBytes;
    uint64_t m_bufferBytes;
    bool m_pfc;
    uint32_t m_alphaShift;
    uint32_t m_reserveBytes;
    uint32_t m_resumeOffsetBytes;
    uint32_t m_headroomFrames;
    std::string m_ecn;
    std::string m_balancing;
    DataRate m_minRate;
    Time m_retransmissionTimeout;
    std::string m_settings;
    std::string m_results;
    bool m_stopsWithLastFlow;
    uint8_t m_otherClass;
};

} // namespace ns3
