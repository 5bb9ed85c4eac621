// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>

#include "model/format/Result.h"
#include "model/trace/Trace.h"

namespace lanescope {

// The layout of an index file; `README.md` describes it.

/// Another number for each change of the layout or of what `traceFields.h` lists.
inline constexpr uint32_t indexVersion = 21;
inline constexpr std::array<char, 8> indexMagic{'L', 'S', 'C', 'P', 'I', 'D', 'X', '\n'};

/// What an index was made from.
struct SourceKey {
    uint64_t bytes = 0;
    int64_t modifiedNs = 0;   ///< Since 1970.
    int64_t fingerprint = 0;  ///< Of the content.
    bool operator==(const SourceKey&) const = default;
};

/// At the start of the file.
struct IndexHeader {
    std::array<char, 8> magic = indexMagic;
    uint32_t version = indexVersion;
    uint32_t sectionCount = 0;
    SourceKey source;
    uint64_t fileBytes = 0;
    uint64_t sectionsOffset = 0;  ///< Of the table of sections.
    uint32_t sectionsChecksum = 0;
    uint32_t checksum = 0;  ///< Of the header up to here.
};
static_assert(sizeof(IndexHeader) == 64);

/// A small part of the file, read whole and checked when the index is opened.
struct IndexSection {
    std::array<char, 8> name{};
    uint64_t offset = 0;
    uint64_t bytes = 0;
    uint32_t checksum = 0;
    uint32_t unused = 0;
};
static_assert(sizeof(IndexSection) == 32);

/// The section with the fields of the trace; big columns are named in it by where they lie.
inline constexpr std::array<char, 8> traceSection{'t', 'r', 'a', 'c', 'e'};

/// Where the packed values of a column lie in the file. Behind its blocks stands a checksum for
/// each.
struct StoredColumn {
    uint64_t count = 0;
    uint64_t blocksOffset = 0;
    uint64_t blockCount = 0;
    uint64_t dataOffset = 0;
    uint64_t dataBytes = 0;
};

/// Writes the index of a trace that was made from the file with `source`. It takes the place of
/// whatever `path` names when it is whole, and only then; readers and other writers may work at the
/// same time. `isWanted` is asked now and then; if it says no, nothing is left. O(n).
Result<void> writeIndex(const Trace& trace, const SourceKey& source,
                        const std::filesystem::path& path,
                        const std::function<bool()>& isWanted = {});

/// The trace that an index holds, its columns mapped from the file. Null if there is no index, or
/// none of this version and of the file with `source`, or if it is damaged: then the trace must be
/// read anew. `trace` is where that file lies; what is made of the trace lies in `memory`.
/// O(tracks).
TracePtr readIndex(const std::filesystem::path& path, const SourceKey& source,
                   const std::filesystem::path& trace,
                   std::shared_ptr<LargeMemory> memory = nullptr);

}  // namespace lanescope
