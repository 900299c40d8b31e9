// SPDX-License-Identifier: GPL-2.0-or-later
// Arithmetic of a layer, compiled once for each width of vector registers.
// RDMA_KERNELS names the result. Nothing here may be shared with other files: of headers, only vector-math.h and memcpy
// may be used.
#include "dense-kernels.h"

#include "vector-math.h"

namespace ns3::env
{

namespace
{

/// ROWS rows of x times COLUMNS vectors of the weights' columns.
template <size_t ROWS, size_t COLUMNS>
inline void
Tile(const float* weight,
     const float* bias,
     size_t stride,
     size_t inputs,
     const float* x,
     size_t xStride,
     float* y)
{
    Vector sums[ROWS][COLUMNS];
    for (size_t c = 0; c < COLUMNS; ++c)
    {
        Load(sums[0][c], bias + c * LANES);
        for (size_t r = 1; r < ROWS; ++r)
        {
            sums[r][c] = sums[0][c];
        }
    }
    for (size_t k = 0; k < inputs; ++k)
    {
        for (size_t c = 0; c < COLUMNS; ++c)
        {
            Vector w;
            Load(w, weight + k * stride + c * LANES);
            for (size_t r = 0; r < ROWS; ++r)
            {
                sums[r][c] += w * x[r * xStride + k];
            }
        }
    }
    for (size_t r = 0; r < ROWS; ++r)
    {
        for (size_t c = 0; c < COLUMNS; ++c)
        {
            Store(y + r * stride + c * LANES, sums[r][c]);
        }
    }
}

/// All columns for ROWS rows: enough vectors at a time to keep the registers busy.
template <size_t ROWS, size_t COLUMNS>
inline void
Stripe(const float* weight,
       const float* bias,
       size_t stride,
       size_t inputs,
       const float* x,
       size_t xStride,
       float* y)
{
    size_t at = 0;
    for (; at + COLUMNS * LANES <= stride; at += COLUMNS * LANES)
    {
        Tile<ROWS, COLUMNS>(weight + at, bias + at, stride, inputs, x, xStride, y + at);
    }
    for (; at < stride; at += LANES)
    {
        Tile<ROWS, 1>(weight + at, bias + at, stride, inputs, x, xStride, y + at);
    }
}

void
Affine(const float* weight,
       const float* bias,
       size_t stride,
       size_t inputs,
       const float* x,
       size_t xStride,
       float* y,
       size_t rows)
{
    size_t row = 0;
    for (; row + 4 <= rows; row += 4)
    {
        Stripe<4, 2>(weight, bias, stride, inputs, x + row * xStride, xStride, y + row * stride);
    }
    for (; row < rows; ++row)
    {
        Stripe<1, 8>(weight, bias, stride, inputs, x + row * xStride, xStride, y + row * stride);
    }
}

void
TanhOf(float* values, size_t count)
{
    for (size_t i = 0; i < count; i += LANES)
    {
        Vector v;
        Load(v, values + i);
        Tanh(v);
        Store(values + i, v);
    }
}

void
ReluOf(float* values, size_t count)
{
    for (size_t i = 0; i < count; ++i)
    {
        values[i] = values[i] > 0.0F ? values[i] : 0.0F;
    }
}

void
Cell(const float* gates, float* cell, float* hidden, size_t width)
{
    for (size_t at = 0; at < width; at += LANES)
    {
        Vector i;
        Vector f;
        Vector g;
        Vector o;
        Vector c;
        Load(i, gates + at);
        Load(f, gates + width + at);
        Load(g, gates + 2 * width + at);
        Load(o, gates + 3 * width + at);
        Load(c, cell + at);
        Sigmoid(i);
        Sigmoid(f);
        Tanh(g);
        Sigmoid(o);
        c = f * c + i * g;
        Store(cell + at, c);
        Tanh(c);
        Store(hidden + at, o * c);
    }
}

} // namespace

extern const DenseKernels RDMA_KERNELS;
const DenseKernels RDMA_KERNELS{Affine, TanhOf, ReluOf, Cell};

} // namespace ns3::env
