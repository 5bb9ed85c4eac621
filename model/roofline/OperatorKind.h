// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

namespace lanescope {

enum class OperatorKind : uint8_t { Product, Convolution, Attention, Elementwise };
/// For files and programs: "product", "convolution", "attention", "elementwise".
std::string_view identifier(OperatorKind kind);

}  // namespace lanescope
