// SPDX-License-Identifier: Apache-2.0
#include "model/index/readIndex.h"

#include <cstring>

#include "model/format/checksum.h"
#include "model/index/FieldReader.h"
#include "model/index/MappedFile.h"
#include "model/index/boundTrace.h"

namespace lanescope {

namespace {

using Bytes = std::span<const std::byte>;

/// What the columns of a mapped trace are views of.
struct Backing {
    explicit Backing(MappedFile mapped) : file(std::move(mapped)) {}

    MappedFile file;
    RowCounts rows{};
    SeenBlocks seen;
};

bool isChecksum(uint32_t checksum, Bytes bytes) {
    return checksumOf(bytes) == checksum;
}

std::optional<Bytes> part(Bytes file, uint64_t offset, uint64_t bytes) {
    if (offset > file.size() || bytes > file.size() - offset) return std::nullopt;
    return file.subspan(static_cast<size_t>(offset), static_cast<size_t>(bytes));
}

/// The fields of the trace; nothing if the file is not a whole index of `source`.
std::optional<Bytes> fieldsOf(Bytes file, const SourceKey& source) {
    IndexHeader header;
    if (file.size() < sizeof header) return std::nullopt;
    std::memcpy(&header, file.data(), sizeof header);
    if (header.magic != indexMagic || header.version != indexVersion ||
        !(header.source == source) || header.fileBytes != file.size() ||
        !isChecksum(header.checksum, file.first(sizeof header - sizeof header.checksum)))
        return std::nullopt;
    const auto sections =
        part(file, header.sectionsOffset, header.sectionCount * uint64_t{sizeof(IndexSection)});
    if (!sections || !isChecksum(header.sectionsChecksum, *sections)) return std::nullopt;
    for (uint32_t i = 0; i < header.sectionCount; ++i) {
        IndexSection section;
        std::memcpy(&section, sections->data() + i * sizeof section, sizeof section);
        if (section.name != traceSection) continue;
        const auto fields = part(file, section.offset, section.bytes);
        return fields && isChecksum(section.checksum, *fields) ? fields : std::nullopt;
    }
    return std::nullopt;
}

}  // namespace

/// Who may make a trace without a builder: its events are a finished trace's, and `boundTrace` sees
/// to it that they can do no harm.
class IndexedTrace {
  public:
    static std::shared_ptr<Trace> create() { return std::shared_ptr<Trace>(new Trace()); }
};

TracePtr readIndex(const std::filesystem::path& path, const SourceKey& source,
                   const std::filesystem::path& tracePath, std::shared_ptr<LargeMemory> memory) {
    std::optional<MappedFile> file = MappedFile::open(path);
    if (!file) return nullptr;
    const auto backing = std::make_shared<Backing>(std::move(*file));
    backing->file.countLossesInto(backing->seen.damaged());
    const Bytes bytes = backing->file.bytes();
    const std::optional<Bytes> fields = fieldsOf(bytes, source);
    if (!fields) return nullptr;
    const std::shared_ptr<Trace> trace = IndexedTrace::create();
    FieldReader reader(bytes, *fields, backing->seen);
    reader(*trace);
    if (!reader.isGood() || !reader.isAtEnd() || !boundTrace(*trace, backing->rows)) return nullptr;
    trace->backing = backing;
    trace->damagedBlocks = &backing->seen.damaged();
    trace->memory = std::move(memory);
    trace->path = tracePath;
    trace->title = tracePath.filename().string();
    return trace;
}

}  // namespace lanescope
