// SPDX-License-Identifier: GPL-2.0-or-later
// Port, of any kind, of a switch with a PFC watchdog.
#pragma once

#include "switch.h"

#include "ns3/simulator.h"
#include "ns3_env/cpp/contract/traffic-class.h"
#include "ns3_env/cpp/events/now.h"

#include <array>

namespace ns3::env::rdma
{

/// Port that ends pause storms as SONiC's PFC watchdog does, class by class. A class is in a storm once it has been
/// paused for the detection time and has packets waiting, until it has not been paused for the restoration time.
/// Meanwhile the port drops the class's packets, those that wait and those that arrive, or ignores its pauses.
template <class Kind>
class Watched : public Kind
{
  public:
    using Kind::Kind;

    void StartWatchdog(const PfcWatchdogConfig& config) override { m_config = config; }

    uint64_t PauseStorms() const override
    {
        uint64_t storms = 0;
        for (const Watch& watch : m_watches)
        {
            storms += watch.storms;
        }
        return storms;
    }

    Picos StormTime(Picos now) const override
    {
        Picos time = 0;
        for (const Watch& watch : m_watches)
        {
            time += watch.total + (watch.isStorm ? now - watch.since : 0);
        }
        return time;
    }

  protected:
    void Receive(Packet* packet) override
    {
        auto* egress = packet->kind >= PacketKind::Notification
                           ? nullptr
                           : static_cast<Watched*>(packet->egress[packet->hop]);
        if (egress != nullptr && egress->Drops(*packet))
        {
            egress->Lose(packet, LossCause::PauseStorm);
            return;
        }
        Kind::Receive(packet);
    }

    void OnPfc(const Packet& frame) override
    {
        const auto own = static_cast<uint32_t>(frame.sequence);
        Watch& watch = m_watches[own];
        const bool paused = frame.kind == PacketKind::Pause;
        if (paused != watch.isPaused)
        {
            watch.isPaused = paused;
            Wait(own);
        }
        if (!watch.isStorm || !m_config.forwards)
        {
            Kind::OnPfc(frame);
        }
    }

    void OnFail(Picos now) override
    {
        for (Watch& watch : m_watches)
        {
            watch.isPaused = false;
            ++watch.changes;
            End(watch, now);
        }
        Kind::OnFail(now);
    }

  private:
    struct Watch
    {
        bool isPaused{false}; ///< as the peer's last frame has it
        bool isStorm{false};
        uint64_t storms{0};
        Picos since{0};      ///< start of this storm
        Picos total{0};      ///< duration of those before
        uint64_t changes{0}; ///< of isPaused
    };

    bool Drops(const Packet& packet) const
    {
        return !m_config.forwards && m_watches[packet.flow->Class()].isStorm;
    }

    /// Decides after the detection time of a pause, or the restoration time of its end, unless that changes before.
    void Wait(uint32_t own)
    {
        Watch& watch = m_watches[own];
        const uint64_t change = ++watch.changes;
        if (watch.isPaused == watch.isStorm)
        {
            return;
        }
        Simulator::Schedule(Time(watch.isPaused ? m_config.detection : m_config.restoration),
                            [this, own, change]
                            {
                                if (m_watches[own].changes == change)
                                {
                                    Decide(own, NowPicos());
                                }
                            });
    }

    void Decide(uint32_t own, Picos now)
    {
        Watch& watch = m_watches[own];
        if (watch.isStorm)
        {
            End(watch, now);
        }
        else if (this->BytesOf(own) == 0)
        {
            Wait(own); // nothing is held back
        }
        else
        {
            Begin(own, now);
        }
    }

    void Begin(uint32_t own, Picos now)
    {
        Watch& watch = m_watches[own];
        watch.isStorm = true;
        watch.since = now;
        ++watch.storms;
        if (!m_config.forwards)
        {
            this->Discard(own, LossCause::PauseStorm, now);
            return;
        }
        Packet resume{};
        resume.kind = PacketKind::Resume;
        resume.sequence = own;
        resume.arrival = now;
        Kind::OnPfc(resume);
    }

    void End(Watch& watch, Picos now)
    {
        watch.total += watch.isStorm ? now - watch.since : 0;
        watch.isStorm = false;
    }

    PfcWatchdogConfig m_config{};
    std::array<Watch, MOST_CLASSES> m_watches{};
};

} // namespace ns3::env::rdma
