// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>

#include "model/format/files.h"

namespace lanescope {

/// Returns the bytes of a file; empty if it cannot be read.
inline std::string contentOf(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

/// Replaces the content of a file.
inline void put(const std::filesystem::path& path, std::string_view content) {
    std::ofstream(path, std::ios::binary) << content;
}

/// Opens the folder of a file.
inline Folder folderOf(const std::filesystem::path& path) {
    Result<Folder> folder = Folder::open(path.parent_path());
    return std::move(*folder);
}
inline std::string nameOf(const std::filesystem::path& path) { return path.filename().string(); }

}  // namespace lanescope
