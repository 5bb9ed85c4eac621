// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace lanescope::causality {

/// Part of a program that a change is about.
enum class Subject : uint8_t {
    Kernel,   ///< Kernels whose name contains a text, or matches it as a pattern.
    Family,   ///< Kernels of a family, by its identifier.
    Kernels,  ///< All kernels but those of collectives.
    Nccl,     ///< Collectives: the time in which they move data.
    Copy,     ///< Copies, of one kind ("HtoD") if named.
    Memset,
    Launch,      ///< Calls that launch kernels, graphs, copies and memsets.
    Sync,        ///< Calls that wait for the GPU.
    Allocation,  ///< Calls that allocate or free memory.
    Host,        ///< Host code between calls.
    Loader,      ///< Getting the next batch.
    Line,        ///< Calls and work of a Python line: "train.py:212".
    Rank,        ///< Host code and calls of a rank.
};
inline constexpr size_t subjectCount = 13;
/// For files and programs: "kernel".
std::string_view identifier(Subject subject);

}  // namespace lanescope::causality
