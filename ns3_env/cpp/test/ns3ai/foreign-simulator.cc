// SPDX-License-Identifier: GPL-2.0-or-later
// Stand-in for a simulation built with ns3-ai: speaks the Gym interface by Boost, spins forever.
//
// ns3ai-foreign-simulator --key=value ...
//   segment   name of the segment (My Seg)          RngRun    of what it observes (1)
//   steps     of an episode (10)                    cut       1: it ends as the simulation's end
//   rich      1: dictionaries, tuples, every dtype  double    numbers in an additional box of doubles (0)
//   wide      1: the action is a box of two doubles, read as ns3-ai's simulations do, as a container of floats
//   at        the state before which ... (-1)       fault     ... it does: die, exit, hang, overflow, garbage
//
// Plain: it observes (step, RngRun's value), float32; the action is one of 5, and the reward is the action.
// Rich: the reward is the sum of all values of the action.
#include "foreign-wire.h"
#include "protobuf.h"

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <unistd.h>

using namespace foreign;

namespace
{

enum Kind
{
    DISCRETE = 1,
    BOX,
    TUPLE,
    DICT
};
enum Dtype
{
    INT = 1,
    UINT,
    FLOAT,
    DOUBLE
};

std::map<std::string, std::string> g_options{{"segment", "My Seg"},
                                             {"RngRun", "1"},
                                             {"steps", "10"},
                                             {"cut", "0"},
                                             {"rich", "0"},
                                             {"double", "0"},
                                             {"wide", "0"},
                                             {"at", "-1"},
                                             {"fault", "die"}};

int
Option(const char* key)
{
    return std::atoi(g_options.at(key).c_str());
}

Message
Discrete(int n)
{
    return Message().Number(1, DISCRETE).Any(2, "DiscreteSpace", Message().Number(1, n));
}

Message
BoxSpace(float low, float high, Dtype dtype, const std::vector<uint64_t>& shape)
{
    const Message box =
        Message().Float(1, low).Float(2, high).Number(3, dtype).PackedNumbers(4, shape);
    return Message().Number(1, BOX).Any(2, "BoxSpace", box);
}

Message
Init()
{
    if (!Option("rich"))
    {
        const Message action = Option("wide") ? BoxSpace(-1, 1, DOUBLE, {2}) : Discrete(5);
        return Message().Inner(1, BoxSpace(-4e9F, 4e9F, FLOAT, {2})).Inner(2, action);
    }
    Message observed;
    observed.Inner(1, BoxSpace(0, 10, UINT, {2}).Text(3, "pair"));
    observed.Inner(1, BoxSpace(-1e10F, 1e10F, INT, {2, 1}).Text(3, "column"));
    observed.Inner(1, BoxSpace(0, 1, DOUBLE, {2, 3}).Text(3, "grid"));
    observed.Inner(1, Discrete(7).Text(3, "level"));
    if (Option("double") > 0)
    {
        const std::vector<uint64_t> shape{static_cast<uint64_t>(Option("double"))};
        observed.Inner(1, BoxSpace(0, 1, DOUBLE, shape).Text(3, "wide"));
    }
    Message action;
    action.Inner(1, Discrete(3)).Inner(1, BoxSpace(-8, 8, FLOAT, {2, 2}));
    return Message()
        .Inner(1, Message().Number(1, DICT).Any(2, "DictSpace", observed))
        .Inner(2, Message().Number(1, TUPLE).Any(2, "TupleSpace", action));
}

/// A box's value; the shape is left to the description, as ns3-ai's receivers do.
Message
BoxOf(Dtype dtype, const Message& data)
{
    std::string bytes = Message().Number(1, dtype).Bytes() + data.Bytes();
    return Message().Number(1, BOX).Inner(
        2,
        Message().Text(1, "type.googleapis.com/ns3_ai_gym.BoxDataContainer").Text(2, bytes));
}

Message
Observation(int step)
{
    const auto run = static_cast<float>(Option("RngRun"));
    if (!Option("rich"))
    {
        return BoxOf(FLOAT, Message().Packed<float>(5, {static_cast<float>(step), run}));
    }
    const auto count = static_cast<uint64_t>(step);
    Message held;
    held.Inner(1, BoxOf(UINT, Message().PackedNumbers(4, {count, 7})).Text(3, "pair"));
    held.Inner(1, BoxOf(INT, Message().PackedNumbers(3, {~uint64_t{4}, count})).Text(3, "column"));
    held.Inner(
        1,
        BoxOf(DOUBLE, Message().Packed<double>(6, {0.1, 0.2, 0.3, 0.4, 0.5, 0.6})).Text(3, "grid"));
    held.Inner(1,
               Message()
                   .Number(1, DISCRETE)
                   .Any(2, "DiscreteDataContainer", Message().Number(1, count % 7))
                   .Text(3, "level"));
    if (Option("double") > 0)
    {
        const std::vector<double> wide(static_cast<size_t>(Option("double")), 0.25);
        held.Inner(1, BoxOf(DOUBLE, Message().Packed(6, wide)).Text(3, "wide"));
    }
    return Message().Number(1, DICT).Any(2, "DictDataContainer", held);
}

/// The sum of all numbers in a DataContainer of discrete values and float32 boxes.
double
Sum(std::string_view container)
{
    const std::string_view data = FieldOf(FieldOf(container, 2), 2);
    double sum = 0;
    switch (NumberOf(container, 1))
    {
    case DISCRETE:
        return static_cast<double>(NumberOf(data, 1));
    case BOX:
    {
        if (NumberOf(data, 1) != FLOAT)
        {
            raise(SIGSEGV); // the cast to a container of floats has returned a null pointer
        }
        const std::string_view floats = FieldOf(data, 5);
        for (size_t at = 0; at + sizeof(float) <= floats.size(); at += sizeof(float))
        {
            float value = 0;
            std::memcpy(&value, floats.data() + at, sizeof value);
            sum += value;
        }
        return sum;
    }
    case TUPLE:
        for (Reader reader(data); reader.Next();)
        {
            sum += Sum(reader.content);
        }
        return sum;
    default:
        throw std::runtime_error("an action of another kind");
    }
}

class Simulator
{
  public:
    explicit Simulator(const std::string& segment)
        : m_memory(bip::open_only, segment.c_str()),
          m_toPython(m_memory.find<Buffer>("My Cpp to Python Msg").first),
          m_toSimulator(m_memory.find<Buffer>("My Python to Cpp Msg").first),
          m_lockable(m_memory.find<Lockable>("My Lockable").first)
    {
    }

