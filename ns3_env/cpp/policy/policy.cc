// SPDX-License-Identifier: GPL-2.0-or-later
// Trained policy, read from its file (docs/policy-format.md): observations in, actions out.
#include "policy.h"

#include "tensor-file.h"

#include "ns3_env/cpp/json/bounds.h"
#include "ns3_env/cpp/json/json-reader.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace ns3::env
{

namespace
{

constexpr const char* KEY = "ns3_env.policy";
constexpr uint32_t VERSION = 1;
constexpr uint32_t LONGEST_HISTORY = 64;

Activation
ReadActivation(JsonReader& json, const std::string& key, const std::vector<std::string>& choices)
{
    const std::string name = json.OneOf(key, choices);
    return name == "tanh" ? Activation::Tanh : name == "relu" ? Activation::Relu : Activation::None;
}

} // namespace

Policy::Policy(const std::string& path)
{
    try
    {
        TensorFile file = TensorFile::Read(path);
        if (!file.metadata.contains(KEY))
        {
            throw ScenarioError(std::string("its header has no '") + KEY + "': no policy");
        }
        const auto json = ParseJson(file.metadata.at(KEY));
        JsonReader root(json, KEY);
        const auto version = root.Whole<uint32_t>("version", 1, 1'000'000);
        if (version > VERSION)
        {
            throw ScenarioError("is of version " + std::to_string(version) +
                                " of the format; this program reads " + std::to_string(VERSION));
        }
        m_observation.emplace(root);
        m_historyLength = root.Whole<uint32_t>("history", 1, LONGEST_HISTORY);
        JsonReader network = root.Sub("network");
        const std::string kind = network.OneOf("kind", {"mlp", "lstm"});
        const Activation hidden = ReadActivation(network, "hidden_activation", {"relu", "tanh"});
        const Activation output = ReadActivation(network, "output_activation", {"tanh", "none"});
        const bool carried =
            network.Has("memory") && network.OneOf("memory", {"history", "carried"}) == "carried";
        network.RefuseOthers();
        if (carried && (kind != "lstm" || m_historyLength != 1))
        {
            throw ScenarioError("memory: 'carried' is an lstm's, whose history is 1");
        }
        m_actions = ActionMap::FromJson(root.Sub("action"));
        m_clock = ReadClock(root);
        m_telemetryBytes = root.Whole<uint32_t>("telemetry_bytes", 0, bounds::TELEMETRY_BYTES);
        const auto number = [&root](const char* key, double most)
        { return root.MaybeNumber(key, 0.0, most).value_or(0.0); };
        m_decidesFromBdps = number("decides_from_bdps", bounds::BDPS);
        m_telemetryFromBdps = number("telemetry_from_bdps", bounds::BDPS);
        m_telemetryEveryRtts = number("telemetry_every_rtts", bounds::RTTS);
        if (root.Has("safety"))
        {
            m_safety.emplace(root.Sub("safety"), Fields());
        }
        root.Has("training"); // for readers
        const std::string written = root.Text("sha256");
        root.RefuseOthers();
        const std::string found = Sha256(file.tensors);
        m_network = PolicyNetwork::Make(kind,
                                        m_observation->Width(),
                                        m_historyLength,
                                        carried,
                                        hidden,
                                        output,
                                        std::move(file.tensors));
        if (found != written)
        {
            throw ScenarioError("sha256: the tensors are not those that were written");
        }
    }
    catch (const ScenarioError& error)
    {
        throw ScenarioError("policy " + Shown(path) + ": " + error.what());
    }
}

void
Policy::Observe(FlowHistory& history, const ObservationRecord& record) const
{
    std::array<float, FIELD_COUNT> values;
    const std::vector<Field>& fields = Fields();
    for (size_t i = 0; i < fields.size(); ++i)
    {
        values[i] = static_cast<float>(record[fields[i]]);
    }
    Observe(history, std::span<const float>(values.data(), fields.size()));
}

void
Policy::Observe(FlowHistory& history, std::span<const float> values) const
{
    const size_t width = m_observation->Width();
    if (history.m_inputs.empty())
    {
        history.m_inputs.resize(m_historyLength * width);
        history.m_state.resize(m_network->StateWidth());
    }
    if (history.m_length == m_historyLength)
    {
        std::copy(history.m_inputs.begin() + static_cast<std::ptrdiff_t>(width),
                  history.m_inputs.end(),
                  history.m_inputs.begin());
        --history.m_length;
    }
    m_observation->Read(values, history.m_inputs.data() + history.m_length * width);
    ++history.m_length;
}

void
Policy::Decide(std::span<FlowHistory* const> histories, std::span<float> actions)
{
    Evaluate(histories, actions);
    for (float& action : actions)
    {
        action = std::clamp(action, -1.0F, 1.0F);
    }
}

void
Policy::Evaluate(std::span<FlowHistory* const> histories, std::span<float> outputs)
{
    m_views.clear();
    for (FlowHistory* history : histories)
    {
        m_views.push_back({history->Inputs(), history->Length(), history->State().data()});
    }
    m_network->Evaluate(m_views, outputs);
    for (const float output : outputs)
    {
        if (!std::isfinite(output))
        {
            throw ScenarioError(
                "the policy's network returned NaN or infinity: its weights are too large");
        }
    }
}

} // namespace ns3::env
