// SPDX-License-Identifier: GPL-2.0-or-later
// Judges accepted scenarios by their text alone: keys, ranges, and what the reader made of them.
#ifndef NS3_ENV_TEST_FUZZ_ORACLE_H
#define NS3_ENV_TEST_FUZZ_ORACLE_H

#include "ns3_env/cpp/run/scenario.h"

#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

namespace ns3::env::fuzz
{

class Oracle
{
  public:
    /// \param good scenarios, which have every key there is
    explicit Oracle(const std::vector<nlohmann::json>& good);

    /// What is wrong with a text that was taken as `scenario`; nothing where all is right.
    std::vector<std::string> Faults(const std::string& text, const Scenario& scenario) const;

  private:
    std::set<std::string> m_known; ///< places of the good scenarios, as "links[].a"
};

} // namespace ns3::env::fuzz

#endif // NS3_ENV_TEST_FUZZ_ORACLE_H
