// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

namespace lanescope {

/// Author of a range, by its name and its NVTX domain.
enum class RangeAuthor : uint8_t {
    Program,          ///< The recorded program, or unknown.
    Library,          ///< A library, compiler or framework marks one of its own calls or phases.
    CompiledProgram,  ///< A compiler's runtime marks the execution of a whole program: "XlaModule:#...#".
};

/// Returns the author of a range, for the search of steps. A range of a library is never a step, as a step has any
/// number of them. A range of a compiled program can be a step if it contains nearly all work. O(length and patterns).
RangeAuthor rangeAuthor(std::string_view name, std::string_view domain = {});

/// Returns true for a path of range names of which one is a compiler's. O(length).
bool isWithinCompiler(std::string_view path);

}  // namespace lanescope
