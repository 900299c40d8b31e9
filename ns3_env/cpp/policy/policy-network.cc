// SPDX-License-Identifier: GPL-2.0-or-later
// Inference of a trained network: an MLP, or an LSTM, perhaps with a shortcut.
#include "policy-network.h"

#include "ns3_env/cpp/json/json-reader.h"

#include <algorithm>
#include <numeric>
#include <optional>

namespace ns3::env
{

namespace
{

using Tensors = std::map<std::string, Tensor>;

std::string
ShapeText(std::span<const uint32_t> shape)
{
    std::string text;
    for (const uint32_t width : shape)
    {
        text.append(text.empty() ? "(" : ", ").append(std::to_string(width));
    }
    return text + ")";
}

/// The tensor of that name; it must have the given number of dimensions.
Tensor
TakeOfRank(Tensors& tensors, const std::string& name, size_t dimensions)
{
    auto node = tensors.extract(name);
    if (node.empty())
    {
        throw ScenarioError("tensor '" + name + "' is missing");
    }
    if (node.mapped().shape.size() != dimensions)
    {
        throw ScenarioError("tensor '" + name + "' has the shape " +
                            ShapeText(node.mapped().shape));
    }
    return std::move(node.mapped());
}

Tensor
Take(Tensors& tensors, const std::string& name, const std::vector<uint32_t>& shape)
{
    Tensor tensor = TakeOfRank(tensors, name, shape.size());
    if (tensor.shape != shape)
    {
        throw ScenarioError("tensor '" + name + "' has the shape " + ShapeText(tensor.shape) +
                            " instead of " + ShapeText(shape));
    }
    return tensor;
}

} // namespace

LayerStack::LayerStack(Tensors& tensors,
                       size_t inputs,
                       size_t outputs,
                       Activation hidden,
                       Activation output)
    : m_hidden(hidden),
      m_output(output)
{
    for (size_t n = 0;; ++n)
    {
        const std::string name = "layers." + std::to_string(n);
        if (n > 0 && !tensors.contains(name + ".weight"))
        {
            break;
        }
        const Tensor weight = TakeOfRank(tensors, name + ".weight", 2);
        const uint32_t width = weight.shape[0];
        if (weight.shape[1] != inputs)
        {
            throw ScenarioError("tensor '" + name + ".weight' has the shape " +
                                ShapeText(weight.shape) + ", but what it reads is " +
                                std::to_string(inputs) + " wide");
        }
        Tensor bias;
        if (tensors.contains(name + ".bias"))
        {
            bias = Take(tensors, name + ".bias", {width});
        }
        m_layers.emplace_back(weight.values, bias.values, inputs);
        inputs = width;
    }
    if (inputs != outputs)
    {
        throw ScenarioError("the last layer gives " + std::to_string(inputs) +
                            " numbers instead of " + std::to_string(outputs));
    }
}

const float*
LayerStack::Apply(const float* x, size_t xStride, size_t rows)
{
    for (size_t n = 0; n < m_layers.size(); ++n)
    {
        const DenseLayer& layer = m_layers[n];
        std::vector<float>& y = m_buffers[n % 2];
        y.resize(std::max(y.size(), rows * layer.OutputStride()));
        layer.Apply(x, xStride, y.data(), rows);
        Activate(n + 1 < m_layers.size() ? m_hidden : m_output,
                 y.data(),
                 rows * layer.OutputStride());
        x = y.data();
        xStride = layer.OutputStride();
    }
    return x;
}

namespace
{

/// Layers that read the last K observations in a row, the current one last; before a flow's first there are zeros.
class Mlp final : public PolicyNetwork
{
  public:
    Mlp(Tensors& tensors, size_t width, size_t history, Activation hidden, Activation output)
        : m_width(width),
          m_row(history * width),
          m_layers(tensors, m_row, 1, hidden, output)
    {
    }

