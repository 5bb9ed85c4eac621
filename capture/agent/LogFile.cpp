#include "capture/agent/LogFile.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>
#include <zlib.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "capture/agent/clocks.h"

namespace lanescope {

namespace {

constexpr size_t flushBytes = 512u << 10;  // a block this large is worth a system call
constexpr int maximumFilesOfOneName = 1000;
constexpr int lowestDescriptors[] = {500, 100, 3};  // as far up as the limit of the process allows

/// Writes everything or reports failure; a signal in between does not cut a block.
bool writeAll(int descriptor, iovec* parts, int count) {
    while (count > 0) {
        const ssize_t written = ::writev(descriptor, parts, count);
        if (written < 0) {
            if (errno == EINTR) continue;
            return false;
        }
        size_t left = static_cast<size_t>(written);
        while (count > 0 && left >= parts->iov_len) {
            left -= parts->iov_len;
            ++parts;
            --count;
        }
        if (count > 0) {
            parts->iov_base = static_cast<char*>(parts->iov_base) + left;
            parts->iov_len -= left;
        }
    }
    return true;
}

}  // namespace

LogFile::LogFile(std::string pathWithoutSuffix) : pathWithoutSuffix_(std::move(pathWithoutSuffix)) {
    block_.reserve(flushBytes + (64u << 10));
}

LogFile::~LogFile() {
    close();
}

void LogFile::close() {
    if (descriptor_ >= 0 && isStillOurs()) ::close(descriptor_);
    descriptor_ = -1;
}

bool LogFile::isStillOurs() const {
    struct stat now {};
    return ::fstat(descriptor_, &now) == 0 && now.st_dev == deviceNumber_ &&
           now.st_ino == fileNumber_;
}

void LogFile::append(const void* record, size_t bytes, int64_t timeNs) {
    const auto* begin = static_cast<const unsigned char*>(record);
    block_.insert(block_.end(), begin, begin + bytes);
    if (timeNs > 0) {
        if (header_.minimumTimeNs == 0 || timeNs < header_.minimumTimeNs)
            header_.minimumTimeNs = timeNs;
        if (timeNs > header_.maximumTimeNs) header_.maximumTimeNs = timeNs;
    }
    if (block_.size() >= flushBytes) flush();
}

void LogFile::flush() {
    if (block_.empty()) return;
    if (descriptor_ >= 0 && !isStillOurs()) {
        descriptor_ = -1;
        cannotOpen_ = true;
    }
    if (descriptor_ < 0 && !open()) {
        ++lostBlocks_;
        block_.clear();
        return;
    }
    header_.magic = log::blockMagic;
    header_.type = log::BlockType::Records;
    header_.flags = 0;
    header_.payloadBytes = static_cast<uint32_t>(block_.size());
    header_.sequence = sequence_++;
    // sequence and the two times lie side by side at the end of the header
    uLong checksum = ::crc32(0, reinterpret_cast<const Bytef*>(&header_.sequence), 24);
    checksum = ::crc32(checksum, block_.data(), static_cast<uInt>(block_.size()));
    header_.checksum = static_cast<uint32_t>(checksum);

    iovec parts[2] = {{&header_, sizeof header_}, {block_.data(), block_.size()}};
    if (writeAll(descriptor_, parts, 2)) {
        fileBytes_ += static_cast<int64_t>(sizeof header_ + block_.size());
    } else {
        ++lostBlocks_;
        // A half-written block would hide all that follow it.
        if (::ftruncate(descriptor_, fileBytes_) != 0) cannotOpen_ = true;
    }
    block_.clear();
    header_ = {};
    if (cannotOpen_) close();
}

uint64_t LogFile::takeLostBlocks() {
    const uint64_t lost = std::exchange(lostBlocks_, 0);
    return cannotOpen_ ? 0 : lost;
}

bool LogFile::open() {
    if (cannotOpen_) return false;
    for (int attempt = 1; attempt <= maximumFilesOfOneName && descriptor_ < 0; ++attempt) {
        std::string path = pathWithoutSuffix_;
        if (attempt > 1) path += "." + std::to_string(attempt);
        path += ".log";
        descriptor_ =
            ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0600);
        if (descriptor_ < 0 && errno != EEXIST && errno != EINTR) break;
    }
    for (const int lowest : lowestDescriptors) {
        if (descriptor_ < 0 || descriptor_ >= lowest) break;
        const int higher = ::fcntl(descriptor_, F_DUPFD_CLOEXEC, lowest);
        if (higher < 0) continue;
        ::close(std::exchange(descriptor_, higher));
        break;
    }
    struct stat opened {};
    if (descriptor_ >= 0 && ::fstat(descriptor_, &opened) == 0) {
        deviceNumber_ = opened.st_dev;
        fileNumber_ = opened.st_ino;
    }
    if (descriptor_ >= 0 && writeHeader()) return true;
    cannotOpen_ = true;
    close();
    return false;
}

bool LogFile::writeHeader() {
    log::FileHeader header{};
    std::memcpy(header.magic, log::fileMagic, sizeof header.magic);
    header.version = log::formatVersion;
    header.headerBytes = sizeof header;
    header.pid = static_cast<uint32_t>(::getpid());
    header.parentPid = static_cast<uint32_t>(::getppid());
    header.realtimeNs = realtimeNs();
    header.monotonicNs = monotonicNs();
    iovec part{&header, sizeof header};
    if (!writeAll(descriptor_, &part, 1)) return false;
    fileBytes_ = sizeof header;
    return true;
}

}  // namespace lanescope
