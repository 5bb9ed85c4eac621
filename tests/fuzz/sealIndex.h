// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <zlib.h>

#include <cstddef>
#include <cstring>
#include <span>
#include <string>

#include "model/index/IndexFile.h"
#include "model/index/openTrace.h"

namespace lanescope::fuzz {

inline uint32_t checksumIn(const std::string& bytes, size_t from, size_t count) {
    return static_cast<uint32_t>(::crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()) + from, count));
}

/// Corrects the checksums and the code of an index, like an attacker who has the key of the user. `index` is
/// at least a header; its content may be anything.
inline void sealIndex(std::string& index) {
    IndexHeader header;
    IndexSection section;
    std::memcpy(&header, index.data(), sizeof header);
    if (index.size() < sizeof section || header.sectionsOffset > index.size() - sizeof section) return;
    const size_t sectionAt = header.sectionsOffset;
    std::memcpy(&section, index.data() + sectionAt, sizeof section);
    if (section.offset <= index.size() && section.bytes <= index.size() - section.offset)
        section.checksum = checksumIn(index, section.offset, section.bytes);
    std::memcpy(index.data() + sectionAt, &section, sizeof section);
    header.sectionsChecksum = checksumIn(index, sectionAt, sizeof section);
    header.fileBytes = index.size();
    std::memcpy(index.data(), &header, sizeof header);
    header.checksum = checksumIn(index, 0, offsetof(IndexHeader, checksum));
    std::memcpy(index.data(), &header, sizeof header);
    const auto key = userKey();
    if (const auto code = key ? codeOfIndex(std::as_bytes(std::span(index)), *key) : std::nullopt)
        std::memcpy(index.data() + offsetof(IndexHeader, code), code->data(), code->size());
}

}  // namespace lanescope::fuzz
