// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>

#include "model/format/Result.h"
#include "model/format/checksums.h"
#include "model/trace/Trace.h"

namespace lanescope {

// The layout of an index file, described in `README.md`.

/// To be incremented for each change of the layout or of the lists in `indexFields.h`.
inline constexpr uint32_t indexVersion = 29;
inline constexpr std::array<char, 8> indexMagic{'L', 'S', 'C', 'P', 'I', 'D', 'X', '\n'};

/// The identity of the source of an index.
struct SourceKey {
    uint64_t bytes = 0;
    int64_t modifiedNs = 0;   ///< Since 1970.
    int64_t fingerprint = 0;  ///< Hash of the contents.
    bool operator==(const SourceKey&) const = default;
};

struct IndexHeader {
    std::array<char, 8> magic = indexMagic;
    uint32_t version = indexVersion;
    uint32_t sectionCount = 0;
    SourceKey source;
    uint64_t fileBytes = 0;
    uint64_t sectionsOffset = 0;   ///< Offset of the table of sections.
    uint64_t checksumsOffset = 0;  ///< Offset of the checksums of all blocks. Only sections and their table follow.
    uint32_t sectionsChecksum = 0;
    uint32_t checksum = 0;  ///< Checksum of the header up to here.
    SipHash::Value code{};  ///< `codeOfIndex` with the key of the writer.
};
static_assert(sizeof(IndexHeader) == 88);

/// A small part of the file, read and checked completely when the index is opened.
struct IndexSection {
    std::array<char, 8> name{};
    uint64_t offset = 0;
    uint64_t bytes = 0;
    uint32_t checksum = 0;
    uint32_t unused = 0;
};
static_assert(sizeof(IndexSection) == 32);

/// The section of the fields of the trace. It contains the offsets of large columns.
inline constexpr std::array<char, 8> traceSection{'t', 'r', 'a', 'c', 'e'};

/// The location of the packed values of a column in the file.
struct StoredColumn {
    uint64_t count = 0;
    uint64_t blocksOffset = 0;
    uint64_t blockCount = 0;
    uint64_t dataOffset = 0;
    uint64_t dataBytes = 0;
    uint64_t firstChecksum = 0;  ///< Number of the checksum of the first block.
};

/// Returns the code that authenticates an index: a keyed hash of the header, of the checksums of all
/// blocks and of the sections. Returns nullopt if the header is invalid. O(blocks).
std::optional<SipHash::Value> codeOfIndex(std::span<const std::byte> index, const SipHash::Key& key);

/// Writes the index of a trace that was made from the file with `source`. The complete index
/// replaces `path` atomically. Readers and other writers may be active. `isWanted` is called at
/// intervals. If it returns false, nothing is left. Fails if the user has no key (`userKey`). O(n).
Result<void> writeIndex(const Trace& trace, const SourceKey& source, const std::filesystem::path& path,
                        const std::function<bool()>& isWanted = {});

/// Returns the trace of an index, with columns mapped from the file. Returns null if the index is
/// missing, corrupt, of another version or of another source, or if it is not trusted: an index of
/// this user needs the code of this user, any other one the owner of the trace or root as its owner.
/// Only the owner may be able to write to it. The trace must then be read again.
/// `trace` is the path of the source. Derived data is allocated in `memory`. O(tracks).
TracePtr readIndex(const std::filesystem::path& path, const SourceKey& source, const std::filesystem::path& trace,
                   std::shared_ptr<LargeMemory> memory = nullptr);

/// Unloads the pages of its index that were read so far; the next access loads them again. Does nothing for a trace in
/// memory. Other threads may read the trace.
void unloadIndex(const Trace& trace);

/// Memory with the bytes of an index. Any contents are safe, also contents that change, for example to zeros.
class IndexMemory {
  public:
    virtual ~IndexMemory() = default;
    virtual std::span<const std::byte> bytes() const = 0;
    /// See `unloadIndex`.
    virtual void unload() const {}
    /// Counts lost parts in `losses`, as the trace counts corrupt blocks there. It outlives all reading.
    virtual void countLossesInto(std::atomic<uint32_t>& losses) const = 0;
};

/// Returns the trace of an index in memory, whatever its source. Returns null unless header and fields are valid.
/// `trace` is the name of the source. Corruption is counted (`IndexMemory`), but not in `Trace::corruptBlocks`.
/// O(tracks).
std::shared_ptr<Trace> traceInMemory(std::shared_ptr<const IndexMemory> index, const std::filesystem::path& trace);

/// Returns the memory of the index of a trace; null for a trace without an index.
std::shared_ptr<const IndexMemory> indexMemoryOf(const Trace& trace);

/// Returns an index of a trace in a file that has lost its name. Fails if none can be written. O(n).
Result<std::shared_ptr<const IndexMemory>> unnamedIndexOf(const Trace& trace);

}  // namespace lanescope
