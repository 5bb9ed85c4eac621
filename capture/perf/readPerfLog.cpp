// SPDX-License-Identifier: Apache-2.0
#include "capture/perf/readPerfLog.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace lanescope::capture {

Result<PerfLogFile> PerfLogFile::open(const std::filesystem::path& path) {
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (file < 0) return fail("Cannot open {}: {}.", path.string(), std::strerror(errno));
    struct stat facts {};
    void* memory = MAP_FAILED;
    const bool isFile = ::fstat(file, &facts) == 0 && S_ISREG(facts.st_mode) &&
                        facts.st_size >= static_cast<off_t>(sizeof(PerfLogHead));
    if (isFile)
        memory =
            ::mmap(nullptr, static_cast<size_t>(facts.st_size), PROT_READ, MAP_PRIVATE, file, 0);
    ::close(file);
    if (memory == MAP_FAILED)
        return fail("{} holds no samples: it is cut in its first bytes or cannot be read.",
                    path.string());
    PerfLogFile log({static_cast<const std::byte*>(memory), static_cast<size_t>(facts.st_size)});
    std::memcpy(&log.head_, memory, sizeof(log.head_));
    if (std::memcmp(log.head_.magic, perfLogMagic, sizeof(perfLogMagic)) != 0 ||
        log.head_.headBytes < sizeof(PerfLogHead) || log.head_.headBytes > log.bytes_.size())
        return fail("{} holds no samples of Lanescope.", path.string());
    if (log.head_.machine != perfMachine || log.head_.registerCount != perfRegisterCount)
        return fail(
            "The samples in {} were taken on another kind of processor, so their stacks "
            "cannot be followed here.",
            path.string());
    return log;
}

PerfLogFile::PerfLogFile(PerfLogFile&& other) noexcept
    : bytes_(std::exchange(other.bytes_, {})), head_(other.head_), end_(other.end_) {}

PerfLogFile::~PerfLogFile() {
    if (!bytes_.empty()) ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

uint64_t PerfLogFile::read(PerfVisitor& visitor) {
    std::span<const std::byte> rest = bytes_.subspan(head_.headBytes);
    uint64_t odd = 0;
    while (rest.size() >= sizeof(PerfPiece)) {
        PerfPiece piece;
        std::memcpy(&piece, rest.data(), sizeof(piece));
        if (piece.magic != perfPieceMagic || piece.bytes > rest.size() - sizeof(piece)) break;
        const auto body = rest.subspan(sizeof(piece), piece.bytes);
        if (piece.kind == PerfPieceKind::Records) {
            odd += readPerfRecords(body, head_.registerCount, visitor);
        } else if (piece.kind == PerfPieceKind::End && body.size() >= sizeof(PerfEnd)) {
            end_.emplace();
            std::memcpy(&*end_, body.data(), sizeof(*end_));
        }
        rest = rest.subspan(sizeof(piece) + piece.bytes);
    }
    return odd + rest.size();
}

}  // namespace lanescope::capture
