// SPDX-License-Identifier: GPL-2.0-or-later
// The engine's network of a script from the first event to Simulator::Destroy.
#include "script-run.h"

#include "ns3/abort.h"
#include "ns3/boolean.h"
#include "ns3/simulator.h"
#include "ns3/trace-helper.h"
#include "ns3_env/cpp/channel/lifeline.h"
#include "ns3_env/cpp/events/event-loop.h"
#include "ns3_env/cpp/events/now.h"
#include "ns3_env/cpp/json/json-reader.h"
#include "ns3_env/cpp/rdma/program/pcap.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <map>
#include <span>
#include <utility>

namespace ns3::env
{

namespace
{

/// The descriptor of the channel to an environment that has started this script.
constexpr const char* CHANNEL_VARIABLE = "NS3_ENV_CHANNEL_FD";
constexpr int EXIT_BAD_INPUT = 2;

} // namespace

ScriptRun::ScriptRun(ScriptSettings settings, const std::string& results)
    : m_settings(std::move(settings)),
      m_results(results)
{
}

ScriptRun::~ScriptRun() = default;

std::unique_ptr<ScriptRun>
ScriptRun::Begin(const ScriptSettings& settings,
                 const RdmaCapture& capture,
                 const std::string& results,
                 bool stopsWithLastFlow)
{
    std::unique_ptr<ScriptRun> run(new ScriptRun(settings, results));
    run->OpenChannel();
    run->Refuse(Refused([&] { run->Build(capture, stopsWithLastFlow); }));
    return run;
}

void
ScriptRun::Refuse(const std::string& why)
{
    if (why.empty())
    {
        return;
    }
    if (m_channel)
    {
        m_channel->WriteBlob(why);
        m_channel->Publish(Message::Error);
        std::_Exit(EXIT_BAD_INPUT);
    }
    NS_ABORT_MSG("RDMA network: " << why);
}

void
ScriptRun::OpenChannel()
{
    const char* descriptor = std::getenv(CHANNEL_VARIABLE);
    if (descriptor == nullptr)
    {
        return;
    }
    m_channel.emplace(std::atoi(descriptor));
    StartLifeline(m_channel->AgentPid());
    m_channel->Publish(Message::Ready);
    if (m_channel->Wait() != Command::Reset)
    {
        std::_Exit(0); // the agent closed the channel
    }
    m_listener.emplace(m_channel->Heartbeat());
    m_task = nlohmann::json::parse(m_channel->ReadBlob());
}

void
ScriptRun::Build(const RdmaCapture& capture, bool stopsWithLastFlow)
{
    m_script.emplace(m_settings, m_task.is_null() ? nlohmann::json::object() : m_task);
    Scenario scenario = m_script->Make(m_transport);
    if (!capture.files.empty())
    {
        scenario.pcap = PortsOf(capture);
    }
    m_flows = m_script->Flows();
    for (uint32_t id = 0; id < m_flows.size(); ++id)
    {
        m_flows[id]->SetFlow(id);
    }
    const bool asks =
        std::ranges::any_of(scenario.controllers, [](const auto& x) { return x.name == "agent"; });
    if (m_channel && !asks)
    {
        throw ScenarioError("the script has no such flow under the controller 'agent' when it "
                            "begins: an environment has nothing to decide");
    }
    if (asks && !m_channel)
    {
        throw ScenarioError("a flow under the controller 'agent' needs an environment that has "
                            "started the script (ns3_env/Script-v0); name another controller");
    }
    m_deciding.emplace(scenario, m_channel ? &*m_channel : nullptr);
    std::unique_ptr<Episode> episode = m_transport.Build(std::move(scenario),
                                                         [this](Flow& flow, const FlowEntry& entry)
                                                         { m_deciding->Adopt(flow, entry); });
    if (dynamic_cast<rdma::RdmaEpisode*>(episode.get()) == nullptr)
    {
        throw ScenarioError("a fluid reference (max_min) has no packets: rdma-sim plays it");
    }
    m_episode.reset(static_cast<rdma::RdmaEpisode*>(episode.release()));
    m_deciding->SetCopyHook([this](const CopyTerms& terms) { BecomeCopy(terms); });
    m_episode->SetCutHook([this](Picos now) { m_deciding->CutAll(*m_episode, now); });
    m_episode->SetRefusal([this](const ScenarioError& error) { Refuse(WithoutKey(error.what())); });
    if (!stopsWithLastFlow && !m_channel)
    {
        m_episode->StayOpen();
    }
    m_deciding->Begin(*m_episode);
    if (m_channel || !m_results.empty())
    {
        m_recorders.emplace(*m_episode);
    }
    ConnectDevices();
    if (const auto& spec = m_episode->GetScenario().pcap)
    {
        m_capture = rdma::CaptureFrames(*m_episode, *spec);
        m_capture->SetFrameHook(
            [this](uint32_t interface, std::span<const uint8_t> frame)
            {
                m_deviceFiles[interface]->Write(Simulator::Now(),
                                                frame.data(),
                                                static_cast<uint32_t>(frame.size()));
            });
    }
    m_episode->Traces().finished.ConnectWithoutContext(MakeCallback(&ScriptRun::OnFinished, this));
    m_episode->Begin();
    for (const Ptr<RdmaApplication>& flow : m_flows)
    {
        if (flow->IsWatched())
        {
            WatchWindows(*flow);
        }
    }
}

/// Continues in a copy of the process (Simulator.branch).
void
ScriptRun::BecomeCopy(const CopyTerms& terms)
{
    if (terms.untilPs >= 0)
    {
        m_episode->CutAt(terms.untilPs);
    }
    m_listener.emplace(m_channel->Heartbeat());
    if (m_capture)
    {
        m_capture->Abandon();
        m_capture.reset();
    }
    for (const Ptr<PcapFileWrapper>& file : m_deviceFiles)
    {
        file->Ref(); // it is never closed here: that would flush its buffer
    }
    m_results.clear();
}

void
ScriptRun::ConnectDevices()
{
    for (rdma::Port* port : m_episode->Ports())
    {
        m_script->Devices()[port->NodeId()][port->Index()]->SetPort(port);
    }
}

PcapSpec
ScriptRun::PortsOf(const RdmaCapture& capture)
{
    std::map<std::pair<uint32_t, uint32_t>, std::string> names; // in the order of interfaces
    for (const auto& [device, name] : capture.files)
    {
        const auto [node, port] = m_script->PlaceOf(*device);
        names[{node, port}] = name;
    }
    PcapSpec spec;
    spec.prefix = capture.prefix;
    spec.ports.emplace();
    for (const auto& [place, name] : names)
    {
        spec.ports->push_back(place);
        const auto file = CreateObject<PcapFileWrapper>();
        file->SetAttribute("NanosecMode", BooleanValue(true));
        file->Open(name, std::ios::out);
        if (file->Fail())
        {
            throw ScenarioError("RdmaHelper cannot write the capture '" + name + "'");
        }
        file->Init(PcapHelper::DLT_EN10MB);
        m_deviceFiles.push_back(file);
    }
    return spec;
}

void
ScriptRun::StartFlow(Ptr<RdmaApplication> application)
{
    if (application->GetFlowId() != RdmaApplication::NO_FLOW ||
        application->GetStreamRate().GetBitRate() > 0)
    {
        return;
    }
    Refuse(Refused(
        [&]
        {
            FlowEntry entry = m_script->EntryOf(*application, m_episode->OpenScenario());
            entry.flow.start = NowPicos();
            application->SetFlow(entry.flow.id);
            m_flows.push_back(application);
            m_episode->Add(entry);
        }));
}

bool
ScriptRun::Carry(RdmaNetDevice& card,
                 const Ptr<ns3::Packet>& packet,
                 const Address& dest,
                 uint16_t protocol,
                 uint8_t trafficClass)
{
    bool sent = false;
    Refuse(Refused(
        [&]
        {
            if (!m_others)
            {
                m_others.emplace(*m_episode, m_script->Cards(), trafficClass);
            }
            sent = m_others->Send(m_script->PlaceOf(card).node, packet, dest, protocol);
        }));
    return sent;
}

void
ScriptRun::OnFinished(const Flow& flow)
{
    m_flows[flow.Id()]->OnCompleted(Time(flow.EndTime() - flow.StartTime()));
}

void
ScriptRun::WatchWindows(const RdmaApplication& application)
{
    const uint32_t node = m_script->SourceOf(application);
    if (m_watchedNodes.insert(node).second)
    {
        m_episode->Nics()[node]->TraceConnectWithoutContext(
            "WindowAndRate",
            MakeCallback(&ScriptRun::OnWindowAndRate, this));
    }
}

void
ScriptRun::OnWindowAndRate(const FlowState& flow, Picos)
{
    m_flows[flow.Id()]->OnWindowAndRate(flow.WindowBytes(), flow.RateBps());
}

void
ScriptRun::End()
{
    m_episode->End();
    m_deciding->Flush(); // rows of the last instant
    if (m_capture)
    {
        m_capture->Close();
    }
    for (const Ptr<PcapFileWrapper>& file : m_deviceFiles)
    {
        file->Close();
        NS_ABORT_MSG_IF(file->Fail(), "RdmaHelper: cannot write a capture");
    }
    WriteFiles();
    for (const auto& devices : m_script->Devices())
    {
        for (const Ptr<RdmaNetDevice>& device : devices)
        {
            device->SetPort(nullptr);
        }
    }
}

void
ScriptRun::WriteFiles()
{
    if (!m_results.empty())
    {
        std::ofstream file(m_results);
        WriteResults(file, *m_episode, *m_recorders, {});
        file << "\n";
        file.close();
        NS_ABORT_MSG_IF(!file, "RDMA network: cannot write results to " << m_results);
    }
    if (m_channel && m_deciding->Interrupted() == Interruption::None)
    {
        m_channel->WriteBlob(ResultsToJson(*m_episode, *m_recorders, {}));
        m_channel->Publish(Message::EpisodeEnd);
    }
}

} // namespace ns3::env
