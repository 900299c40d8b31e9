// SPDX-License-Identifier: GPL-2.0-or-later
// Check of the contract's promises: a controller's hooks in any order, without a network.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ns3::env::rdma
{

/// Flows of a check, and hooks of each.
inline constexpr uint32_t CHECKED_FLOWS = 30;
inline constexpr uint32_t CHECKED_HOOKS = 500;

/// The first promise that a controller breaks under feedback that no network would give (repeated, reordered,
/// empty, zero and enormous), timers running between the hooks: a window and a rate no lower than the floors
/// it declares, a rate no higher than the link's, no act after its flow's end, no counter below zero.
///
/// Each flow is a separate simulation; the flows are the same at each call. None if all promises were kept.
std::optional<std::string> BrokenPromise(const std::string& controller);

/// The controllers that can be checked, sorted: all that need no policy.
std::vector<std::string> CheckableControllers();

} // namespace ns3::env::rdma
