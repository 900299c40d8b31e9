// SPDX-License-Identifier: GPL-2.0-or-later
// Python binding of what a shared link serves flows whose allowed rates are steps in time.
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

/// Allowed rates of all flows: flow i's steps are those from begin[i] until before begin[i + 1].
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
        std::fill_n(means.mutable_data(), means.size(), 0.0);
        const std::vector<double> moments = Moments(active, edges);
        const size_t spans = moments.size() - 1;
        std::vector<double> rates(static_cast<size_t>(active.size()) * spans);
        std::vector<double> scale(spans, 0.0);
        for (py::ssize_t row = 0; row < active.size(); ++row)
        {
            double* own = &rates[static_cast<size_t>(row) * spans];
            FillRates(active.data()[row], moments, own);
            for (size_t k = 0; k < spans; ++k)
            {
                scale[k] += own[k];
            }
        }
        for (double& factor : scale)
        {
            const double sum = factor + beside;
            factor = sum > 0 ? std::min(1.0, capacity / sum) : 1.0;
        }
        AddUp(moments, rates, scale, edges, means);
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

    /// The flow's rate from each moment, but the last; 0 before its first step.
    void FillRates(int64_t flow, const std::vector<double>& moments, double* rates) const
    {
        const auto [begin, end] = Range(flow);
        auto next = std::upper_bound(begin, end, moments.front());
        const auto last = moments.end() - 1;
        for (auto from = moments.begin(); from != last;)
        {
            const double rate =
                next == begin ? 0.0 : m_rates[static_cast<size_t>(next - m_times.begin()) - 1];
            const auto until = next == end ? last : std::lower_bound(from, last, *next);
            rates = std::fill_n(rates, until - from, rate);
            from = until;
            next = std::upper_bound(next, end, *until);
        }
    }

    /// Means of the rates (rows, spans), scaled, over each bin. Several rows side by side: a sum alone waits
    /// for its last addition.
    static void AddUp(const std::vector<double>& moments,
                      const std::vector<double>& rates,
                      const std::vector<double>& scale,
                      const Column<double>& edges,
                      Column<double>& means)
    {
        constexpr size_t LANES = 4;
        const auto rows = static_cast<size_t>(means.shape(0));
        const py::ssize_t bins = means.shape(1);
        for (size_t row = 0; row < rows; row += LANES)
        {
            std::array<const double*, LANES> own{};
            for (size_t lane = 0; lane < LANES; ++lane) // what is too much repeats the last row
            {
                own[lane] = &rates[std::min(row + lane, rows - 1) * scale.size()];
            }
            size_t k = 0;
            for (py::ssize_t bin = 0; bin < bins; ++bin)
            {
                std::array<double, LANES> served{};
                const double end = edges.data()[bin + 1];
                for (; k < scale.size() && (moments[k] < end || bin + 1 == bins); ++k)
                {
                    for (size_t lane = 0; lane < LANES; ++lane)
                    {
                        served[lane] += own[lane][k] * scale[k] * (moments[k + 1] - moments[k]);
                    }
                }
                for (size_t lane = 0; lane < std::min(LANES, rows - row); ++lane)
                {
                    means.mutable_data()[(row + lane) * static_cast<size_t>(bins) +
                                         static_cast<size_t>(bin)] =
                        served[lane] / (end - edges.data()[bin]);
                }
            }
        }
    }

    using Times = std::vector<double>::const_iterator;

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
