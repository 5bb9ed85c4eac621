// SPDX-License-Identifier: Apache-2.0
#include "model/load/UnpackedStream.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>

#include "model/format/checkFile.h"

namespace lanescope {

namespace {

constexpr unsigned bufferBytes = 1u << 18;

}  // namespace

void UnpackedStream::Close::operator()(void* file) const {
    gzclose(static_cast<gzFile>(file));
}

Result<UnpackedStream> UnpackedStream::open(const std::filesystem::path& path) {
    const Result<uint64_t> bytes = checkFile(path);
    if (!bytes) return fail(bytes.error());
    // What was a file a moment ago may be a pipe by now.
    const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (descriptor < 0) return fail("Cannot read {}: {}.", path.string(), std::strerror(errno));
    Result<UnpackedStream> stream = open(descriptor, path);
    ::close(descriptor);
    return stream;
}

Result<UnpackedStream> UnpackedStream::open(int descriptor, const std::filesystem::path& path) {
    UnpackedStream stream;
    stream.path_ = path;
    struct stat status {};
    const int own = ::fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
    if (own < 0 || ::fstat(own, &status) != 0 || ::lseek(own, 0, SEEK_SET) != 0) {
        const int error = errno;
        if (own >= 0) ::close(own);
        return fail("Cannot read {}: {}.", path.string(), std::strerror(error));
    }
    stream.fileBytes_ = static_cast<uint64_t>(status.st_size);
    gzFile file = gzdopen(own, "rb");
    if (file == nullptr) {
        ::close(own);
        return fail("{} cannot be read: memory is short.", path.string());
    }
    stream.file_.reset(file);
    gzbuffer(file, bufferBytes);
    stream.isCompressed_ = gzdirect(file) == 0;
    return stream;
}

Result<size_t> UnpackedStream::read(std::span<char> bytes) {
    auto* file = static_cast<gzFile>(file_.get());
    const auto wanted = static_cast<unsigned>(std::min<size_t>(bytes.size(), INT_MAX));
    const int count = gzread(file, bytes.data(), wanted);
    if (count >= static_cast<int>(wanted)) return static_cast<size_t>(count);
    int code = Z_OK;
    gzerror(file, &code);
    if (code == Z_ERRNO) return fail("Cannot read {}: {}.", path_.string(), std::strerror(errno));
    if (code == Z_MEM_ERROR) return fail("{} cannot be unpacked: memory is short.", path_.string());
    if (code == Z_BUF_ERROR && count > 0) return static_cast<size_t>(count);
    if (code == Z_BUF_ERROR)
        return fail("The compressed file {} is cut short. Copy it again.", path_.string());
    if (code != Z_OK && code != Z_STREAM_END)
        return fail("The compressed file {} is damaged. Copy it again.", path_.string());
    return static_cast<size_t>(std::max(0, count));
}

double UnpackedStream::fractionRead() const {
    const auto place = gzoffset(static_cast<gzFile>(file_.get()));
    if (fileBytes_ == 0 || place <= 0) return 0;
    return std::min(1.0, static_cast<double>(place) / static_cast<double>(fileBytes_));
}

}  // namespace lanescope
