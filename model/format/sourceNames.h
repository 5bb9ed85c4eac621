// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cctype>
#include <optional>
#include <string>
#include <string_view>

namespace lanescope {

/// The rank that the name of a file tells: 3 of "run.rank3.json", "rank_3.sqlite", "rank-3";
/// nothing if it tells none.
inline std::optional<int> rankInName(std::string_view name) {
    constexpr std::string_view word = "rank";
    constexpr int most = 1 << 24;
    const size_t found = name.find(word);
    if (found == std::string_view::npos) return std::nullopt;
    name.remove_prefix(found + word.size());
    if (!name.empty() && (name.front() == '-' || name.front() == '_')) name.remove_prefix(1);
    int rank = 0;
    bool isNumber = false;
    for (; !name.empty() && std::isdigit(static_cast<unsigned char>(name.front())) != 0;
         name.remove_prefix(1)) {
        rank = rank * 10 + (name.front() - '0');
        isNumber = true;
        if (rank >= most) return std::nullopt;
    }
    return isNumber ? std::optional(rank) : std::nullopt;
}

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

/// Whether a mangled name may stand for more than a megabyte, as a name may refer back to parts of
/// itself: one of 250 bytes can stand for gigabytes.
bool mayDemangleLong(std::string_view mangled);

/// What the name of a function means; itself if it is not mangled, and nothing if it may be too
/// long for being demangled here.
std::optional<std::string> demangledName(const std::string& mangled);

}  // namespace lanescope
