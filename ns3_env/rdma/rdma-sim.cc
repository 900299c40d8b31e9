// SPDX-License-Identifier: GPL-2.0-or-later
// The simulator program: one scenario to its end, or episode after episode for a policy outside.
#include "ns3/command-line.h"
#include "ns3_env/rdma/bridge/channel.h"
#include "ns3_env/rdma/bridge/lifeline.h"
#include "ns3_env/rdma/congestion-control/congestion-control.h"
#include "ns3_env/rdma/helper/episode.h"
#include "ns3_env/rdma/helper/scenario.h"

#include <exception>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>

namespace
{

using namespace ns3::rdma;

constexpr int EXIT_BAD_INPUT = 2;

/// Episode after episode, until the agent closes the channel.
int
Serve(int channelFd)
{
    SimulatorEnd channel(channelFd);
    StartLifeline(channel.AgentPid());
    channel.Publish(Message::Ready);
    Command command = channel.Wait();
    while (command != Command::Close)
    {
        try
        {
            const EpisodeOutcome outcome = RunEpisode(channel.ReadBlob(), &channel);
            if (outcome.close)
            {
                return 0;
            }
            if (outcome.reset)
            {
                continue; // the next scenario is in the blob already
            }
            channel.WriteBlob(outcome.results);
            channel.Publish(Message::EpisodeEnd);
        }
        catch (const ScenarioError& error)
        {
            channel.WriteBlob(error.what());
            channel.Publish(Message::Error);
        }
        command = channel.Wait();
    }
    return 0;
}

/// One scenario file, no policy outside.
int
RunFile(const std::string& scenarioPath, const std::string& outPath)
{
    std::ifstream in(scenarioPath);
    if (!in)
    {
        std::cerr << "rdma-sim: cannot read scenario file '" << scenarioPath << "'\n";
        return EXIT_BAD_INPUT;
    }
    const std::string text((std::istreambuf_iterator<char>(in)), {});
    try
    {
        const EpisodeOutcome outcome = RunEpisode(text, nullptr);
        if (outPath.empty())
        {
            std::cout << outcome.results << "\n";
            return 0;
        }
        std::ofstream out(outPath);
        out << outcome.results << "\n";
        out.close();
        if (!out)
        {
            std::cerr << "rdma-sim: cannot write results to '" << outPath << "'\n";
            return 1;
        }
        return 0;
    }
    catch (const ScenarioError& error)
    {
        std::cerr << "rdma-sim: " << scenarioPath << ": " << error.what() << "\n";
        return EXIT_BAD_INPUT;
    }
}

int
ListKnownControllers()
{
    for (const auto& name : ListControllers())
    {
        std::cout << name << "\n";
    }
    return 0;
}

} // namespace

int
main(int argc, char** argv)
{
    int channelFd = -1;
    bool list = false;
    std::string scenario;
    std::string out;
    ns3::CommandLine cmd(__FILE__);
    cmd.Usage("Simulates one RDMA (RoCEv2) scenario, or serves episodes to a policy outside.");
    cmd.AddValue("channel-fd", "Serve episodes over this inherited memory file", channelFd);
    cmd.AddValue("controllers", "List the congestion controllers and stop", list);
    cmd.AddValue("out", "Where to write the results (default: standard output)", out);
    cmd.AddNonOption("scenario", "Scenario as JSON", scenario);
    cmd.Parse(argc, argv);
    try
    {
        PrepareSimulator();
        if (list)
        {
            return ListKnownControllers();
        }
        if (channelFd >= 0)
        {
            return Serve(channelFd);
        }
        if (scenario.empty())
        {
            std::cerr << "rdma-sim: no scenario given; try rdma-sim --help\n";
            return EXIT_BAD_INPUT;
        }
        return RunFile(scenario, out);
    }
    catch (const std::exception& error)
    {
        std::cerr << "rdma-sim: " << error.what() << "\n";
        return 1;
    }
}
