// SPDX-License-Identifier: GPL-2.0-or-later
// Flows and steps of a training job that wait for each other, in columns, which become Python's lists.
#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <optional>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>
#include <span>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace py = pybind11;
using namespace pybind11::literals;

void BindJobFlows(py::module_& module);

namespace
{

using Task = int64_t; ///< a flow by its index, a step as -1 - its index

/// A list of Python. Numbers are shared: each further one of a kind costs a pointer.
template <typename T>
py::list
ListOf(const std::vector<T>& numbers)
{
    py::list list(numbers.size());
    std::vector<std::pair<T, PyObject*>> shared(
        std::bit_ceil(std::min<size_t>(numbers.size() + 1, 65536)));
    for (size_t i = 0; i < numbers.size(); ++i)
    {
        auto& [number, object] = shared[static_cast<uint64_t>(numbers[i]) & (shared.size() - 1)];
        if (object == nullptr || number != numbers[i])
        {
            number = numbers[i];
            object = py::int_(number).release().ptr(); // the list's
        }
        else
        {
            Py_INCREF(object);
        }
        PyList_SET_ITEM(list.ptr(), static_cast<py::ssize_t>(i), object);
    }
    return list;
}

/// A whole number in a tuple.
int64_t
NumberAt(const py::tuple& tuple, size_t index)
{
    const long long number =
        PyLong_AsLongLong(PyTuple_GET_ITEM(tuple.ptr(), static_cast<py::ssize_t>(index)));
    if (number == -1 && PyErr_Occurred() != nullptr)
    {
        throw py::error_already_set();
    }
    return number;
}

/// What each of several tasks waits for.
class Waits
{
  public:
    size_t Size() const { return m_ends.size(); }

    std::span<const Task> Of(size_t task) const
    {
        const size_t begin = task == 0 ? 0 : m_ends.at(task - 1);
        return {m_after.data() + begin, m_ends.at(task) - begin};
    }

    void Append(std::span<const Task> after)
    {
        m_after.insert(m_after.end(), after.begin(), after.end());
        m_ends.push_back(m_after.size());
    }

    void Write(py::dict& to) const
    {
        std::vector<size_t> counts(m_ends.size());
        for (size_t i = 0; i < counts.size(); ++i)
        {
            counts[i] = Of(i).size();
        }
        to["after_count"] = ListOf(counts);
        to["after"] = ListOf(m_after);
    }

  private:
    std::vector<size_t> m_ends;
    std::vector<Task> m_after;
};

/// Places of tasks in their job.
struct Labels
{
    std::vector<int32_t> part;
    std::vector<int32_t> iteration;
    std::vector<int32_t> rank;
    std::vector<int32_t> peer;

    void Append(int32_t ofPart, int32_t ofIteration, int32_t from, int32_t to)
    {
        part.push_back(ofPart);
        iteration.push_back(ofIteration);
        rank.push_back(from);
        peer.push_back(to);
    }

    void Write(py::dict& to) const
    {
        to["part"] = ListOf(part);
        to["iteration"] = ListOf(iteration);
        to["rank"] = ListOf(rank);
        to["peer"] = ListOf(peer);
    }
};

/// Flows and steps of a job.
class JobFlows
{
  public:
    explicit JobFlows(std::optional<int64_t> chunkBytes)
        : m_chunkBytes(chunkBytes)
    {
        if (chunkBytes && *chunkBytes < 1)
        {
            throw std::invalid_argument("chunks have a byte at least");
        }
    }

    size_t Size() const { return m_src.size(); }

    Task AddStep(int64_t delayNs,
                 const std::vector<Task>& after,
                 const std::string& part,
                 int32_t iteration,
                 int32_t rank)
    {
        m_stepWaits.Append(after);
        m_stepDelays.push_back(delayNs);
        m_stepLabels.Append(NumberOf(part), iteration, rank, -1);
        return -static_cast<Task>(m_stepDelays.size());
    }

    /// Few tasks that are over when all of these are, without those that another one of them waits for.
    std::vector<Task> Reduce(const std::vector<Task>& tasks)
    {
        std::vector<Task> needed = tasks;
        DropRepeated(needed);
        DropImplied(needed);
        return needed.size() <= MOST_WAITS ? needed
                                           : std::vector<Task>{AddStep(0, needed, "", -1, -1)};
    }

    void ForgetPairs() { m_pairs.clear(); }

