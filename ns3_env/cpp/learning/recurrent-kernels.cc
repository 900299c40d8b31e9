// SPDX-License-Identifier: GPL-2.0-or-later
// Passes of a recurrent network, compiled once for each width of vector registers.
// RECURRENT_KERNELS names the result; policy/dense-kernels.cc has the rules of such a file.
#include "recurrent-kernels.h"

#include "ns3_env/cpp/policy/vector-math.h"

namespace ns3::env
{

namespace
{

/// Rows that are summed at a time: as many as registers have room for.
#if defined(__AVX512F__)
constexpr size_t TILE = 16;
constexpr size_t SIDE = 4;
#else
constexpr size_t TILE = 4;
constexpr size_t SIDE = 2;
#endif

/// Calls work<N>(n) for tiles of N numbers from n on: of SIZE from `first` on, of 4, and of 1.
template <size_t SIZE, typename Work>
inline void
InTiles(size_t first, size_t count, Work work)
{
    for (; first + SIZE <= count; first += SIZE)
    {
        work.template operator()<SIZE>(first);
    }
    if constexpr (SIZE > 1)
    {
        InTiles<(SIZE > 4 ? 4 : 1)>(first, count, work);
    }
}

/// N rows: bias + Σ_k weight[n·stride + k·step] · row k.
template <size_t N>
inline void
Combine(const float* weight,
        size_t stride,
        size_t step,
        const float* bias,
        size_t count,
        const float* rows,
        float* to)
{
    Vector sums[N];
    for (size_t n = 0; n < N; ++n)
    {
        sums[n] = Vector{} + (bias == nullptr ? 0.0F : bias[n]);
    }
    for (size_t k = 0; k < count; ++k)
    {
        const Vector row = At(rows + k * BLOCK);
        for (size_t n = 0; n < N; ++n)
        {
            sums[n] += row * weight[n * stride + k * step];
        }
    }
    for (size_t n = 0; n < N; ++n)
    {
        Store(to + n * BLOCK, sums[n]);
    }
}

/// Outputs of a layer.
void
Apply(const LayerView& layer, const float* from, float* to)
{
    const size_t width = layer.inputs;
    InTiles<TILE>(0,
                  layer.outputs,
                  [&]<size_t N>(size_t n)
                  {
                      Combine<N>(layer.weight + n * width,
                                 width,
                                 1,
                                 layer.bias + n,
                                 width,
                                 from,
                                 to + n * BLOCK);
                  });
}

/// Slopes to a layer's inputs from number `first` on.
void
Return(const LayerView& layer, size_t first, const float* slope, float* to)
{
    const size_t width = layer.inputs;
    InTiles<TILE>(first,
                  width,
                  [&]<size_t N>(size_t k)
                  {
                      Combine<N>(layer.weight + k,
                                 1,
                                 width,
                                 nullptr,
                                 layer.outputs,
                                 slope,
                                 to + (k - first) * BLOCK);
                  });
}

/// Rows of several steps, `stride` floats from one step to the next.
struct Rows
{
    const float* first;
    size_t stride;
};

/// Adds N outputs' slopes times M inputs, of all steps, to the parts of a layer's gradients.
template <size_t N, size_t M>
inline void
LearnTile(float* sums, size_t stride, size_t steps, Rows slopes, Rows inputs)
{
    Vector parts[N][M] = {};
    for (size_t t = 0; t < steps; ++t)
    {
        Vector slope[N];
        for (size_t n = 0; n < N; ++n)
        {
            slope[n] = At(slopes.first + t * slopes.stride + n * BLOCK);
        }
        for (size_t m = 0; m < M; ++m)
        {
            const Vector input = At(inputs.first + t * inputs.stride + m * BLOCK);
            for (size_t n = 0; n < N; ++n)
            {
                parts[n][m] += slope[n] * input;
            }
        }
    }
    for (size_t n = 0; n < N; ++n)
    {
        for (size_t m = 0; m < M; ++m)
        {
            float* sum = sums + n * stride + m * LANES;
            Store(sum, At(sum) + parts[n][m]);
        }
    }
}

/// Adds outputs' slopes times inputs, and the slopes themselves, of all steps, to a layer's sums, if it has any.
void
Learn(const LayerView& layer, size_t steps, Rows slopes, Rows inputs)
{
    if (layer.sums == nullptr)
    {
        return;
    }
    const size_t stride = (layer.inputs + 1) * LANES;
    InTiles<SIDE>(0,
                  layer.outputs,
                  [&]<size_t N>(size_t n)
                  {
                      float* sums = layer.sums + n * stride;
                      const Rows rows{slopes.first + n * BLOCK, slopes.stride};
                      InTiles<SIDE>(0,
                                    layer.inputs,
                                    [&]<size_t M>(size_t m)
                                    {
                                        LearnTile<N, M>(sums + m * LANES,
                                                        stride,
                                                        steps,
                                                        rows,
                                                        {inputs.first + m * BLOCK, inputs.stride});
                                    });
                      for (size_t row = 0; row < N; ++row)
                      {
                          float* bias = sums + row * stride + layer.inputs * LANES;
                          for (size_t t = 0; t < steps; ++t)
                          {
                              Store(bias,
                                    At(bias) + At(rows.first + t * rows.stride + row * BLOCK));
                          }
                      }
                  });
}

/// Zero for each of `values` at which `outputs`, of ReLU units, are not positive.
void
Relu(const float* outputs, float* values, size_t rows)
{
    for (size_t i = 0; i < rows * BLOCK; ++i)
    {
        values[i] = outputs[i] > 0.0F ? values[i] : 0.0F;
    }
}

/// Rows of a step in a state.
template <typename Float>
struct Step
{
    Step(const RecurrentView& net, Float* state, size_t t)
        : number(static_cast<float>(t)),
          input(state + t * net.StepRows() * BLOCK),
          gates(input + (net.inputs + net.hidden) * BLOCK),
          cell(gates + 4 * net.hidden * BLOCK),
          hidden(cell + (net.hidden + net.inputs) * BLOCK),
          // The first step's hidden state before is zero, as its cell before is.
          cellBefore(t == 0 ? input + net.inputs * BLOCK : cell - net.StepRows() * BLOCK)
    {
    }

