// SPDX-License-Identifier: GPL-2.0-or-later
// Options of go-back-N, set by a network's rules.
#pragma once

#include "ns3_env/cpp/contract/units.h"

namespace ns3::env::rdma
{

/// A receiver answers a gap with a NACK, and the sender goes back to it.
struct GoBackN
{
    Picos nackInterval{0}; ///< before a receiver repeats a NACK for the same gap
    /// Duplicates are answered by an ACK. Otherwise they are not answered, and a receiver forgets a flow that ended:
    /// its later packets count as new.
    bool acknowledgesDuplicates{true};
    bool skipsAcknowledged{true}; ///< whether an ACK beyond the next sequence number moves it on
    bool restartsPacing{true};    ///< whether going back replaces a pacing time in the past by now
    /// A flow can distinguish lost packets from waiting ones: no timeout while it has packets in flight.
    bool knowsLosses{false};
};

} // namespace ns3::env::rdma
