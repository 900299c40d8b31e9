// SPDX-License-Identifier: GPL-2.0-or-later
// Tests of policies: layers, files and histories, to the same bits however many flows decide.
#include "ns3_env/cpp/policy/dense.h"
#include "ns3_env/cpp/policy/policy.h"
#include "ns3_env/cpp/policy/tensor-file.h"
#include "ns3_env/cpp/test/suite.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <random>
#include <unistd.h>

namespace ns3::env::test
{
namespace
{

SUITE("rdma-policy");

std::vector<float>
Random(size_t count, uint32_t seed)
{
    std::mt19937 random(seed);
    std::normal_distribution<float> normal(0.0F, 0.4F);
    std::vector<float> values(count);
    std::generate(values.begin(), values.end(), [&] { return normal(random); });
    return values;
}

/// y = W x + b in double.
std::vector<double>
Plain(std::span<const float> weight, std::span<const float> bias, std::span<const double> x)
{
    std::vector<double> y(weight.size() / x.size());
    for (size_t out = 0; out < y.size(); ++out)
    {
        y[out] = bias.empty() ? 0.0 : bias[out];
        for (size_t in = 0; in < x.size(); ++in)
        {
            y[out] += double{weight[out * x.size() + in]} * x[in];
        }
    }
    return y;
}

double
Sigmoid(double x)
{
    return 1.0 / (1.0 + std::exp(-x));
}

TEST("a layer is W x + b, to the same bits alone and among others")
{
    for (const auto& [in, out] :
         std::vector<std::pair<size_t, size_t>>{{1, 1}, {3, 17}, {8, 256}, {130, 64}, {72, 40}})
    {
        const auto weight = Random(in * out, 1);
        const auto bias = Random(out, 2);
        const DenseLayer layer(weight, bias, in);
        constexpr size_t ROWS = 11;
        const auto x = Random(ROWS * in, 3);
        std::vector<float> together(ROWS * layer.OutputStride());
        layer.Apply(x.data(), in, together.data(), ROWS);
        for (size_t row = 0; row < ROWS; ++row)
        {
            std::vector<float> alone(layer.OutputStride());
            layer.Apply(x.data() + row * in, in, alone.data(), 1);
            EXPECT_EQ(std::memcmp(alone.data(),
                                  together.data() + row * layer.OutputStride(),
                                  alone.size() * sizeof(float)),
                      0,
                      "row " << row << " of " << in << " to " << out);
            const std::vector<double> point(x.begin() + static_cast<std::ptrdiff_t>(row * in),
                                            x.begin() +
                                                static_cast<std::ptrdiff_t>((row + 1) * in));
            const auto wanted = Plain(weight, bias, point);
            for (size_t k = 0; k < out; ++k)
            {
                EXPECT_NEAR(double{alone[k]}, wanted[k], 1e-5, "output " << k);
            }
        }
    }
}

TEST("tanh, ReLU and the LSTM's cell are right to 1e-6 everywhere")
{
    for (double x = -100; x <= 100; x += 0.0173)
    {
        std::vector<float> values(LANES, static_cast<float>(x));
        Activate(Activation::Tanh, values.data(), LANES);
        EXPECT_NEAR(double{values[3]}, std::tanh(x), 1e-6, "tanh " << x);
        values.assign(LANES, static_cast<float>(x));
        Activate(Activation::Relu, values.data(), LANES);
        EXPECT_EQ(values[5], static_cast<float>(std::max(x, 0.0)), "relu " << x);
    }
    const auto gates = Random(4 * LANES, 5);
    auto cell = Random(LANES, 6);
    const auto before = cell;
    std::vector<float> hidden(LANES);
    LstmCell(gates.data(), cell.data(), hidden.data(), LANES);
    for (size_t k = 0; k < LANES; ++k)
    {
        const double c = Sigmoid(gates[LANES + k]) * before[k] +
                         Sigmoid(gates[k]) * std::tanh(double{gates[2 * LANES + k]});
        EXPECT_NEAR(double{cell[k]}, c, 1e-6, "cell " << k);
        EXPECT_NEAR(double{hidden[k]},
                    Sigmoid(gates[3 * LANES + k]) * std::tanh(c),
                    1e-6,
                    "hidden " << k);
    }
}

/// Writes a policy's file, or an invalid one.
class PolicyFileWriter
{
  public:
    std::string header =
        R"({"version":1,"observation":[{"field":"rtt","transform":"none"},{"field":"qlen","transform":"symlog"}],)"
        R"("history":1,"network":{"kind":"mlp","hidden_activation":"tanh","output_activation":"none"},)"
        R"("action":{"name":"multiplicative_window","alpha":0.5,"rounding":"none"},"clock":{"name":"per_flow_rtt",)"
        R"("rtt_fraction":0.5},"decision_quantum_ns":0,"telemetry_bytes":16,"training":{},"sha256":"0"})";
    std::string tensors = R"("layers.0.weight":{"dtype":"F32","shape":[1,2],"data_offsets":[0,8]})";
    std::vector<float> values{0.5F, -0.25F};

