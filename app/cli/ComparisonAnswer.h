// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "model/pages/makeComparison.h"

namespace lanescope::cli {

/// What conditions are made of, for the help of commands that take them.
std::string_view conditionsHelp();

/// What `lanescope compare --help` says below its options: conditions, exit status, examples.
std::string compareHelp();

}  // namespace lanescope::cli

namespace lanescope::report {
struct ComparisonReport;
}

namespace lanescope::cli {

/// What the exit status of an answer means, beside `exitOk` and `exitUsage`.
enum AnswerStatus : int { exitMet = 1, exitNoAnswer = 3 };

/// What `compare` and `bench` say of runs: which of them, and how it is printed.
class ComparisonAnswer {
  public:
    ComparisonRequest request;

    /// Adds conditions, format, tables and rows to `command`; they are filled in when it parses.
    /// Outlive it.
    void addTo(CLI::App& command);
    /// Fails with a sentence if two of the options contradict each other.
    Result<void> check() const;
    /// Compares the runs of `request` and prints what is found, to stdout if `output` is empty.
    /// Returns the exit status; what went wrong is said.
    int give(const std::string& output);

  private:
    Result<int> print(const std::string& output) const;
    Result<std::string> formatted(const report::ComparisonReport& report) const;

    std::string format_ = "text";
    std::vector<std::string> conditionTexts_;
    std::vector<std::string> tables_;
    size_t top_ = 0;  ///< 0: as the format has it.
};

}  // namespace lanescope::cli
