// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace lanescope::cli {

/// What `lanescope compare --help` says below its options: conditions, exit status, examples.
std::string_view compareHelp();

}  // namespace lanescope::cli
