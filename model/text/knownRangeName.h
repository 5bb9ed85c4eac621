// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
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
/// Returns true for a range in which XLA compiles a program: "XlaCompile:#module=jit_step#". O(length).
bool isXlaCompilation(std::string_view name);

/// Returns true for a path of short names within an XLA program, or within a loop of one. A program that only creates
/// an array does not count. O(length).
bool isWithinXlaProgram(std::string_view path);
bool isWithinXlaLoop(std::string_view path);

/// Parts of an XLA annotation, "TSL:Thunk:#name=jit(step)/dot,hlo_op=fusion.3,hlo_module=jit_step#". They point into
/// it; missing parts are empty.
struct XlaAnnotation {
    std::string_view what;       ///< "Thunk".
    std::string_view operation;  ///< "fusion.3".
    std::string_view module;     ///< "jit_step".
    std::string_view source;     ///< Name in the program, such as "jit(step)/dot".
};
/// Returns nullopt if the text is no XLA annotation. Linear; any thread.
std::optional<XlaAnnotation> xlaAnnotation(std::string_view text);

/// Returns a short name of a range, or an empty text if its name is short already. Linear; any thread.
/// - XLA annotations: "jit_step (XlaModule)" of "XlaModule:#hlo_module=jit_step,program_id=12#",
///   "fusion.3 in jit_step (Thunk)" of "Thunk:#hlo_op=fusion.3,hlo_module=jit_step#".
/// - Operators of PyTorch's `emit_nvtx`: "aten::mm" of "aten::mm, seq = 3, op_id = 12".
std::string knownRangeName(std::string_view text);

/// Returns true for ranges of PyTorch's and XLA's operations.
bool isOperationRange(std::string_view text);

/// Returns the part of a short name, or of a pattern of names ('#' for any number), that all matching names contain:
/// "layer " of "layer #", "fusion.3" of "fusion.3 in jit_step (Thunk)". Linear.
std::string_view searchedPart(std::string_view known);

}  // namespace lanescope
