// SPDX-License-Identifier: GPL-2.0-or-later
// Captures of an RDMA network's frames.
#pragma once

#include "rdma-episode.h"

#include "ns3_env/cpp/recorders/capture-file.h"
#include "ns3_env/cpp/run/scenario.h"

#include <memory>

namespace ns3::env::rdma
{

/// Writes the CaptureFile of RoCEv2's frames from the ports' Tx and Rx traces: frames sent at the time their
/// transmission starts, frames received when they have arrived. Frames lost on the link are at the sender's interface
/// only.
///
/// The network must live as long. \throws ScenarioError for a port or a folder that does not exist
std::unique_ptr<CaptureFile> CaptureFrames(const RdmaEpisode& network, const PcapSpec& spec);

} // namespace ns3::env::rdma
