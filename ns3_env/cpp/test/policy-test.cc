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

    static std::string Write(const std::string& bytes)
    {
        const auto path =
            std::filesystem::temp_directory_path() / ("policy-test-" + std::to_string(getpid()));
        std::ofstream(path, std::ios::binary) << bytes;
        return path.string();
    }
};

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
        std::filesystem::remove(path);
    };

    const std::string bytes = PolicyFileWriter().Sealed();
    Policy policy(PolicyFileWriter::Write(bytes));
    EXPECT_EQ(policy.TelemetryBytes(), 16, "telemetry");
    EXPECT_EQ(*policy.Clock().rttFraction, 0.5, "clock");
    FlowHistory history;
    FlowHistory* flows[] = {&history};
    const auto next = [&](double rtt)
    {
        ObservationRecord record;
        record[Field::Rtt] = rtt;
        record[Field::Qlen] = 2.0;
        policy.Observe(history, record);
        float action = 0;
        policy.Decide(flows, {&action, 1});
        return double{action};
    };
    EXPECT_NEAR(next(1.5), 0.5 * 1.5 - 0.25 * std::log(3.0), 1e-6, "action");
    EXPECT_EQ(next(9), 1.0, "the action is cut");

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
