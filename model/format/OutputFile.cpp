// SPDX-License-Identifier: Apache-2.0
#include "model/format/OutputFile.h"

#include <cerrno>
#include <cstring>
#include <utility>

namespace lanescope {

Result<OutputFile> OutputFile::open(const std::filesystem::path& path) {
    OutputFile output;
    std::error_code ignored;
    const std::filesystem::file_status status = std::filesystem::status(path, ignored);
    const bool isInPlace = std::filesystem::exists(status) &&
                           !std::filesystem::is_regular_file(status) &&
                           !std::filesystem::is_directory(status);
    if (!isInPlace) {
        Result<AtomicFile> file = AtomicFile::create(path);
        if (!file) return fail(file.error());
        file->keepAccess();
        output.file_.emplace(std::move(*file));
        return output;
    }
    output.path_ = path;
    output.stream_ = std::fopen(path.c_str(), "wbe");
    if (!output.stream_) return fail("Cannot write {}: {}.", path.string(), std::strerror(errno));
    return output;
}

OutputFile OutputFile::standardOutput() {
    OutputFile output;
    output.stream_ = stdout;
    return output;
}

OutputFile::OutputFile(OutputFile&& other) noexcept
    : file_(std::move(other.file_)),
      stream_(std::exchange(other.stream_, nullptr)),
      path_(std::move(other.path_)),
      error_(other.error_) {}

OutputFile::~OutputFile() {
    if (stream_ && stream_ != stdout) std::fclose(stream_);
}

void OutputFile::write(std::string_view text) {
    if (file_) return file_->write(text);
    if (!stream_ || error_ != 0) return;
    if (std::fwrite(text.data(), 1, text.size(), stream_) != text.size()) error_ = errno;
}

Result<void> OutputFile::close() {
    if (file_) return file_->commit();
    if (stream_ && error_ == 0 && std::fflush(stream_) != 0) error_ = errno;
    if (stream_ && stream_ != stdout && std::fclose(stream_) != 0 && error_ == 0) error_ = errno;
    stream_ = nullptr;
    if (error_ == 0 || error_ == EPIPE) return {};
    return fail("Cannot write {}: {}.", path_.empty() ? "the output" : path_.string(),
                std::strerror(error_));
}

Result<void> checkIsNoInput(const std::filesystem::path& path,
                            std::span<const std::filesystem::path> inputs) {
    std::error_code ignored;
    for (const std::filesystem::path& input : inputs)
        if (std::filesystem::equivalent(path, input, ignored))
            return fail("Will not write over {}, which is being read; choose another output file.",
                        path.string());
    return {};
}

}  // namespace lanescope