    /// Replaces a part of the header.
    PolicyFileWriter& Put(const std::string& from, const std::string& to)
    {
        header.replace(header.find(from), from.size(), to);
        return *this;
    }

    std::string Bytes() const
    {
        std::string quoted;
        for (const char c : header)
        {
            quoted += c == '"' ? std::string("\\\"") : std::string(1, c);
        }
        const std::string json =
            "{\"__metadata__\":{\"ns3_env.policy\":\"" + quoted + "\"}," + tensors + "}";
        const uint64_t length = json.size();
        std::string bytes(reinterpret_cast<const char*>(&length), sizeof length);
        bytes += json;
        bytes.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float));
        return bytes;
    }

    /// The same with the tensors' own digest.
    std::string Sealed() const
    {
        PolicyFileWriter sealed = *this;
        const std::string digest = Sha256(TensorFile::Read(Write(Bytes())).tensors);
        return sealed.Put(R"("sha256":"0")", R"("sha256":")" + digest + "\"").Bytes();
    }

    std::unique_ptr<Policy> Made() const { return std::make_unique<Policy>(Write(Sealed())); }

    static std::string Write(const std::string& bytes)
    {
        const auto path =
            std::filesystem::temp_directory_path() / ("policy-test-" + std::to_string(getpid()));
        std::ofstream(path, std::ios::binary) << bytes;
        return path.string();
    }
};

/// A policy's action after one more observation of a flow.
float
Next(Policy& policy, FlowHistory& history, const ObservationRecord& record)
{
    policy.Observe(history, record);
    FlowHistory* flows[] = {&history};
    float action = 0;
    policy.Decide(flows, {&action, 1});
    return action;
}

/// A record of these two fields.
ObservationRecord
Seen(Field a, double first, Field b, double second)
{
    ObservationRecord record;
    record[a] = first;
    record[b] = second;
    return record;
}

