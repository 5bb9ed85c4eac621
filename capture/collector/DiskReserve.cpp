// SPDX-License-Identifier: Apache-2.0
#include "capture/collector/DiskReserve.h"

#include <fcntl.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>
#include <vector>

namespace lanescope::capture {

namespace {

/// Less is of no use.
constexpr uint64_t minUsefulBytes = 64 << 10;
/// File systems without reservation write the space instead, so there it does not grow.
constexpr size_t blockBytes = 1 << 20;
constexpr int64_t nsPerSecond = 1'000'000'000;

bool isUnsupported(int problem) { return problem == EOPNOTSUPP || problem == ENOSYS || problem == EINVAL; }

}  // namespace

DiskReserve::DiskReserve(std::shared_ptr<const Folder> runFolder) : runFolder_(std::move(runFolder)) {
    file_ = runFolder_->createFile(fileName);
    for (uint64_t bytes = minBytes; file_ >= 0 && bytes >= minUsefulBytes && bytes_ == 0; bytes /= 2)
        if (!grow(bytes)) static_cast<void>(::ftruncate(file_, 0) == 0);
}

DiskReserve::~DiskReserve() { release(); }

bool DiskReserve::grow(uint64_t bytes) {
    if (::fallocate(file_, 0, 0, static_cast<off_t>(bytes)) == 0) {
        bytes_ = bytes;
        return true;
    }
    if (!isUnsupported(errno) || bytes > minBytes) return false;
    const std::vector<char> zeros(std::min<size_t>(bytes, blockBytes));
    for (uint64_t at = 0; at < bytes; at += zeros.size())
        if (!writeAllAt(file_, zeros.data(), zeros.size(), at)) return false;
    bytes_ = bytes;
    return true;
}

void DiskReserve::cover(uint64_t logBytes, int64_t ns) {
    if (file_ < 0 || bytes_ < minBytes || ns <= 0) return;
    const double perSecond = static_cast<double>(logBytes) * nsPerSecond / static_cast<double>(ns);
    const uint64_t wanted = std::min(minBytes + static_cast<uint64_t>(2 * perSecond), maxBytes);
    // The program may need the rest of the disk, such as for a checkpoint.
    struct statvfs disk {};
    if (wanted <= bytes_ || ::fstatvfs(file_, &disk) != 0) return;
    const uint64_t more = wanted - bytes_;
    if (uint64_t{disk.f_bavail} * disk.f_frsize < 4 * more || grow(wanted)) return;
    // A failed call keeps the part that it got.
    static_cast<void>(::ftruncate(file_, static_cast<off_t>(bytes_)) == 0);
}

void DiskReserve::release() {
    if (file_ < 0) return;
    file_.reset();
    static_cast<void>(runFolder_->removeFile(fileName));
}

}  // namespace lanescope::capture