    void Evaluate(std::span<const HistoryView> histories, std::span<float> outputs) override
    {
        m_inputs.resize(std::max(m_inputs.size(), histories.size() * m_row));
        for (size_t row = 0; row < histories.size(); ++row)
        {
            const size_t seen = histories[row].length * m_width;
            float* missing = m_inputs.data() + row * m_row;
            float* first = std::fill_n(missing, m_row - seen, 0.0F);
            std::copy_n(histories[row].inputs, seen, first);
        }
        const float* y = m_layers.Apply(m_inputs.data(), m_row, histories.size());
        for (size_t row = 0; row < histories.size(); ++row)
        {
            outputs[row] = y[row * m_layers.OutputStride()];
        }
    }

  private:
    size_t m_width;
    size_t m_row; ///< the layers' input
    LayerStack m_layers;
    std::vector<float> m_inputs;
};

/// The LSTM's output at the history's end, concatenated with a layer that reads only the current observation (Zhang
/// 2023, sec. 4.3). Its state starts with zeros, or as the flow's last decision left it.
class Lstm final : public PolicyNetwork
{
  public:
    Lstm(Tensors& tensors, size_t width, bool carried, Activation hidden, Activation output)
        : m_width(width),
          m_carried(carried),
          m_hidden(HiddenWidth(tensors)),
          m_gates(Gates(tensors, width, m_hidden)),
          m_shortcutWidth(ShortcutWidth(tensors, carried)),
          m_shortcut(Shortcut(tensors, width, m_shortcutWidth)),
          m_layers(tensors, m_hidden + m_shortcutWidth, 1, hidden, output)
    {
    }

    size_t StateWidth() const override { return m_carried ? 2 * m_hidden : 0; }

    void Evaluate(std::span<const HistoryView> histories, std::span<float> outputs) override
    {
        const size_t rows = histories.size();
        const size_t padded = Padded(m_hidden);
        const size_t z = m_width + padded; // a row: the step's observation, then the hidden state
        m_order.resize(rows);
        std::iota(m_order.begin(), m_order.end(), size_t{0});
        // Long histories first, so that the rows of a step are the first ones.
        std::stable_sort(m_order.begin(),
                         m_order.end(),
                         [&](size_t a, size_t b)
                         { return histories[a].length > histories[b].length; });
        m_state.assign(rows * z, 0.0F);
        m_cells.assign(rows * padded, 0.0F);
        m_sums.resize(std::max(m_sums.size(), rows * m_gates.OutputStride()));
        for (size_t row = 0; m_carried && row < rows; ++row)
        {
            const float* state = histories[m_order[row]].state;
            std::copy_n(state, m_hidden, m_state.data() + row * z + m_width);
            std::copy_n(state + m_hidden, m_hidden, m_cells.data() + row * padded);
        }
        for (size_t step = 0, active = rows; step < histories[m_order[0]].length; ++step)
        {
            while (histories[m_order[active - 1]].length <= step)
            {
                --active;
            }
            for (size_t row = 0; row < active; ++row)
            {
                std::copy_n(histories[m_order[row]].inputs + step * m_width,
                            m_width,
                            m_state.data() + row * z);
            }
            m_gates.Apply(m_state.data(), z, m_sums.data(), active);
            for (size_t row = 0; row < active; ++row)
            {
                LstmCell(m_sums.data() + row * m_gates.OutputStride(),
                         m_cells.data() + row * padded,
                         m_state.data() + row * z + m_width,
                         padded);
            }
        }
        for (size_t row = 0; m_carried && row < rows; ++row)
        {
            float* state = histories[m_order[row]].state;
            std::copy_n(m_state.data() + row * z + m_width, m_hidden, state);
            std::copy_n(m_cells.data() + row * padded, m_hidden, state + m_hidden);
        }
        if (m_shortcut)
        {
            // The state's first part still contains each row's last observation.
            m_direct.resize(std::max(m_direct.size(), rows * m_shortcut->OutputStride()));
            m_shortcut->Apply(m_state.data(), z, m_direct.data(), rows);
            Activate(Activation::Relu, m_direct.data(), rows * m_shortcut->OutputStride());
        }
        const size_t features = m_hidden + m_shortcutWidth;
        m_features.resize(std::max(m_features.size(), rows * features));
        for (size_t row = 0; row < rows; ++row)
        {
            float* to = m_features.data() + row * features;
            std::copy_n(m_state.data() + row * z + m_width, m_hidden, to);
            if (m_shortcut)
            {
                std::copy_n(m_direct.data() + row * m_shortcut->OutputStride(),
                            m_shortcutWidth,
                            to + m_hidden);
            }
        }
        const float* y = m_layers.Apply(m_features.data(), features, rows);
        for (size_t row = 0; row < rows; ++row)
        {
            outputs[m_order[row]] = y[row * m_layers.OutputStride()];
        }
    }

