// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "model/pages/makeComparison.h"

namespace lanescope::cli {

/// Returns the syntax of conditions for the help of commands that accept them.
std::string_view conditionsHelp();

/// Returns the text of `lanescope compare --help` below its options: conditions, exit status, examples.
std::string compareHelp();

/// The answer of `compare` and `bench`: the selection of runs and the output format.
class ComparisonAnswer {
  public:
    ComparisonRequest request;

    /// Adds conditions, format, tables and rows to `command`; they are set by its parse. Must outlive it.
    void addTo(CLI::App& command);
    /// Fails with a sentence if two of the options contradict each other.
    Result<void> check() const;
    /// Compares the runs of `request` and prints the result, to stdout if `output` is empty.
    /// Reports errors and returns the exit status.
    int compareAndPrint(const std::string& output);

  private:
    Result<int> print(const std::string& output) const;
    Result<std::string> formatted(const report::ComparisonReport& report) const;

    std::string format_ = "text";
    std::vector<std::string> conditionTexts_;
    std::vector<std::string> tables_;
    size_t top_ = 0;  ///< 0 = default of the format.
};

}  // namespace lanescope::cli
