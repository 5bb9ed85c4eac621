// SPDX-License-Identifier: Apache-2.0
#include "model/index/writeIndex.h"

#include <algorithm>

#include "model/format/AtomicFile.h"
#include "model/format/checksum.h"
#include "model/index/FieldWriter.h"

namespace lanescope {

namespace {

/// What is no column is read into memory as a whole and takes several times its size there. Of a
/// trace it is a small part, unless somebody made it of names; this much is always allowed.
constexpr uint64_t leastSource = uint64_t{1} << 20;

template <class T>
std::span<const std::byte> bytesOf(const T& value) {
    return std::as_bytes(std::span(&value, 1));
}

}  // namespace

Result<void> writeIndex(const Trace& trace, const SourceKey& source,
                        const std::filesystem::path& path, const std::function<bool()>& isWanted) {
    Result<AtomicFile> file = AtomicFile::create(path);
    if (!file) return fail(file.error());
    file->shareLike(trace.path);
    IndexHeader header;
    file->write(bytesOf(header));  // its place; what it says is known at the end

    FieldWriter fields(*file, static_cast<size_t>(std::max(source.bytes, leastSource)),
                       [&isWanted] { return !isWanted || isWanted(); });
    fields.storeTilesAhead(trace);
    fields(trace);
    if (fields.isCancelled()) return fail("Writing {} was cancelled.", path.string());
    if (fields.isTooLarge())
        return fail(
            "{} names so many threads, streams and counters that reading its index would "
            "take more memory than reading it.",
            trace.path.string());
    fields.align();
    IndexSection section;
    section.name = traceSection;
    section.offset = file->offset();
    section.bytes = fields.small().size();
    section.checksum = checksumOf(fields.small());
    file->write(fields.small());
    fields.align();

    header.sectionCount = 1;
    header.source = source;
    header.sectionsOffset = file->offset();
    header.sectionsChecksum = checksumOf(bytesOf(section));
    file->write(bytesOf(section));
    header.fileBytes = file->offset();
    header.checksum = checksumOf(bytesOf(header).first(sizeof header - sizeof header.checksum));
    file->writeAtStart(bytesOf(header));
    return file->commit();
}

}  // namespace lanescope
