// SPDX-License-Identifier: GPL-2.0-or-later
// Python binding of the service of a shared link to flows whose allowed rates are step functions.
#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <stdexcept>
#include <vector>

namespace py = pybind11;

void BindShares(py::module_& module);

namespace
{

template <typename T>
using Column = py::array_t<T, py::array::c_style | py::array::forcecast>;

/// Allowed rates of all flows: flow i's steps are those from begin[i] to before begin[i + 1].
class Steps
{
  public:
    Steps(const Column<int64_t>& begin, const Column<double>& times, const Column<double>& rates)
        : m_begin(begin.data(), begin.data() + begin.size()),
          m_times(times.data(), times.data() + times.size()),
          m_rates(rates.data(), rates.data() + rates.size())
    {
        if (m_times.size() != m_rates.size() || m_begin.empty() || m_begin.front() != 0 ||
            m_begin.back() != static_cast<int64_t>(m_times.size()) ||
            !std::is_sorted(m_begin.begin(), m_begin.end()))
        {
            throw std::invalid_argument("steps: a range of times and rates for each flow, please");
        }
    }

    /// Mean rate of each active flow in each bin: (flows, bins).
    Column<double> Served(const Column<int64_t>& active,
                          const Column<double>& edges,
                          double capacity,
                          double beside) const
    {
        const py::ssize_t bins = edges.size() - 1;
        const auto known = [this](int64_t flow)
        { return flow >= 0 && flow + 1 < static_cast<int64_t>(m_begin.size()); };
        if (bins < 1 || !std::all_of(active.data(), active.data() + active.size(), known))
        {
            throw std::invalid_argument("served: flows that there are, and a bin, please");
        }
        Column<double> means({active.size(), bins});
        const std::vector<double> moments = Moments(active, edges);
        std::vector<Cursor> flows;
        for (py::ssize_t row = 0; row < active.size(); ++row)
        {
            const auto [begin, end] = Range(active.data()[row]);
            flows.push_back({begin, std::upper_bound(begin, end, moments.front()), end});
        }
        Spans spans;
        auto from = moments.begin();
        const auto last = moments.end() - 1;
        for (py::ssize_t bin = 0; bin < bins; ++bin)
        {
            const double end = edges.data()[bin + 1];
            const auto until = bin + 1 == bins ? last : std::lower_bound(from, last, end);
            Serve(flows, from, until, capacity, beside, spans);
            for (size_t row = 0; row < flows.size(); ++row)
            {
                means.mutable_data()[row * static_cast<size_t>(bins) + static_cast<size_t>(bin)] =
                    spans.served[row] / (end - edges.data()[bin]);
            }
            from = until;
        }
        return means;
    }

  private:
    /// The edges, and the steps of active flows between the first and the last, each once.
    std::vector<double> Moments(const Column<int64_t>& active, const Column<double>& edges) const
    {
        const double first = edges.data()[0];
        const double last = edges.data()[edges.size() - 1];
        std::vector<double> moments(edges.data(), edges.data() + edges.size());
        for (py::ssize_t row = 0; row < active.size(); ++row)
        {
            const auto [begin, end] = Range(active.data()[row]);
            std::copy(std::upper_bound(begin, end, first),
                      std::lower_bound(begin, end, last),
                      std::back_inserter(moments));
        }
        std::sort(moments.begin(), moments.end());
        moments.erase(std::unique(moments.begin(), moments.end()), moments.end());
        return moments;
    }

    using Times = std::vector<double>::const_iterator;

    /// A flow's steps, and the first of them that is not due yet.
    struct Cursor
    {
        Times begin;
        Times next;
        Times end;
    };

    /// The spans of a bin, in which no rate changes. Kept from bin to bin to save allocations.
    struct Spans
    {
        std::vector<double> rates;  ///< (flows, spans)
        std::vector<double> scale;  ///< (spans,) share of these rates that the link serves
        std::vector<double> served; ///< (flows,) over all spans, times 1 s
    };

    /// Computes each flow's service from `from` until `until`.
    void Serve(std::vector<Cursor>& flows,
               Times from,
               Times until,
               double capacity,
               double beside,
               Spans& spans) const
    {
        const auto count = static_cast<size_t>(until - from);
        spans.rates.resize(flows.size() * count);
        spans.scale.assign(count, 0.0);
        spans.served.assign(flows.size(), 0.0);
        for (size_t row = 0; row < flows.size(); ++row)
        {
            double* own = spans.rates.data() + row * count;
            FillRates(flows[row], from, until, own);
            for (size_t k = 0; k < count; ++k)
            {
                spans.scale[k] += own[k];
            }
        }
        for (double& factor : spans.scale)
        {
            const double sum = factor + beside;
            factor = sum > 0 ? std::min(1.0, capacity / sum) : 1.0;
        }
        // Several rows at once: a single sum would wait for each addition to finish.
        constexpr size_t LANES = 4;
        for (size_t row = 0; row < flows.size(); row += LANES)
        {
            std::array<const double*, LANES> own{};
            std::array<double, LANES> served{};
            for (size_t lane = 0; lane < LANES; ++lane) // surplus lanes repeat the last row
            {
                own[lane] = spans.rates.data() + std::min(row + lane, flows.size() - 1) * count;
            }
            for (size_t k = 0; k < count; ++k)
            {
                const double length =
                    from[static_cast<std::ptrdiff_t>(k) + 1] - from[static_cast<std::ptrdiff_t>(k)];
                for (size_t lane = 0; lane < LANES; ++lane)
                {
                    served[lane] += own[lane][k] * spans.scale[k] * length;
                }
            }
            std::copy_n(served.begin(),
                        std::min(LANES, flows.size() - row),
                        spans.served.begin() + static_cast<std::ptrdiff_t>(row));
        }
    }

    /// The flow's rate in each span; 0 before its first step.
    void FillRates(Cursor& flow, Times from, Times until, double* rates) const
    {
        while (from != until)
        {
            const double rate = flow.next == flow.begin
                                    ? 0.0
                                    : m_rates[static_cast<size_t>(flow.next - m_times.begin()) - 1];
            const auto change =
                flow.next == flow.end ? until : std::lower_bound(from, until, *flow.next);
            rates = std::fill_n(rates, change - from, rate);
            from = change;
            flow.next = std::upper_bound(flow.next, flow.end, *change);
        }
    }

    std::pair<Times, Times> Range(int64_t flow) const
    {
        const auto at = static_cast<size_t>(flow);
        return {m_times.begin() + m_begin[at], m_times.begin() + m_begin[at + 1]};
    }

    std::vector<int64_t> m_begin;
    std::vector<double> m_times;
    std::vector<double> m_rates;
};

} // namespace

void
BindShares(py::module_& module)
{
    py::class_<Steps>(module, "Steps", "Allowed rates of flows, as steps in time.")
        .def(py::init<const Column<int64_t>&, const Column<double>&, const Column<double>&>(),
             py::arg("begin"),
             py::arg("times"),
             py::arg("rates"))
        .def(
            "served",
            &Steps::Served,
            py::arg("active"),
            py::arg("edges"),
            py::arg("capacity"),
            py::arg("beside"),
            "Mean rate of each active flow in each bin of a link of that capacity: (flows, bins).");
}
