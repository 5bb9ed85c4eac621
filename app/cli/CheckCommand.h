// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "app/cli/Command.h"

namespace lanescope::cli {

/// Adds `check`: whether a trace is what was recorded.
void addCheck(CLI::App& app, int& exitStatus);

}  // namespace lanescope::cli
