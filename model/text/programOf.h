// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace lanescope {

/// Returns the program of a command with its module and script, without folders, version of Python and other
/// arguments: "python train.py" of "/usr/bin/python3 -u src/train.py --seed 3". Empty for an empty command. O(length).
std::string programOf(std::string_view command);

}  // namespace lanescope
