// SPDX-License-Identifier: GPL-2.0-or-later
// Random numbers of the published simulator: each draw is the first number of a new stream.
#include "stream-per-draw.h"

namespace ns3::env::rdma::published
{

namespace
{

using Vector = std::array<uint64_t, 3>;
using Matrix = std::array<Vector, 3>;

constexpr uint64_t M1 = 4294967087;
constexpr uint64_t M2 = 4294944443;
constexpr double NORM = 2.328306549295727688e-10; // 1 / (M1 + 1)

// x(n) = 1403580 x(n-2) - 810728 x(n-3) mod M1;  y(n) = 527612 y(n-1) - 1370589 y(n-3) mod M2
constexpr Matrix STEP1{{{0, 1, 0}, {0, 0, 1}, {M1 - 810728, 1403580, 0}}};
constexpr Matrix STEP2{{{0, 1, 0}, {0, 0, 1}, {M2 - 1370589, 0, 527612}}};

constexpr Vector
Apply(const Matrix& a, const Vector& x, uint64_t modulus)
{
    Vector y{};
    for (std::size_t i = 0; i < 3; ++i)
    {
        for (std::size_t j = 0; j < 3; ++j)
        {
            y[i] = (y[i] + a[i][j] * x[j] % modulus) % modulus; // factors are below 2^32
        }
    }
    return y;
}

constexpr Matrix
Multiply(const Matrix& a, const Matrix& b, uint64_t modulus)
{
    Matrix c{};
    for (std::size_t j = 0; j < 3; ++j)
    {
        const Vector column = Apply(a, {b[0][j], b[1][j], b[2][j]}, modulus);
        for (std::size_t i = 0; i < 3; ++i)
        {
            c[i][j] = column[i];
        }
    }
    return c;
}

/// a^(2^exponent)
constexpr Matrix
Squared(Matrix a, uint32_t exponent, uint64_t modulus)
{
    for (uint32_t i = 0; i < exponent; ++i)
    {
        a = Multiply(a, a, modulus);
    }
    return a;
}

constexpr uint32_t STREAM = 127;
constexpr uint32_t SUBSTREAM = 76;
constexpr Matrix STREAM1 = Squared(STEP1, STREAM, M1);
constexpr Matrix STREAM2 = Squared(STEP2, STREAM, M2);
constexpr Matrix SUBSTREAM1 = Squared(STEP1, SUBSTREAM, M1);
constexpr Matrix SUBSTREAM2 = Squared(STEP2, SUBSTREAM, M2);

/// a^times x
Vector
Advance(Matrix a, uint64_t times, Vector x, uint64_t modulus)
{
    for (; times > 0; times >>= 1)
    {
        if ((times & 1) != 0)
        {
            x = Apply(a, x, modulus);
        }
        a = Multiply(a, a, modulus);
    }
    return x;
}

} // namespace

StreamPerDraw::StreamPerDraw(uint32_t seed, uint64_t run, uint64_t first)
{
    const Vector start{seed, seed, seed};
    m_first = Advance(STREAM1, first, Advance(SUBSTREAM1, run, start, M1), M1);
    m_second = Advance(STREAM2, first, Advance(SUBSTREAM2, run, start, M2), M2);
}

double
StreamPerDraw::Draw()
{
    const uint64_t x = Apply(STEP1, m_first, M1)[2];
    const uint64_t y = Apply(STEP2, m_second, M2)[2];
    m_first = Apply(STREAM1, m_first, M1);
    m_second = Apply(STREAM2, m_second, M2);
    const uint64_t difference = x > y ? x - y : x + M1 - y;
    return static_cast<double>(difference) * NORM;
}

} // namespace ns3::env::rdma::published
