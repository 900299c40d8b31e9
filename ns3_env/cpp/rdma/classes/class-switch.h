// SPDX-License-Identifier: GPL-2.0-or-later
// Switch of a network with several traffic classes: a queue, pauses, headroom and marks for each.
#pragma once

#include "class-pauses.h"
#include "class-scheduler.h"

#include "ns3_env/cpp/rdma/switch/switch.h"

#include <memory>
#include <vector>

namespace ns3::env::rdma
{

class ClassSwitch;

/// A switch's port with a queue for each class. A packet, ACKs included, is of its flow's class. Its marks, and the queue
/// length in its telemetry, are those of its class; transmitted bytes and flows there are those of the port.
class ClassPort : public SwitchPort
{
  public:
    static TypeId GetTypeId();

    ClassPort(NetworkContext& network, ClassSwitch& owner, uint32_t nodeId, uint32_t index);

    /// One class's queue. Its statistics for results are null or 0 unless requested.
    struct Queue
    {
        PacketFifo packets;
        uint64_t bytes{0};
        uint64_t txBytes{0};
        std::unique_ptr<EcnMarker> marker;
        std::unique_ptr<CongestionPoint> congestionPoint;
        std::unique_ptr<QueueStats> stats;
    };

    /// Configures the classes once the link's rate is known.
    void ConfigureClasses(const NetworkRules& rules, const std::vector<TrafficClass>& classes);
    /// Keeps time-weighted statistics of each class's queue in [origin, end).
    void RecordClasses(Picos origin, Picos end);
    /// Finishes the records at the end of the run.
    void FinishRecords(Picos now);

    const std::vector<Queue>& Queues() const { return m_queues; }
    const ClassPauses& Pauses() const { return m_pauses; }

    void Kick() override;

  protected:
    void Receive(Packet* packet) override;
    void OnPfc(const Packet& frame) override;
    void OnFail(Picos now) override;
    uint64_t BytesOf(uint32_t trafficClass) const { return m_queues[trafficClass].bytes; }
    void Discard(uint32_t trafficClass, LossCause cause, Picos now);

  private:
    friend Port;
    Packet* Dequeue(Picos now);
    Picos NextReady(Picos now) const;
    /// Removes the next packet of a class from its queue; a null marker marks nothing.
    Packet* TakeFrom(Queue& own, EcnMarker* marker, Picos now);
    /// Moves new packets of the port's queue into the queues of the classes.
    void Sort(Picos now);
    void Record(Queue& own, Picos now) const;

    ClassSwitch& m_owner;
    std::vector<Queue> m_queues;
    ClassScheduler m_scheduler;
    ClassPauses m_pauses;
    Picos m_recordedUntil{NEVER};
};

/// A shared-buffer switch that counts each class of each ingress port by itself.
class ClassSwitch final : public Switch
{
  public:
    static TypeId GetTypeId();

    /// \param classes must outlive it
    /// \param frameBytes the longest frame
    ClassSwitch(NetworkContext& network,
                const SharedBufferConfig& config,
                const std::vector<TrafficClass>& classes,
                uint32_t frameBytes);

    const std::vector<TrafficClass>& Classes() const { return m_classes; }
    uint32_t FrameBytes() const { return m_frameBytes; }

    /// Equivalents of Forward and Release in a switch with one class.
    void ForwardOfClass(Packet* packet, SwitchPort& ingress);
    void ReleaseOfClass(const Packet& packet);

    void ForgetPause(const SwitchPort& port) override;
    void PauseIfNeeded(SwitchPort& port) override;

  private:
    void AddAccounts(uint64_t headroomBytes, uint32_t alphaShift) override;

    const std::vector<TrafficClass>& m_classes;
    uint32_t m_frameBytes;
};

} // namespace ns3::env::rdma
