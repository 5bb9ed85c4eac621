// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <vector>

namespace lanescope {

/// A name of C++ in parts, as demanglers write it: "ns::fill<float, 4>" is "fill" of two arguments.
/// Points into the text.
struct CppName {
    std::string_view base;                    ///< Without namespaces and arguments.
    std::vector<std::string_view> arguments;  ///< Of its template.
};

/// Takes a name apart up to what follows its template arguments, or up to its parameters. What is
/// no name has parts that make little sense, and nothing else happens. Linear.
CppName parseCppName(std::string_view text);

/// Whether a text names a type of numbers, "float" or "c10::BFloat16", and what it is called for
/// short: "f32", "bf16"; else empty.
std::string_view shortTypeName(std::string_view text);

}  // namespace lanescope
