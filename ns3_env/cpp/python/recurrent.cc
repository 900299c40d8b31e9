// SPDX-License-Identifier: GPL-2.0-or-later
// Python binding of a recurrent network's passes forwards and back over a batch of histories.
#include "ns3_env/cpp/learning/recurrent-kernels.h"

#include <algorithm>
#include <numeric>
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>
#include <stdexcept>
#include <vector>

namespace py = pybind11;
using namespace ns3::env;

void BindRecurrent(py::module_& module);

namespace ns3::env
{

extern const RecurrentKernels RECURRENT_ANY;
#if defined(RDMA_KERNELS_BY_WIDTH)
extern const RecurrentKernels RECURRENT_256;
extern const RecurrentKernels RECURRENT_512;
#endif

} // namespace ns3::env

namespace
{

/// The passes for the widest registers that this processor has.
const RecurrentKernels&
Widest()
{
#if defined(RDMA_KERNELS_BY_WIDTH)
    if (__builtin_cpu_supports("x86-64-v4"))
    {
        return RECURRENT_512;
    }
    if (__builtin_cpu_supports("x86-64-v3"))
    {
        return RECURRENT_256;
    }
#endif
    return RECURRENT_ANY;
}

using Floats = py::array_t<float, py::array::c_style>;

void
Expect(bool fits)
{
    if (!fits)
    {
        throw std::invalid_argument("recurrent network: arrays of the network's shapes, please");
    }
}

/// A batch's rows: (blocks, rows, BLOCK).
size_t
Rows(const Floats& array, size_t blocks)
{
    Expect(array.ndim() == 3 && array.shape(0) == static_cast<py::ssize_t>(blocks) &&
           array.shape(2) == BLOCK);
    return static_cast<size_t>(array.shape(1));
}

/// A network of arrays: weight (outputs, inputs) and bias of each layer, which the caller keeps.
class Network
{
  public:
    Network(const std::vector<Floats>& arrays, size_t steps, size_t inputs)
    {
        Expect(arrays.size() >= 6 && arrays.size() % 2 == 0);
        for (size_t n = 0; n < arrays.size(); n += 2)
        {
            const auto outputs = static_cast<size_t>(arrays[n + 1].size());
            Expect(outputs > 0 && static_cast<size_t>(arrays[n].size()) % outputs == 0);
            m_layers.push_back({arrays[n].data(),
                                arrays[n + 1].data(),
                                static_cast<size_t>(arrays[n].size()) / outputs,
                                outputs,
                                nullptr});
        }
        const size_t hidden = m_layers[0].outputs / 4;
        m_view = {steps, inputs, hidden, m_layers.data(), m_layers.size()};
        Expect(m_layers[0].outputs == 4 * hidden && m_layers[0].inputs == inputs + hidden &&
               m_layers[2].inputs == hidden + m_layers[1].outputs);
        for (size_t n = 3; n < m_layers.size(); ++n)
        {
            Expect(m_layers[n].inputs == m_layers[n - 1].outputs);
        }
    }

    const RecurrentView& View() const { return m_view; }

    /// Makes room for the gradients' parts.
    void Learn()
    {
        for (LayerView& layer : m_layers)
        {
            m_sums.emplace_back(layer.outputs * (layer.inputs + 1) * LANES);
            layer.sums = m_sums.back().data();
        }
    }

    /// Writes the gradients of the arrays.
    void Write(std::vector<Floats>& gradients) const
    {
        for (size_t n = 0; n < m_layers.size(); ++n)
        {
            const LayerView& layer = m_layers[n];
            const float* parts = layer.sums;
            float* weight = gradients[2 * n].mutable_data();
            float* bias = gradients[2 * n + 1].mutable_data();
            for (size_t out = 0; out < layer.outputs; ++out)
            {
                for (size_t k = 0; k <= layer.inputs; ++k, parts += LANES)
                {
                    (k < layer.inputs ? *weight++ : *bias++) =
                        std::accumulate(parts, parts + LANES, 0.0F);
                }
            }
        }
    }

