// SPDX-License-Identifier: GPL-2.0-or-later
// Trace source that allocates memory for listeners only if there are some.
#pragma once

#include "ns3/traced-callback.h"

#include <memory>
#include <string>

namespace ns3::env
{

/// TracedCallback in the memory of a pointer: a large network has many sources without listeners.
template <class... Args>
class TraceSource
{
  public:
    void ConnectWithoutContext(const CallbackBase& callback)
    {
        Listeners().ConnectWithoutContext(callback);
    }
    void Connect(const CallbackBase& callback, const std::string& path)
    {
        Listeners().Connect(callback, path);
    }
    void DisconnectWithoutContext(const CallbackBase& callback)
    {
        Listeners().DisconnectWithoutContext(callback);
    }
    void Disconnect(const CallbackBase& callback, const std::string& path)
    {
        Listeners().Disconnect(callback, path);
    }

    void operator()(Args... args) const
    {
        if (m_listeners)
        {
            (*m_listeners)(args...);
        }
    }

  private:
    TracedCallback<Args...>& Listeners()
    {
        if (!m_listeners)
        {
            m_listeners = std::make_unique<TracedCallback<Args...>>();
        }
        return *m_listeners;
    }

    std::unique_ptr<TracedCallback<Args...>> m_listeners;
};

} // namespace ns3::env
