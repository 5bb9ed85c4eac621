// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "app/cli/Command.h"

namespace lanescope::cli {

void addSql(CLI::App& app, int& exitStatus);

}  // namespace lanescope::cli
