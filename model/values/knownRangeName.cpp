// SPDX-License-Identifier: Apache-2.0
#include "model/values/knownRangeName.h"

#include <fmt/format.h>

namespace lanescope {

namespace {

/// What stands behind "key=" up to the next comma; empty if it is not there.
std::string_view valueOf(std::string_view facts, std::string_view key) {
    while (!facts.empty()) {
        const size_t end = facts.find(',');
        const std::string_view fact = facts.substr(0, end);
        if (fact.size() > key.size() && fact.starts_with(key) && fact[key.size()] == '=')
            return fact.substr(key.size() + 1);
        if (end == std::string_view::npos) break;
        facts.remove_prefix(end + 1);
    }
    return {};
}

}  // namespace

std::string knownRangeName(std::string_view text) {
    if (text.starts_with("TSL:")) text.remove_prefix(4);
    const size_t begin = text.find(":#");
    if (begin == std::string_view::npos || begin == 0 || !text.ends_with('#')) return {};
    const std::string_view what = text.substr(0, begin);
    std::string_view facts = text.substr(begin + 2);
    if (facts.empty()) return {};
    facts.remove_suffix(1);
    // From what tells most of it to what tells least.
    for (const std::string_view key : {"hlo_op", "name", "module", "hlo_module"})
        if (const std::string_view value = valueOf(facts, key); !value.empty())
            return fmt::format("{} ({})", value, what);
    return {};
}

}  // namespace lanescope
