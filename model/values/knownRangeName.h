// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace lanescope {

/// What an annotation of XLA is about: "jit_step (XlaModule)" of
/// "XlaModule:#hlo_module=jit_step,program_id=12#", "loop_add_fusion (Thunk)" of
/// "Thunk:#hlo_op=loop_add_fusion#". Empty for any other text. Linear; any thread.
std::string knownRangeName(std::string_view text);

}  // namespace lanescope