    float number;
    Float* input;
    Float* gates;
    Float* cell;
    Float* hidden;
    Float* cellBefore;
};

/// The gates' activations, the cell and the hidden state; the latter is remembered by histories that end here.
void
Cells(size_t rows, const Step<float>& step, const float* ends, float* memory)
{
    const size_t gate = rows * BLOCK;
    for (size_t at = 0; at < gate; at += LANES)
    {
        Vector i = At(step.gates + at);
        Vector f = At(step.gates + gate + at);
        Vector g = At(step.gates + 2 * gate + at);
        Vector o = At(step.gates + 3 * gate + at);
        Sigmoid(i);
        Sigmoid(f);
        Tanh(g);
        Sigmoid(o);
        Store(step.gates + at, i);
        Store(step.gates + gate + at, f);
        Store(step.gates + 2 * gate + at, g);
        Store(step.gates + 3 * gate + at, o);
        Vector c = f * At(step.cellBefore + at) + i * g;
        Store(step.cell + at, c);
        Tanh(c);
        Store(step.hidden + at, o * c);
        Store(memory + at, At(ends + at % BLOCK) == step.number ? o * c : At(memory + at));
    }
}

/// Slopes before the gates' activations, from those to the hidden state and the cell; the latter become those to the
/// cell before.
void
CellSlopes(size_t rows,
           const Step<const float>& step,
           const float* ends,
           const float* memorySlope,
           const float* hiddenSlope,
           float* cellSlope,
           float* gateSlopes)
{
    const size_t gate = rows * BLOCK;
    for (size_t at = 0; at < gate; at += LANES)
    {
        const Vector i = At(step.gates + at);
        const Vector f = At(step.gates + gate + at);
        const Vector g = At(step.gates + 2 * gate + at);
        const Vector o = At(step.gates + 3 * gate + at);
        Vector c = At(step.cell + at);
        Tanh(c);
        const Vector h = At(hiddenSlope + at) +
                         (At(ends + at % BLOCK) == step.number ? At(memorySlope + at) : Vector{});
        const Vector s = At(cellSlope + at) + h * o * (1.0F - c * c);
        Store(gateSlopes + at, s * g * i * (1.0F - i));
        Store(gateSlopes + gate + at, s * At(step.cellBefore + at) * f * (1.0F - f));
        Store(gateSlopes + 2 * gate + at, s * i * (1.0F - g * g));
        Store(gateSlopes + 3 * gate + at, h * c * o * (1.0F - o));
        Store(cellSlope + at, s * f);
    }
}

void
Forward(const RecurrentView& net, const float* ends, float* state)
{
    float* memory = state + net.Memory() * BLOCK;
    for (size_t t = 0; t < net.steps; ++t)
    {
        const Step<float> step(net, state, t);
        Apply(net.layers[0], step.input, step.gates);
        Cells(net.hidden, step, ends, memory);
    }
    float* shortcut = memory + net.hidden * BLOCK;
    Apply(net.layers[1], state + net.Current() * BLOCK, shortcut);
    Relu(shortcut, shortcut, net.layers[1].outputs);
    float* from = memory;
    for (size_t n = 2; n < net.count; ++n)
    {
        float* to = from + net.layers[n].inputs * BLOCK;
        Apply(net.layers[n], from, to);
        if (n + 1 < net.count)
        {
            Relu(to, to, net.layers[n].outputs);
        }
        from = to;
    }
}

void
Backward(const RecurrentView& net,
         const float* ends,
         const float* state,
         const float* slope,
         float* currentSlope,
         float* scratch)
{
    const float* outputs = state + net.Output() * BLOCK;
    for (size_t n = net.count - 1; n > 1; --n)
    {
        const LayerView& layer = net.layers[n];
        outputs -= layer.inputs * BLOCK;
        Learn(layer, 1, {slope, 0}, {outputs, 0});
        Return(layer, 0, slope, scratch);
        // The hidden state, among the inputs of the first of these layers, is not of ReLU units.
        const size_t plain = n > 2 ? 0 : net.hidden;
        Relu(outputs + plain * BLOCK, scratch + plain * BLOCK, layer.inputs - plain);
        slope = scratch;
        scratch += layer.inputs * BLOCK;
    }
    const float* memorySlope = slope;
    const float* shortcutSlope = slope + net.hidden * BLOCK;
    Learn(net.layers[1], 1, {shortcutSlope, 0}, {state + net.Current() * BLOCK, 0});
    Return(net.layers[1], 0, shortcutSlope, currentSlope);
    if (net.layers[0].sums == nullptr)
    {
        return;
    }
    float* hiddenSlope = scratch;
    float* cellSlope = hiddenSlope + net.hidden * BLOCK;
    float* gateSlopes = cellSlope + net.hidden * BLOCK; // of all steps
    const size_t gates = 4 * net.hidden * BLOCK;
    std::memset(hiddenSlope, 0, 2 * net.hidden * BLOCK * sizeof(float));
    for (size_t t = net.steps; t-- > 0;)
    {
        const Step<const float> step(net, state, t);
        float* slopes = gateSlopes + t * gates;
        CellSlopes(net.hidden, step, ends, memorySlope, hiddenSlope, cellSlope, slopes);
        if (t > 0)
        {
            Return(net.layers[0], net.inputs, slopes, hiddenSlope);
        }
    }
    Learn(net.layers[0], net.steps, {gateSlopes, gates}, {state, net.StepRows() * BLOCK});
}

} // namespace

extern const RecurrentKernels RECURRENT_KERNELS;
const RecurrentKernels RECURRENT_KERNELS{Forward, Backward};

} // namespace ns3::env