    void Send(const std::string& bytes)
    {
        Wait(m_lockable->cpp2pyEmpty, FOR_EVER);
        std::memcpy(m_toPython->buffer, bytes.data(), std::min<size_t>(bytes.size(), 1024));
        m_toPython->size = static_cast<uint32_t>(bytes.size());
        Post(m_lockable->cpp2pyFull);
    }

    std::string Receive()
    {
        Wait(m_lockable->py2cppFull, FOR_EVER);
        std::string bytes(reinterpret_cast<char*>(m_toSimulator->buffer), m_toSimulator->size);
        Post(m_lockable->py2cppEmpty);
        return bytes;
    }

  private:
    static constexpr double FOR_EVER = 1e9;
    bip::managed_shared_memory m_memory;
    Buffer* m_toPython;
    Buffer* m_toSimulator;
    Lockable* m_lockable;
};

/// Commits the fault that a test requests. True: the message has been sent.
bool
Misbehave(Simulator& simulator)
{
    const std::string fault = g_options.at("fault");
    std::fprintf(stderr, "foreign: %s\n", fault.c_str());
    if (fault == "die")
    {
        raise(SIGKILL);
    }
    if (fault == "exit")
    {
        std::exit(3);
    }
    if (fault == "hang")
    {
        pause();
    }
    simulator.Send(fault == "overflow" ? std::string(1500, '\0') : std::string("\x0a\xff\xff", 3));
    return true;
}

} // namespace

int
main(int argc, char** argv)
{
    for (int i = 1; i < argc; ++i)
    {
        const std::string word = argv[i];
        const size_t equals = word.find('=');
        if (!word.starts_with("--") || equals == std::string::npos ||
            !g_options.contains(word.substr(2, equals - 2)))
        {
            std::fprintf(stderr, "foreign: unknown argument %s\n", argv[i]);
            return 1;
        }
        g_options[word.substr(2, equals - 2)] = word.substr(equals + 1);
    }
    Simulator simulator(g_options.at("segment"));
    simulator.Send(Init().Bytes());
    if (NumberOf(simulator.Receive(), 2) != 0)
    {
        return 0;
    }
    double reward = 0;
    for (int step = 0;; ++step)
    {
        if (step == Option("at") && Misbehave(simulator))
        {
            simulator.Receive();
            continue;
        }
        const bool over = step == Option("steps");
        Message state;
        state.Inner(1, Observation(step)).Float(2, static_cast<float>(reward));
        state.Number(3, over).Number(4, over && !Option("cut"));
        state.Text(5, "step " + std::to_string(step));
        simulator.Send(state.Bytes());
        const std::string answer = simulator.Receive();
        if (NumberOf(answer, 2) != 0)
        {
            std::fprintf(stderr, "foreign: stopped\n");
            return 0;
        }
        reward = Sum(FieldOf(answer, 1));
    }
}
