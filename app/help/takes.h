// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace lanescope::help {

/// The option takes one of these words; help shows them as "one|other". Returns the option.
CLI::Option* takesOneOf(CLI::Option* option, const std::vector<std::string>& words);

/// The option takes a number from `least` to `most`, which help calls `name`. Returns the option.
CLI::Option* takesNumber(CLI::Option* option, const std::string& name, double least, double most);

/// The option takes the path of a file or folder to write to, which help calls `name`; an empty one
/// is an error. Returns the option.
CLI::Option* takesOutput(CLI::Option* option, const std::string& name);

}  // namespace lanescope::help
