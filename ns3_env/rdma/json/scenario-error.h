// SPDX-License-Identifier: GPL-2.0-or-later
// What is thrown where a scenario makes no sense?
#ifndef RDMA_SCENARIO_ERROR_H
#define RDMA_SCENARIO_ERROR_H

#include <stdexcept>

namespace ns3::rdma
{

/// A scenario that makes no sense; the message names the key and says what would be right.
class ScenarioError : public std::runtime_error
{
  public:
    using std::runtime_error::runtime_error;
};

} // namespace ns3::rdma

#endif // RDMA_SCENARIO_ERROR_H
