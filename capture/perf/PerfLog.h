// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "capture/perf/perfAttributes.h"
#include "model/format/Result.h"
#include "model/format/UniqueFd.h"
#include "model/format/files.h"

namespace lanescope::capture {

// The file next to the logs that contains the kernel's records unchanged: a head, then pieces of
// one core's records each, alternating over the cores. Written in the byte order of the reading
// machine. A reader validates everything, and a truncated file is valid up to its end.

inline constexpr char perfLogMagic[8] = {'L', 'N', 'S', 'P', 'E', 'R', 'F', '1'};
inline constexpr uint32_t perfPieceMagic = 0x43455050;  // "PPEC"
inline constexpr std::string_view perfLogEnding = ".perf";

struct PerfLogHead {
    char magic[8];
    uint32_t headBytes;      ///< Offset of the first piece.
    uint32_t machine;        ///< As `EM_*` of elf.h.
    uint32_t registerCount;  ///< Registers per sample.
    uint32_t seesKernel;
    int64_t eventOffsetNs;  ///< Offset of the time of events from the time of records.
    int64_t periodNs;       ///< A thread's time on a core between two samples.
};
static_assert(sizeof(PerfLogHead) == 40);

enum class PerfPieceKind : uint32_t { Records = 1, End = 2 };

struct PerfPiece {
    uint32_t magic;
    PerfPieceKind kind;
    uint32_t core;
    uint32_t bytes;  ///< Number of following bytes, a multiple of 8.
};
static_assert(sizeof(PerfPiece) == 16);

/// Content of the last piece, if the recording ended normally.
struct PerfEnd {
    int64_t wallNs, cpuNs;  ///< Duration of the recording, and its processor time.
    uint64_t bytesNotKept;  ///< Bytes for which the file had no space.
};
static_assert(sizeof(PerfEnd) == 24);

class PerfLog {
  public:
    /// Creates the file, readable by its owner only.
    static Result<PerfLog> create(const Folder& folder, const std::string& name, const PerfSettings& settings,
                                  uint64_t maxBytes);
    /// Uses an open file and takes its ownership.
    static Result<PerfLog> into(int file, const PerfSettings& settings, uint64_t maxBytes);

    /// Adds records of a core. Records that do not fit, on the disk or within `maxBytes`, are
    /// counted, and nothing follows them.
    void add(uint32_t core, std::span<const std::byte> records);
    void end(int64_t wallNs, int64_t cpuNs);

  private:
    PerfLog(int file, uint64_t maxBytes) : file_(file), maxBytes_(maxBytes) {}
    bool write(const PerfPiece& piece, std::span<const std::byte> body);

    UniqueFd file_;
    uint64_t maxBytes_ = 0, bytes_ = 0, bytesNotKept_ = 0;
};

/// A file of `PerfLog`, perhaps truncated, or any other file. One thread.
class PerfLogFile {
  public:
    /// Maps the file. Fails if it cannot be read, is no perf log, or comes from another kind of machine.
    static Result<PerfLogFile> open(const Folder& folder, const std::string& name);
    PerfLogFile(PerfLogFile&& other) noexcept;
    PerfLogFile& operator=(PerfLogFile&&) = delete;
    ~PerfLogFile();

    const PerfLogHead& head() const { return head_; }
    /// Returns the content of the last piece; nullopt if the file is truncated.
    const std::optional<PerfEnd>& end() const { return end_; }
    /// Passes all records to `visitor`: sorted by time per core, with cores alternating. Returns
    /// the number of invalid bytes. O(bytes); repeatable.
    uint64_t read(PerfVisitor& visitor);

  private:
    explicit PerfLogFile(std::span<const std::byte> bytes) : bytes_(bytes) {}

    std::span<const std::byte> bytes_;
    PerfLogHead head_{};
    std::optional<PerfEnd> end_;
};

}  // namespace lanescope::capture
