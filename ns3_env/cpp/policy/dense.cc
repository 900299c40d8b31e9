// SPDX-License-Identifier: GPL-2.0-or-later
// Dense layers and LSTM cell, to the same bits however many flows decide together.
#include "dense.h"

namespace ns3::env
{

#if defined(RDMA_KERNELS_BY_WIDTH)
extern const DenseKernels KERNELS_512;
extern const DenseKernels KERNELS_256;
#endif
extern const DenseKernels KERNELS_ANY;

const DenseKernels&
BestKernels()
{
    static const DenseKernels& best = []() -> const DenseKernels&
    {
#if defined(RDMA_KERNELS_BY_WIDTH)
        if (__builtin_cpu_supports("x86-64-v4"))
        {
            return KERNELS_512;
        }
        if (__builtin_cpu_supports("x86-64-v3"))
        {
            return KERNELS_256;
        }
#endif
        return KERNELS_ANY;
    }();
    return best;
}

DenseLayer::DenseLayer(std::span<const float> weight,
                       std::span<const float> bias,
                       size_t inputs,
                       size_t blocks)
    : m_inputs(inputs)
{
    const size_t outputs = weight.size() / inputs;
    const size_t width = outputs / blocks;
    m_stride = blocks * Padded(width);
    m_weight.resize(inputs * m_stride);
    m_bias.resize(m_stride);
    for (size_t out = 0; out < outputs; ++out)
    {
        const size_t column = out / width * Padded(width) + out % width;
        m_bias[column] = bias.empty() ? 0.0F : bias[out];
        for (size_t in = 0; in < inputs; ++in)
        {
            m_weight[in * m_stride + column] = weight[out * inputs + in];
        }
    }
}

void
DenseLayer::Apply(const float* x, size_t xStride, float* y, size_t rows) const
{
    BestKernels().affine(m_weight.data(), m_bias.data(), m_stride, m_inputs, x, xStride, y, rows);
}

void
Activate(Activation activation, float* values, size_t count)
{
    switch (activation)
    {
    case Activation::Tanh:
        BestKernels().tanh(values, count);
        break;
    case Activation::Relu:
        BestKernels().relu(values, count);
        break;
    case Activation::None:
        break;
    }
}

void
LstmCell(const float* gates, float* cell, float* hidden, size_t width)
{
    BestKernels().cell(gates, cell, hidden, width);
}

} // namespace ns3::env
