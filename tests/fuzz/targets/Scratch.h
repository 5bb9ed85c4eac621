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
