#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "model/format/Result.h"

namespace lanescope {

/// Fills in a pattern for a file name: %p the program's process id, %h the host, %q{NAME} the
/// environment variable NAME, %% a percent sign. Fails for anything else after a %, and for a
/// variable that is not set.
Result<std::string> expandOutputPattern(std::string_view pattern, int pid);

/// "lanescope-<program>-<n>.sqlite" in `folder`, with the smallest n from 1 that is free: neither a
/// trace nor the logs of an unfinished one have the name.
std::filesystem::path firstFreeOutput(const std::filesystem::path& folder,
                                      const std::filesystem::path& program);

/// Checks that a trace can be written at `output`: its folder exists and is writable, and nothing
/// is there, or with `overwrite` at most a regular file.
Result<void> checkOutput(const std::filesystem::path& output, bool overwrite);

/// Where the logs of a run go whose trace is to be `output`: ".<name>.run" beside it.
std::filesystem::path runFolderFor(const std::filesystem::path& output);

/// The way back: the trace that belongs to a run folder.
std::filesystem::path outputForRunFolder(const std::filesystem::path& runFolder);

/// The name of this host; "host" if it has none.
std::string hostName();

}  // namespace lanescope
