// SPDX-License-Identifier: GPL-2.0-or-later
// Fuzzer of the channel: an end continues within bounds, or refuses with a ChannelError.
//
// rdma-fuzz-channel --corpus=FOLDER --inputs=N [--seed=S] [--only=K]
#include "damage.h"

#include "ns3/command-line.h"
#include "ns3_env/cpp/program/run-episode.h"
#include "ns3_env/cpp/rdma/program/rdma-transport.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>
#include <fstream>
#include <iostream>
#include <iterator>
#include <limits>
#include <string>
#include <sys/time.h>
#include <thread>
#include <unistd.h>

// Null in a build without sanitizers.
extern "C" [[gnu::weak]] void __sanitizer_set_death_callback(void (*callback)());

namespace
{

using namespace ns3::env;
using namespace ns3::env::fuzz;

constexpr double INF = std::numeric_limits<double>::infinity();
constexpr uint32_t CAPACITY = 6;
constexpr int EXCHANGES = 4;       ///< in a talk, each with damage
constexpr int MOST_DECISIONS = 64; ///< in an episode, before it is aborted

char s_line[64] = ""; ///< formatted in advance: signal handlers may do little

void
Print(const char* text)
{
    [[maybe_unused]] const ssize_t n = write(STDERR_FILENO, text, std::strlen(text));
}

/// Counts attacks, shows progress, and names the one in which the program dies or hangs. One in a process.
class Guard
{
  public:
    Guard()
    {
        for (const int hang : {SIGPROF, SIGALRM})
        {
            std::signal(hang,
                        [](int)
                        {
                            Print("a hang: ");
                            Print(s_line);
                            _exit(99);
                        });
        }
        if (__sanitizer_set_death_callback != nullptr)
        {
            __sanitizer_set_death_callback([] { Print(s_line); });
        }
        std::set_terminate(
            []
            {
                Print(s_line);
                __gnu_cxx::__verbose_terminate_handler();
            });
    }

    /// Attack `number` starts, with 20 s of CPU time or 60 s in all.
    void Begin(uint64_t number)
    {
        std::snprintf(s_line, sizeof s_line, "channel, --only=%lu\n", number);
        const itimerval cpu{{0, 0}, {20, 0}};
        setitimer(ITIMER_PROF, &cpu, nullptr);
        alarm(60);
        ++m_count;
        if (const auto now = std::chrono::steady_clock::now(); now > m_nextLine)
        {
            m_nextLine = now + BETWEEN_LINES;
            std::cout << "channel: " << m_count << " inputs" << std::endl;
        }
    }

    /// Reports wrong input that was accepted; the attacks continue.
    void Silent(const char* what)
    {
        if (++m_silent <= 20)
        {
            std::cerr << "taken although wrong: " << what << ": " << s_line;
        }
    }

    /// The last line. \returns the program's exit code
    int End(uint64_t refused) const
    {
        std::cout << "channel: " << m_count << " inputs, " << refused
                  << " refused, 0 crashes, 0 hangs, " << m_silent << " silent acceptances"
                  << std::endl;
        return m_silent == 0 ? 0 : 1;
    }

  private:
    static constexpr std::chrono::seconds BETWEEN_LINES{3};

    uint64_t m_count{0};
    uint64_t m_silent{0};
    std::chrono::steady_clock::time_point m_nextLine{std::chrono::steady_clock::now() +
                                                     BETWEEN_LINES};
};

/// An action that a policy may choose.
ActionRow
GoodAction(Random& random)
{
    return {random.OneOf({0.0, 1.0, 999.0, 1e5, 1e300, INF}),
            random.OneOf({0.0, 1e-300, 1e9, 1e11, 1e300, INF}),
            random.OneOf({-1.0, 0.0, 1.0, -1e308, 1e308})};
}

class ChannelFuzz
{
  public:
    ChannelFuzz(std::string scenario, Guard& guard)
        : m_scenario(std::move(scenario)),
          m_guard(guard)
    {
    }

    void Try(uint64_t seed, uint64_t number)
    {
        Random random(seed, number);
        m_guard.Begin(number);
        try
        {
            const uint64_t kind = number % 8;
            const auto attack = kind == 0  ? &ChannelFuzz::Attach
                                : kind < 4 ? &ChannelFuzz::AttackSimulator
                                : kind < 7 ? &ChannelFuzz::AttackAgent
                                           : &ChannelFuzz::PlayEpisode;
            (this->*attack)(random);
        }
        catch (const ChannelError&)
        {
            ++refused;
        }
    }

    uint64_t refused{0};

  private:
    void Expect(bool promise, const char* what)
    {
        if (!promise)
        {
            m_guard.Silent(what);
        }
    }

    /// Attaches the simulator to a region with a damaged header.
    void Attach(Random& random)
    {
        AgentChannel agent(CAPACITY);
        Region region(agent);
        region.DamageHeader(random);
        SimulatorChannel simulator(region.Inherited());
        Expect(simulator.Capacity() == CAPACITY && simulator.Rows().size() == CAPACITY,
               "a header with another capacity");
        simulator.Publish(Message::Ready);
    }

