#include "app/cli/Output.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace lanescope {

Result<Output> Output::open(const std::optional<std::filesystem::path>& path,
                            const std::vector<std::filesystem::path>& inputs) {
    Output output;
    if (!path) {
        output.stream_ = stdout;
        return output;
    }
    std::error_code ignored;
    for (const std::filesystem::path& input : inputs)
        if (std::filesystem::equivalent(*path, input, ignored))
            return fail("Will not write over {}, which is being read; choose another output file.",
                        path->string());
    output.path_ = *path;
    const std::filesystem::file_status status = std::filesystem::status(*path, ignored);
    if (std::filesystem::is_directory(status))
        return fail("Cannot write {}: it is a folder.", path->string());
    std::filesystem::path target = *path;
    if (!std::filesystem::exists(status) || std::filesystem::is_regular_file(status)) {
        output.temporary_ = *path;
        output.temporary_ += fmt::format(".{}.part", ::getpid());
        target = output.temporary_;
    }
    output.stream_ = std::fopen(target.c_str(), "wbe");
    if (!output.stream_) {
        const int error = errno;
        output.temporary_.clear();
        return fail("Cannot write {}: {}.", path->string(), std::strerror(error));
    }
    return output;
}

Output::Output(Output&& other) noexcept
    : stream_(std::exchange(other.stream_, nullptr)),
      path_(std::move(other.path_)),
      temporary_(std::move(other.temporary_)),
      error_(other.error_) {
    other.temporary_.clear();
}

Output::~Output() {
    discard();
}

void Output::discard() {
    if (stream_ && stream_ != stdout) std::fclose(stream_);
    stream_ = nullptr;
    if (!temporary_.empty()) ::unlink(temporary_.c_str());
    temporary_.clear();
}

void Output::write(std::string_view text) {
    if (!stream_ || error_ != 0) return;
    if (std::fwrite(text.data(), 1, text.size(), stream_) != text.size()) error_ = errno;
}

Result<void> Output::close() {
    if (stream_ && error_ == 0 && std::fflush(stream_) != 0) error_ = errno;
    if (stream_ && stream_ != stdout && std::fclose(stream_) != 0 && error_ == 0) error_ = errno;
    stream_ = nullptr;
    if (error_ == 0 && !temporary_.empty()) {
        if (std::rename(temporary_.c_str(), path_.c_str()) == 0)
            temporary_.clear();
        else
            error_ = errno;
    }
    const int error = error_;
    discard();
    if (error == 0 || error == EPIPE) return {};
    return fail("Cannot write {}: {}.", path_.empty() ? "the output" : path_.string(),
                std::strerror(error));
}

}  // namespace lanescope
