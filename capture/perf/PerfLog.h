// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string_view>

#include "capture/perf/perfAttributes.h"
#include "capture/perf/perfRecords.h"
#include "model/format/Result.h"

namespace lanescope::capture {

// The file beside the logs that keeps what the kernel told, as it told it: a head, then pieces of
// one core's records each, in turns over the cores. Written by the machine that reads it. A reader
// trusts nothing, and what was broken off is a file up to there.

inline constexpr char perfLogMagic[8] = {'L', 'N', 'S', 'P', 'E', 'R', 'F', '1'};
inline constexpr uint32_t perfPieceMagic = 0x43455050;  // "PPEC"
inline constexpr std::string_view perfLogEnding = ".perf";

struct PerfLogHead {
    char magic[8];
    uint32_t headBytes;      ///< Where the first piece begins.
    uint32_t machine;        ///< As `EM_*` of elf.h.
    uint32_t registerCount;  ///< Of each sample.
    uint32_t seesKernel;
    int64_t eventOffsetNs;  ///< What the time of events is ahead of that of records.
    int64_t periodNs;       ///< Of a thread's time on a core, between two samples.
};
static_assert(sizeof(PerfLogHead) == 40);

enum class PerfPieceKind : uint32_t { Records = 1, End = 2 };

struct PerfPiece {
    uint32_t magic;
    PerfPieceKind kind;
    uint32_t core;
    uint32_t bytes;  ///< That follow, a multiple of 8.
};
static_assert(sizeof(PerfPiece) == 16);

/// What the last piece says, when the recording ended in good order.
struct PerfEnd {
    int64_t wallNs, cpuNs;  ///< For how long it was recorded, and what that took of a core.
    uint64_t bytesNotKept;  ///< That the file had no more room for.
};
static_assert(sizeof(PerfEnd) == 24);

/// Writes such a file. One thread.
class PerfLog {
  public:
    /// Creates it, for its owner's eyes only.
    static Result<PerfLog> create(const std::filesystem::path& path, const PerfSettings& settings,
                                  uint64_t maximumBytes);
    /// Writes into a file that is open, which is then its own.
    static Result<PerfLog> into(int file, const PerfSettings& settings, uint64_t maximumBytes);
    PerfLog(PerfLog&& other) noexcept;
    PerfLog& operator=(PerfLog&&) = delete;
    ~PerfLog();

    /// Adds records of a core. What has no room, on the disk or within `maximumBytes`, is counted;
    /// nothing comes after it.
    void add(uint32_t core, std::span<const std::byte> records);
    /// The last piece.
    void end(int64_t wallNs, int64_t cpuNs);

  private:
    PerfLog(int file, uint64_t maximumBytes) : file_(file), maximumBytes_(maximumBytes) {}
    bool write(const PerfPiece& piece, std::span<const std::byte> body);

    int file_ = -1;
    uint64_t maximumBytes_ = 0, bytes_ = 0, bytesNotKept_ = 0;
};

/// A file that `PerfLog` wrote, perhaps only the beginning of one, or anything else. One thread.
class PerfLogFile {
  public:
    /// Maps the file. Fails if it cannot be read, is none, or comes from another kind of machine.
    static Result<PerfLogFile> open(const std::filesystem::path& path);
    PerfLogFile(PerfLogFile&& other) noexcept;
    PerfLogFile& operator=(PerfLogFile&&) = delete;
    ~PerfLogFile();

    const PerfLogHead& head() const { return head_; }
    /// How it ended; nothing if it was broken off.
    const std::optional<PerfEnd>& end() const { return end_; }
    /// Hands all records to `visitor`: of a core in the order of time, of several by turns. Returns
    /// how many bytes made no sense. O(bytes); may be called again.
    uint64_t read(PerfVisitor& visitor);

  private:
    explicit PerfLogFile(std::span<const std::byte> bytes) : bytes_(bytes) {}

    std::span<const std::byte> bytes_;
    PerfLogHead head_{};
    std::optional<PerfEnd> end_;
};

}  // namespace lanescope::capture
