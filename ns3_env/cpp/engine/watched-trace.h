// SPDX-License-Identifier: GPL-2.0-or-later
// Trace source whose owner learns that a listener connected.
#pragma once

#include "ns3/trace-source-accessor.h"

#include <string>
#include <utility>

namespace ns3::env
{

/// Accessor of a trace source of `Owner` that calls `Owner::Watch()` before a callback is connected, so that an owner
/// need not update sources without listeners.
template <class Owner>
class WatchedTrace final : public TraceSourceAccessor
{
  public:
    explicit WatchedTrace(Ptr<const TraceSourceAccessor> source)
        : m_source(std::move(source))
    {
    }

    bool ConnectWithoutContext(ObjectBase* object, const CallbackBase& callback) const override
    {
        Watch(object);
        return m_source->ConnectWithoutContext(object, callback);
    }

    bool
    Connect(ObjectBase* object, std::string context, const CallbackBase& callback) const override
    {
        Watch(object);
        return m_source->Connect(object, std::move(context), callback);
    }

    bool DisconnectWithoutContext(ObjectBase* object, const CallbackBase& callback) const override
    {
        return m_source->DisconnectWithoutContext(object, callback);
    }

    bool
    Disconnect(ObjectBase* object, std::string context, const CallbackBase& callback) const override
    {
        return m_source->Disconnect(object, std::move(context), callback);
    }

  private:
    static void Watch(ObjectBase* object)
    {
        if (auto* owner = dynamic_cast<Owner*>(object); owner != nullptr)
        {
            owner->Watch();
        }
    }

    Ptr<const TraceSourceAccessor> m_source;
};

/// For `TypeId::AddTraceSource`: the source at `member`.
template <class Owner, class Source>
Ptr<const TraceSourceAccessor>
MakeWatchedTrace(Source Owner::* member)
{
    return Create<WatchedTrace<Owner>>(MakeTraceSourceAccessor(member));
}

} // namespace ns3::env
