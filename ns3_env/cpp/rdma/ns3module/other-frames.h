// SPDX-License-Identifier: GPL-2.0-or-later
// Frames of other stacks of ns-3 (TCP, UDP, ARP) as packets of the engine's network.
#pragma once

#include "rdma-net-device.h"

#include "ns3_env/cpp/rdma/program/rdma-episode.h"

#include <cstdint>
#include <map>
#include <memory>
#include <tuple>
#include <unordered_map>
#include <vector>

namespace ns3::env
{

/// Carries frames that ns-3's stacks send by a card: each frame is a packet of the engine, which waits, is marked and is
/// dropped as RDMA's are, and is sent before the card's RDMA flows, as an answer is. A connection's frames (by address
/// and source port) keep one path if flows do.
class OtherFrames
{
  public:
    /// \param cards by the engine's node; null for switches \param trafficClass of all these frames
    OtherFrames(rdma::RdmaEpisode& network,
                std::vector<Ptr<RdmaNetDevice>> cards,
                uint8_t trafficClass);
    ~OtherFrames();

    OtherFrames(OtherFrames&&) = delete;

    /// Sends from the card of the engine's node `source`.
    /// \returns false if too many wait at the card, or no host has this address \throws ScenarioError without a path
    bool
    Send(uint32_t source, const Ptr<ns3::Packet>& packet, const Address& to, uint16_t protocol);

  private:
    /// A frame in flight.
    struct Frame
    {
        Ptr<ns3::Packet> packet;
        Address to;
        uint16_t protocol;
        uint32_t source; ///< node
    };

    bool SendTo(uint32_t source, uint32_t destination, Frame frame);
    rdma::QueuePair& CarrierOf(uint32_t source, uint32_t destination, uint16_t port);
    void OnTx(const rdma::Packet& packet);
    void OnRx(uint32_t node, const rdma::Packet& packet);
    void OnDrop(const rdma::Packet& packet);
    std::vector<uint8_t> BytesOf(const rdma::Packet& packet) const;

    rdma::RdmaEpisode& m_network;
    std::vector<Ptr<RdmaNetDevice>> m_cards;
    uint8_t m_class;
    std::vector<uint32_t> m_waiting; ///< frames at each card
    std::map<std::tuple<uint32_t, uint32_t, uint16_t>, std::unique_ptr<rdma::QueuePair>> m_carriers;
    std::unordered_map<const rdma::Packet*, Frame> m_frames;
};

} // namespace ns3::env
