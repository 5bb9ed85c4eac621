// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QtTest>
#include <cstdio>
#include <string>
#include <string_view>

namespace lanescope::test {

/// Text of several values, to compare them at once: `QCOMPARE(listed(name, count, share), "gemm | 2 | 0.5")`.
struct Listed {
    std::string text;

    void add(const Listed& other) { text += other.text; }
    void add(bool value) { text += value ? "true" : "false"; }
    void add(std::string_view value) { text += value; }
    template <class Value>
    void add(const Value& value) {
        if constexpr (std::is_floating_point_v<Value>) {
            char digits[40];
            std::snprintf(digits, sizeof digits, "%.12g", static_cast<double>(value));  // as exact as QCOMPARE
            text += digits;
        } else if constexpr (std::is_integral_v<Value>) {
            text += std::to_string(value);
        } else if constexpr (std::is_enum_v<Value>) {
            text += std::to_string(static_cast<int64_t>(value));
        } else if constexpr (requires { value.toStdString(); }) {
            text += value.toStdString();
        } else if constexpr (std::is_convertible_v<const Value&, std::string_view>) {
            text += std::string_view(value);
        } else if constexpr (requires { value.native(); }) {
            text += value.native();  // a path would be a list of paths
        } else if constexpr (requires { value.has_value(); }) {
            value.has_value() ? add(*value) : add(std::string_view("none"));
        } else if constexpr (requires { value.startNs + value.endNs; }) {
            text += std::to_string(value.startNs) + ".." + std::to_string(value.endNs);
        } else if constexpr (requires { value.first, value.second; }) {
            add(value.first), text += ": ", add(value.second);
        } else if constexpr (requires { value.kind(), value.row(); }) {
            add(value.kind()), text += " ", add(value.row());
        } else {
            for (const char* before = ""; const auto& each : value) {
                text += before;
                add(each);
                before = ", ";
            }
        }
    }

    bool operator==(std::string_view other) const { return text == other; }
    bool operator==(const Listed&) const = default;
};

/// Returns the values in order with " | " between them. Numbers are decimal, enumerators
/// numbers, ranges "start..end", lists "a, b".
template <class... Values>
Listed listed(const Values&... values) {
    Listed all;
    const char* before = "";
    ((all.text += before, all.add(values), before = " | "), ...);
    return all;
}

inline char* toString(const Listed& listed) { return QTest::toString(listed.text.c_str()); }

}  // namespace lanescope::test
