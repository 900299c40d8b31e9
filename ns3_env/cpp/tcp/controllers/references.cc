// SPDX-License-Identifier: GPL-2.0-or-later
// Names of the fluids (fluid/) among TCP's controllers: max-min fair, and least remaining first.
#include "ns3/tcp-congestion-ops.h"
#include "ns3_env/cpp/contract/declaration.h"

namespace ns3::env::tcp
{

/// No control: flows under it are fluids.
class MaxMin final : public TcpNewReno
{
  public:
    static TypeId GetTypeId()
    {
        static TypeId tid = Declaration<MaxMin, TcpNewReno>("tcp::max_min").Reference();
        return tid;
    }
};

/// The same, of another sharing.
class Oracle final : public TcpNewReno
{
  public:
    static TypeId GetTypeId()
    {
        static TypeId tid = Declaration<Oracle, TcpNewReno>("tcp::oracle").Reference();
        return tid;
    }
};

NS_OBJECT_ENSURE_REGISTERED(MaxMin);
NS_OBJECT_ENSURE_REGISTERED(Oracle);

} // namespace ns3::env::tcp
