// SPDX-License-Identifier: GPL-2.0-or-later
// SHA-256 of a policy's tensors, as docs/policy-format.md lays them out.
#ifndef NS3_ENV_POLICY_TENSOR_DIGEST_H
#define NS3_ENV_POLICY_TENSOR_DIGEST_H

#include "tensor-file.h"

#include <map>
#include <string>

namespace ns3::env
{

/// In hexadecimal digits.
std::string Sha256(const std::map<std::string, Tensor>& tensors);

} // namespace ns3::env

#endif // NS3_ENV_POLICY_TENSOR_DIGEST_H