  private:
    std::vector<LayerView> m_layers;
    std::vector<std::vector<float>> m_sums;
    RecurrentView m_view;
};

Floats
Forward(const std::vector<Floats>& arrays,
        size_t steps,
        const Floats& x,
        const Floats& ends,
        const Floats& current)
{
    Expect(steps > 0 && x.ndim() == 3);
    const auto blocks = static_cast<size_t>(x.shape(0));
    const size_t inputs = Rows(x, blocks) / steps;
    const Network network(arrays, steps, inputs);
    const RecurrentView& net = network.View();
    Expect(Rows(ends, blocks) == 1 && Rows(x, blocks) == steps * inputs &&
           Rows(current, blocks) == net.layers[1].inputs);
    Floats states({blocks, net.StateRows(), BLOCK});
    const float* xRows = x.data();
    for (size_t block = 0; block < blocks; ++block)
    {
        float* state = states.mutable_data() + block * net.StateRows() * BLOCK;
        for (size_t t = 0; t < steps; ++t, xRows += inputs * BLOCK)
        {
            std::copy_n(xRows, inputs * BLOCK, state + t * net.StepRows() * BLOCK);
        }
        std::fill_n(state + inputs * BLOCK, net.hidden * BLOCK, 0.0F);
        std::fill_n(state + net.Memory() * BLOCK, net.hidden * BLOCK, 0.0F);
        const size_t row = net.layers[1].inputs * BLOCK;
        std::copy_n(current.data() + block * row, row, state + net.Current() * BLOCK);
        Widest().forward(net, ends.data() + block * BLOCK, state);
    }
    return states;
}

Floats
Backward(const std::vector<Floats>& arrays,
         size_t steps,
         size_t inputs,
         const Floats& ends,
         const Floats& states,
         const Floats& slope,
         std::vector<Floats> gradients)
{
    Network network(arrays, steps, inputs);
    const RecurrentView& net = network.View();
    Expect(states.ndim() == 3);
    const auto blocks = static_cast<size_t>(states.shape(0));
    const size_t outputs = net.layers[net.count - 1].outputs;
    Expect(Rows(ends, blocks) == 1 && Rows(states, blocks) == net.StateRows() &&
           Rows(slope, blocks) == outputs);
    const auto alike = [](const Floats& one, const Floats& other)
    { return one.size() == other.size(); };
    if (!gradients.empty())
    {
        Expect(std::equal(gradients.begin(), gradients.end(), arrays.begin(), arrays.end(), alike));
        network.Learn();
    }
    const size_t width = net.layers[1].inputs;
    Floats currentSlope({blocks, width, BLOCK});
    std::vector<float> scratch(net.ScratchRows() * BLOCK);
    for (size_t block = 0; block < blocks; ++block)
    {
        Widest().backward(net,
                          ends.data() + block * BLOCK,
                          states.data() + block * net.StateRows() * BLOCK,
                          slope.data() + block * outputs * BLOCK,
                          currentSlope.mutable_data() + block * width * BLOCK,
                          scratch.data());
    }
    if (!gradients.empty())
    {
        network.Write(gradients);
    }
    return currentSlope;
}

} // namespace

void
BindRecurrent(py::module_& module)
{
    module.attr("HISTORY_BLOCK") = BLOCK;
    module.def("recurrent_forward",
               &Forward,
               py::arg("arrays"),
               py::arg("steps"),
               py::arg("x"),
               py::arg("ends"),
               py::arg("current"),
               "States (blocks, rows, HISTORY_BLOCK) of a network, of which the last rows are its "
               "outputs.");
    module.def("recurrent_backward",
               &Backward,
               py::arg("arrays"),
               py::arg("steps"),
               py::arg("inputs"),
               py::arg("ends"),
               py::arg("states"),
               py::arg("slope"),
               py::arg("gradients"),
               "Slopes to `current`, from those to the outputs; `gradients` of the arrays are "
               "written, if there are any.");
}
