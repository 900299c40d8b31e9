// SPDX-License-Identifier: GPL-2.0-or-later
// Linear-time retransmission from a deep window: ns-3 looks from the wanted segment on.
#include "sent-segments.h"

namespace ns3::env::tcp
{

namespace
{

using SentList = std::list<TcpTxItem*> TcpTxBuffer::*;
using FirstByte = TracedValue<SequenceNumber32> TcpTxBuffer::*;

SentList SentListOf();
FirstByte FirstByteOf();

/// ns-3 keeps both private; an explicit instantiation may name them.
template <SentList list, FirstByte first>
struct Members
{
    friend SentList SentListOf() { return list; }

    friend FirstByte FirstByteOf() { return first; }
};

template struct Members<&TcpTxBuffer::m_sentList, &TcpTxBuffer::m_firstByteSeq>;

} // namespace

SentSegmentsFrom::SentSegmentsFrom(TcpTxBuffer& buffer, SequenceNumber32 sequence)
    : m_buffer(buffer),
      m_head(buffer.HeadSequence())
{
    auto& sent = buffer.*SentListOf();
    auto wanted = sent.begin();
    SequenceNumber32 first = m_head;
    while (wanted != sent.end() && first + (*wanted)->GetSeqSize() <= sequence)
    {
        first += (*wanted)->GetSeqSize();
        ++wanted;
    }
    m_before.splice(m_before.begin(), sent, sent.begin(), wanted);
    buffer.*FirstByteOf() = first;
}

SentSegmentsFrom::~SentSegmentsFrom()
{
    auto& sent = m_buffer.*SentListOf();
    sent.splice(sent.begin(), m_before);
    m_buffer.*FirstByteOf() = m_head;
}

} // namespace ns3::env::tcp
