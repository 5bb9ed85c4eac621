// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace lanescope {

/// Begin of torch.profiler's name of a module's call, before its class and number, and of the categories of ranges of
/// `lanescope.torch.annotate`, before the class.
inline constexpr std::string_view moduleRangePrefix = "nn.Module: ";
/// End of the name of a range of `lanescope.torch.annotate` around a module's backward.
inline constexpr std::string_view backwardSuffix = " backward";

/// Attribute of a module of torch.compile: the module that it replaces.
inline constexpr std::string_view replacedModule = "_orig_mod";

/// Returns true for PyTorch's function that calls each module.
constexpr bool isTorchModuleCall(std::string_view file, std::string_view function) {
    return file.ends_with("torch/nn/modules/module.py") && function.ends_with("_call_impl");
}

}  // namespace lanescope
