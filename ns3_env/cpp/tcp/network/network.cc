// SPDX-License-Identifier: GPL-2.0-or-later
// State shared by one network's ports and sockets: segments, timers, channels, and delivery to hosts.
#include "network.h"

#include "port.h"

namespace ns3::env::tcp
{

void
Network::Fill(Channel& channel, const FiveTuple& tuple, uint8_t protocol)
{
    channel.tuple = tuple;
    channel.hops = m_router(tuple);
    channel.nextId = &m_ids[{tuple.sourceIp, tuple.destinationIp, protocol}];
}

Connection&
Network::Open(const FiveTuple& tuple, uint8_t protocol)
{
    auto& connection = m_connections[tuple];
    if (!connection)
    {
        connection = std::make_unique<Connection>();
        connection->there.connection = connection->back.connection = connection.get();
        Fill(connection->there, tuple, protocol);
        if (protocol == TCP_PROTOCOL)
        {
            Fill(connection->back, tuple.Reversed(), protocol);
        }
    }
    ++connection->users;
    return *connection;
}

void
Network::Close(Connection& connection)
{
    if (--connection.users == 0)
    {
        m_connections.erase(FiveTuple{connection.there.tuple});
    }
}

Segment*
Network::Make(Channel& channel)
{
    Segment* segment = m_segments.Take();
    segment->channel = &channel;
    segment->id = (*channel.nextId)++;
    ++channel.connection->users;
    return segment;
}

void
Network::Send(Segment* segment)
{
    const uint32_t header = segment->protocol == TCP_PROTOCOL
                                ? TCP_HEADER_BYTES + segment->options.Bytes()
                                : UDP_HEADER_BYTES;
    segment->ipBytes = IP_HEADER_BYTES + header + segment->payload;
    segment->channel->hops.front()->Send(segment);
}

void
Network::Drop(Segment* segment)
{
    Close(*segment->channel->connection);
    m_segments.Give(segment);
}

void
Network::Deliver(Segment* segment)
{
    Channel& channel = *segment->channel;
    m_deliveredPayload += segment->payload;
    if (segment->protocol == UDP_PROTOCOL)
    {
        channel.datagramSink(*segment);
    }
    else if (channel.end != nullptr)
    {
        channel.end->Receive(*segment);
    }
    else
    {
        Refuse(*segment);
    }
    Drop(segment);
}

/// Answers like a host without a listener (RFC 793, section 3.4).
void
Network::Refuse(const Segment& segment)
{
    if ((segment.flags & flag::RST) != 0)
    {
        return;
    }
    Segment* reset = Make(segment.channel->connection->OtherThan(*segment.channel));
    if ((segment.flags & flag::ACK) != 0)
    {
        reset->flags = flag::RST;
        reset->sequence = segment.ack;
    }
    else
    {
        reset->flags = flag::RST | flag::ACK;
        reset->ack = segment.sequence + SequenceNumber32(1);
    }
    Send(reset);
}

} // namespace ns3::env::tcp