  private:
    static uint32_t Rows(Tensors& tensors, const std::string& name)
    {
        const auto found = tensors.find(name);
        return found == tensors.end() || found->second.shape.empty() ? 0 : found->second.shape[0];
    }

    static size_t HiddenWidth(Tensors& tensors)
    {
        return std::max(Rows(tensors, "lstm.weight_hh") / 4, 1U);
    }

    /// Width of the shortcut's input; 0 without one.
    static size_t ShortcutWidth(Tensors& tensors, bool carried)
    {
        const bool without = carried && !tensors.contains("shortcut.weight");
        return without ? 0U : std::max(Rows(tensors, "shortcut.weight"), 1U);
    }

    /// Both products of a step as one: columns of the observation, then those of the (padded) hidden state.
    static DenseLayer Gates(Tensors& tensors, size_t width, size_t hidden)
    {
        const auto h = static_cast<uint32_t>(hidden);
        const Tensor input = Take(tensors, "lstm.weight_ih", {4 * h, static_cast<uint32_t>(width)});
        const Tensor recurrent = Take(tensors, "lstm.weight_hh", {4 * h, h});
        const Tensor bias = Take(tensors, "lstm.bias", {4 * h});
        const size_t z = width + Padded(hidden);
        std::vector<float> both(4 * hidden * z, 0.0F);
        for (size_t row = 0; row < 4 * hidden; ++row)
        {
            std::copy_n(input.values.data() + row * width, width, both.data() + row * z);
            std::copy_n(recurrent.values.data() + row * hidden,
                        hidden,
                        both.data() + row * z + width);
        }
        return {both, bias.values, z, 4};
    }

    static std::optional<DenseLayer> Shortcut(Tensors& tensors, size_t width, size_t shortcut)
    {
        if (shortcut == 0)
        {
            return std::nullopt;
        }
        const auto s = static_cast<uint32_t>(shortcut);
        const Tensor weight = Take(tensors, "shortcut.weight", {s, static_cast<uint32_t>(width)});
        const Tensor bias = Take(tensors, "shortcut.bias", {s});
        return DenseLayer(weight.values, bias.values, width);
    }

    size_t m_width;
    bool m_carried;
    size_t m_hidden;
    DenseLayer m_gates;
    size_t m_shortcutWidth;
    std::optional<DenseLayer> m_shortcut;
    LayerStack m_layers;
    std::vector<size_t> m_order;
    std::vector<float> m_state;
    std::vector<float> m_cells;
    std::vector<float> m_sums;
    std::vector<float> m_direct;
    std::vector<float> m_features;
};

} // namespace

std::unique_ptr<PolicyNetwork>
PolicyNetwork::Make(const std::string& kind,
                    size_t width,
                    size_t history,
                    bool carried,
                    Activation hidden,
                    Activation output,
                    Tensors tensors)
{
    std::unique_ptr<PolicyNetwork> network;
    if (kind == "mlp")
    {
        network = std::make_unique<Mlp>(tensors, width, history, hidden, output);
    }
    else
    {
        network = std::make_unique<Lstm>(tensors, width, carried, hidden, output);
    }
    if (!tensors.empty())
    {
        throw ScenarioError("tensor '" + Shown(tensors.begin()->first) +
                            "' is none of the network's");
    }
    return network;
}

} // namespace ns3::env
