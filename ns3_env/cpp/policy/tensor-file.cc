// SPDX-License-Identifier: GPL-2.0-or-later
// Reader of safetensors files: named arrays and a header of text; reading executes no code.
#include "tensor-file.h"

#include "ns3_env/cpp/json/json-reader.h"

#include <algorithm>
#include <bit>
#include <boost/hash2/sha2.hpp>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace ns3::env
{

namespace
{

static_assert(std::endian::native == std::endian::little, "safetensors are little-endian");

constexpr uint64_t LARGEST_FILE = 64U << 20U;
constexpr uint64_t LARGEST_HEADER = 1'000'000;
constexpr size_t MOST_DIMENSIONS = 4;
constexpr uint32_t LONGEST_DIMENSION = 1'000'000;

std::string
ReadAll(const std::string& path)
{
    std::error_code bad;
    if (!std::filesystem::is_regular_file(path, bad))
    {
        throw ScenarioError("there is no such file");
    }
    const auto size = std::filesystem::file_size(path, bad);
    if (bad || size > LARGEST_FILE)
    {
        throw ScenarioError("is larger than " + std::to_string(LARGEST_FILE) + " bytes: no policy");
    }
    std::ifstream in(path, std::ios::binary);
    std::string bytes((std::istreambuf_iterator<char>(in)), {});
    if (!in && !in.eof())
    {
        throw ScenarioError("cannot be read");
    }
    return bytes;
}

Tensor
ReadTensor(JsonReader entry, std::string_view data, const std::string& name)
{
    const std::string where = "tensor '" + Shown(name) + "'";
    Tensor tensor;
    if (entry.Text("dtype") != "F32")
    {
        throw ScenarioError(where + ": its numbers are no F32");
    }
    tensor.shape = entry.Wholes<uint32_t>("shape", MOST_DIMENSIONS, 1, LONGEST_DIMENSION);
    const auto place = entry.Wholes<uint64_t>("data_offsets", 2, 0, LARGEST_FILE);
    entry.RefuseOthers();
    uint64_t count = 1;
    for (const uint32_t width : tensor.shape)
    {
        count *=
            width; // four dimensions of a million stay below 2^64 only together with the next line
        if (count > LARGEST_FILE)
        {
            throw ScenarioError(where + ": is larger than the file");
        }
    }
    if (place.size() != 2 || place[0] > place[1] || place[1] > data.size() ||
        place[1] - place[0] != count * sizeof(float))
    {
        throw ScenarioError(where + ": the file is cut short, or its header is damaged");
    }
    tensor.values.resize(count);
    std::memcpy(tensor.values.data(), data.data() + place[0], count * sizeof(float));
    if (!std::all_of(tensor.values.begin(),
                     tensor.values.end(),
                     [](float v) { return std::isfinite(v); }))
    {
        throw ScenarioError(where + ": holds NaN or infinity");
    }
    return tensor;
}

} // namespace

TensorFile
TensorFile::Read(const std::string& path)
{
    const std::string bytes = ReadAll(path);
    uint64_t length = 0;
    if (bytes.size() >= sizeof length)
    {
        std::memcpy(&length, bytes.data(), sizeof length);
    }
    if (bytes.size() < sizeof length || length > LARGEST_HEADER ||
        length > bytes.size() - sizeof length)
    {
        throw ScenarioError("is cut short, or no safetensors file");
    }
    const auto json = ParseJson(bytes.substr(sizeof length, length));
    const std::string_view data = std::string_view(bytes).substr(sizeof length + length);
    if (!json.is_object())
    {
        throw ScenarioError("its header is no object: no safetensors file");
    }
    TensorFile file;
    for (const auto& [name, entry] : json.items())
    {
        if (name == "__metadata__")
        {
            JsonReader texts(entry, name);
            for (const auto& [key, text] : entry.items())
            {
                file.metadata[key] = texts.Text(key);
            }
            continue;
        }
        file.tensors.emplace(name, ReadTensor(JsonReader(entry, name), data, name));
    }
    return file;
}

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
