//@ narrow
/* To 32 bits, cut at their ends. */
static int32_t narrow(int64_t v)
{
    return v > INT32_MAX ? INT32_MAX : v < -INT32_MAX ? -INT32_MAX : (int32_t)v;
}

//@ rounded
/* v / 2^shift to the nearest; shift >= 1. */
static int64_t rounded(int64_t v, unsigned shift)
{
    const int64_t half = (int64_t)1 << (shift - 1);
    return v >= 0 ? (v + half) >> shift : -((half - v) >> shift);
}

//@ log2 table:log2
/* log2(v) in Q16, v >= 1: 128 straight pieces to each power of two, at most 3e-5 beside it. */
static int32_t log2_q16(uint64_t v)
{
    int32_t whole = 63;
    unsigned step;
    uint32_t piece, rest, rise;
    for (step = 32; step > 0; step >>= 1)
    {
        if ((v >> (64 - step)) == 0)
        {
            v <<= step;
            whole -= (int32_t)step;
        }
    }
    piece = (uint32_t)(v >> 56) & 127U;
    rest = (uint32_t)(v >> 40) & 65535U;
    rise = (uint16_t)(LOG2[piece + 1] - LOG2[piece]);
    return whole * 65536 + (int32_t)(LOG2[piece] + ((rise * rest + 32768U) >> 16));
}

//@ symlog log2
/* ln(1 + n / d) in Q16, n / d cut at `most`; 0 where there is nothing to divide by. */
static int32_t symlog_q16(uint64_t n, uint64_t d, uint32_t most)
{
    if (d == 0)
    {
        return 0;
    }
    if (n / d >= most)
    {
        n = most;
        d = 1;
    }
    return (int32_t)(((int64_t)(log2_q16(n + d) - log2_q16(d)) * 45426 + 32768) >> 16); /* ln 2 in Q16 */
}

//@ ln log2 rounded
/* ln(v), both in Q16, of 1 / 65536 where v is below. */
static int32_t ln_q16(int32_t v)
{
    return (int32_t)rounded((int64_t)(log2_q16(v < 1 ? 1U : (uint64_t)v) - 16 * 65536) * 45426, 16);
}

//@ share
/* n / d in Q16, cut at `most` <= 32767; 0 where there is nothing to divide by. */
static int32_t share_q16(uint64_t n, uint64_t d, uint32_t most)
{
    if (d == 0)
    {
        return 0;
    }
    if (n / d >= most)
    {
        return (int32_t)(most << 16);
    }
    while ((n >> 47) != 0)
    {
        n >>= 1;
        d >>= 1;
    }
    return (int32_t)(((n << 16) + d / 2) / d);
}

//@ root
/* Square root of n, cut off. */
static uint32_t root(uint64_t n)
{
    uint64_t found = 0, bit = (uint64_t)1 << 62;
    for (; bit != 0; bit >>= 2)
    {
        if (n >= found + bit)
        {
            n -= found + bit;
            found = (found >> 1) + bit;
        }
        else
        {
            found >>= 1;
        }
    }
    return (uint32_t)found;
}

//@ scaled table:exp2
/* v * 2^(e / 65536), at most `most`, of v < 2^40. */
static uint64_t scaled(uint64_t v, int32_t e, uint64_t most)
{
    const uint32_t down = e < 0 ? (uint32_t)-e : 0;
    const uint32_t whole = down != 0 ? (down + 65535U) >> 16 : (uint32_t)e >> 16;
    const uint32_t part = down != 0 ? (whole << 16) - down : (uint32_t)e & 65535U;
    const uint32_t piece = part >> 10, rest = part & 1023U;
    const uint32_t rise = (uint16_t)(EXP2[piece + 1] - EXP2[piece]);
    const uint64_t product = v * (65536U + EXP2[piece] + ((rise * rest + 512U) >> 10));
    if (down != 0)
    {
        return whole > 40 ? 0 : product >> (16 + whole);
    }
    if (whole > 40 || (product >> 16) >= (most >> whole) + 1)
    {
        return most;
    }
    return whole < 16 ? product >> (16 - whole) : product << (whole - 16);
}

//@ exp scaled rounded
/* exp(v), both in Q16, cut at the largest number. */
static int32_t exp_q16(int32_t v)
{
    if (v > 11 * 65536 || v < -12 * 65536)
    {
        return v < 0 ? 0 : INT32_MAX;
    }
    return (int32_t)scaled(65536U, (int32_t)rounded((int64_t)v * 94548, 16), INT32_MAX); /* log2 e in Q16 */
}

