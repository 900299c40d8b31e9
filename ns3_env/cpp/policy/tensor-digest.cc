// SPDX-License-Identifier: GPL-2.0-or-later
// SHA-256 of a policy's tensors, as docs/policy-format.md lays them out.
#include "tensor-digest.h"

#include <boost/hash2/sha2.hpp>

namespace ns3::env
{

std::string
Sha256(const std::map<std::string, Tensor>& tensors)
{
    boost::hash2::sha2_256 digest;
    for (const auto& [name, tensor] : tensors)
    {
        digest.update(name.c_str(), name.size() + 1); // its end is a zero byte
        for (const int64_t width : tensor.shape)
        {
            digest.update(&width, sizeof width);
        }
        digest.update(tensor.values.data(), tensor.values.size() * sizeof(float));
    }
    return to_string(digest.result());
}

} // namespace ns3::env
