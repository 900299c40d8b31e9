// SPDX-License-Identifier: GPL-2.0-or-later
// A capture's file on the disk: bytes that cannot be written are an error that names it.
#ifndef NS3_ENV_RECORDERS_CAPTURE_OUTPUT_H
#define NS3_ENV_RECORDERS_CAPTURE_OUTPUT_H

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <span>
#include <string>
#include <vector>

namespace ns3::env
{

/// Adds a number's bytes, the least significant first.
template <typename T>
void
Append(std::vector<uint8_t>& bytes, T value)
{
    for (size_t i = 0; i < sizeof(T); ++i)
    {
        bytes.push_back(static_cast<uint8_t>(static_cast<uint64_t>(value) >> 8 * i));
    }
}

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
