// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>

namespace lanescope::capture {

/// Runs `question` in a forked process without the variables that load tools, and returns the text
/// it gives. Nothing if it crashed or took over 20 s, as a broken driver may. Call it
/// single-threaded.
std::optional<std::string> probe(const std::function<std::string()>& question);

}  // namespace lanescope::capture
