#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <span>

namespace lanescope {

/// A file as memory, for reading. It stays as it was opened even if another takes its name; only
/// who cuts it short in place breaks that, which nothing here does.
class MappedFile {
  public:
    /// Nothing for what cannot be read or is empty.
    static std::optional<MappedFile> open(const std::filesystem::path& path);
    MappedFile(MappedFile&& other) noexcept;
    MappedFile& operator=(MappedFile&&) = delete;
    ~MappedFile();

    std::span<const std::byte> bytes() const { return bytes_; }

  private:
    explicit MappedFile(std::span<const std::byte> bytes) : bytes_(bytes) {}

    std::span<const std::byte> bytes_;
};

}  // namespace lanescope
