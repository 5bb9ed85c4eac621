// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "model/format/text.h"

namespace lanescope {

/// Returns the rank in a file name: 3 of "run.rank3.json", "rank_3.sqlite", "rank-3". Returns nullopt if there is none.
inline std::optional<int> rankInName(std::string_view name) {
    constexpr std::string_view word = "rank";
    constexpr int maxRank = 1 << 24;
    const size_t found = name.find(word);
    if (found == std::string_view::npos) return std::nullopt;
    name.remove_prefix(found + word.size());
    if (!name.empty() && (name.front() == '-' || name.front() == '_')) name.remove_prefix(1);
    int rank = 0;
    bool isNumber = false;
    for (; !name.empty() && isDigit(name.front()); name.remove_prefix(1)) {
        rank = rank * 10 + (name.front() - '0');
        isNumber = true;
        if (rank >= maxRank) return std::nullopt;
    }
    return isNumber ? std::optional(rank) : std::nullopt;
}

// Form of source paths in a trace: short, and equal for all users of a program.

/// Base folders of short paths; empty if unknown.
struct SourceFolders {
    std::string working;  ///< Working folder of the program.
    std::string home;     ///< Home folder of the user.
};

/// Returns true if the file is a module of Python by its name.
inline bool isPythonFile(std::string_view file) { return file.ends_with(".py"); }

/// Returns true if the file is part of PyTorch's data loader.
inline bool isTorchDataFile(std::string_view file) { return file.find("/torch/utils/data/") != std::string_view::npos; }

/// Returns true for functions of torch.utils.checkpoint that repeat a forward within a backward.
inline bool isRecomputation(std::string_view file, std::string_view function) {
    const auto has = [function](std::string_view part) { return function.find(part) != std::string_view::npos; };
    return file.find("utils/checkpoint.py") != std::string_view::npos &&
           (has("recompute_fn") || has("unpack_hook") || has("CheckpointFunction.backward") || function == "backward");
}

/// Returns true if a file belongs to Python's library or to an installed package. Any thread, also
/// for the functions below.
bool isLibraryFile(std::string_view file);

/// Returns the path relative to the working folder, or "~/src/train.py" below the home folder.
/// Other and ambiguous paths are returned unchanged.
std::string shortSourcePath(std::string_view path, const SourceFolders& folders);

/// Inverts `shortSourcePath`. Returns `path` itself if the folders are unknown, or if it is no
/// path, such as "<string>".
std::string fullSourcePath(std::string_view path, const SourceFolders& folders);

/// Returns true if a mangled name may expand to more than a megabyte. Back references let 250 bytes
/// stand for gigabytes.
bool mayDemangleLong(std::string_view mangled);

/// Returns the demangled name of a function, or the name itself if it is not mangled, malformed or longer than 32 KiB.
/// Returns nullopt if `mayDemangleLong`.
std::optional<std::string> demangledName(const std::string& mangled);

}  // namespace lanescope
