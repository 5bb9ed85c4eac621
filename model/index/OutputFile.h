#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "model/format/Result.h"

namespace lanescope {

/// A file that appears under its name when it is whole, and never if it is not: it is written
/// without a name where that is possible. What could not be written is told by `commit`.
class OutputFile {
  public:
    /// Whoever may read or write `source` may do so with the file, its owner always; where `source`
    /// cannot be asked, or lets another group in than the file can belong to, nobody else. Fails if
    /// the folder cannot be written to.
    static Result<OutputFile> create(const std::filesystem::path& path,
                                     const std::filesystem::path& source);
    OutputFile(OutputFile&& other) noexcept;
    OutputFile& operator=(OutputFile&&) = delete;
    /// Removes what was not committed.
    ~OutputFile();

    void write(std::span<const std::byte> bytes);
    /// Fills up to a multiple of eight bytes.
    void align();
    uint64_t offset() const { return offset_; }
    /// Overwrites the first bytes.
    void writeAtStart(std::span<const std::byte> bytes);
    /// Gives the file its name, in place of whatever had it.
    Result<void> commit();

  private:
    OutputFile(int descriptor, std::string partial, std::filesystem::path path);
    void flush();
    int nameIt();

    int descriptor_ = -1;
    std::string partial_;  ///< Its name until it is committed; empty as long as it has none.
    std::filesystem::path path_;
    std::vector<std::byte> buffer_;
    uint64_t offset_ = 0;
    int error_ = 0;  ///< Of the first write that failed.
};

}  // namespace lanescope
