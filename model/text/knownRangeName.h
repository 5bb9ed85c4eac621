// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace lanescope {

/// What an annotation of XLA says:
/// "TSL:Thunk:#name=jit(step)/dot,hlo_op=fusion.3,hlo_module=jit_step#". All point into it; empty
/// if it does not say that.
struct XlaAnnotation {
    std::string_view what;       ///< "Thunk".
    std::string_view operation;  ///< "fusion.3".
    std::string_view module;     ///< "jit_step".
    std::string_view source;     ///< What the program calls it: "jit(step)/dot".
};
/// Nothing of any other text. Linear; any thread.
std::optional<XlaAnnotation> xlaAnnotation(std::string_view text);

/// What people call a range whose name says more than that: of an annotation of XLA what it is
/// about, "jit_step (XlaModule)" of "XlaModule:#hlo_module=jit_step,program_id=12#", "fusion.3 in
/// jit_step (Thunk)" of "Thunk:#hlo_op=fusion.3,hlo_module=jit_step#"; of an operator that PyTorch
/// puts into NVTX (`emit_nvtx`) its name, "aten::mm" of "aten::mm, seq = 3, op_id = 12". Empty for
/// any other text. Linear; any thread.
std::string knownRangeName(std::string_view text);

/// What of such a name, or of a pattern of names ('#' for any number), stands in the names of all
/// that it is for: "layer " of "layer #", "fusion.3" of "fusion.3 in jit_step (Thunk)". Linear.
std::string_view searchedPart(std::string_view known);

}  // namespace lanescope
