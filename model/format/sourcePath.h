// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace lanescope {

// How paths of source files stand in a trace: the same for everybody who runs a program, and short.

/// The folders that paths are told from; empty if not known.
struct SourceFolders {
    std::string working;  ///< Where the program was started.
    std::string home;     ///< Of who started it.
};

/// Whether a file belongs to Python's library or to an installed package. Any thread, as the
/// others.
bool isLibraryFile(std::string_view file);

/// A path relative to the working folder if it lies below that, "~/src/train.py" below the home
/// folder, and as it is elsewhere; also where it would no longer be known what it is.
std::string shortSourcePath(std::string_view path, const SourceFolders& folders);

/// The path of which `shortSourcePath` made `path`; where nothing is known of the folders `path`
/// itself, and what is no path, such as "<string>".
std::string fullSourcePath(std::string_view path, const SourceFolders& folders);

}  // namespace lanescope
