// SPDX-License-Identifier: GPL-2.0-or-later
// A capture's file on the disk: bytes that cannot be written are an error that names it.
#ifndef NS3_ENV_RECORDERS_CAPTURE_OUTPUT_H
#define NS3_ENV_RECORDERS_CAPTURE_OUTPUT_H

#include <cstdint>
#include <fstream>
#include <span>
#include <string>

namespace ns3::env
{

/// Each function throws a ScenarioError where the file cannot be written (a full disk).
class CaptureOutput
{
  public:
    /// In place of an earlier file of that name.
    explicit CaptureOutput(const std::string& name);

    void Write(std::span<const uint8_t> bytes);
    /// Completes the file.
    void Close();

  private:
    void Check() const;

    std::string m_name;
    std::ofstream m_file;
};

} // namespace ns3::env

#endif // NS3_ENV_RECORDERS_CAPTURE_OUTPUT_H
