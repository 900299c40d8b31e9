// SPDX-License-Identifier: GPL-2.0-or-later
// Both ends of a channel, and the lifeline, as threads of one program for ThreadSanitizer.
//
// rdma-channel-threads [TURNS]
#include "ns3_env/cpp/channel/agent-channel.h"
#include "ns3_env/cpp/channel/lifeline.h"
#include "ns3_env/cpp/channel/simulator-channel.h"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <memory>
#include <string>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace
{

using namespace ns3::env;

constexpr uint32_t CAPACITY = 8;
constexpr size_t PAIRS = 3;
constexpr unsigned LONGEST_S = 300;

/// Answers a reset with rows, `turns` times, then with a result; until it receives Close.
void
Simulate(SimulatorChannel& end, uint32_t turns)
{
    end.Publish(Message::Ready);
    uint32_t turn = 0;
    for (Command command = end.Wait(); command != Command::Close; command = end.Wait())
    {
        turn = command == Command::Reset ? 0 : turn + 1;
        double sum = 0;
        for (const ActionRow& action : end.Actions())
        {
            sum += action.echo;
        }
        if (command == Command::Reset && end.ReadBlob().empty())
        {
            std::abort();
        }
        if (turn == turns)
        {
            end.WriteBlob(std::string(100, 'r'));
            end.Publish(Message::EpisodeEnd);
            continue;
        }
        const uint32_t rows = 1 + turn % CAPACITY;
        for (uint32_t i = 0; i < rows; ++i)
        {
            end.Rows()[i] = {.flow = i,
                             .slot = static_cast<int32_t>(i),
                             .flags = turn + i == 0 ? 1U : 0U};
            end.Rows()[i].record[Field::LastAction] = sum;
        }
        end.Heartbeat().fetch_add(1, std::memory_order_relaxed);
        end.Publish(Message::Decisions, turn, rows);
    }
}

/// Reads the message of `end` and answers it. \returns false once an episode has ended
bool
Answer(AgentChannel& end)
{
    double seen = static_cast<double>(end.Heartbeat() & 1);
    switch (end.Wait(0))
    {
    case Message::Ready:
        end.WriteBlob("{}");
        end.Send(Command::Reset);
        return true;
    case Message::Decisions:
        for (uint32_t i = 0; i < end.RowCount(); ++i)
        {
            seen += end.Rows()[i].record[Field::LastAction];
            end.Actions()[i] = {1000, 1e9, seen > 0 ? 1.0 : 0.5};
        }
        end.Send(Command::Step, end.RowCount());
        return true;
    default:
        if (end.ReadBlob().size() != 100 || end.Fields().size() != FIELD_COUNT)
        {
            std::abort();
        }
        end.Send(Command::Close);
        return false;
    }
}

/// Some simulators, each a thread, and one agent that waits for whichever is first.
void
Talk(uint32_t turns)
{
    std::vector<std::unique_ptr<AgentChannel>> agents;
    std::vector<std::unique_ptr<SimulatorChannel>> simulators;
    std::vector<std::thread> threads;
    std::vector<AgentChannel*> open;
    for (size_t i = 0; i < PAIRS; ++i)
    {
        agents.push_back(std::make_unique<AgentChannel>(CAPACITY));
        open.push_back(agents.back().get());
        simulators.push_back(std::make_unique<SimulatorChannel>(
            fcntl(open.back()->ChannelFd(), F_DUPFD_CLOEXEC, 0)));
        threads.emplace_back(Simulate, std::ref(*simulators.back()), turns);
    }
    while (!open.empty())
    {
        const int ready = AgentChannel::WaitAny(open, 1.0);
        if (ready >= 0 && !Answer(*open[static_cast<size_t>(ready)]))
        {
            open.erase(open.begin() + ready);
        }
    }
    for (std::thread& thread : threads)
    {
        thread.join();
    }
}

/// Waits for a child. \returns its exit code
int
ExitCode(pid_t pid)
{
    int status = 0;
    waitpid(pid, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/// A process whose parent dies while its ends talk ends itself, with code 0, within some ms.
void
LoseParent()
{
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    std::array<int, 2> pipe{};
    if (::pipe(pipe.data()) != 0)
    {
        std::abort();
    }
    const pid_t parent = fork();
    if (parent == 0)
    {
        const pid_t child = fork();
        if (child == 0)
        {
            StartLifeline(getppid());
            alarm(LONGEST_S);
            for (bool written = false;; written = true)
            {
                Talk(20);
                if (!written && write(pipe[1], "x", 1) != 1)
                {
                    std::abort();
                }
            }
        }
        close(pipe[1]); // or the child's death would go unnoticed
        char byte = 0;
        _exit(read(pipe[0], &byte, 1) == 1 ? 0 : 1); // the child talks by now
    }
    close(pipe[1]);
    const int first = ExitCode(parent);
    const int second = ExitCode(-1);
    close(pipe[0]);
    if (first != 0 || second != 0)
    {
        std::fprintf(stderr, "lifeline: exit codes %d and %d\n", first, second);
        std::exit(1);
    }
}

} // namespace

int
main(int argc, char** argv)
{
    const auto turns = static_cast<uint32_t>(argc > 1 ? std::stoul(argv[1]) : 2000);
    LoseParent();
    alarm(LONGEST_S);
    for (uint32_t round = 0; round < 5; ++round)
    {
        Talk(turns / 5);
    }
    std::printf("channel and lifeline: %zu pairs of threads, %u turns each, no race\n",
                PAIRS,
                turns);
    return 0;
}
