// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string_view>

namespace lanescope::fuzz {

/// A folder for what can be read only from files, in memory where there is a file system there. It
/// goes with the value.
class Scratch {
  public:
    Scratch();
    ~Scratch();
    Scratch(const Scratch&) = delete;
    Scratch& operator=(const Scratch&) = delete;

    std::filesystem::path operator/(std::string_view name) const { return path_ / name; }
    /// Writes a file anew.
    std::filesystem::path write(std::string_view name, std::string_view bytes) const;
    /// Removes all that is in it.
    void clear() const;

  private:
    std::filesystem::path path_;
};

/// A file without a name that holds `bytes`.
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
