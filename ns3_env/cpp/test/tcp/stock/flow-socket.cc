// SPDX-License-Identifier: GPL-2.0-or-later
// ns-3's TCP socket with a flow's ports and settings, and with counts.
#include "flow-socket.h"

#include "ns3/inet-socket-address.h"
#include "ns3/ipv4-end-point.h"
#include "ns3/rtt-estimator.h"
#include "ns3/simulator.h"
#include "ns3/tcp-header.h"
#include "ns3/tcp-l4-protocol.h"
#include "ns3/tcp-prr-recovery.h"
#include "ns3/tcp-tx-buffer.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace ns3::env::tcp::stock
{

NS_OBJECT_ENSURE_REGISTERED(FlowSocket);

namespace
{

// A flow retries until the run ends: the doubled timeouts of this number of SYNs exceed any run.
constexpr uint32_t SYNS = 20;
constexpr uint32_t RETRIES = std::numeric_limits<uint32_t>::max();
constexpr int64_t CLOCK_NS =
    1; // a simulated host's clock is exact; ns-3's is given in whole milliseconds

Time
ToTime(Picos time)
{
    return TimeStep(static_cast<uint64_t>(time));
}

} // namespace

TypeId
FlowSocket::GetTypeId()
{
    static TypeId tid = TypeId("stock::FlowSocket").SetParent<TcpSocketBase>().SetGroupName("Tcp");
    return tid;
}

Ptr<FlowSocket>
FlowSocket::Make(Ptr<Node> node,
                 const TcpSettings& settings,
                 Ptr<TcpCongestionOps> ops,
                 double lineRateBps)
{
    auto socket = CreateObject<FlowSocket>();
    socket->SetNode(node);
    socket->SetTcp(node->GetObject<TcpL4Protocol>());
    socket->Configure(settings, lineRateBps);
    socket->SetRecoveryAlgorithm(CreateObject<TcpPrrRecovery>());
    socket->SetCongestionControlAlgorithm(ops); // last: a controller may require ECN or pacing
    return socket;
}

void
FlowSocket::Configure(const TcpSettings& settings, double lineRateBps)
{
    auto rtt = CreateObject<RttMeanDeviation>();
    rtt->SetAttribute("InitialEstimation", TimeValue(ToTime(settings.initialRto)));
    SetRtt(rtt);
    SetSegSize(settings.segmentBytes);
    SetSndBufSize(settings.socketBufferBytes);
    SetRcvBufSize(settings.socketBufferBytes);
    SetInitialCwnd(settings.initialWindowSegments);
    SetInitialSSThresh(std::numeric_limits<uint32_t>::max());
    SetConnTimeout(ToTime(settings.initialRto));
    SetSynRetries(SYNS);
    SetDataRetries(RETRIES);
    SetDelAckMaxCount(settings.segmentsPerAck);
    SetDelAckTimeout(ToTime(settings.delayedAckTimeout));
    SetTcpNoDelay(true);
    SetMinRto(ToTime(settings.minRto));
    SetClockGranularity(NanoSeconds(CLOCK_NS));
    SetRetxThresh(3);
    SetUseEcn(settings.ecn ? TcpSocketState::On : TcpSocketState::Off);
    SetPacingStatus(settings.pacing);
    SetPaceInitialWindow(settings.pacing);
    m_sackEnabled = settings.sack;
    m_txBuffer->SetSackEnabled(settings.sack);
    m_timestampEnabled = false;
    m_winScalingEnabled = true;
    m_limitedTx = true;
    m_tcb->m_maxPacingRate = DataRate(static_cast<uint64_t>(std::llround(lineRateBps)));
    m_tcb->m_pacingRate = m_tcb->m_maxPacingRate;
}

// --- ends ----------------------------------------------------------------------------------------

void
FlowSocket::Allocate(uint32_t address, uint16_t port, uint32_t peer, uint16_t peerPort)
{
    m_endPoint = m_tcp->Allocate(nullptr, Ipv4Address(address), port, Ipv4Address(peer), peerPort);
    NS_ABORT_MSG_IF(m_endPoint == nullptr,
                    "two flows have the ports " << port << " and " << peerPort << " at once");
    SetupCallback();
    m_tcp->AddSocket(this);
}

void
FlowSocket::Dial(const FiveTuple& tuple)
{
    Allocate(tuple.sourceIp, tuple.sourcePort, tuple.destinationIp, tuple.destinationPort);
    Connect(InetSocketAddress(Ipv4Address(tuple.destinationIp), tuple.destinationPort));
}

void
FlowSocket::Await(const FiveTuple& tuple)
{
    Allocate(tuple.destinationIp, tuple.destinationPort, tuple.sourceIp, tuple.sourcePort);
    Listen();
}

Ptr<TcpSocketBase>
FlowSocket::Fork()
{
    return this; // it waits for one peer: there is no other connection to wait for
}

void
FlowSocket::CompleteFork(Ptr<Packet> packet,
                         const TcpHeader& header,
                         const Address& from,
                         const Address& to)
{
    if (m_endPoint == nullptr)
    {
        return; // released since the SYN arrived
    }
    DeallocateEndPoint(); // the base class creates it again
    TcpSocketBase::CompleteFork(packet, header, from, to);
}

void
FlowSocket::Release()
{
    m_acknowledgedCallback = nullptr;
    SetSendCallback(MakeNullCallback<void, Ptr<Socket>, uint32_t>());
    SetRecvCallback(MakeNullCallback<void, Ptr<Socket>>());
    if (m_endPoint == nullptr)
    {
        return;
    }
    DeallocateEndPoint();
    // ns-3 has scheduled events of this instant for the bare socket.
    Simulator::ScheduleNow([keep = Ptr<FlowSocket>(this)] {});
}

// --- counts --------------------------------------------------------------------------------------

uint64_t
FlowSocket::AcknowledgedBytes()
{
    const int32_t more = m_txBuffer->HeadSequence() - m_acknowledged;
    if (more > 0)
    {
        m_acknowledged += more;
        m_counts.acknowledgedBytes += static_cast<uint64_t>(more);
    }
    return m_counts.acknowledgedBytes;
}

uint32_t
FlowSocket::SendDataPacket(SequenceNumber32 first, uint32_t most, bool withAck)
{
    const int32_t before = m_tcb->m_highTxMark.Get() - first; // sent already, from here on
    const uint32_t bytes = TcpSocketBase::SendDataPacket(first, most, withAck);
    m_counts.sentBytes += bytes;
    ++m_counts.packets;
    if (before > 0)
    {
        m_counts.retransmittedBytes += std::min(bytes, static_cast<uint32_t>(before));
    }
    return bytes;
}

void
FlowSocket::SendEmptyPacket(uint8_t flags)
{
    if ((flags & TcpHeader::SYN) != 0 && (flags & TcpHeader::ACK) == 0 && ++m_syns > 1)
    {
        ++m_counts.timeouts;
    }
    TcpSocketBase::SendEmptyPacket(flags);
}

void
FlowSocket::ReTxTimeout()
{
    if (IsConnected() && m_txBuffer->Size() > 0)
    {
        ++m_counts.timeouts;
    }
    TcpSocketBase::ReTxTimeout();
}

void
FlowSocket::ReceivedAck(Ptr<Packet> packet, const TcpHeader& header)
{
    const SequenceNumber32 before = m_acknowledged;
    TcpSocketBase::ReceivedAck(packet, header);
    AcknowledgedBytes();
    if (m_acknowledged > before && m_acknowledgedCallback)
    {
        m_acknowledgedCallback();
    }
}

void
FlowSocket::ReceivedData(Ptr<Packet> packet, const TcpHeader& header)
{
    const SequenceNumber32 before = m_tcb->m_rxBuffer->NextRxSequence();
    TcpSocketBase::ReceivedData(packet, header);
    m_arrivedBytes += static_cast<uint64_t>(m_tcb->m_rxBuffer->NextRxSequence() - before);
    if (m_lastByte > 0 && m_arrivedBytes >= m_lastByte && m_delAckEvent.IsPending())
    {
        m_delAckEvent.Cancel();
        DelAckTimeout();
    }
}

Time
FlowSocket::CalculateRttSample(const TcpHeader& header, const RttHistory& history)
{
    m_sample = TcpSocketBase::CalculateRttSample(header, history);
    return m_sample;
}

void
FlowSocket::EstimateRtt(const TcpHeader& header)
{
    m_sample = Time(0);
    TcpSocketBase::EstimateRtt(header);
    if (IsConnected() && !m_sample.IsZero()) // the SYN's is not of data
    {
        m_rtts.Add(m_sample.GetTimeStep());
    }
}

} // namespace ns3::env::tcp::stock
