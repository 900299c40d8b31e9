// SPDX-License-Identifier: GPL-2.0-or-later
// Linear-time retransmission from a deep window: ns-3 looks from the wanted segment on.
#ifndef NS3_ENV_TCP_NETWORK_SENT_SEGMENTS_H
#define NS3_ENV_TCP_NETWORK_SENT_SEGMENTS_H

#include "ns3/sequence-number.h"
#include "ns3/tcp-tx-buffer.h"

#include <list>

namespace ns3::env::tcp
{

/**
 * While it lives, a buffer's list of sent segments begins with the one that holds a sequence number, and so does the
 * buffer; its counts of bytes are as ever.
 *
 * ns-3 looks a segment up from the list's head, and at each step an assertion compares the list with itself, element by
 * element: n^2 steps for n segments in flight, 10 ms with 4 MiB of them. With the segment at the head it is one step.
 */
class SentSegmentsFrom
{
  public:
    /// \param sequence of a byte that was sent and not acknowledged
    SentSegmentsFrom(TcpTxBuffer& buffer, SequenceNumber32 sequence);
    ~SentSegmentsFrom();

    SentSegmentsFrom(const SentSegmentsFrom&) = delete;
    SentSegmentsFrom& operator=(const SentSegmentsFrom&) = delete;

  private:
    TcpTxBuffer& m_buffer;
    SequenceNumber32 m_head;
    std::list<TcpTxItem*> m_before; ///< set aside
};

} // namespace ns3::env::tcp

#endif // NS3_ENV_TCP_NETWORK_SENT_SEGMENTS_H
