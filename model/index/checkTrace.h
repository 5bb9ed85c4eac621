// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "model/assemble/LoadProgress.h"
#include "model/trace/Trace.h"

namespace lanescope {

/// Compares all that an index stores of two traces, and returns the names of the parts that differ, such as "kernels".
/// O(n).
std::vector<std::string_view> differingParts(const Trace& one, const Trace& other);

struct Finding {
    bool isGood = false;  ///< If false, the data in question is unreliable.
    std::string sentence;
};

/// Reads all tables and bytes of a trace and its index, and returns all findings, good and bad. An
/// unreadable file is a finding, too. Compares the index and its summary with new ones. O(bytes), in the memory of the
/// trace.
std::vector<Finding> checkTrace(const std::filesystem::path& path, const LoadProgress& progress = {});

/// Compares the whole index of a trace with its checksums and returns the number of corrupt blocks. O(bytes).
uint32_t countCorruptBlocks(const Trace& trace);

}  // namespace lanescope
