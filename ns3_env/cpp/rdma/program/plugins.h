// SPDX-License-Identifier: GPL-2.0-or-later
// Loads controllers from plugins, shared objects that are checked before they run.
#pragma once

#include <map>
#include <string>

namespace ns3::env::rdma
{

/// Makes a plugin's controllers known by their names, as if they had been built in. A file that is loaded
/// already is skipped.
///
/// A plugin is a shared object that includes the contract's headers: they put a mark into it of the
/// contract it was built against, which is read before any of its code runs. One whose start-up fails
/// (it registers a name that is taken) ends the program: one line on standard error, exit code 2.
///
/// \throws ScenarioError if the file is no plugin, was built against another contract, lacks a symbol, or has no
/// controller; it names the file and the remedy.
void LoadPlugin(const std::string& file);

/// The file that each of the loaded controllers came from, by the controller's name.
const std::map<std::string, std::string>& PluginControllers();

} // namespace ns3::env::rdma
