// SPDX-License-Identifier: Apache-2.0
#include "app/cli/ProgressLine.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <string>

#include "model/values/formatValue.h"

namespace lanescope::cli {

namespace {

/// Work shorter than this needs no line about it.
constexpr std::chrono::milliseconds patience{500};

}  // namespace

ProgressLine::ProgressLine() : isTerminal_(::isatty(STDERR_FILENO) == 1) {}

ProgressLine::~ProgressLine() {
    if (isShown_) std::fputs("\r\033[K", stderr);
}

void ProgressLine::show(double fraction, std::string_view what) {
    if (!isTerminal_ || std::chrono::steady_clock::now() - start_ < patience) return;
    const std::string line = fmt::format("\r\033[K{:3.0f} %  {}", 100 * fraction, printable(what));
    std::fputs(line.c_str(), stderr);
    isShown_ = true;
}

}  // namespace lanescope::cli