TEST("a file decides as it expected; one that is damaged in any place is refused in "
     "one line")
{
    const auto refuse =
        [&](const std::string& bytes, const std::string& expected, const std::string& what)
    {
        const std::string path = PolicyFileWriter::Write(bytes);
        const std::string message = Refusal([&] { Policy policy(path); });
        EXPECT(message.starts_with("policy " + path + ": "), what << ": " << message);
        EXPECT_EQ(message.find('\n'), std::string::npos, what);
        EXPECT_NE(message.find(expected), std::string::npos, what << ": " << message);
    };

    const auto policy = PolicyFileWriter().Made();
    EXPECT_EQ(policy->TelemetryBytes(), 16, "telemetry");
    EXPECT_EQ(*policy->Clock().rttFraction, 0.5, "clock");
    FlowHistory history;
    const float action = Next(*policy, history, Seen(Field::Rtt, 1.5, Field::Qlen, 2));
    EXPECT_NEAR(double{action}, 0.5 * 1.5 - 0.25 * std::log(3.0), 1e-6, "action");
    const float cut = Next(*policy, history, Seen(Field::Rtt, 9, Field::Qlen, 2));
    EXPECT_EQ(cut, 1.0F, "the action is cut");

    const std::string bytes = PolicyFileWriter().Sealed();
    std::string changed = bytes;
    changed.back() ^= 1;
    refuse(changed, "sha256: the tensors are not those that were written", "a bit");
    for (size_t length = 0; length < bytes.size(); ++length)
    {
        refuse(bytes.substr(0, length), "", "cut after " + std::to_string(length));
    }
    const std::string qlen = R"("field":"qlen","transform":"symlog")";
    const std::string target = R"("derived":"rtt_target",)";
    for (const auto& [from, to, expected] : std::vector<std::array<std::string, 3>>{
             {R"("version":1)", R"("version":2)", "version 2"},
             {R"("rtt")", R"("rrt")", "no observation field 'rrt'"},
             {R"("history":1)", R"("history":0)", "history"},
             {R"("history":1)", R"("history":2)", "4 wide"},
             {R"("qlen")", R"("rtt")", "is there twice"},
             {qlen, R"("derived":"rtt_traget","margin":1,"target":0,"gain":1)", "derived"},
             {qlen, target + R"("margin":-1,"target":0,"gain":1)", "margin"},
             {qlen, target + R"("margin":1,"target":-1,"gain":1)", "target"},
             {qlen, target + R"("margin":1,"target":0,"gain":0)", "gain"},
             {qlen, target + R"("margin":1,"target":0)", "gain' is missing"},
             {qlen, target + R"("base_ns":0,"margin":1,"target":0,"gain":1)", "base_ns"},
             {qlen, target + R"("margin":1,"target":0,"gain":1,"unit":"ns")", "unit"},
             {R"("mlp")", R"("cnn")", "kind"},
             {R"("kind":"mlp")", R"("kind":"mlp","memory":"carried")", "is an lstm's"},
             {R"("history":1,"network":{"kind":"mlp")",
              R"("history":2,"network":{"kind":"lstm","memory":"carried")",
              "whose history is 1"},
             {R"("kind":"mlp")", R"("kind":"lstm","memory":"kept")", "memory"},
             {R"("kind":"mlp")", R"("kind":"lstm","memory":"carried")", "lstm.weight_ih"},
             {"multiplicative_window", "additive_window", "name"},
             {R"("alpha":0.5)", R"("beta":0.5)", "beta"},
             {R"("telemetry_bytes":16)", R"("telemetry_bytes":-1)", "telemetry_bytes"}})
    {
        refuse(PolicyFileWriter().Put(from, to).Bytes(), expected, to);
    }
    PolicyFileWriter bad;
    for (const auto& [tensors, expected] : std::map<std::string, std::string>{
             {R"("layers.0.weight":{"dtype":"F32","shape":[2,1],"data_offsets":[0,8]})", "2 wide"},
             {R"("layers.0.weight":{"dtype":"F16","shape":[1,2],"data_offsets":[0,8]})", "no F32"},
             {R"("layers.0.weight":{"dtype":"F32","shape":[1,2],"data_offsets":[0,800]})", "short"},
             {R"("weight":{"dtype":"F32","shape":[1,2],"data_offsets":[0,8]})", "is missing"}})
    {
        bad.tensors = tensors;
        refuse(bad.Bytes(), expected, tensors);
    }
    bad = {};
    bad.values[1] = std::nanf("");
    refuse(bad.Bytes(), "holds NaN", "NaN");
    bad = {};
    bad.tensors += R"(,"layers.7.bias":{"dtype":"F32","shape":[1],"data_offsets":[0,4]})";
    refuse(bad.Bytes(), "none of the network's", "a tensor too many");
    refuse("", "", "an empty file");
    std::filesystem::remove(PolicyFileWriter::Write(""));
}

TEST("an MLP reads its last observations, the current one last, and what is derived")
{
    PolicyFileWriter file;
    file.Put(R"({"field":"qlen","transform":"symlog"})",
             R"({"derived":"rtt_target","margin":1.0,"target":0.25,"gain":0.5})");
    file.Put(R"("history":1)", R"("history":2)");
    file.tensors = R"("layers.0.weight":{"dtype":"F32","shape":[1,4],"data_offsets":[0,16]})";
    file.values = {0.25F, 0.25F, 0.125F, 1.0F};
    const auto policy = file.Made();
    EXPECT_EQ(policy->Fields().size(), 2, "rtt once, and the pacing rate");
    FlowHistory history;
    const auto next = [&](double rtt)
    { return Next(*policy, history, Seen(Field::Rtt, rtt, Field::PacingRate, 0.25)); };
    EXPECT_EQ(next(2), 0.25F + 0.125F, "zeros before"); // r = 0.5 (1 * 0.5 - 0.25) = 0.125
    EXPECT_EQ(next(1), 0.5F + 0.03125F + 0.125F - 0.125F, "both"); // r = -0.125
    EXPECT_EQ(next(1), 0.25F - 0.03125F + 0.125F - 0.125F, "the oldest is forgotten");
}

