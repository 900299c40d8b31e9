// SPDX-License-Identifier: GPL-2.0-or-later
// RDMA's part of a scenario and of the program rdma-sim.
#include "rdma-transport.h"

#include "controller-check.h"
#include "fluid-paths.h"
#include "plugins.h"
#include "rdma-episode.h"
#include "read-paths.h"

#include "ns3/command-line.h"
#include "ns3_env/cpp/contract/declaration.h"
#include "ns3_env/cpp/fluid/fluid-episode.h"
#include "ns3_env/cpp/json/bounds.h"
#include "ns3_env/cpp/json/json-reader.h"
#include "ns3_env/cpp/run/attributes.h"

#include <algorithm>
#include <functional>
#include <iostream>
#include <nlohmann/json.hpp>

namespace ns3::env::rdma
{

nlohmann::json
ToJson(const EcnConfig& ecn)
{
    if (!ecn.enabled)
    {
        return nullptr;
    }
    return {{"kmin_bytes", ecn.kminBytes},
            {"kmax_bytes", ecn.kmaxBytes},
            {"pmax", ecn.pmax},
            {"at_rate_bps", ecn.atRateBps}};
}

nlohmann::json
ToJson(const CongestionPointConfig& points)
{
    if (!points.enabled)
    {
        return nullptr;
    }
    const double probability = points.sampleProbability;
    return {{"target_bytes", points.targetBytes},
            {"weight", points.weight},
            {"sample_bytes", points.sampleBytes},
            {"sample_jitter", points.sampleJitter},
            {"adaptive_sampling", points.adaptiveSampling},
            {"sample_probability", probability > 0 ? nlohmann::json(probability) : nullptr},
            {"feedback", points.negativeOnly ? "negative" : "both"}};
}

namespace
{

using Json = nlohmann::json;

/// Controllers with fluid flows.
const Fluids FLUIDS{{"max_min", Sharing::MaxMin}};

constexpr const char* LEAST_REMAINING = "least_remaining";

CongestionPointConfig
ReadCongestionPoints(JsonReader& section)
{
    CongestionPointConfig config;
    config.enabled = true;
    config.targetBytes = section.Number("target_bytes", 1.0, bounds::BUFFER_BYTES);
    config.weight = section.Number("weight", 0.0, bounds::WEIGHT);
    config.sampleBytes = section.Number("sample_bytes", 1.0, bounds::BUFFER_BYTES);
    config.sampleJitter = section.Number("sample_jitter", 0.0, 1.0);
    config.adaptiveSampling = section.Flag("adaptive_sampling");
    config.sampleProbability =
        section.MaybeNumber("sample_probability", 0.0, 1.0).value_or(config.sampleProbability);
    config.negativeOnly = section.OneOf("feedback", {"negative", "both"}) == "negative";
    return config;
}

EcnConfig
ReadEcn(JsonReader& ecn)
{
    EcnConfig config;
    config.enabled = true;
    config.kminBytes = ecn.Number("kmin_bytes", 0.0, bounds::BUFFER_BYTES);
    config.kmaxBytes = ecn.Number("kmax_bytes", config.kminBytes, bounds::BUFFER_BYTES);
    config.pmax = ecn.Number("pmax", 0.0, 1.0);
    config.atRateBps = ecn.Number("at_rate_bps", bounds::LEAST_RATE_BPS, bounds::RATE_BPS);
    config.mostKmaxBytes = ecn.MaybeNumber("most_kmax_bytes", 0.0, bounds::BUFFER_BYTES)
                               .value_or(config.mostKmaxBytes);
    return config;
}

/// Congestion points of switches, or of a class; none without the key.
CongestionPointConfig
ReadPoints(JsonReader& section)
{
    return section.Maybe("congestion_points", ReadCongestionPoints)
        .value_or(CongestionPointConfig{});
}

PfcWatchdogConfig
ReadWatchdog(JsonReader& section)
{
    return {.detection = section.Time("detection_ns", 1),
            .restoration = section.Time("restoration_ns", 1),
            .forwards = section.OneOf("action", {"drop", "forward"}) == "forward"};
}

PortAgents
ReadPortAgents(JsonReader& section)
{
    return {section.Time("interval_ns", 1), section.Pairs("ports", bounds::LINKS, UINT32_MAX)};
}

void
ReadClasses(JsonReader& root, Scenario& s)
{
    s.buffer.pfc = false; // the classes' settings apply
    const auto read = [&s](JsonReader& section)
    {
        TrafficClass own;
        own.name = section.Text("name");
        own.weight = section.Number("weight", 0.0, bounds::WEIGHT);
        own.pfc = section.Flag("pfc");
        own.ecn = section.Maybe("ecn", ReadEcn).value_or(EcnConfig{});
        own.congestionPoints = ReadPoints(section);
        s.buffer.pfc |= own.pfc;
        s.classes.push_back(std::move(own));
    };
    root.Each("classes", MOST_CLASSES, read);
}

void
ReadSwitch(JsonReader& section, Scenario& s)
{
    s.buffer.bufferBytes = section.Whole<uint64_t>("buffer_bytes", 1, bounds::BUFFER_BYTES);
    s.buffer.pfc = section.Flag("pfc");
    s.buffer.alphaShift = section.Whole<uint32_t>("pfc_alpha_shift", 0, bounds::ALPHA_SHIFT);
    s.buffer.reserveBytes = section.Whole<uint32_t>("reserve_bytes", 0, bounds::RESERVE_BYTES);
    s.buffer.resumeOffsetBytes =
        section.Whole<uint32_t>("resume_offset_bytes", 0, bounds::RESERVE_BYTES);
    s.buffer.headroomFrames =
        section.Whole<uint32_t>("headroom_frames", 0, bounds::HEADROOM_FRAMES);
    s.watchdog = section.Maybe("pfc_watchdog", ReadWatchdog);
    s.trimming = section.Flag("trimming", false);
    s.ecn = section.Maybe("ecn", ReadEcn).value_or(EcnConfig{});
    s.portAgents = section.Maybe("ecn_agents", ReadPortAgents);
    s.congestionPoints = ReadPoints(section);
    s.scheduling = section.OneOf("scheduling", {"fifo", LEAST_REMAINING}) == LEAST_REMAINING
                       ? Scheduling::LeastRemaining
                       : Scheduling::Fifo;
    const auto counter = section.OneOf("flow_counter", {"exact", "timeout"});
    const Picos timeout = section.Time("flow_timeout_ns", 1);
    if (counter == "timeout" || s.paths)
    {
        s.flowTimeout = timeout;
    }
}

/// Settings for group 0, that of switches' frames: its packets are not counted, hence neither paused nor lost, and not
/// marked.
void
LeaveUnmanaged(Scenario& scenario)
{
    scenario.buffer.bufferBytes = UNBOUNDED_BYTES;
    scenario.buffer.pfc = false;
    scenario.ecn = {};
    scenario.congestionPoints = {};
}

/// Refuses a watchdog of pauses that do not exist, or that the published simulator leaves alone.
void
CheckWatchdog(const Scenario& scenario)
{
    if (!scenario.watchdog)
    {
        return;
    }
    const bool pauses = scenario.buffer.pfc && scenario.scheduling == Scheduling::Fifo;
    if (!pauses || scenario.published)
    {
        throw ScenarioError(
            "switch.pfc_watchdog",
            std::string(pauses ? "the published simulator has none: write timing: exact"
                               : "no port is ever paused: write pfc: true and scheduling: fifo") +
                ", or leave it out");
    }
}

/// Refuses trimming where nothing is dropped, or where no sender repeats single packets.
void
CheckTrimming(const Scenario& scenario)
{
    if (!scenario.trimming)
    {
        return;
    }
    const auto& classes = scenario.classes;
    const bool drops =
        scenario.scheduling == Scheduling::Fifo &&
        (classes.empty() ? !scenario.buffer.pfc
                         : std::ranges::any_of(classes, std::not_fn(&TrafficClass::pfc)));
    std::string fault;
    if (scenario.published)
    {
        fault = "the published simulator has none: write timing: exact";
    }
    else if (!drops)
    {
        fault = "no packet is ever dropped: write pfc: false, of switches or of a class, and "
                "scheduling: fifo";
    }
    else if (!scenario.selectiveRepeat)
    {
        fault = "a trimmed packet is sent again by itself: write recovery: selective_repeat";
    }
    else if (scenario.selectiveRepeat->reorderPackets > 0)
    {
        fault = "its headers say which packets are lost, not their order: leave "
                "recovery.reorder_packets out";
    }
    if (!fault.empty())
    {
        throw ScenarioError("switch.trimming", fault + ", or leave it out");
    }
}

/// Checks that each plugin's controller keeps the contract, or every controller does if there are no plugins.
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

void
RdmaTransport::AddOptions(CommandLine& command)
{
    command.AddValue("check",
                     "Check that the plugins' controllers (or all) keep the contract, and stop",
                     m_check);
    command.AddValue("plugin",
                     "Load the controllers of this shared object; may be repeated",
                     Callback<bool, const std::string&>(
                         [this](const std::string& file)
                         {
                             m_plugins.push_back(file);
                             return !file.empty();
                         }));
}

std::optional<int>
RdmaTransport::Obey()
{
    for (const std::string& file : m_plugins)
    {
        LoadPlugin(file);
    }
    return m_check ? std::optional<int>(CheckControllers(!m_plugins.empty())) : std::nullopt;
}

std::string
RdmaTransport::Describe() const
{
    Json all = Json::object();
    for (const std::string& name : ListControllers())
    {
        const Ptr<CongestionControl> control = CreateController({name, {}});
        all[name] = {
            {"ecn", ToJson(control->GetEcnConfig())},
            {"congestion_points", ToJson(control->GetCongestionPointConfig())},
            {"scheduling",
             control->GetScheduling() == Scheduling::Fifo ? Json(nullptr) : Json(LEAST_REMAINING)},
            {"reference", IsReference(control->GetInstanceTypeId())},
            {"needs_all_flows", NeedsAllFlows(control->GetInstanceTypeId())},
            {"attributes", DefaultsOf(AttributesOf(name))},
            {"meanings", MeaningsOf(AttributesOf(name))}};
        if (const auto plugin = PluginControllers().find(name); plugin != PluginControllers().end())
        {
            all[name]["plugin"] = plugin->second;
        }
    }
    return all.dump(2);
}

void
RdmaTransport::ReadKeys(JsonReader& root, Scenario& scenario)
{
    scenario.published = root.OneOf("timing", {"exact", "published"}) == "published";
    scenario.minRateBps =
        root.MaybeNumber("min_rate_bps", bounds::LEAST_RATE_BPS, bounds::RATE_BPS);
    if (root.Has("threads"))
    {
        scenario.threads = root.Whole<uint32_t>("threads", 1, bounds::THREADS);
    }
    ReadPaths(root, scenario);
    root.Sub("switch", [&](JsonReader& section) { ReadSwitch(section, scenario); });
    if (root.Has("classes"))
    {
        ReadClasses(root, scenario);
    }
    scenario.priorityGroup = root.Whole<uint32_t>("priority_group", 0, 7);
    if (const Picos timeout = root.TimeOr0("retransmission_timeout_ns"); timeout > 0)
    {
        scenario.retransmissionTimeout = timeout;
    }
    scenario.selectiveRepeat = root.Maybe("selective_repeat", ReadSelectiveRepeat);
    scenario.nic = root.Maybe("nic", ReadNic).value_or(NicConfig{});
}

std::unique_ptr<Episode>
RdmaTransport::Build(Scenario scenario, Episode::FlowHook onCreate)
{
    const auto sharing = SharingOf(scenario, FLUIDS);
    CheckWatchdog(scenario);
    CheckTrimming(scenario);
    CheckPaths(scenario, sharing.has_value());
    CheckLinkRates(scenario, sharing.has_value());
    if (sharing)
    {
        CheckEach(scenario, CreateController);
        return std::make_unique<FluidEpisode>(
            std::move(scenario),
            *sharing,
            [](const Scenario& own) { return std::make_unique<FluidPaths>(own); },
            std::move(onCreate));
    }
    if (scenario.priorityGroup == 0)
    {
        LeaveUnmanaged(scenario);
    }
    return std::make_unique<RdmaEpisode>(std::move(scenario), std::move(onCreate));
}

} // namespace ns3::env::rdma
