// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

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

}  // namespace lanescope
