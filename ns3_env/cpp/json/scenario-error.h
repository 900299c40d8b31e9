// SPDX-License-Identifier: GPL-2.0-or-later
// Exception for an invalid scenario.
#pragma once

#include <stdexcept>
#include <string>

namespace ns3::env
{

/// An invalid scenario; the message names the key, quoted and first, and the valid values.
class ScenarioError : public std::runtime_error
{
  public:
    /// \param message names the key by itself
    explicit ScenarioError(const std::string& message)
        : ScenarioError("", message)
    {
    }

    /// \param key as the JSON has it: `controllers[0].attributes.Gain` \param text the error
    ScenarioError(const std::string& key, const std::string& text)
        : std::runtime_error(key.empty() ? text : "'" + key + "': " + text),
          m_key(key),
          m_text(text)
    {
    }

    /// The same of a key further out.
    ScenarioError Within(const std::string& key) const
    {
        return {m_key.empty() ? key : key + "." + m_key, m_text};
    }

  private:
    std::string m_key;
    std::string m_text;
};

/// Does the work; errors that it throws are attributed to this key.
template <typename Work>
decltype(auto)
Within(const std::string& key, Work work)
{
    try
    {
        return work();
    }
    catch (const ScenarioError& error)
    {
        throw error.Within(key);
    }
}

} // namespace ns3::env
