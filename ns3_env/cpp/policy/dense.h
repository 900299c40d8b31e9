// SPDX-License-Identifier: GPL-2.0-or-later
// Dense layers and LSTM cell, to the same bits however many flows decide together.
#pragma once

#include "dense-kernels.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace ns3::env
{

/// Function applied to a layer's sums.
enum class Activation : uint8_t
{
    None,
    Relu,
    Tanh,
};

constexpr size_t
Padded(size_t width)
{
    return (width + LANES - 1) / LANES * LANES;
}

/// y = W x + b for several x at once. Each sum runs over x in its order, with or without other rows, so a flow's
/// decision does not depend on other deciding flows (docs/decisions/0009-inference.md).
class DenseLayer
{
  public:
    /// \param weight (outputs, inputs), row-major
    /// \param bias (outputs), or empty
    /// \param blocks number of blocks of equal width in the outputs, each padded separately
    DenseLayer(std::span<const float> weight,
               std::span<const float> bias,
               size_t inputs,
               size_t blocks = 1);

    size_t Inputs() const { return m_inputs; }
    /// Floats of a row of y, padding included.
    size_t OutputStride() const { return m_stride; }

    /// \param x rows of Inputs() floats, `xStride` apart \param y rows of OutputStride() floats
    void Apply(const float* x, size_t xStride, float* y, size_t rows) const;

  private:
    size_t m_inputs;
    size_t m_stride;
    std::vector<float> m_weight; ///< (inputs, stride): transposed and padded
    std::vector<float> m_bias;   ///< (stride)
};

/// Applies the activation in place to `count` floats (a multiple of LANES).
void Activate(Activation activation, float* values, size_t count);

/// The LSTM's cell: c' = σ(f) c + σ(i) tanh(g), h = σ(o) tanh(c').
/// \param gates i, f, g, o of `width` floats each (a multiple of LANES)
/// \param cell (width), in place \param hidden (width), written
void LstmCell(const float* gates, float* cell, float* hidden, size_t width);

} // namespace ns3::env
