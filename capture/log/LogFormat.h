// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace lanescope::log {

// The append-only log one traced process leaves: a file header, then blocks, each a header and a
// run of records. Little-endian, as written by the process. A reader trusts nothing: it checks
// magic, length and checksum of each block and stops at the first that is wrong, so any prefix of a
// log is a log. Every size is a multiple of 8, so records lie aligned in a block read to aligned
// memory.
//
// A long log is cut into files: "<name>.log", then "<name>.log.1", "<name>.log.2" and so on. Each
// begins with a file header; sequence numbers and the numbers of strings go on. A writer begins a
// part after it has written the last block of the one before, and then says everything again that
// later records refer to, so that a part is of use even if an earlier one is damaged.

inline constexpr char fileMagic[8] = {'L', 'N', 'S', 'C', 'L', 'O', 'G', '1'};
inline constexpr uint32_t formatVersion = 1;
inline constexpr uint32_t blockMagic = 0x4b4c424c;  // "LBLK"
/// The longest payload a writer makes; a reader takes anything longer for damage.
inline constexpr uint32_t maximumBlockBytes = 4u << 20;

struct FileHeader {
    char magic[8];
    uint32_t version;
    uint32_t
        headerBytes;  ///< Where the first block begins; more than this struct in later versions.
    uint32_t pid;
    uint32_t parentPid;
    int64_t realtimeNs;   ///< When the log was begun, by the time of events; see `clocks.h`.
    int64_t monotonicNs;  ///< CLOCK_MONOTONIC at the same moment. What they differ by is constant.
    uint32_t part;        ///< 0, 1, 2, ...: which file of the log this is.
    uint32_t reserved;
};
static_assert(sizeof(FileHeader) == 48);
/// The first logs had no more than this; `part` is 0 there.
inline constexpr uint32_t shortestHeaderBytes = 40;

enum class BlockType : uint16_t { Records = 1 };

struct BlockHeader {
    uint32_t magic;
    BlockType type;
    uint16_t flags;         ///< 0.
    uint32_t payloadBytes;  ///< Multiple of 8.
    uint32_t checksum;  ///< zlib crc32 of the payload, begun with the crc32 of the fields below.
    uint64_t sequence;  ///< 0, 1, 2, ... A step means a lost block.
    int64_t minimumTimeNs;  ///< Time of the earliest and latest event; 0 if there is none.
    int64_t maximumTimeNs;
};
static_assert(sizeof(BlockHeader) == 40);

/// First bytes of every record.
struct RecordHeader {
    uint16_t kind;   ///< `RecordKind`; a reader skips kinds it does not know.
    uint16_t flags;  ///< 0 unless the record says otherwise.
    uint32_t bytes;  ///< Of the whole record, a multiple of 8; longer structs are later versions.
};
static_assert(sizeof(RecordHeader) == 8);

/// What the agent puts into the pipe of a run when a chosen range begins or ends. Short enough to
/// be written whole or not at all.
struct MomentMessage {
    int64_t timestampNs;  ///< Of the time of events.
    uint32_t processId;
    uint32_t occurrence;  ///< How many matching ranges the process had begun before.
    uint32_t isEnd;
    uint32_t nameBytes;
    char name[104];  ///< Longer names are cut.
};
static_assert(sizeof(MomentMessage) == 128);

/// The pipe's name in the run folder.
inline constexpr const char* momentPipeName = "moments";

}  // namespace lanescope::log
