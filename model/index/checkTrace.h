// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "model/assemble/LoadProgress.h"
#include "model/trace/Trace.h"

namespace lanescope {

/// Something that a look at a trace found out.
struct Finding {
    bool isGood = false;  ///< Else nobody should rely on what it is about.
    std::string sentence;
};

/// Reads all of a trace, as tables and byte by byte, and all of its index, and says what is wrong
/// and what is as it was recorded. That the file cannot be read at all is a finding, too. O(bytes).
std::vector<Finding> checkTrace(const std::filesystem::path& path,
                                const LoadProgress& progress = {});

/// Compares all of the index that a trace was read from with its checksums: how many blocks differ.
/// O(bytes).
uint32_t countDamagedBlocks(const Trace& trace);

}  // namespace lanescope
