// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace lanescope::report {

/// A page that needs no other file and no network, and forbids itself any script and style but its
/// own. All three are HTML: what comes from a trace must be escaped in them.
std::string htmlPage(const std::string& title, const std::string& heading,
                     const std::string& content);

}  // namespace lanescope::report
