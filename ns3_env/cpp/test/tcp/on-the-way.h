// SPDX-License-Identifier: GPL-2.0-or-later
// Payload on the network at this moment, counted apart from what the model itself counts.
#ifndef NS3_ENV_TEST_TCP_ON_THE_WAY_H
#define NS3_ENV_TEST_TCP_ON_THE_WAY_H

#include "ns3_env/cpp/tcp/network/fabric.h"

#include <cstdint>
#include <unordered_map>

namespace ns3::env::tcp::test
{

/// Payload that is in a queue, a device or on a link, from when this is made.
class OnTheWay
{
  public:
    explicit OnTheWay(const Fabric& fabric);

    OnTheWay(const OnTheWay&) = delete;
    OnTheWay& operator=(const OnTheWay&) = delete;

    int64_t Bytes() const;
    int64_t BytesOf(const FiveTuple& tuple) const;

  private:
    std::unordered_map<FiveTuple, int64_t, FiveTupleHash, SameFiveTuple> m_bytes;
};

} // namespace ns3::env::tcp::test

#endif // NS3_ENV_TEST_TCP_ON_THE_WAY_H
