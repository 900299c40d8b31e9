// SPDX-License-Identifier: GPL-2.0-or-later
// Files of a capture: one for each port that was asked for, and one of all.
#ifndef NS3_ENV_RECORDERS_CAPTURE_FILES_H
#define NS3_ENV_RECORDERS_CAPTURE_FILES_H

#include "pcapng.h"

#include "ns3_env/cpp/run/run-report.h"
#include "ns3_env/cpp/run/scenario.h"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
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

/**
 * PREFIX-NODE-PORT.pcap (nanoseconds) of each port asked for, and PREFIX.pcapng, which has the same frames in the order
 * of time, with an interface for each of the ports: "h0-p0" of host 0, "s8-p3" of switch 8.
 */
class CaptureFiles final : public Capture
{
  public:
    /// Writes the frames of a chosen port as long as it lives.
    struct Tap
    {
        virtual ~Tap() = default;
    };

    /// \param ports all of the network, by node and index
    /// \throws ScenarioError for a port or a folder that is not there
    CaptureFiles(const PcapSpec& spec,
                 const CaptureFormat& format,
                 const std::vector<CapturePort>& ports);
    ~CaptureFiles() override;

    CaptureFiles(const CaptureFiles&) = delete;
    CaptureFiles& operator=(const CaptureFiles&) = delete;

    /// Places in `ports` of those that are captured.
    const std::vector<size_t>& Chosen() const { return m_chosen; }
    /// A whole frame passes the chosen port number `i` now.
    void Write(size_t i, FrameDirection direction, std::span<const uint8_t> frame);
    /// Of the next one of the chosen ports.
    void Add(std::unique_ptr<Tap> tap) { m_taps.push_back(std::move(tap)); }
    /// Completes the files. \throws std::runtime_error naming one that could not be written
    void Close() override;
    /// The files stay open until the process ends: closing them would write what their buffers hold.
    void Abandon() override;

  private:
    struct PortFile;

    std::vector<size_t> m_chosen;
    std::unique_ptr<PcapngFile> m_merged;
    std::vector<std::unique_ptr<PortFile>> m_files;
    std::vector<std::unique_ptr<Tap>> m_taps;
};

} // namespace ns3::env

#endif // NS3_ENV_RECORDERS_CAPTURE_FILES_H
