// SPDX-License-Identifier: GPL-2.0-or-later
// SHA-256 of a policy's tensors, as docs/policy-format.md lays them out.
#ifndef RDMA_TENSOR_DIGEST_H
#define RDMA_TENSOR_DIGEST_H

#include "tensor-file.h"

#include <map>
#include <string>

namespace ns3::rdma
{

/// In hexadecimal digits.
std::string Sha256(const std::map<std::string, Tensor>& tensors);

} // namespace ns3::rdma

#endif // RDMA_TENSOR_DIGEST_H
