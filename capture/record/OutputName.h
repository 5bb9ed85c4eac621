// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "model/format/Result.h"

namespace lanescope::capture {

/// What the name of a trace can be made of.
struct OutputNameParts {
    int pid = 0;     ///< Of the program.
    int number = 1;  ///< Of several traces of one name.
};

/// Fills in a pattern for a file name: %p the program's process id, %n the number, %h the host,
/// %q{NAME} the environment variable NAME, %% a percent sign. Fails for anything else after a %,
/// and for a variable that is not set.
Result<std::string> expandOutputPattern(std::string_view pattern, const OutputNameParts& parts);

/// True if the pattern has a %n, so that there is always a free name.
bool isNumbered(std::string_view pattern);

/// "lanescope-<program>-%n.sqlite".
std::string defaultOutputPattern(const std::filesystem::path& program);

/// If this process is one of several that a launcher started here, fails if the pattern gives the
/// same name to all of them.
Result<void> checkNameOfRank(std::string_view pattern);

/// Checks that a trace can be written at `output`: its folder exists and is writable, and nothing
/// is there, or with `overwrite` at most a regular file.
Result<void> checkOutput(const std::filesystem::path& output, bool overwrite);

/// Where the logs of a run go whose trace is to be `output`: ".<name>.run" beside it.
std::filesystem::path runFolderFor(const std::filesystem::path& output);

/// The way back: the trace that belongs to a run folder.
std::filesystem::path outputForRunFolder(const std::filesystem::path& runFolder);

/// The name of this host; "host" if it has none.
std::string hostName();

}  // namespace lanescope::capture
