// SPDX-License-Identifier: GPL-2.0-or-later
// Test of AIMD on hand-made ACKs: a packet more per window, a cut by half once per window of marks.
#include "ns3_env/cpp/contract/fake-flow.h"
#include "ns3_env/cpp/rdma/controllers/aimd.h"
#include "ns3_env/cpp/test/suite.h"

namespace ns3::env::rdma::test
{

namespace
{

SUITE("rdma-aimd");

TEST("aimd: half once per window of marks, a packet more per window without")
{
    const PathFacts facts = DumbbellFacts(1048);
    FakeFlow flow(facts);
    auto controller = CreateObject<Aimd>();
    controller->OnFlowStart(flow);
    ASSERT_EQ(flow.WindowBytes(), 78000, "a BDP");
    flow.Sent(78000);
    controller->OnAck(flow, {.ackedBytes = 1000, .newlyAckedBytes = 1000, .ecnMarked = true});
    controller->OnAck(flow, {.ackedBytes = 2000, .newlyAckedBytes = 1000, .ecnMarked = true});
    ASSERT_EQ(flow.WindowBytes(), 39000, "one cut, not two");
    controller->OnAck(flow, {.ackedBytes = 41000, .newlyAckedBytes = 39000});
    ASSERT_EQ(flow.WindowBytes(), 40000, "a window acknowledged: a packet more");
}

} // namespace

} // namespace ns3::env::rdma::test
