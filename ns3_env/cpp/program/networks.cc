// SPDX-License-Identifier: GPL-2.0-or-later
// Plays several networks in one process, in turns.
#include "networks.h"

#include "ns3_env/cpp/channel/doorbell.h"
#include "ns3_env/cpp/channel/lifeline.h"
#include "ns3_env/cpp/channel/simulator-channel.h"
#include "ns3_env/cpp/engine/heartbeat.h"
#include "ns3_env/cpp/events/event-loop.h"
#include "ns3_env/cpp/policy/policy-cache.h"

#include <algorithm>
#include <cstdint>
#include <exception>
#include <memory>
#include <sys/mman.h>
#include <ucontext.h>

namespace ns3::env
{

namespace
{

/// Memory of a stack, above a page that ends the process if the stack overflows. Only what is used takes memory.
class Stack
{
  public:
    Stack()
        : m_data(mmap(nullptr,
                      BYTES,
                      PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK,
                      -1,
                      0))
    {
        if (m_data == MAP_FAILED || mprotect(m_data, GUARD_BYTES, PROT_NONE) != 0)
        {
            FailWithErrno("there is no memory for a network's stack");
        }
        madvise(m_data, BYTES, MADV_NOHUGEPAGE);
    }

    ~Stack() { munmap(m_data, BYTES); }
    Stack(Stack&&) = delete;

    void* Data() const { return m_data; }

    static constexpr size_t BYTES = size_t{8} << 20; ///< a main thread's

  private:
    static constexpr size_t GUARD_BYTES = 4096;

    void* m_data;
};

/// A network with its channel, its stack, and all that is its own of the process's state.
class Network
{
  public:
    using Server = std::function<void(SimulatorChannel&)>;

    Network(int channelFd, Doorbell& bell, const std::string& program, const Server& serve)
        : m_channel(channelFd),
          m_program(program),
          m_serve(serve)
    {
        m_channel.Share(bell.Heartbeat(), [this] { swapcontext(&m_here, &m_player); });
        getcontext(&m_here);
        m_here.uc_stack = {.ss_sp = m_stack.Data(), .ss_flags = 0, .ss_size = Stack::BYTES};
        m_here.uc_link = &m_player;
        const auto self = reinterpret_cast<uintptr_t>(this);
        makecontext(&m_here,
                    reinterpret_cast<void (*)()>(&Network::Enter),
                    2,
                    static_cast<unsigned>(self >> 32),
                    static_cast<unsigned>(self));
    }

    Network(Network&&) = delete;

    int AgentPid() const { return m_channel.AgentPid(); }
    bool IsOver() const { return m_isOver; }
    /// Reports whether the process is a copy, made for this network: others are not its own.
    bool IsAlone() const { return !m_channel.IsShared(); }
    bool HasWork() const { return !m_isOver && (!m_hasBegun || m_channel.HasCommand()); }

    /// Plays the network until it waits for its agent.
    void Continue()
    {
        m_hasBegun = true;
        ExchangeState();
        swapcontext(&m_player, &m_here);
        ExchangeState();
    }

  private:
    static void Enter(unsigned high, unsigned low)
    {
        reinterpret_cast<Network*>(uintptr_t{high} << 32 | low)->Play();
    }

    void Play()
    {
        try
        {
            m_serve(m_channel);
        }
        catch (const std::exception& error)
        {
            m_channel.WriteBlob(m_program + ": " + error.what());
            m_channel.Publish(Message::Failed);
        }
        m_isOver = true;
    }

    void ExchangeState()
    {
        m_simulation = EventLoop::Exchange(m_simulation);
        PolicyCache::Exchange(m_policies);
    }

    SimulatorChannel m_channel;
    const std::string& m_program;
    const Server& m_serve;
    Stack m_stack;
    ucontext_t m_here{};
    ucontext_t m_player{};
    EventLoop::Left m_simulation;
    PolicyCache::Policies m_policies;
    bool m_hasBegun{false};
    bool m_isOver{false};
};

} // namespace

void
PlayNetworks(const std::vector<int>& channelFds,
             int bellFd,
             const std::string& program,
             const std::function<void(SimulatorChannel&)>& serve)
{
    Doorbell bell(bellFd);
    const Heartbeat::Listener listener(bell.Heartbeat());
    std::vector<std::unique_ptr<Network>> networks;
    for (const int fd : channelFds)
    {
        networks.push_back(std::make_unique<Network>(fd, bell, program, serve));
    }
    StartLifeline(networks.front()->AgentPid());
    const auto isOver = [](const auto& network) { return network->IsOver(); };
    while (!std::all_of(networks.begin(), networks.end(), isOver))
    {
        const uint32_t rings = bell.Rings();
        bool idle = true;
        for (uint32_t i = 0; i < networks.size(); ++i)
        {
            Network& network = *networks[i];
            if (network.HasWork())
            {
                idle = false;
                bell.SetPlayed(i);
                network.Continue();
                if (network.IsAlone())
                {
                    return;
                }
            }
        }
        if (idle)
        {
            bell.Await(rings);
        }
    }
}

} // namespace ns3::env
