#pragma once

#include <string_view>

namespace lanescope {

/// What `lanescope compare --help` says below its options: conditions, exit status, examples.
std::string_view compareHelp();

}  // namespace lanescope
