// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>

namespace lanescope::cli {

/// `lanescope import`: files of other tools as traces of our own.
void addImport(CLI::App& app, int& exitStatus);

}  // namespace lanescope::cli
