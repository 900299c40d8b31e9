// SPDX-License-Identifier: GPL-2.0-or-later
// Who writes a run's frames to files?
#ifndef RDMA_CAPTURE_H
#define RDMA_CAPTURE_H

namespace ns3::rdma
{

/// Frames of a run, from when it is made until it is closed.
class Capture
{
  public:
    virtual ~Capture() = default;

    /// Everything is in the files. \throws std::runtime_error where it is not.
    virtual void Close() = 0;
};

} // namespace ns3::rdma

#endif // RDMA_CAPTURE_H