    /// Appends the flows of a collective's sends, as described at "add" below.
    std::vector<std::vector<Task>> Add(const py::list& sends,
                                       const std::vector<int64_t>& hosts,
                                       const std::vector<int32_t>& ranks,
                                       const std::vector<std::vector<Task>>& ready,
                                       bool once,
                                       const std::string& part,
                                       int32_t iteration)
    {
        const int32_t number = NumberOf(part);
        std::vector<std::vector<Task>> touched(hosts.size());
        std::vector<Range> made;
        made.reserve(sends.size());
        ++m_call;
        for (const py::handle item : sends)
        {
            const auto send = py::reinterpret_borrow<py::tuple>(item);
            if (!PyTuple_Check(item.ptr()) || send.size() != 4)
            {
                throw std::invalid_argument(
                    "a send has two ranks, its size, and the sends before it");
            }
            const auto src = static_cast<size_t>(NumberAt(send, 0));
            const auto dst = static_cast<size_t>(NumberAt(send, 1));
            const int64_t size = NumberAt(send, 2);
            const auto needed = py::reinterpret_borrow<py::tuple>(PyTuple_GET_ITEM(send.ptr(), 3));
            const int64_t count = CountChunks(size);
            const bool within = hosts.at(src) == hosts.at(dst);
            Pair& pair = PairOf(hosts.at(src), hosts.at(dst));
            const Task first =
                within ? -1 - static_cast<Task>(m_stepDelays.size()) : static_cast<Task>(Size());
            m_made.resize(std::max(m_made.size(), static_cast<size_t>(count)));
            for (int64_t chunk = 0; chunk < count; ++chunk)
            {
                auto& after = m_made[static_cast<size_t>(chunk)];
                after.clear();
                if (!once || pair.flows < UNDER_WAY)
                {
                    after = ready.at(src);
                }
                for (size_t i = 0; i < needed.size(); ++i)
                {
                    AppendEarlier(made.at(static_cast<size_t>(NumberAt(needed, i))),
                                  chunk,
                                  count,
                                  after);
                }
                if (pair.last.front() != NONE)
                {
                    after.push_back(pair.last.front());
                }
                DropRepeated(after);
                auto task = static_cast<Task>(Size());
                if (within)
                {
                    task = AddStep(0, after, "", -1, -1);
                }
                else
                {
                    m_src.push_back(hosts[src]);
                    m_dst.push_back(hosts[dst]);
                    m_sizes.push_back(Offset(size, chunk + 1, count) - Offset(size, chunk, count));
                    m_flowLabels.Append(number, iteration, ranks.at(src), ranks.at(dst));
                    pair.last = {pair.last.back(), task};
                    ++pair.flows;
                }
                touched[src].push_back(task);
                touched[dst].push_back(task);
            }
            if (once && !within)
            {
                DropImpliedOfMade(first, static_cast<size_t>(count));
            }
            for (size_t chunk = 0; !within && chunk < static_cast<size_t>(count); ++chunk)
            {
                m_flowWaits.Append(m_made[chunk]);
            }
            made.push_back({first, count});
        }
        for (size_t rank = 0; once && rank < touched.size(); ++rank)
        {
            const auto& before = ready.at(rank);
            touched[rank].insert(touched[rank].end(), before.begin(), before.end());
            touched[rank] = Reduce(touched[rank]);
        }
        return touched;
    }

    py::tuple Columns() const
    {
        py::dict flows("src"_a = ListOf(m_src),
                       "dst"_a = ListOf(m_dst),
                       "size_bytes"_a = ListOf(m_sizes));
        py::dict steps("delay_ns"_a = ListOf(m_stepDelays));
        m_flowWaits.Write(flows);
        m_stepWaits.Write(steps);
        m_flowLabels.Write(flows);
        m_stepLabels.Write(steps);
        return py::make_tuple(flows, steps, m_parts);
    }

  private:
    /// Flows from a rank to another that are under way at a time, in the order of their sends as on one queue pair:
    /// one is on the wire while the other's end is on its way.
    static constexpr size_t UNDER_WAY = 2;
    /// Tasks that a node waits for; instead of more there is a step that lasts 0 ns and waits for them, so that waits
    /// grow with the flows, and not with their square.
    static constexpr size_t MOST_WAITS = 16;
    static constexpr Task NONE = INT64_MIN;

    /// The flows of a send, or its steps within a host, whose tasks descend.
    struct Range
    {
        Task first;
        int64_t count;
    };

    /// Flows from a host to another: the last ones, and their number in this call.
    struct Pair
    {
        std::array<Task, UNDER_WAY> last{NONE, NONE};
        uint64_t call{0};
        size_t flows{0};
    };

    int64_t CountChunks(int64_t size) const
    {
        if (size < 0)
        {
            throw std::invalid_argument("a send has no negative size");
        }
        return m_chunkBytes ? (size + *m_chunkBytes - 1) / *m_chunkBytes : 1;
    }

    /// Where a chunk begins; chunks are equal to a byte.
    static int64_t Offset(int64_t size, int64_t chunk, int64_t count)
    {
        return chunk * (size / count) + chunk * (size % count) / count;
    }

    Pair& PairOf(int64_t from, int64_t to)
    {
        Pair& pair = m_pairs[static_cast<uint64_t>(from) << 32 | static_cast<uint64_t>(to)];
        if (std::exchange(pair.call, m_call) != m_call)
        {
            pair.flows = 0;
        }
        return pair;
    }

    /// The same chunk of an earlier send, or all if that is cut otherwise.
    static void
    AppendEarlier(const Range& earlier, int64_t chunk, int64_t count, std::vector<Task>& after)
    {
        const bool alike = earlier.count == count;
        for (Task i = alike ? chunk : 0; i < (alike ? chunk + 1 : earlier.count); ++i)
        {
            after.push_back(earlier.first < 0 ? earlier.first - i : earlier.first + i);
        }
    }

