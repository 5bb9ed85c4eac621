// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string_view>

namespace lanescope::cli {

/// One line on stderr, where that is a terminal, that says how far a command has come and is
/// written over and over; it goes with this object. Work that is done soon shows none.
class ProgressLine {
  public:
    ProgressLine();
    ProgressLine(const ProgressLine&) = delete;
    ProgressLine& operator=(const ProgressLine&) = delete;
    ~ProgressLine();

    /// `fraction` in [0, 1].
    void show(double fraction, std::string_view what);

  private:
    const bool isTerminal_;
    const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
    bool isShown_ = false;
};

}  // namespace lanescope::cli
