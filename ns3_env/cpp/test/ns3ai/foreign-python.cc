// SPDX-License-Identifier: GPL-2.0-or-later
// Stand-in for the compiled half of ns3-ai's Python, for ctypes: creates the segment and spins.
#include "foreign-wire.h"

#include <cstring>
#include <memory>
#include <string>

using namespace foreign;

namespace
{

// Output of `python -m ns3_env.ns3ai structs rdma-flows`.
struct FlowState
{
    uint32_t state;
    float reward;
    float rtt;
    float qlen;
    float switch_rate;
    float goodput;
    float rtt_slope;
    float qlen_slope;
    float pacing_rate;
    float last_action;
};

struct FlowAction
{
    float action;
};

template <typename T>
using Vector = bip::vector<T, bip::allocator<T, bip::managed_shared_memory::segment_manager>>;

struct Interface
{
    std::string name;
    bip::managed_shared_memory memory;
    Lockable* lockable{nullptr};
    void* toPython{nullptr};
    void* toSimulator{nullptr};
};

template <typename T>
void*
MakeVector(bip::managed_shared_memory& memory, const char* name, size_t elements)
{
    auto* made = memory.construct<Vector<T>>(name)(
        bip::allocator<T, bip::managed_shared_memory::segment_manager>(
            memory.get_segment_manager()));
    made->resize(elements);
    return made->data();
}

} // namespace

#define EXPORTED extern "C" __attribute__((visibility("default")))

/// `elements`: of the vector interface; 0 is the Gym interface.
EXPORTED Interface*
ForeignMake(const char* name, uint32_t bytes, uint32_t elements)
{
    auto made = std::make_unique<Interface>();
    made->name = name;
    bip::shared_memory_object::remove(name);
    made->memory = bip::managed_shared_memory(bip::create_only, name, bytes);
    if (elements == 0)
    {
        made->toPython = made->memory.construct<Buffer>("My Cpp to Python Msg")();
        made->toSimulator = made->memory.construct<Buffer>("My Python to Cpp Msg")();
    }
    else
    {
        made->toPython = MakeVector<FlowState>(made->memory, "My Cpp to Python Msg", elements);
        made->toSimulator = MakeVector<FlowAction>(made->memory, "My Python to Cpp Msg", elements);
    }
    made->lockable = made->memory.construct<Lockable>("My Lockable")();
    return made.release();
}

EXPORTED void
ForeignRemove(Interface* end)
{
    bip::shared_memory_object::remove(end->name.c_str());
    delete end;
}

EXPORTED void*
ForeignToPython(Interface* end)
{
    return end->toPython;
}

EXPORTED void*
ForeignToSimulator(Interface* end)
{
    return end->toSimulator;
}

EXPORTED bool
ForeignFinished(Interface* end)
{
    return end->lockable->finished;
}

EXPORTED bool
ForeignRecvBegin(Interface* end, double seconds)
{
    return Wait(end->lockable->cpp2pyFull, seconds);
}

EXPORTED void
ForeignRecvEnd(Interface* end)
{
    Post(end->lockable->cpp2pyEmpty);
}

EXPORTED bool
ForeignSendBegin(Interface* end, double seconds)
{
    return Wait(end->lockable->py2cppEmpty, seconds);
}

EXPORTED void
ForeignSendEnd(Interface* end)
{
    Post(end->lockable->py2cppFull);
}
