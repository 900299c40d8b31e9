// SPDX-License-Identifier: GPL-2.0-or-later
// Main program of a simulator: one scenario, or episode after episode for a policy outside.
#include "program.h"

#include "networks.h"
#include "run-episode.h"
#include "transport.h"

#include "ns3/command-line.h"
#include "ns3_env/cpp/channel/lifeline.h"
#include "ns3_env/cpp/channel/simulator-channel.h"
#include "ns3_env/cpp/json/json-reader.h"

#include <charconv>
#include <csignal>
#include <exception>
#include <fstream>
#include <iostream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace ns3::env
{

namespace
{

constexpr int EXIT_BAD_INPUT = 2;

/// Episode after episode, until the agent closes the channel.
void
Serve(SimulatorChannel& channel, Transport& transport)
{
    channel.Publish(Message::Ready);
    Command command = channel.Wait();
    while (command != Command::Close)
    {
        try
        {
            const EpisodeOutcome outcome = RunEpisode(channel.ReadBlob(), &channel, transport);
            if (outcome.close)
            {
                return;
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
}

/// The file descriptors of --channel-fd. \throws ScenarioError
std::vector<int>
ParseChannels(const std::string& text)
{
    std::vector<int> channels;
    std::istringstream items(text);
    for (std::string item; std::getline(items, item, ',');)
    {
        int fd = -1;
        const char* end = item.data() + item.size();
        const auto [rest, bad] = std::from_chars(item.data(), end, fd);
        if (bad != std::errc{} || rest != end || fd < 0)
        {
            throw ScenarioError("--channel-fd: '" + item + "' is no file descriptor");
        }
        channels.push_back(fd);
    }
    return channels;
}

/// One network over its channel, or several with a bell.
void
ServeAll(const std::vector<int>& channels, int bellFd, Transport& transport)
{
    const auto serve = [&transport](SimulatorChannel& channel) { Serve(channel, transport); };
    if (bellFd >= 0)
    {
        PlayNetworks(channels, bellFd, transport.Name() + "-sim", serve);
        return;
    }
    SimulatorChannel channel(channels.front());
    StartLifeline(channel.AgentPid());
    serve(channel);
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

/// The options as the scenario's JSON would have them.
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

/// Runs one scenario file without an external policy. `overrides` is merged into its JSON.
int
RunFile(const std::string& scenarioPath,
        const std::string& outPath,
        const nlohmann::json& overrides,
        Transport& transport)
{
    const std::string me = transport.Name() + "-sim: ";
    std::ifstream in(scenarioPath);
    if (!in)
    {
        std::cerr << me << "cannot read scenario file '" << scenarioPath << "'\n";
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
        std::ofstream file;
        std::ostream& out = outPath.empty() ? std::cout : file;
        const EpisodeOutcome outcome = RunEpisode(std::move(text),
                                                  nullptr,
                                                  transport,
                                                  [&]() -> std::ostream&
                                                  {
                                                      if (!outPath.empty())
                                                      {
                                                          file.open(outPath);
                                                      }
                                                      return out;
                                                  });
        out << "\n";
        if (!outcome.warning.empty())
        {
            std::cerr << me << "warning: " << scenarioPath << ": " << outcome.warning << "\n";
        }
        if (outPath.empty())
        {
            return 0;
        }
        file.close();
        if (!file)
        {
            std::cerr << me << "cannot write results to '" << outPath << "'\n";
            return 1;
        }
        return 0;
    }
    catch (const ScenarioError& error)
    {
        std::cerr << me << scenarioPath << ": " << error.what() << "\n";
        return EXIT_BAD_INPUT;
    }
}

/// Options of the command line.
struct Options
{
    std::string channels;
    int bellFd{-1};
    bool list{false};
    bool describe{false};
    std::string scenario;
    std::string out;
    std::string pcap;
    std::string pcapPorts;
    uint32_t pcapSnapLength{PcapSpec::LONGEST_FRAME};
};

Options
Parse(int argc, char** argv, Transport& transport)
{
    Options options;
    CommandLine cmd(argv[0]);
    cmd.Usage("Simulates one scenario of " + transport.Title() +
              ", or serves episodes to a policy outside.");
    cmd.AddValue("channel-fd",
                 "Serve episodes over this inherited memory file, or N,N,... for a network each",
                 options.channels);
    cmd.AddValue("bell-fd", "The inherited memory file of several networks' bell", options.bellFd);
    cmd.AddValue("controllers", "List the congestion controllers and stop", options.list);
    cmd.AddValue("describe-controllers",
                 "As JSON, with what each declares, and stop",
                 options.describe);
    cmd.AddValue("out", "Where to write the results (default: standard output)", options.out);
    cmd.AddValue("pcap",
                 "Capture frames to PREFIX.pcapng, with an interface for each port",
                 options.pcap);
    cmd.AddValue("pcap-ports", "Capture these ports only: NODE:PORT,...", options.pcapPorts);
    cmd.AddValue("pcap-snaplen", "Most bytes of a frame that --pcap keeps", options.pcapSnapLength);
    cmd.AddNonOption("scenario", "Scenario as JSON", options.scenario);
    transport.AddOptions(cmd);
    cmd.Parse(argc, argv);
    return options;
}

int
Obey(const Options& options, Transport& transport)
{
    PrepareSimulator();
    if (const auto done = transport.Obey())
    {
        return *done;
    }
    if (options.list)
    {
        for (const auto& name : transport.Controllers())
        {
            std::cout << name << "\n";
        }
        return 0;
    }
    if (options.describe)
    {
        std::cout << transport.Describe() << "\n";
        return 0;
    }
    if (const auto channels = ParseChannels(options.channels); !channels.empty())
    {
        ServeAll(channels, options.bellFd, transport);
        return 0;
    }
    if (options.scenario.empty())
    {
        const std::string me = transport.Name() + "-sim";
        std::cerr << me << ": no scenario given; try " << me << " --help\n";
        return EXIT_BAD_INPUT;
    }
    return RunFile(options.scenario,
                   options.out,
                   PcapOverrides(options.pcap, options.pcapPorts, options.pcapSnapLength),
                   transport);
}

} // namespace

int
RunProgram(int argc, char** argv, Transport& transport)
{
    // A file at its size limit is an error, like a full disk, and not a signal.
    std::signal(SIGXFSZ, SIG_IGN);
    const Options options = Parse(argc, argv, transport);
    try
    {
        return Obey(options, transport);
    }
    catch (const ScenarioError& error)
    {
        std::cerr << transport.Name() << "-sim: " << error.what() << "\n";
        return EXIT_BAD_INPUT;
    }
    catch (const std::exception& error)
    {
        std::cerr << transport.Name() << "-sim: " << error.what() << "\n";
        return 1;
    }
}

} // namespace ns3::env
