// SPDX-License-Identifier: GPL-2.0-or-later
// Full-duplex link between two RDMA devices, as an ns-3 channel.
#pragma once

#include "ns3/channel.h"
#include "ns3/nstime.h"

#include <array>

namespace ns3
{

class RdmaNetDevice;

/// A link with a device at either end.
class RdmaChannel : public Channel
{
  public:
    static TypeId GetTypeId();

    /// Attaches to the next end; aborts if both are in use.
    void Attach(Ptr<RdmaNetDevice> device);
    std::size_t GetNDevices() const override;
    Ptr<NetDevice> GetDevice(std::size_t i) const override;
    Ptr<RdmaNetDevice> GetEnd(std::size_t i) const { return m_ends[i]; }
    Time GetDelay() const { return m_delay; }

  protected:
    void DoDispose() override;

  private:
    Time m_delay;
    std::array<Ptr<RdmaNetDevice>, 2> m_ends;
};

} // namespace ns3
