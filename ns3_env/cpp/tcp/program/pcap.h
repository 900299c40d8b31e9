// SPDX-License-Identifier: GPL-2.0-or-later
// Captures of a TCP network's frames.
#pragma once

#include "ns3_env/cpp/recorders/capture-file.h"
#include "ns3_env/cpp/run/scenario.h"
#include "ns3_env/cpp/tcp/network/fabric.h"

#include <memory>

namespace ns3::env::tcp
{

/// Writes the CaptureFile of the frames that ns-3's devices send and receive, from PPP's header on: frames sent at the
/// time their transmission starts, frames received when they have arrived. Frames lost on the link are at the sender's
/// interface only. Checksums, which ns-3 leaves 0, are right.
///
/// The network must live as long. \throws ScenarioError for a port or a folder that does not exist
std::unique_ptr<CaptureFile> CaptureFrames(const Fabric& fabric, const PcapSpec& spec);

} // namespace ns3::env::tcp