    int32_t NumberOf(const std::string& part)
    {
        if (part.empty())
        {
            return -1;
        }
        const auto found = std::find(m_parts.begin(), m_parts.end(), part);
        if (found == m_parts.end())
        {
            m_parts.push_back(part);
            return static_cast<int32_t>(m_parts.size() - 1);
        }
        return static_cast<int32_t>(found - m_parts.begin());
    }

    std::span<const Task> NeedsOf(Task task) const
    {
        if (task < 0)
        {
            return m_stepWaits.Of(static_cast<size_t>(-1 - task));
        }
        const auto flow = static_cast<size_t>(task);
        const size_t written = m_flowWaits.Size();
        return flow < written ? m_flowWaits.Of(flow)
                              : std::span<const Task>(m_made.at(flow - written));
    }

    /// The mark of a task.
    uint32_t& MarkOf(Task task)
    {
        auto& marks = task < 0 ? m_stepMarks : m_flowMarks;
        const auto index = static_cast<size_t>(task < 0 ? -1 - task : task);
        if (index >= marks.size())
        {
            marks.resize(std::max(index + 1, 2 * marks.size()));
        }
        return marks[index];
    }

    /// Keeps each task once, at its first place.
    void DropRepeated(std::vector<Task>& tasks)
    {
        ++m_mark;
        auto end = tasks.begin();
        for (const Task task : tasks)
        {
            if (std::exchange(MarkOf(task), m_mark) != m_mark)
            {
                *end++ = task;
            }
        }
        tasks.erase(end, tasks.end());
    }

    /// Leaves out tasks that another one of these waits for.
    void DropImplied(std::vector<Task>& tasks)
    {
        ++m_mark;
        for (const Task task : tasks)
        {
            for (const Task other : NeedsOf(task))
            {
                MarkOf(other) = m_mark;
            }
        }
        std::erase_if(tasks, [this](Task task) { return MarkOf(task) == m_mark; });
    }

    /// Does so for the flows of a send. Their order matters, for they wait for each other: it is that of a set of
    /// Python, a hash table of their numbers, with which results of all versions are the same.
    void DropImpliedOfMade(Task first, size_t count)
    {
        size_t slots = 8;
        size_t used = 0;
        for (size_t i = 0; i < count; ++i)
        {
            used += m_made[i].empty() ? 0 : 1;
            if (5 * used >= 3 * (slots - 1))
            {
                slots = std::bit_ceil((used > 50000 ? 2 : 4) * used + 1);
            }
        }
        const size_t wrapped = slots - static_cast<size_t>(first) % slots;
        for (size_t i = 0; i < count; ++i)
        {
            DropImplied(m_made[wrapped < count ? (i + wrapped) % count : i]);
        }
    }

    std::optional<int64_t> m_chunkBytes;
    std::vector<int64_t> m_src;
    std::vector<int64_t> m_dst;
    std::vector<int64_t> m_sizes;
    std::vector<int64_t> m_stepDelays;
    Waits m_flowWaits;
    Waits m_stepWaits;
    Labels m_flowLabels;
    Labels m_stepLabels;
    std::vector<std::string> m_parts;
    std::unordered_map<uint64_t, Pair> m_pairs; ///< by both hosts
    uint64_t m_call{0};
    std::vector<std::vector<Task>> m_made; ///< tasks that each flow of the latest send waits for
    uint32_t m_mark{0};
    std::vector<uint32_t> m_flowMarks;
    std::vector<uint32_t> m_stepMarks;
};

} // namespace

void
BindJobFlows(py::module_& module)
{
    py::class_<JobFlows>(module,
                         "JobFlows",
                         "Flows and steps of a job that wait for each other, in columns.")
        .def(py::init<std::optional<int64_t>>(), py::arg("chunk_bytes"))
        .def("__len__", &JobFlows::Size)
        .def("add_step",
             &JobFlows::AddStep,
             py::arg("delay_ns"),
             py::arg("after"),
             py::arg("part"),
             py::arg("iteration"),
             py::arg("rank"),
             "Appends a step; its task.")
        .def("reduce",
             &JobFlows::Reduce,
             py::arg("tasks"),
             "Few tasks that are over when all of these are.")
        .def("add",
             &JobFlows::Add,
             py::arg("sends"),
             py::arg("hosts"),
             py::arg("ranks"),
             py::arg("ready"),
             py::arg("once"),
             py::arg("part"),
             py::arg("iteration"),
             "Appends a flow for each chunk of each send (a step of 0 ns if both ranks are on one "
             "host), which waits for the tasks that make its rank ready, for the same chunk of "
             "earlier sends and for all but the last flow between its hosts. `once`: only the "
             "first flows between two hosts wait for `ready`, and none for a task that another of "
             "its tasks waits for. Returns the flows of each rank, `once` few tasks that are over "
             "with them and with `ready`.")
        .def("forget_pairs",
             &JobFlows::ForgetPairs,
             "Further flows do not wait for earlier ones of their hosts.")
        .def("columns", &JobFlows::Columns, "Columns of flows, of steps, and the parts' names.");
}
