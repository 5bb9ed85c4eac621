// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "model/format/Result.h"

namespace lanescope::capture {

struct OutputNameParts {
    int pid = 0;     ///< Process id of the program.
    int number = 1;  ///< Number of the trace among several of one name.
};

/// Expands a pattern for a file name: %p the program's process id, %n the number, %h the host, %q{NAME} the environment
/// variable NAME, %% a percent sign. Fails for anything else after a %, and for a variable that is not set.
Result<std::string> expandOutputPattern(std::string_view pattern, const OutputNameParts& parts);

/// Returns true if the pattern has a %n, so that a free name always exists.
bool isNumbered(std::string_view pattern);

/// Returns "lanescope-<program>-%n.sqlite".
std::string defaultOutputPattern(const std::filesystem::path& program);

/// Fails if this process is one of several that a launcher started here and the pattern gives all
/// of them the same name.
Result<void> checkNameOfRank(std::string_view pattern);

/// Checks that a trace can be written at `output`. Its folder must exist and be writable, and no
/// file may exist there, or with `overwrite` at most a regular file.
Result<void> checkOutput(const std::filesystem::path& output, bool overwrite);

/// Returns the log folder of a run with the trace `output`: ".<name>.run" next to it.
std::filesystem::path runFolderFor(const std::filesystem::path& output);

std::filesystem::path outputForRunFolder(const std::filesystem::path& runFolder);

/// Returns the name of this host; "host" if it has none.
std::string hostName();

}  // namespace lanescope::capture