TEST("an LSTM that carries its state goes on from each flow's last decision, from zeros on")
{
    PolicyFileWriter file;
    file.Put(R"("kind":"mlp")", R"("kind":"lstm","memory":"carried")");
    file.tensors = R"("lstm.weight_ih":{"dtype":"F32","shape":[4,2],"data_offsets":[0,32]},)"
                   R"("lstm.weight_hh":{"dtype":"F32","shape":[4,1],"data_offsets":[32,48]},)"
                   R"("lstm.bias":{"dtype":"F32","shape":[4],"data_offsets":[48,64]},)"
                   R"("layers.0.weight":{"dtype":"F32","shape":[1,1],"data_offsets":[64,68]})";
    file.values = Random(17, 7);
    const auto policy = file.Made();
    EXPECT_EQ(policy->StateWidth(), 2, "hidden state and cell");

    const std::span<const float> values = file.values;
    FlowHistory together[2];
    FlowHistory alone[2];
    double hidden[2]{};
    double cell[2]{};
    for (size_t step = 0; step < 70; ++step)
    {
        const auto seen = [step](size_t flow)
        {
            const double rtt =
                1.0 + static_cast<double>(flow) + 0.5 * static_cast<double>(step % 3);
            return Seen(Field::Rtt, rtt, Field::Qlen, 3.0 / static_cast<double>(1 + step));
        };
        policy->Observe(together[0], seen(0));
        policy->Observe(together[1], seen(1));
        FlowHistory* flows[] = {&together[0], &together[1]};
        float both[2];
        policy->Decide(flows, both);
        for (size_t flow = 0; flow < 2; ++flow)
        {
            const ObservationRecord record = seen(flow);
            const double x[] = {record[Field::Rtt], std::log1p(record[Field::Qlen]), hidden[flow]};
            double gates[4];
            for (size_t gate = 0; gate < 4; ++gate)
            {
                gates[gate] = values[2 * gate] * x[0] + values[2 * gate + 1] * x[1] +
                              values[8 + gate] * x[2] + values[12 + gate];
            }
            cell[flow] = Sigmoid(gates[1]) * cell[flow] + Sigmoid(gates[0]) * std::tanh(gates[2]);
            hidden[flow] = Sigmoid(gates[3]) * std::tanh(cell[flow]);
            EXPECT_NEAR(double{both[flow]}, values[16] * hidden[flow], 1e-5, "step " << step);
            EXPECT_EQ(Next(*policy, alone[flow], record), both[flow], "the same bits alone");
        }
    }
    EXPECT(std::abs(hidden[0] - hidden[1]) > 1e-3, "each flow has its own");
}

TEST("an observation costs what it needs of the network")
{
    using Fields = std::vector<Field>;
    const std::vector<std::pair<Fields, uint32_t>> expected{
        {{}, 0},
        {{Field::PacingRate, Field::LastAction, Field::EcnFraction, Field::Remaining}, 0},
        {{Field::Rtt, Field::PacingRate}, 8},
        {{Field::Rtt, Field::Qlen, Field::SwitchRate}, 16},
        {{Field::Qlen, Field::FlowCount}, 18},
        {{Field::FlowCount}, 18},
        {{Field::ShorterBacklog}, 8},
        {{Field::Rtt, Field::Qlen, Field::FlowCount, Field::ShorterBacklog}, 26},
        {{Field::Rtt, Field::StateFlows}, 42}};
    for (const auto& [fields, bytes] : expected)
    {
        EXPECT_EQ(WireBytes(fields), bytes, fields.size() << " fields");
    }
    EXPECT_EQ(NeedsHops(Fields{Field::Rtt, Field::EcnFraction}), false, "no hop");
    EXPECT(NeedsHops(Fields{Field::Rtt, Field::Qlen}), "a hop");
}

} // namespace
} // namespace ns3::env::test
