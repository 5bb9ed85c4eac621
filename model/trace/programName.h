// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "model/trace/Trace.h"

namespace lanescope {

/// What a process is called, without the folders that its program lies in: some files keep a path,
/// others a name or what the program called itself, which may have a slash elsewhere. O(length).
inline std::string_view programName(const Process& process) {
    const std::string_view name = process.name;
    return name.starts_with('/') ? name.substr(name.find_last_of('/') + 1) : name;
}

}  // namespace lanescope
