// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "model/format/Result.h"
#include "model/requests/CompareSelection.h"

namespace lanescope::cli {

/// What CLI11 shows of an error: a sentence without its full stop, to which the caller adds one;
/// nothing if there is none.
template <class T>
std::string checkText(const Result<T>& result) {
    return result ? std::string() : result.error().sentence;
}

/// Adds `--range`, which ranges are the steps. `selection` outlives the parse.
void addStepRange(CLI::App& command, CompareSelection& selection);
/// The same, and `--steps`, which of them are looked at.
void addStepOptions(CLI::App& command, CompareSelection& selection);

}  // namespace lanescope::cli
