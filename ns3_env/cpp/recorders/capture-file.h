// SPDX-License-Identifier: GPL-2.0-or-later
// Capture of a network's frames: a pcapng file with an interface for each requested port.
#pragma once

#include "pcapng.h"

#include "ns3_env/cpp/run/run-report.h"
#include "ns3_env/cpp/run/scenario.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace ns3::env
{

/// A port that may be captured.
struct CapturePort
{
    uint32_t node;
    uint32_t port;        ///< its index at the node
    std::string name;     ///< PortName
    std::string peerName; ///< of the link's other end
    double rateBps;
};

/// "s8-p3": port 3 of switch 8.
std::string PortName(const Scenario& scenario, uint32_t node, uint32_t port);

/// PREFIX.pcapng: the frames of all ports asked for in the order of time, in nanoseconds, with an interface for each of
/// the ports: "h0-p0" of host 0, "s8-p3" of switch 8.
class CaptureFile final : public Capture
{
  public:
    /// Writes the frames of a chosen port as long as it lives.
    struct Tap
    {
        virtual ~Tap() = default;
    };

    using FrameHook = std::function<void(uint32_t interface, std::span<const uint8_t> frame)>;

    /// \param ports all of the network, by node and index
    /// \throws ScenarioError for a port or a folder that is not there
    CaptureFile(const PcapSpec& spec,
                const CaptureFormat& format,
                const std::vector<CapturePort>& ports);

    /// Indices into `ports` of those that are captured; interfaces have the same order.
    const std::vector<size_t>& Chosen() const { return m_chosen; }
    /// A whole frame passes the interface's port now.
    void Write(uint32_t interface, FrameDirection direction, std::span<const uint8_t> frame);
    /// Also calls `hook` with each frame: for a custom file.
    void SetFrameHook(FrameHook hook) { m_onFrame = std::move(hook); }
    /// Adds the tap of the next chosen port.
    void Add(std::unique_ptr<Tap> tap) { m_taps.push_back(std::move(tap)); }
    /// Completes the file. \throws std::runtime_error naming it if it could not be written
    void Close() override;
    /// The file stays open until the process ends: closing it would flush its buffer.
    void Abandon() override;

  private:
    std::vector<size_t> m_chosen;
    std::unique_ptr<PcapngFile> m_file;
    FrameHook m_onFrame;
    std::vector<std::unique_ptr<Tap>> m_taps;
};

} // namespace ns3::env
