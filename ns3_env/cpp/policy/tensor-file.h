// SPDX-License-Identifier: GPL-2.0-or-later
// Reader of safetensors files: named arrays and a header of text; reading executes no code.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace ns3::env
{

/// An array of float32, row-major.
struct Tensor
{
    std::vector<uint32_t> shape;
    std::vector<float> values;
};

/// Contents of a file.
struct TensorFile
{
    std::map<std::string, std::string> metadata;
    std::map<std::string, Tensor> tensors;

    /// \throws ScenarioError for a file that is missing, truncated, of another format, or has numbers that are not
    /// finite
    static TensorFile Read(const std::string& path);
};

/// SHA-256 of the tensors in hexadecimal digits.
std::string Sha256(const std::map<std::string, Tensor>& tensors);

} // namespace ns3::env
