// SPDX-License-Identifier: Apache-2.0
#include "model/values/CppName.h"

#include <algorithm>
#include <array>
#include <utility>

namespace lanescope {

namespace {

bool opens(char c) {
    return c == '<' || c == '(' || c == '{' || c == '[';
}

bool closes(char c) {
    return c == '>' || c == ')' || c == '}' || c == ']';
}

std::string_view trimmed(std::string_view text) {
    while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
    while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
    return text;
}

constexpr std::string_view anonymous = "(anonymous namespace)";

/// Where what opens at `begin` closes; the end if it does not.
size_t closing(std::string_view text, size_t begin) {
    int depth = 0;
    for (size_t at = begin; at < text.size(); ++at) {
        if (opens(text[at])) ++depth;
        const bool isArrow = text[at] == '>' && at > 0 && text[at - 1] == '-';
        if (closes(text[at]) && !isArrow && --depth == 0) return at;
    }
    return text.size();
}

std::vector<std::string_view> parted(std::string_view text) {
    std::vector<std::string_view> parts;
    size_t begin = 0;
    int depth = 0;
    for (size_t at = 0; at <= text.size(); ++at) {
        if (at < text.size() && opens(text[at])) ++depth;
        if (at < text.size() && closes(text[at])) --depth;
        if (at < text.size() && (text[at] != ',' || depth != 0)) continue;
        if (const std::string_view part = trimmed(text.substr(begin, at - begin)); !part.empty())
            parts.push_back(part);
        begin = at + 1;
    }
    return parts;
}

}  // namespace

CppName parseCppName(std::string_view text) {
    CppName name;
    size_t begin = 0;
    for (size_t at = 0; at < text.size(); ++at) {
        const char c = text[at];
        if (text.substr(at).starts_with(anonymous)) {
            at += anonymous.size() - 1;
            begin = at + 1;
        } else if (c == ' ' || c == ':') {
            begin = at + 1;
        } else if (c == '<') {
            const size_t end = closing(text, at);
            name.base = text.substr(begin, at - begin);
            name.arguments = parted(text.substr(at + 1, end - at - 1));
            // "outer<int>::inner" is about the inner one, a lambda about where it stands.
            const std::string_view rest = text.substr(std::min(end + 1, text.size()));
            if (!rest.starts_with("::") || rest.starts_with("::operator") ||
                rest.starts_with("::{") || rest.starts_with("::["))
                return name;
            begin = end + 1;
            at = end;
        } else if (c == '(') {
            name.base = text.substr(begin, at - begin);
            name.arguments.clear();
            return name;
        }
    }
    name.base = text.substr(begin);
    name.arguments.clear();
    return name;
}

std::string_view shortTypeName(std::string_view text) {
    static constexpr std::array<std::pair<std::string_view, std::string_view>, 24> types{
        {{"float", "f32"},
         {"double", "f64"},
         {"c10::Half", "f16"},
         {"__half", "f16"},
         {"half", "f16"},
         {"_Float16", "f16"},
         {"cutlass::half_t", "f16"},
         {"c10::BFloat16", "bf16"},
         {"__nv_bfloat16", "bf16"},
         {"__hip_bfloat16", "bf16"},
         {"cutlass::bfloat16_t", "bf16"},
         {"c10::Float8_e4m3fn", "f8e4m3"},
         {"c10::Float8_e5m2", "f8e5m2"},
         {"c10::complex<float>", "c64"},
         {"c10::complex<double>", "c128"},
         {"long", "i64"},
         {"int", "i32"},
         {"short", "i16"},
         {"signed char", "i8"},
         {"char", "i8"},
         {"unsigned char", "u8"},
         {"unsigned int", "u32"},
         {"unsigned long", "u64"},
         {"bool", "bool"}}};
    text = trimmed(text);
    if (text.ends_with(" const")) text.remove_suffix(6);
    for (const auto& [name, brief] : types)
        if (text == name) return brief;
    return {};
}

}  // namespace lanescope
