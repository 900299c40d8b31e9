// SPDX-License-Identifier: GPL-2.0-or-later
// Inference of a trained network: an MLP, or an LSTM, perhaps with a shortcut.
#pragma once

#include "dense.h"
#include "tensor-file.h"

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace ns3::env
{

/// Layers, each with the output of the one before as input.
class LayerStack
{
  public:
    /// Moves layers.N.weight and layers.N.bias out of `tensors`. \throws ScenarioError if shapes do not fit
    LayerStack(std::map<std::string, Tensor>& tensors,
               size_t inputs,
               size_t outputs,
               Activation hidden,
               Activation output);

    /// \param x rows of `inputs` floats, `xStride` apart \return rows of OutputStride() floats, valid until the next call
    const float* Apply(const float* x, size_t xStride, size_t rows);
    size_t OutputStride() const { return m_layers.back().OutputStride(); }

  private:
    std::vector<DenseLayer> m_layers;
    Activation m_hidden;
    Activation m_output;
    std::vector<float> m_buffers[2];
};

/// Inputs of one flow, oldest observation first; the last is the current one.
struct HistoryView
{
    const float* inputs; ///< (length, width)
    size_t length;       ///< 1 to K
    float* state;        ///< StateWidth() floats, kept for the flow's next decision
};

/// Not thread-safe.
class PolicyNetwork
{
  public:
    virtual ~PolicyNetwork() = default;

    /// The output for each of the histories. A recurrent network advances its state by one step.
    virtual void Evaluate(std::span<const HistoryView> histories, std::span<float> outputs) = 0;

    /// Floats that a flow carries from decision to decision, all 0 at its first: no state, or hidden state and cell.
    virtual size_t StateWidth() const { return 0; }

    /// \param kind "mlp" or "lstm" \param width of an observation \param history K, of which an MLP reads a row
    /// \param carried an LSTM continues from the state of the flow's last decision, and may be without a shortcut
    /// \param tensors those of the file; all must be of the network
    /// \throws ScenarioError naming a tensor that is missing, superfluous, or of another shape
    static std::unique_ptr<PolicyNetwork> Make(const std::string& kind,
                                               size_t width,
                                               size_t history,
                                               bool carried,
                                               Activation hidden,
                                               Activation output,
                                               std::map<std::string, Tensor> tensors);
};

} // namespace ns3::env
