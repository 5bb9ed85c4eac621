// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace lanescope::log {

// The append-only log of one traced process: a file header, then blocks, each a header and a run of records.
// Little-endian, as written by the process. A reader validates everything: it checks magic, length and checksum of each
// block and stops at the first bad one, so any prefix of a log is a log. Every size is a multiple of 8, so records are
// aligned in a block read to aligned memory.
//
// A long log is split into files: "<name>.log", then "<name>.log.1", "<name>.log.2" and so on. Each begins with a file
// header; sequence numbers and string numbers continue. A writer begins a part after the last block of the previous
// part, and then repeats all definitions that later records refer to. A part is therefore usable even if an earlier one
// is corrupt.

inline constexpr char fileMagic[8] = {'L', 'N', 'S', 'C', 'L', 'O', 'G', '1'};
inline constexpr uint32_t formatVersion = 1;
inline constexpr uint32_t blockMagic = 0x4b4c424c;  // "LBLK"
/// Maximum payload that a writer makes; a reader treats a longer one as corrupt.
inline constexpr uint32_t maxBlockBytes = 4u << 20;

struct FileHeader {
    char magic[8];
    uint32_t version;
    uint32_t headerBytes;  ///< Offset of the first block; more than this struct in later versions.
    uint32_t pid;
    uint32_t parentPid;
    int64_t realtimeNs;   ///< Begin of the log, in the time of events; see `clocks.h`.
    int64_t monotonicNs;  ///< CLOCK_MONOTONIC at the same time. The difference of both is constant.
    uint32_t part;        ///< Number of this file in the log: 0, 1, 2, ...
    /// errno of the write that failed, in the last file, if nothing could be written since; 0 otherwise. Needs no
    /// space.
    uint32_t brokenErrno;
};
static_assert(sizeof(FileHeader) == 48);
/// Header size of the first logs, whose `part` is 0.
inline constexpr uint32_t minHeaderBytes = 40;

enum class BlockType : uint16_t { Records = 1 };

struct BlockHeader {
    uint32_t magic;
    BlockType type;
    uint16_t flags;         ///< 0.
    uint32_t payloadBytes;  ///< Multiple of 8.
    uint32_t checksum;      ///< zlib crc32 of the payload, seeded with the crc32 of the fields below.
    uint64_t sequence;      ///< 0, 1, 2, ... A gap means a lost block.
    int64_t minTimeNs;      ///< Time of the earliest and latest event; 0 if there is none.
    int64_t maxTimeNs;
};
static_assert(sizeof(BlockHeader) == 40);

struct RecordHeader {
    uint16_t kind;   ///< `RecordKind`; a reader skips unknown kinds.
    uint16_t flags;  ///< 0 unless the record documents otherwise.
    uint32_t bytes;  ///< Size of the record, a multiple of 8; later versions are longer.
};
static_assert(sizeof(RecordHeader) == 8);

/// Message that the agent writes into the pipe of a run when a chosen range begins or ends. Short
/// enough for an atomic write.
struct MomentMessage {
    int64_t timestampNs;  ///< In the time of events.
    uint32_t processId;
    uint32_t occurrence;  ///< Number of matching ranges that the process had begun before.
    uint32_t isEnd;
    uint32_t nameBytes;
    char name[104];  ///< Longer names are truncated.
};
static_assert(sizeof(MomentMessage) == 128);

inline constexpr const char* momentPipeName = "moments";

}  // namespace lanescope::log
