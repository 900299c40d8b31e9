// SPDX-License-Identifier: GPL-2.0-or-later
// Interface of a capture, which writes a run's frames to files.
#ifndef NS3_ENV_RUN_CAPTURE_H
#define NS3_ENV_RUN_CAPTURE_H

namespace ns3::env
{

/// Frames of a run, from when it is made until it is closed.
class Capture
{
  public:
    virtual ~Capture() = default;

    /// Everything is in the files. \throws std::runtime_error where it is not.
    virtual void Close() = 0;
};

} // namespace ns3::env

#endif // NS3_ENV_RUN_CAPTURE_H
