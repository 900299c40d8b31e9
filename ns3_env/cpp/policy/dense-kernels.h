// SPDX-License-Identifier: GPL-2.0-or-later
// Loops of a dense layer and an LSTM cell, in the widest version that the processor has.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ns3::env
{

/// Widths are filled up with zeros to this many floats, so that loops need no ends.
inline constexpr size_t LANES = 16;

/// The loops, for one width of vector registers.
struct DenseKernels
{
    /// rows of y (stride) = bias + rows of x (inputs, xStride apart) times weight (inputs, stride)
    void (*affine)(const float* weight,
                   const float* bias,
                   size_t stride,
                   size_t inputs,
                   const float* x,
                   size_t xStride,
                   float* y,
                   size_t rows);
    void (*tanh)(float* values, size_t count);
    void (*relu)(float* values, size_t count);
    /// LstmCell (dense.h)
    void (*cell)(const float* gates, float* cell, float* hidden, size_t width);
};

/// The widest that this processor has.
const DenseKernels& BestKernels();

} // namespace ns3::env