//@ quotient narrow
/* a / b, all in Q16; 0 where there is nothing to divide by. */
static int32_t quotient(int32_t a, int32_t b)
{
    return b == 0 ? 0 : narrow((int64_t)a * 65536 / b);
}

//@ lesser
static int32_t lesser(int32_t a, int32_t b)
{
    return a < b ? a : b;
}

//@ larger
static int32_t larger(int32_t a, int32_t b)
{
    return a > b ? a : b;
}

//@ tanh table:tanh
/* tanh(x), both in Q16: 32 straight pieces to one, at most 1e-4 beside it. */
static int32_t tanh_q16(int32_t x)
{
    const uint32_t size = x < 0 ? 0U - (uint32_t)x : (uint32_t)x;
    const uint32_t piece = size >> 11;
    uint32_t y = 65536U;
    if (piece < 256U)
    {
        y = TANH[piece] + ((uint32_t)(TANH[piece + 1] - TANH[piece]) * (size & 2047U) + 1024U) / 2048U;
    }
    return x < 0 ? -(int32_t)y : (int32_t)y;
}

//@ sigmoid tanh
/* 1 / (1 + exp(-x)), both in Q16. */
static int32_t sigmoid_q16(int32_t x)
{
    return (65536 + tanh_q16(x / 2)) / 2;
}

//@ tanh_all tanh
static void tanh_all(int32_t *y, unsigned n)
{
    unsigned i;
    for (i = 0; i < n; ++i)
    {
        y[i] = tanh_q16(y[i]);
    }
}

//@ relu_all
static void relu_all(int32_t *y, unsigned n)
{
    unsigned i;
    for (i = 0; i < n; ++i)
    {
        y[i] = y[i] < 0 ? 0 : y[i];
    }
}

//@ dot
static int64_t dot(const int16_t *w, const int32_t *x, unsigned n)
{
    int64_t sum = 0;
    unsigned i;
    for (i = 0; i < n; ++i)
    {
        sum += (int64_t)w[i] * x[i];
    }
    return sum;
}

//@ dense narrow rounded dot
/* y = W x + b: y, x, b in Q16, W (rows, columns) in 1 / 2^shift; b may be null, or y. */
static void dense(const int16_t *w, unsigned shift, const int32_t *b, const int32_t *x, unsigned columns,
                  int32_t *y, unsigned rows)
{
    unsigned row;
    for (row = 0; row < rows; ++row)
    {
        const int64_t sum = rounded(dot(w + row * columns, x, columns), shift);
        y[row] = narrow(sum + (b ? b[row] : 0));
    }
}

//@ dense_wide narrow rounded
/* The same of weights of 32 bits: a row of large ones that nearly cancel each other has no fewer. */
static void dense_wide(const int32_t *w, unsigned shift, const int32_t *b, const int32_t *x, unsigned columns,
                       int32_t *y, unsigned rows)
{
    unsigned row, i;
    for (row = 0; row < rows; ++row)
    {
        int64_t sum = 0;
        for (i = 0; i < columns; ++i, ++w)
        {
            sum += (int64_t)*w * x[i];
        }
        y[row] = narrow(rounded(sum, shift) + (b ? b[row] : 0));
    }
}

//@ lstm narrow rounded tanh sigmoid
/* A step of the cell: h, c go on; sums (4 hidden) are those of the gates i, f, g, o. */
static void lstm(const int32_t *sums, int32_t *h, int32_t *c, unsigned hidden)
{
    unsigned i;
    for (i = 0; i < hidden; ++i)
    {
        const int64_t kept = (int64_t)sigmoid_q16(sums[hidden + i]) * c[i];
        const int64_t added = (int64_t)sigmoid_q16(sums[i]) * tanh_q16(sums[2 * hidden + i]);
        c[i] = narrow(rounded(kept + added, 16));
        h[i] = (int32_t)rounded((int64_t)sigmoid_q16(sums[3 * hidden + i]) * tanh_q16(c[i]), 16);
    }
}

//@ factored
/* v times 1 + alpha a, or over 1 - alpha a where a < 0: a, alpha in Q16, v < 2^40, alpha <= 100. */
static uint64_t factored(uint64_t v, int32_t a, uint32_t alpha)
{
    const uint64_t size = a < 0 ? 0U - (uint32_t)a : (uint32_t)a;
    const uint64_t by = 65536U + ((size * alpha + 32768U) >> 16);
    return a < 0 ? ((v << 16) + by / 2) / by : (v * by + 32768U) >> 16;
}

//@ apart
/* |a - b| */
static uint64_t apart(int64_t a, int64_t b)
{
    return a < b ? (uint64_t)(b - a) : (uint64_t)(a - b);
}