    /// The agent's words are damaged, and the header after the simulator has looked at it.
    void AttackSimulator(Random& random)
    {
        AgentChannel agent(CAPACITY);
        Region region(agent);
        SimulatorChannel simulator(region.Inherited());
        agent.WriteBlob("{}");
        for (int i = 0; i < EXCHANGES; ++i)
        {
            const auto sent =
                random.OneOf({Message::Ready, Message::Decisions, Message::EpisodeEnd});
            const auto rows = static_cast<uint32_t>(random.Below(CAPACITY + 1));
            const size_t due = region.FillRows(random, rows);
            simulator.Publish(sent, 0, sent == Message::Decisions ? rows : 0);
            region.WriteActions(random, CAPACITY, [&] { return GoodAction(random); });
            region.DamageAgentWords(random, due);
            region.AdvanceAgent();
            const Command command = simulator.Wait();
            region.DamageAgentWords(random, due); // once more, after they were checked
            if (command == Command::Step)
            {
                Expect(sent == Message::Decisions && simulator.Actions().size() == due,
                       "a step that does not fit");
                const auto actions = simulator.Actions();
                Expect(std::all_of(actions.begin(),
                                   actions.end(),
                                   [](const ActionRow& a) { return a.IsValid(); }),
                       "an action that is not right");
            }
            Expect(simulator.Rows().size() == CAPACITY && simulator.Capacity() == CAPACITY,
                   "a capacity that changes");
            simulator.ReadBlob();
        }
    }

    /// The simulator's words are damaged.
    void AttackAgent(Random& random)
    {
        AgentChannel agent(CAPACITY);
        Region region(agent);
        SimulatorChannel simulator(region.Inherited());
        simulator.WriteBlob("{}");
        for (int i = 0; i < EXCHANGES; ++i)
        {
            simulator.Publish(Message::Decisions,
                              0,
                              static_cast<uint32_t>(random.Below(CAPACITY + 1)));
            region.DamageSimulatorWords(random);
            const Message message = agent.Wait(0);
            region.DamageSimulatorWords(random);
            Expect(agent.RowCount() <= agent.Rows().size(), "more rows than there are");
            Expect(agent.Rows().size() == CAPACITY && agent.Capacity() == CAPACITY,
                   "a capacity that changes");
            Expect(agent.Fields().size() <= FIELD_COUNT, "more fields than there are");
            Expect(message == agent.Kind(), "a message that changes");
            agent.ReadBlob();
            Answer(agent, region, random);
            simulator.Wait();
        }
    }

    /// Answers with good or bad actions; bad ones must be refused before they are sent.
    void Answer(AgentChannel& agent, Region& region, Random& random)
    {
        const auto due = static_cast<uint32_t>(
            std::count_if(agent.Rows().begin(),
                          agent.Rows().begin() + std::min(agent.RowCount(), CAPACITY),
                          [](const DecisionRow& row) { return row.NeedsAction(); }));
        std::generate_n(agent.Actions().begin(), due, [&] { return GoodAction(random); });
        if (due > 0 && random.OneIn(4))
        {
            region.WriteBadNumber(random, random.Below(due));
            try
            {
                agent.Send(Command::Step, due);
                m_guard.Silent("a bad action was sent");
                return;
            }
            catch (const std::invalid_argument&)
            {
                std::generate_n(agent.Actions().begin(), due, [&] { return GoodAction(random); });
            }
        }
        agent.Send(Command::Step, due);
    }

    /// A whole episode under strange but possible actions, some with damaged words.
    void PlayEpisode(Random& random)
    {
        AgentChannel agent(CAPACITY);
        Region region(agent);
        SimulatorChannel simulator(region.Inherited());
        bool simulatorRefused = false;
        bool agentRefused = false;
        std::thread episode(
            [&]
            {
                try
                {
                    rdma::RdmaTransport transport;
                    RunEpisode(m_scenario, &simulator, transport);
                    simulator.Publish(Message::EpisodeEnd);
                }
                catch (const ChannelError&)
                {
                    simulatorRefused = true;
                    simulator.Publish(Message::Error);
                }
            });
        try
        {
            Decide(agent, region, random);
        }
        catch (const ChannelError&)
        {
            agentRefused = true;
            region.Close();
        }
        episode.join();
        refused += simulatorRefused || agentRefused ? 1 : 0;
    }

    /// Answers until the episode is over. \throws ChannelError if the agent's end gives up
    void Decide(AgentChannel& agent, Region& region, Random& random)
    {
        const bool damages = random.OneIn(2);
        for (int i = 0;; ++i)
        {
            while (agent.Wait(1) == Message::None)
            {
            }
            if (agent.Kind() == Message::Copied)
            {
                Answer(agent, region, random); // as the earlier request requires
                continue;
            }
            if (agent.Kind() != Message::Decisions)
            {
                break;
            }
            if (i == MOST_DECISIONS)
            {
                agent.Send(Command::Close);
                continue;
            }
            if (damages && random.OneIn(8))
            {
                region.DamageAgentWords(random, 1);
                region.AdvanceAgent();
                continue;
            }
            Answer(agent, region, random);
        }
    }

    std::string m_scenario;
    Guard& m_guard;
};

} // namespace

int
main(int argc, char** argv)
{
    std::string corpus;
    uint64_t inputs = 1000;
    uint64_t seed = 1;
    int64_t only = -1;
    ns3::CommandLine cmd(__FILE__);
    cmd.AddValue("corpus", "Folder with a scenario of an agent, agent.json", corpus);
    cmd.AddValue("inputs", "How many", inputs);
    cmd.AddValue("seed", "Of all that is drawn", seed);
    cmd.AddValue("only", "This input alone", only);
    cmd.Parse(argc, argv);
    PrepareSimulator();
    Guard guard;
    std::ifstream in(corpus + "/agent.json");
    ChannelFuzz fuzz(std::string((std::istreambuf_iterator<char>(in)), {}), guard);
    const auto first = static_cast<uint64_t>(std::max<int64_t>(only, 0));
    for (uint64_t number = first; number < (only < 0 ? inputs : first + 1); ++number)
    {
        fuzz.Try(seed, number);
    }
    return guard.End(fuzz.refused);
}
