// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace lanescope::cli {

/// What conditions are made of, for the help of commands that take them.
std::string_view conditionsHelp();

/// What `lanescope compare --help` says below its options: conditions, exit status, examples.
std::string compareHelp();

}  // namespace lanescope::cli
