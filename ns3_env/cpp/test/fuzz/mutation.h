// SPDX-License-Identifier: GPL-2.0-or-later
// Mutations of a good scenario: values, keys, structure and bytes of its JSON.
#ifndef NS3_ENV_TEST_FUZZ_MUTATION_H
#define NS3_ENV_TEST_FUZZ_MUTATION_H

#include "random.h"

#include <nlohmann/json.hpp>
#include <string>

namespace ns3::env::fuzz
{

/// The JSON text of `good` after one to three changes; it may be none any more, and may be good still.
std::string Mutated(nlohmann::json good, Random& random);

} // namespace ns3::env::fuzz

#endif // NS3_ENV_TEST_FUZZ_MUTATION_H
