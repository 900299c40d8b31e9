// SPDX-License-Identifier: GPL-2.0-or-later
// Arithmetic of a layer, compiled once for each width of vector registers.
// RDMA_KERNELS names the result. Nothing here may be shared with other files: of headers, only memcpy may be used.
#include "dense-kernels.h"

#include <cstring>

namespace ns3::env
{

namespace
{

using Vector = float __attribute__((vector_size(LANES * sizeof(float))));
using Whole = int32_t __attribute__((vector_size(LANES * sizeof(float))));

inline void
Load(Vector& v, const float* from)
{
    std::memcpy(&v, from, sizeof v);
}

inline void
Store(float* to, const Vector& v)
{
    std::memcpy(to, &v, sizeof v);
}

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

/// e^x to two units in the last place: 2^n · e^r with |r| <= ln 2 / 2 (Cephes' polynomial).
inline void
Exp(Vector& x)
{
    x = x > 88.0F ? Vector{} + 88.0F : x;
    x = x < -87.0F ? Vector{} - 87.0F : x;
    constexpr float ROUNDS = 12582912.0F; // 1.5 · 2^23: a sum with it is rounded to a whole number
    const Vector n = (x * 1.44269504F + ROUNDS) - ROUNDS;
    const Vector r = x - n * 0.693359375F + n * 2.12194440e-4F;
    Vector p = r * 1.9875691500e-4F + 1.3981999507e-3F;
    p = p * r + 8.3334519073e-3F;
    p = p * r + 4.1665795894e-2F;
    p = p * r + 1.6666665459e-1F;
    p = p * r + 5.0000001201e-1F;
    p = p * r * r + r + 1.0F;
    const Whole power = (__builtin_convertvector(n, Whole) + 127) << 23;
    Vector scale;
    std::memcpy(&scale, &power, sizeof scale);
    x = p * scale;
}

inline void
Sigmoid(Vector& x)
{
    x = -x;
    Exp(x);
    x = 1.0F / (1.0F + x);
}

inline void
Tanh(Vector& x)
{
    x = x * 2.0F;
    Sigmoid(x);
    x = 2.0F * x - 1.0F;
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
