// SPDX-License-Identifier: GPL-2.0-or-later
// Tests of policies' layers, to the same bits however many flows decide, and of observations' bytes.
#include "ns3_env/cpp/policy/dense.h"
#include "ns3_env/cpp/policy/policy.h"
#include "ns3_env/cpp/test/suite.h"

#include <algorithm>
#include <cmath>
#include <random>

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
