// SPDX-License-Identifier: Apache-2.0
#include "capture/perf/PerfLog.h"

#include <fcntl.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "capture/log/clocks.h"

namespace lanescope::capture {

namespace {

/// Some of the room is for the last piece.
constexpr uint64_t endBytes = 4096;

}  // namespace

Result<PerfLog> PerfLog::create(const std::filesystem::path& path, const PerfSettings& settings,
                                uint64_t maximumBytes) {
    const int file =
        ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (file < 0)
        return fail("Cannot create {} for samples: {}.", path.string(), std::strerror(errno));
    auto log = into(file, settings, maximumBytes);
    if (!log) return fail("Cannot write {}: {}", path.string(), log.error().sentence);
    return log;
}

Result<PerfLog> PerfLog::into(int file, const PerfSettings& settings, uint64_t maximumBytes) {
    PerfLog log(file, maximumBytes);
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

PerfLog::PerfLog(PerfLog&& other) noexcept
    : file_(std::exchange(other.file_, -1)),
      maximumBytes_(other.maximumBytes_),
      bytes_(other.bytes_),
      bytesNotKept_(other.bytesNotKept_) {}

PerfLog::~PerfLog() {
    if (file_ >= 0) ::close(file_);
}

void PerfLog::add(uint32_t core, std::span<const std::byte> records) {
    const PerfPiece piece{perfPieceMagic, PerfPieceKind::Records, core,
                          static_cast<uint32_t>(records.size())};
    const bool hasRoom =
        bytesNotKept_ == 0 && bytes_ + sizeof(piece) + records.size() + endBytes <= maximumBytes_;
    if (!hasRoom || !write(piece, records)) bytesNotKept_ += records.size();
}

void PerfLog::end(int64_t wallNs, int64_t cpuNs) {
    const PerfEnd end{wallNs, cpuNs, bytesNotKept_};
    const PerfPiece piece{perfPieceMagic, PerfPieceKind::End, 0, sizeof(end)};
    // On a full disk there is none.
    static_cast<void>(write(piece, std::as_bytes(std::span(&end, 1))));
}

/// All of a piece or nothing of it.
bool PerfLog::write(const PerfPiece& piece, std::span<const std::byte> body) {
    const auto whole = static_cast<ssize_t>(sizeof(piece) + body.size());
    const iovec parts[] = {{const_cast<PerfPiece*>(&piece), sizeof(piece)},
                           {const_cast<std::byte*>(body.data()), body.size()}};
    if (::writev(file_, parts, 2) == whole) {
        bytes_ += static_cast<uint64_t>(whole);
        return true;
    }
    if (::ftruncate(file_, static_cast<off_t>(bytes_)) == 0)
        ::lseek(file_, static_cast<off_t>(bytes_), SEEK_SET);
    return false;
}

}  // namespace lanescope::capture
