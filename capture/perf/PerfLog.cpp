// SPDX-License-Identifier: Apache-2.0
#include "capture/perf/PerfLog.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "capture/log/clocks.h"

namespace lanescope::capture {

namespace {

/// Space reserved for the last piece.
constexpr uint64_t endBytes = 4096;

}  // namespace

Result<PerfLog> PerfLog::create(const Folder& folder, const std::string& name, const PerfSettings& settings,
                                uint64_t maxBytes) {
    const std::string shown = (folder.path() / name).string();
    UniqueFd file = folder.createFile(name);
    if (file < 0) return fail("{}: cannot create the file of samples: {}.", shown, std::strerror(errno));
    auto log = into(file.release(), settings, maxBytes);
    if (!log) return fail("Cannot write {}: {}", shown, log.error().sentence);
    return log;
}

Result<PerfLog> PerfLog::into(int file, const PerfSettings& settings, uint64_t maxBytes) {
    PerfLog log(file, maxBytes);
    PerfLogHead head{};
    std::memcpy(head.magic, perfLogMagic, sizeof(head.magic));
    head.headBytes = sizeof(head);
    head.machine = perfMachine;
    head.registerCount = static_cast<uint32_t>(perfRegisterCount);
    head.seesKernel = settings.seesKernel ? 1 : 0;
    head.eventOffsetNs = log::eventOffsetNs();
    head.periodNs = static_cast<int64_t>(1e9 / settings.hz);
    if (::write(file, &head, sizeof(head)) != static_cast<ssize_t>(sizeof(head)))
        return fail("{}.", std::strerror(errno));
    log.bytes_ = sizeof(head);
    return log;
}

void PerfLog::add(uint32_t core, std::span<const std::byte> records) {
    const PerfPiece piece{perfPieceMagic, PerfPieceKind::Records, core, static_cast<uint32_t>(records.size())};
    const bool hasRoom = bytesNotKept_ == 0 && bytes_ + sizeof(piece) + records.size() + endBytes <= maxBytes_;
    if (!hasRoom || !write(piece, records)) bytesNotKept_ += records.size();
}

void PerfLog::end(int64_t wallNs, int64_t cpuNs) {
    const PerfEnd end{wallNs, cpuNs, bytesNotKept_};
    const PerfPiece piece{perfPieceMagic, PerfPieceKind::End, 0, sizeof(end)};
    // Missing on a full disk.
    static_cast<void>(write(piece, std::as_bytes(std::span(&end, 1))));
}

bool PerfLog::write(const PerfPiece& piece, std::span<const std::byte> body) {
    const auto whole = static_cast<ssize_t>(sizeof(piece) + body.size());
    const iovec parts[] = {{const_cast<PerfPiece*>(&piece), sizeof(piece)},
                           {const_cast<std::byte*>(body.data()), body.size()}};
    if (::writev(file_, parts, 2) == whole) {
        bytes_ += static_cast<uint64_t>(whole);
        return true;
    }
    if (::ftruncate(file_, static_cast<off_t>(bytes_)) == 0) ::lseek(file_, static_cast<off_t>(bytes_), SEEK_SET);
    return false;
}

Result<PerfLogFile> PerfLogFile::open(const Folder& folder, const std::string& name) {
    const std::string shown = (folder.path() / name).string();
    const UniqueFd file = folder.openFile(name);
    if (file < 0) return fail("Cannot open {}: {}.", shown, std::strerror(errno));
    struct stat facts {};
    void* memory = MAP_FAILED;
    const bool isFile = ::fstat(file, &facts) == 0 && facts.st_size >= static_cast<off_t>(sizeof(PerfLogHead));
    if (isFile) memory = ::mmap(nullptr, static_cast<size_t>(facts.st_size), PROT_READ, MAP_PRIVATE, file, 0);
    if (memory == MAP_FAILED) return fail("{}: no samples in it. The file is truncated or cannot be read.", shown);
    PerfLogFile log({static_cast<const std::byte*>(memory), static_cast<size_t>(facts.st_size)});
    std::memcpy(&log.head_, memory, sizeof(log.head_));
    if (std::memcmp(log.head_.magic, perfLogMagic, sizeof(perfLogMagic)) != 0 ||
        log.head_.headBytes < sizeof(PerfLogHead) || log.head_.headBytes > log.bytes_.size())
        return fail("{}: not a Lanescope file of samples.", shown);
    if (log.head_.machine != perfMachine || log.head_.registerCount != perfRegisterCount)
        return fail("{}: samples of another processor architecture. Stacks cannot be unwound here.", shown);
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
