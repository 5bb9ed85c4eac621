// SPDX-License-Identifier: Apache-2.0
#include "model/format/demangledName.h"

#include <cxxabi.h>

#include <cctype>
#include <cstdlib>
#include <memory>

namespace lanescope {

namespace {

/// A longer name is not worth the demangler's time, which can be quadratic.
constexpr size_t longestDemangled = 32 * 1024;

}  // namespace

/// What a name refers back to with "S_", "S3_" or "T_" holds at most all that stands before it, so
/// each of these doubles it at most.
bool mayDemangleLong(std::string_view mangled) {
    constexpr size_t mostBytes = size_t{1} << 20;
    size_t bytes = mangled.size();
    for (size_t at = 2; at < mangled.size() && bytes <= mostBytes; ++at) {
        if (mangled[at] != 'S' && mangled[at] != 'T') continue;
        size_t end = at + 1;
        while (end < mangled.size() && std::isalnum(static_cast<unsigned char>(mangled[end])))
            ++end;
        if (end < mangled.size() && mangled[end] == '_') bytes *= 2;
    }
    return bytes > mostBytes;
}

std::optional<std::string> demangledName(const std::string& mangled) {
    if (!mangled.starts_with("_Z") || mangled.size() > longestDemangled) return mangled;
    if (mayDemangleLong(mangled)) return std::nullopt;
    int status = 0;
    const std::unique_ptr<char, decltype(&std::free)> text(
        abi::__cxa_demangle(mangled.c_str(), nullptr, nullptr, &status), &std::free);
    return status == 0 && text != nullptr ? std::string(text.get()) : mangled;
}

}  // namespace lanescope
