// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "model/format/Result.h"

namespace lanescope::answers {

/// The folders whose files a server may read.
class FolderGate {
  public:
    /// Fails if one is no folder.
    static Result<FolderGate> of(const std::vector<std::string>& folders);

    const std::vector<std::filesystem::path>& folders() const { return folders_; }
    /// Returns the file or folder of a name, with all links resolved. A relative name is below the first folder that
    /// has it. Fails with one sentence for whatever is missing or outside, so that it reveals nothing.
    Result<std::filesystem::path> find(const std::string& name) const;
    /// Returns the path of a new file, whose folder exists below one of the folders.
    Result<std::filesystem::path> findNew(const std::string& name) const;
    /// Returns traces below a folder by name, at most `most`, without following links.
    std::vector<std::filesystem::path> traces(const std::filesystem::path& folder, size_t most) const;

  private:
    bool contains(const std::filesystem::path& resolved) const;
    std::string refusal(const std::string& name) const;

    std::vector<std::filesystem::path> folders_;
};

}  // namespace lanescope::answers
