// SPDX-License-Identifier: Apache-2.0
#include "model/trace/Facts.h"

#include "model/format/parseNumber.h"

namespace lanescope {

namespace {

std::string_view setText(const FactName& name) { return name.unit == FactUnit::Off ? facts::off : facts::one; }

}  // namespace

std::string factText(const FactName&, const std::string& value) { return value; }

std::string factText(const FactName&, const std::optional<int64_t>& value) {
    return value ? std::to_string(*value) : std::string();
}

std::string factText(const FactName& name, bool value) { return value ? std::string(setText(name)) : std::string(); }

bool storeFact(const FactName&, std::string_view text, std::string& member) {
    if (text.empty() || !member.empty()) return false;
    member = text;
    return true;
}

bool storeFact(const FactName&, std::string_view text, std::optional<int64_t>& member) {
    const auto number = parseNumber<int64_t>(text);
    // Leading zeros would be lost.
    if (!number || member || std::to_string(*number) != text) return false;
    member = number;
    return true;
}

bool storeFact(const FactName& name, std::string_view text, bool& member) {
    if (text != setText(name) || member) return false;
    member = true;
    return true;
}

}  // namespace lanescope
