// SPDX-License-Identifier: GPL-2.0-or-later
// Helper that builds RDMA networks: cards, switches, links, controllers, flows and captures.
#pragma once

#include "rdma-network.h"

#include "ns3/net-device-container.h"
#include "ns3/node-container.h"
#include "ns3/object-factory.h"
#include "ns3/trace-helper.h"

#include <string>

namespace ns3
{

/// Builds the RDMA network of a simulation. Create it before the first node: it selects the event loop. An invalid
/// network ends the program with a sentence that gives the reason (NS_ABORT_MSG).
class RdmaHelper : public PcapHelperForDevice
{
  public:
    RdmaHelper();

    // --- Settings of objects created later
    void SetDeviceAttribute(const std::string& name, const AttributeValue& value);
    void SetChannelAttribute(const std::string& name, const AttributeValue& value);
    /// Sets flows' controller and its attributes, as in SetController("hpcc", "Eta", DoubleValue(0.9)).
    template <typename... Args>
    void SetController(const std::string& name, Args&&... attributes);

    /// An attribute of the whole network: switches, packets, marking (RdmaNetwork).
    void SetNetworkAttribute(const std::string& name, const AttributeValue& value);

    /// Makes these nodes switches.
    void InstallSwitch(const NodeContainer& nodes);
    void InstallSwitch(Ptr<Node> node) { InstallSwitch(NodeContainer(node)); }
    /// Joins two nodes, with a device at each. \returns the two
    NetDeviceContainer Connect(Ptr<Node> a, Ptr<Node> b);
    /// A card for each host and its link to the switch. \returns the cards
    NetDeviceContainer Install(const NodeContainer& hosts, Ptr<Node> leaf);

    /// A flow of `bytes`, 0 for an endless one, under the controller that was set last.
    Ptr<RdmaApplication>
    AddFlow(Ptr<Node> from, Ptr<Node> to, uint64_t bytes, Time start = Time(0));
    /// The same between two cards; hosts may have several.
    Ptr<RdmaApplication>
    AddFlow(Ptr<NetDevice> from, Ptr<NetDevice> to, uint64_t bytes, Time start = Time(0));
    /// Packets at this constant rate (on the wire), without control; `stop` 0: to the end.
    Ptr<RdmaApplication>
    AddStream(Ptr<Node> from, Ptr<Node> to, DataRate rate, Time start, Time stop = Time(0));
    Ptr<RdmaApplication> AddStream(Ptr<NetDevice> from,
                                   Ptr<NetDevice> to,
                                   DataRate rate,
                                   Time start,
                                   Time stop = Time(0));

    Ptr<RdmaNetwork> GetNetwork() const { return m_network; }
    /// The first card of a host; aborts if there is none.
    static Ptr<RdmaNetDevice> CardOf(Ptr<Node> host);

  private:
    void EnablePcapInternal(std::string prefix,
                            Ptr<NetDevice> device,
                            bool promiscuous,
                            bool explicitFilename) override;
    static std::string Listed() { return {}; }
    template <typename... Args>
    static std::string Listed(const std::string& name, const AttributeValue& value, Args&&... more);

    Ptr<RdmaNetwork> m_network;
    ObjectFactory m_devices{"ns3::RdmaNetDevice"};
    ObjectFactory m_channels{"ns3::RdmaChannel"};
    std::string m_controller{"dcqcn"};
};

template <typename... Args>
std::string
RdmaHelper::Listed(const std::string& name, const AttributeValue& value, Args&&... more)
{
    const std::string rest = Listed(more...);
    return name + "=" + value.SerializeToString(nullptr) + (rest.empty() ? "" : "|" + rest);
}

template <typename... Args>
void
RdmaHelper::SetController(const std::string& name, Args&&... attributes)
{
    m_controller = sizeof...(Args) == 0 ? name : name + "[" + Listed(attributes...) + "]";
    RdmaNetwork::CheckController(m_controller);
}

} // namespace ns3
