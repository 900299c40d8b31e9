// SPDX-License-Identifier: GPL-2.0-or-later
// Egress of a node: its queue, the device with one more packet, and the link.
#include "port.h"

#include "ns3/packet.h"

#include <cmath>
#include <utility>

namespace ns3::env::tcp
{

Port::Port(Network& network, uint32_t node, std::unique_ptr<PacketQueue> queue, const Link& link)
    : m_network(network),
      m_timeline(network.GetTimeline()),
      m_node(node),
      m_queue(std::move(queue)),
      m_rate(static_cast<uint64_t>(std::llround(link.rateBps))),
      m_link(link)
{
}

// --- queue and device ----------------------------------------------------------------------------

void
Port::Send(Segment* segment)
{
    CatchUp();
    ++m_offered;
    const Arrival arrival = m_queue->Enqueue(segment);
    if (arrival.marked)
    {
        ++m_marked;
        for (PortObserver* observer : m_observers)
        {
            observer->OnMarked(*this, *segment);
        }
    }
    if (arrival.taken)
    {
        UpdateStats();
        for (PortObserver* observer : m_observers)
        {
            observer->OnTaken(*this, *segment);
        }
    }
    else
    {
        Lose(LossCause::BufferFull, segment);
    }
    RunQueue();
}

/// Gives the device one packet if it has room; none from the start of a transmission until the queue is notified.
void
Port::RunQueue()
{
    if (m_slot != nullptr || m_wake)
    {
        if (m_wake && m_queue->Packets() > 0)
        {
            ArmDone(); // there will be one in the device by then
        }
        return;
    }
    Segment* segment = m_queue->Dequeue();
    if (segment == nullptr)
    {
        return;
    }
    if (m_doneArmed || !m_timeline.HasPassed(m_done))
    {
        m_slot = segment;
        ArmDone();
    }
    else
    {
        Start(segment);
    }
}

/// Passes the segment from the device to the link.
void
Port::Start(Segment* segment)
{
    m_wake = m_timeline.Reserve(0);
    Transmit(segment);
    if (m_queue->CountsIdleTime())
    {
        m_timeline.ArmAt(m_woken, *m_wake, m_node);
    }
    else if (m_queue->Packets() > 0)
    {
        ArmDone();
    }
}

void
Port::OnWoken()
{
    m_wake.reset();
    RunQueue();
}

/// Continues as the queue does when notified of room in the device, if that is due by now.
void
Port::CatchUp()
{
    if (m_wake && m_timeline.HasPassed(*m_wake))
    {
        OnWoken();
    }
}

uint32_t
Port::QueuedPackets() const
{
    const bool oneIsInDevice = m_wake && m_timeline.HasPassed(*m_wake) && m_queue->Packets() > 0;
    return m_queue->Packets() - (oneIsInDevice ? 1 : 0);
}

void
Port::ArmDone()
{
    if (!m_doneArmed)
    {
        m_doneArmed = true;
        m_timeline.ArmAt(m_transmitted, m_done, m_node);
    }
}

void
Port::OnTransmitted()
{
    CatchUp();
    m_doneArmed = false;
    if (m_slot != nullptr)
    {
        Start(std::exchange(m_slot, nullptr));
    }
}

// --- link ----------------------------------------------------------------------------------------

Picos
Port::TransmissionTime(uint32_t bytes)
{
    if (m_link.schedule) [[unlikely]]
    {
        const Picos now = m_timeline.Now();
        return m_link.schedule->TransmissionEnd(bytes, now) - now;
    }
    for (const auto& [known, time] : m_times)
    {
        if (known == bytes)
        {
            return time;
        }
    }
    const Picos time = m_rate.CalculateBytesTxTime(bytes).GetTimeStep();
    m_times[m_oldestTime] = {bytes, time};
    m_oldestTime = (m_oldestTime + 1) % m_times.size();
    return time;
}

Picos
Port::DelayOf(Picos end)
{
    return m_link.schedule ? m_link.schedule->Arrival(end) - end : m_link.delay;
}

void
Port::Transmit(Segment* segment)
{
    const uint32_t bytes = segment->FrameBytes();
    m_txBytes += bytes;
    ++m_txPackets;
    UpdateStats();
    for (PortObserver* observer : m_observers)
    {
        observer->OnSent(*this, *segment);
    }
    const Picos time = TransmissionTime(bytes);
    m_done = m_timeline.Reserve(time);
    segment->arrival = m_timeline.Reserve(time + DelayOf(m_timeline.Now() + time));
    segment->next = nullptr;
    if (m_onLinkFirst == nullptr)
    {
        m_onLinkFirst = segment;
        m_timeline.ArmAt(m_arrival, segment->arrival, m_node);
    }
    else
    {
        m_onLinkLast->next = segment;
    }
    m_onLinkLast = segment;
}

void
Port::OnArrival()
{
    Segment* segment = m_onLinkFirst;
    m_onLinkFirst = segment->next;
    if (m_onLinkFirst != nullptr)
    {
        m_timeline.ArmAt(m_arrival, m_onLinkFirst->arrival, m_node);
    }
    if (m_link.loss && m_link.loss->IsCorrupt(nullptr))
    {
        Lose(LossCause::Link, segment);
        return;
    }
    for (PortObserver* observer : m_observers)
    {
        observer->OnReceived(*this, *segment);
    }
    const auto& hops = segment->channel->hops;
    if (++segment->hop < hops.size())
    {
        hops[segment->hop]->Send(segment);
    }
    else
    {
        m_network.Deliver(segment);
    }
}

// --- counts --------------------------------------------------------------------------------------

void
Port::Lose(LossCause cause, Segment* segment)
{
    m_lost.Add(cause, segment->payload);
    if (segment->protocol == UDP_PROTOCOL)
    {
        m_lostDatagrams[segment->channel->tuple] += segment->payload;
    }
    for (PortObserver* observer : m_observers)
    {
        observer->OnLost(*this, *segment, cause);
    }
    m_network.Drop(segment);
}

uint64_t
Port::LostOf(const FiveTuple& stream) const
{
    const auto lost = m_lostDatagrams.find(stream);
    return lost == m_lostDatagrams.end() ? 0 : lost->second;
}

void
Port::UpdateStats()
{
    if (m_stats)
    {
        m_stats->Update(WaitingBytes(), m_timeline.Now());
    }
}

void
Port::Finish(Picos end)
{
    if (m_stats)
    {
        m_stats->Finish(end);
    }
}

} // namespace ns3::env::tcp
