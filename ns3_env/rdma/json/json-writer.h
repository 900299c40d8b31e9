// SPDX-License-Identifier: GPL-2.0-or-later
// How does JSON become text, and go, however much there is? With signs of life on the way.
#ifndef RDMA_JSON_WRITER_H
#define RDMA_JSON_WRITER_H

#include <nlohmann/json.hpp>
#include <string>

namespace ns3::rdma
{

/// The text that `json.dump()` makes. Frees what `json` holds.
std::string WriteJson(nlohmann::json json);

} // namespace ns3::rdma

#endif // RDMA_JSON_WRITER_H
