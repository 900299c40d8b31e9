// SPDX-License-Identifier: GPL-2.0-or-later
// A capture's file on the disk: bytes that cannot be written are an error that names it.
#include "capture-output.h"

#include "ns3_env/cpp/json/scenario-error.h"

#include <cerrno>
#include <cstring>

namespace ns3::env
{

CaptureOutput::CaptureOutput(const std::string& name)
    : m_name(name),
      m_file(name, std::ios::binary | std::ios::trunc)
{
    Check();
}

void
CaptureOutput::Write(std::span<const uint8_t> bytes)
{
    m_file.write(reinterpret_cast<const char*>(bytes.data()),
                 static_cast<std::streamsize>(bytes.size()));
    Check();
}

void
CaptureOutput::Close()
{
    m_file.close();
    Check();
}

void
CaptureOutput::Check() const
{
    if (!m_file)
    {
        throw ScenarioError("record.pcap",
                            "cannot write '" + m_name + "': " + std::strerror(errno));
    }
}

} // namespace ns3::env
