// SPDX-License-Identifier: GPL-2.0-or-later
// The simulator program: one scenario to its end, or episode after episode for a policy outside.
#include "ns3/command-line.h"
#include "ns3_env/rdma/bridge/lifeline.h"
#include "ns3_env/rdma/bridge/simulator-end.h"
#include "ns3_env/rdma/contract/congestion-control.h"
#include "ns3_env/rdma/helper/controller-check.h"
#include "ns3_env/rdma/helper/controller-description.h"
#include "ns3_env/rdma/helper/episode.h"
#include "ns3_env/rdma/helper/plugins.h"
#include "ns3_env/rdma/helper/scenario.h"
#include "ns3_env/rdma/json/json-reader.h"

#include <charconv>
#include <exception>
#include <fstream>
#include <iostream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

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

/// NODE:PORT,... as the scenario has them: [[NODE, PORT], ...].
nlohmann::json
ParsePorts(const std::string& text)
{
    auto ports = nlohmann::json::array();
    std::istringstream items(text);
    for (std::string item; std::getline(items, item, ',');)
    {
        uint32_t node = 0;
        uint32_t port = 0;
        const char* end = item.data() + item.size();
        const auto [colon, bad] = std::from_chars(item.data(), end, node);
        const bool complete = bad == std::errc{} && colon != end && *colon == ':';
        const auto [rest, worse] = std::from_chars(complete ? colon + 1 : end, end, port);
        if (!complete || worse != std::errc{} || rest != end)
        {
            throw ScenarioError("--pcap-ports: '" + item + "' is no NODE:PORT");
        }
        ports.push_back({node, port});
    }
    return ports;
}

/// What the options say, as the scenario's JSON would.
nlohmann::json
PcapOverrides(const std::string& prefix, const std::string& ports, uint32_t snapLength)
{
    nlohmann::json record = nlohmann::json::object();
    if (!prefix.empty())
    {
        record["pcap"] = prefix;
        record["pcap_snaplen"] = snapLength;
    }
    if (!ports.empty())
    {
        record["pcap_ports"] = ParsePorts(ports);
    }
    return record.empty() ? record : nlohmann::json{{"record", record}};
}

/// One scenario file, no policy outside. `overrides` is merged into its JSON.
int
RunFile(const std::string& scenarioPath,
        const std::string& outPath,
        const nlohmann::json& overrides)
{
    std::ifstream in(scenarioPath);
    if (!in)
    {
        std::cerr << "rdma-sim: cannot read scenario file '" << scenarioPath << "'\n";
        return EXIT_BAD_INPUT;
    }
    std::string text((std::istreambuf_iterator<char>(in)), {});
    try
    {
        if (!overrides.empty())
        {
            auto json = ParseJson(text);
            if (json.is_object())
            {
                json.merge_patch(overrides);
                text = json.dump();
            }
        }
        const EpisodeOutcome outcome = RunEpisode(text, nullptr);
        if (!outcome.warning.empty())
        {
            std::cerr << "rdma-sim: warning: " << scenarioPath << ": " << outcome.warning << "\n";
        }
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

/// Does each plugin's controller keep the contract, or each of all where there are no plugins?
int
CheckControllers(bool pluginsOnly)
{
    bool kept = true;
    for (const auto& name : CheckableControllers())
    {
        if (pluginsOnly && !PluginControllers().contains(name))
        {
            continue;
        }
        const auto broken = BrokenPromise(name);
        kept = kept && !broken;
        std::cout << name << ": "
                  << broken.value_or("keeps the contract, " + std::to_string(CHECKED_FLOWS) +
                                     " flows of " + std::to_string(CHECKED_HOOKS) +
                                     " hooks in any order")
                  << "\n";
    }
    return kept ? 0 : 1;
}

} // namespace

int
main(int argc, char** argv)
{
    int channelFd = -1;
    bool list = false;
    bool describe = false;
    bool check = false;
    std::string scenario;
    std::string out;
    std::string pcap;
    std::string pcapPorts;
    uint32_t pcapSnapLength = PcapSpec::LONGEST_FRAME;
    std::vector<std::string> plugins;
    ns3::CommandLine cmd(__FILE__);
    cmd.Usage("Simulates one RDMA (RoCEv2) scenario, or serves episodes to a policy outside.");
    cmd.AddValue("channel-fd", "Serve episodes over this inherited memory file", channelFd);
    cmd.AddValue("controllers", "List the congestion controllers and stop", list);
    cmd.AddValue("describe-controllers", "As JSON, with what each declares, and stop", describe);
    cmd.AddValue("check",
                 "Do the plugins' controllers keep the contract? (or all), and stop",
                 check);
    cmd.AddValue("out", "Where to write the results (default: standard output)", out);
    cmd.AddValue("pcap",
                 "Capture frames to PREFIX-NODE-PORT.pcap and, together, PREFIX.pcapng",
                 pcap);
    cmd.AddValue("pcap-ports", "Capture these ports only: NODE:PORT,...", pcapPorts);
    cmd.AddValue("pcap-snaplen", "Most bytes of a frame that --pcap keeps", pcapSnapLength);
    cmd.AddValue("plugin",
                 "Load the controllers of this shared object; may be repeated",
                 ns3::Callback<bool, const std::string&>(
                     [&](const std::string& file)
                     {
                         plugins.push_back(file);
                         return !file.empty();
                     }));
    cmd.AddNonOption("scenario", "Scenario as JSON", scenario);
    cmd.Parse(argc, argv);
    try
    {
        PrepareSimulator();
        for (const std::string& file : plugins)
        {
            LoadPlugin(file);
        }
        if (list)
        {
            return ListKnownControllers();
        }
        if (describe)
        {
            std::cout << DescribeControllers() << "\n";
            return 0;
        }
        if (check)
        {
            return CheckControllers(!plugins.empty());
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
        return RunFile(scenario, out, PcapOverrides(pcap, pcapPorts, pcapSnapLength));
    }
    catch (const ScenarioError& error)
    {
        std::cerr << "rdma-sim: " << error.what() << "\n";
        return EXIT_BAD_INPUT;
    }
    catch (const std::exception& error)
    {
        std::cerr << "rdma-sim: " << error.what() << "\n";
        return 1;
    }
}
