// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "app/cli/Output.h"

namespace lanescope::cli {

/// Function that adds a command to the parser: `addRecord` adds `lanescope record`.
using AddCommand = void(CLI::App& app, int& exitStatus);
AddCommand addBench, addBisect, addCheck, addCompare, addDoctor, addExplain, addExport, addFleet, addHang, addImport,
    addIndex, addInfo, addMcp, addMerge, addPage, addRecord, addRecover, addServe, addSql, addStats, addSummarize,
    addTrigger, addView, addWatch, addWhatIf;

/// Inserts a missing "--" before the program in a command line that begins with "record" or
/// "bench", so that the program's options are not parsed as ours, and a "---" after that of
/// "bisect", which has further words before its program. Add these commands first. Throws
/// a `CLI::ParseError`, like the parser, for an unknown option of the command.
void separateProgram(const CLI::App& app, std::vector<std::string>& words);

}  // namespace lanescope::cli
