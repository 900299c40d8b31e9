// SPDX-License-Identifier: GPL-2.0-or-later
// Log of every state, or counter, that the controllers declare, over time.
#ifndef NS3_ENV_RECORDERS_CONTROLLER_LOG_H
#define NS3_ENV_RECORDERS_CONTROLLER_LOG_H

#include "ns3_env/cpp/run/episode.h"

#include <deque>
#include <string>
#include <vector>

namespace ns3::env
{

/// A new value of one of a flow's controller's trace sources.
struct ControllerChange
{
    Picos time;
    uint32_t flow;
    uint32_t name; ///< index of ControllerLog::Names()
    double value;
};

/**
 * Follows the trace sources of one type that the TypeIds of the flows' controllers declare, whatever they
 * are called: states are TracedValue<double>, counters TracedValue<uint64_t>. A row per change; a value that
 * stays as it was at the flow's start has none.
 */
class ControllerLog
{
  public:
    enum class Kind : uint8_t
    {
        States,
        Counters,
    };

    ControllerLog(Episode& episode, Kind kind);

    ControllerLog(const ControllerLog&) = delete;
    ControllerLog& operator=(const ControllerLog&) = delete;

    const std::deque<ControllerChange>& Changes() const { return m_changes; }
    const std::vector<std::string>& Names() const { return m_names; }

  private:
    void OnCreated(Flow& flow);
    void Follow(Flow& flow, const std::string& source);
    uint32_t IndexOf(const std::string& name);

    Kind m_kind;
    std::vector<std::string> m_names;
    std::deque<ControllerChange> m_changes;
};

} // namespace ns3::env

#endif // NS3_ENV_RECORDERS_CONTROLLER_LOG_H
