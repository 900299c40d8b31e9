// SPDX-License-Identifier: GPL-2.0-or-later
// Vectors of floats and their exponential functions.
// For files that are compiled once for each width of vector registers: everything is each file's own.
#pragma once

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

inline Vector
At(const float* from)
{
    Vector v;
    std::memcpy(&v, from, sizeof v);
    return v;
}

inline void
Store(float* to, const Vector& v)
{
    std::memcpy(to, &v, sizeof v);
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

} // namespace

} // namespace ns3::env
