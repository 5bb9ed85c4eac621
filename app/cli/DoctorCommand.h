// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>

namespace lanescope::cli {

/// Adds `lanescope doctor`, which says whether recording will work here and what to do if not.
void addDoctor(CLI::App& app, int& exitStatus);

}  // namespace lanescope::cli
