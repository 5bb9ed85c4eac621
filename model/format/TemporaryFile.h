// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

#include "model/format/Result.h"

namespace lanescope {

/// Where temporary files go, the first that works: in the folder that the environment variable
/// TMPDIR names, else in /var/tmp or /tmp.
std::vector<std::filesystem::path> temporaryFolders();

/// A file without a name: nobody else can open it, and it is gone with this object, or with the
/// process however that ends. One thread at a time.
class TemporaryFile {
  public:
    /// In `folder`, for the owner only; without one, in one of `temporaryFolders`.
    static Result<TemporaryFile> create(const std::filesystem::path& folder = {});
    TemporaryFile(TemporaryFile&& other) noexcept;
    TemporaryFile& operator=(TemporaryFile&&) = delete;
    ~TemporaryFile();

    /// Appends all of `bytes`.
    Result<void> write(std::span<const unsigned char> bytes);
    /// Bytes that this user can still write beside the file.
    uint64_t freeBytes() const;
    int descriptor() const { return descriptor_; }
    const std::filesystem::path& folder() const { return folder_; }

  private:
    TemporaryFile(int descriptor, std::filesystem::path folder)
        : descriptor_(descriptor), folder_(std::move(folder)) {}

    int descriptor_ = -1;
    std::filesystem::path folder_;
};

}  // namespace lanescope
