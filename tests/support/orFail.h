// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QtGlobal>
#include <utility>

namespace lanescope::test {

/// Returns the value of a result or an optional. Without one, ends the test program with the sentence of the error.
template <class Result>
auto orFail(Result result, const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    if (!result.has_value()) {
        const char* sentence = "there is no value";
        if constexpr (requires { result.error().sentence; }) sentence = result.error().sentence.c_str();
        QMessageLogger(file, line, nullptr).fatal("%s", sentence);
    }
    if constexpr (requires { *result; }) return *std::move(result);
}

}  // namespace lanescope::test
