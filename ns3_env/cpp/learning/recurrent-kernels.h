// SPDX-License-Identifier: GPL-2.0-or-later
// Passes of a recurrent network forwards and back, in the widest version that the processor has.
#pragma once

#include "ns3_env/cpp/policy/dense-kernels.h"

namespace ns3::env
{

/// Histories that pass at a time: a row has a quantity of each.
inline constexpr size_t BLOCK = LANES;

/// A linear layer.
struct LayerView
{
    const float* weight; ///< (outputs, inputs)
    const float* bias;   ///< (outputs)
    size_t inputs;
    size_t outputs;
    float*
        sums; ///< (outputs, inputs + 1, LANES): parts of the gradients of weight and bias, added to
};

/// An LSTM over a history. Its hidden state at the history's end and a layer of ReLU units, the shortcut, are the
/// input of further layers, with ReLU between them.
///
/// A state is of rows: for each step its input x, the hidden state before, the gates i, f, g and o, the cell; after the
/// last step no x, but the hidden state; then the shortcut's input, the hidden state at the history's end, the
/// shortcut, and the outputs of each further layer.
struct RecurrentView
{
    size_t steps;
    size_t inputs; ///< rows of x
    size_t hidden;
    const LayerView*
        layers;   ///< from x and the hidden state to the gates; the shortcut; further layers
    size_t count; ///< of layers

    size_t StepRows() const { return inputs + 6 * hidden; }

    /// First row of the shortcut's input.
    size_t Current() const { return steps * StepRows() + inputs + hidden; }

    /// First row of the hidden state at the history's end.
    size_t Memory() const { return Current() + layers[1].inputs; }

    /// First row of the last layer's output.
    size_t Output() const
    {
        size_t row = Memory();
        for (size_t n = 2; n < count; ++n)
        {
            row += layers[n].inputs;
        }
        return row;
    }

    size_t StateRows() const { return Output() + layers[count - 1].outputs; }

    /// Rows that the way back needs for itself.
    size_t ScratchRows() const { return Output() - Memory() + (2 + 4 * steps) * hidden; }
};

/// The passes, for one width of vector registers. `ends` is a row: the last step of each history.
struct RecurrentKernels
{
    /// Fills a state that has x, the shortcut's input, and zero for the hidden state before the first step.
    void (*forward)(const RecurrentView& net, const float* ends, float* state);
    /// From a loss's slopes to the output to those to the shortcut's input, and the layers' sums if they have any.
    void (*backward)(const RecurrentView& net,
                     const float* ends,
                     const float* state,
                     const float* slope,
                     float* currentSlope,
                     float* scratch);
};

} // namespace ns3::env
