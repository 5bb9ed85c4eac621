// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string_view>

namespace lanescope::fuzz {

/// A temporary folder for data that can be read only from files, in memory if a file system there
/// exists. Removed with the value.
class Scratch {
  public:
    Scratch();
    ~Scratch();
    Scratch(const Scratch&) = delete;
    Scratch& operator=(const Scratch&) = delete;

    std::filesystem::path operator/(std::string_view name) const { return path_ / name; }
    /// Writes or replaces a file.
    std::filesystem::path write(std::string_view name, std::string_view bytes) const;
    void clear() const;

  private:
    std::filesystem::path path_;
};

/// Users other than the one that runs the target: the owner of a trace, and one who may write to its folder.
enum class OtherUser : unsigned { Owner = 65'530, Neighbour = 65'531 };

/// Gives a file to a user with these permissions. Needs root (`canGiveFiles`).
void giveFile(const std::filesystem::path& path, OtherUser user, unsigned mode);
bool canGiveFiles();

/// A file without a name that contains `bytes`.
class NamelessFile {
  public:
    explicit NamelessFile(std::string_view bytes);
    ~NamelessFile();
    NamelessFile(const NamelessFile&) = delete;
    NamelessFile& operator=(const NamelessFile&) = delete;

    int descriptor() const { return descriptor_; }

  private:
    int descriptor_;
};

}  // namespace lanescope::fuzz
