// SPDX-License-Identifier: Apache-2.0
#include "model/index/IndexFile.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string>
#include <type_traits>
#include <unordered_map>
#include <variant>
#include <vector>

#include "model/format/OutputFile.h"
#include "model/format/files.h"
#include "model/index/MappedFile.h"
#include "model/index/indexFields.h"
#include "model/index/openTrace.h"
#include "model/trace/PackedBlocks.h"

namespace lanescope {

/// The set of blocks of a file that were compared with their checksums. Untouched memory is not
/// committed, so a barely read file costs little.
class CheckedBlocks {
  public:
    /// Returns the checks of a column with these checksums. One thread.
    BlockChecks checksFor(std::span<const uint32_t> checksums) {
        if (checksums.size() > left_) addPart(checksums.size());
        std::atomic<uint8_t>* const first = next_;
        next_ += checksums.size();
        left_ -= checksums.size();
        return {checksums, first, &corruptCount_};
    }
    /// Number of corrupt blocks read so far, and of other corruption.
    const std::atomic<uint32_t>& corruptCount() const { return corruptCount_; }
    std::atomic<uint32_t>& corruptCount() { return corruptCount_; }

  private:
    struct Free {
        void operator()(std::atomic<uint8_t>* part) const { std::free(part); }
    };
    void addPart(size_t minCount) {
        const size_t count = std::max(minCount, size_t{1} << 20);
        auto* part = static_cast<std::atomic<uint8_t>*>(std::calloc(count, 1));
        if (part == nullptr) throw std::bad_alloc();
        parts_.emplace_back(part);
        next_ = part;
        left_ = count;
    }

    std::vector<std::unique_ptr<std::atomic<uint8_t>, Free>> parts_;
    std::atomic<uint8_t>* next_ = nullptr;
    size_t left_ = 0;
    std::atomic<uint32_t> corruptCount_{0};
};

/// Visits fields and fills them with the data that `FieldWriter` stored. Columns become views of
/// `file`. Missing data and data out of bounds are skipped and make `isGood` false.
class FieldReader {
  public:
    /// `checkedBlocks` must live as long as the columns.
    FieldReader(std::span<const std::byte> file, std::span<const std::byte> small, std::span<const std::byte> checksums,
                CheckedBlocks& checkedBlocks)
        : file_(file), small_(small), checksums_(checksums), checkedBlocks_(checkedBlocks) {}

    bool isGood() const { return isGood_; }
    bool isAtEnd() const { return small_.empty(); }

    template <class T>
    void operator()(T& value) {
        if constexpr (std::is_floating_point_v<T>)
            value = take<double>();
        else if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T>)
            value = static_cast<T>(take<int64_t>());
        else
            forEachField(value, *this);
    }
    void operator()(std::string& text) {
        const size_t count = takeCount();
        text.assign(reinterpret_cast<const char*>(small_.data()), count);
        small_ = small_.subspan(count);
    }
    template <class T>
    void operator()(std::optional<T>& value) {
        if (take<int64_t>() != 0) (*this)(value.emplace());
    }
    template <class T>
    void operator()(Rare<T>& value) {
        if (take<int64_t>() != 0) (*this)(value.edit());
    }
    template <class T, size_t size>
    void operator()(std::array<T, size>& values) {
        for (T& value : values) (*this)(value);
    }
    template <class T>
    void operator()(std::vector<T>& values) {
        // Each value needs at least a byte, so a wrong count cannot cause a large allocation.
        const size_t count = takeCount();
        for (size_t i = 0; i < count && isGood_; ++i) (*this)(values.emplace_back());
    }
    template <class T>
    void operator()(Column<T>& column) {
        const auto stored = take<StoredColumn>();
        const auto blocks = part(stored.blocksOffset, stored.blockCount, sizeof(PackedBlock));
        const auto data = part(stored.dataOffset, stored.dataBytes, 1);
        const BlockChecks checks = checksFrom(stored.firstChecksum, stored.blockCount);
        if (!isGood_ || stored.blocksOffset % alignof(PackedBlock) != 0 ||
            !column.map({reinterpret_cast<const PackedBlock*>(blocks.data()), static_cast<size_t>(stored.blockCount)},
                        data, stored.count, checks))
            isGood_ = false;
    }
    void operator()(StringTable& strings) {
        const auto offset = take<uint64_t>();
        const auto bytes = take<uint64_t>();
        const auto firstChecksum = take<uint64_t>();
        const auto text = part(offset, bytes, 1);
        Column<uint64_t> ends;
        (*this)(ends);
        const size_t blocks = (ends.size() + StringTable::blockSize - 1) / StringTable::blockSize;
        const BlockChecks checks = checksFrom(firstChecksum, blocks);
        if (isGood_) strings.map({reinterpret_cast<const char*>(text.data()), text.size()}, std::move(ends), checks);
    }

  private:
    template <class T>
    T take() {
        T value{};
        isGood_ = isGood_ && small_.size() >= sizeof value;
        if (!isGood_) return T{};
        std::memcpy(&value, small_.data(), sizeof value);
        small_ = small_.subspan(sizeof value);
        return value;
    }
    size_t takeCount() {
        const auto count = take<uint64_t>();
        isGood_ = isGood_ && count <= small_.size();
        return isGood_ ? static_cast<size_t>(count) : 0;
    }
    std::span<const std::byte> part(uint64_t offset, uint64_t count, uint64_t size) {
        isGood_ = isGood_ && offset <= file_.size() && count <= (file_.size() - offset) / size;
        if (!isGood_) return {};
        return file_.subspan(static_cast<size_t>(offset), static_cast<size_t>(count * size));
    }

    BlockChecks checksFrom(uint64_t first, uint64_t count) {
        const std::span all(reinterpret_cast<const uint32_t*>(checksums_.data()), checksums_.size() / sizeof(uint32_t));
        isGood_ = isGood_ && first <= all.size() && count <= all.size() - first;
        if (!isGood_) return {};
        return checkedBlocks_.checksFor(all.subspan(static_cast<size_t>(first), static_cast<size_t>(count)));
    }

    std::span<const std::byte> file_;
    std::span<const std::byte> small_;      ///< The rest of the section.
    std::span<const std::byte> checksums_;  ///< Of all blocks of the file; aligned.
    CheckedBlocks& checkedBlocks_;
    bool isGood_ = true;
};

/// Visits fields and stores them: small ones consecutively in memory, columns in the file.
class FieldWriter {
  public:
    /// `isWanted` is called at intervals. Once it returns false, or small fields exceed
    /// `maxSmallBytes` bytes, nothing more is written.
    FieldWriter(AtomicFile& file, size_t maxSmallBytes, std::function<bool()> isWanted)
        : file_(file), maxSmallBytes_(maxSmallBytes), isWanted_(std::move(isWanted)) {}

    template <class T>
    void operator()(const T& value) {
        if constexpr (std::is_floating_point_v<T>)
            put(double{value});
        else if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T>)
            put(static_cast<int64_t>(value));
        else
            forEachField(value, *this);
    }
    void operator()(const std::string& text) {
        put(uint64_t{text.size()});
        append(text.data(), text.size());
    }
    template <class T>
    void operator()(const std::optional<T>& value) {
        (*this)(value.has_value());
        if (value) (*this)(*value);
    }
    template <class T>
    void operator()(const Rare<T>& value) {
        (*this)(value.hasValue());
        if (value.hasValue()) (*this)(*value);
    }
    template <class T, size_t size>
    void operator()(const std::array<T, size>& values) {
        for (const T& value : values) (*this)(value);
    }
    template <class T>
    void operator()(const std::vector<T>& values) {
        put(uint64_t{values.size()});
        for (const T& value : values) (*this)(value);
    }
    template <class T>
    void operator()(const Column<T>& column) {
        const auto found = ahead_.find(&column);
        put(found != ahead_.end() ? found->second : store(column));
    }
    void operator()(const StringTable& strings);

    /// Stores the tiles of all lanes and counters first, sorted by the length of their levels. A picture needs levels
    /// of similar length, so it reads few places of the file. `trace` must be the trace that is visited later.
    void storeTilesAhead(const Trace& trace);

    /// Pads the file to a multiple of eight bytes, the alignment of column blocks.
    void align();
    const std::vector<std::byte>& small() const { return small_; }
    /// Returns the checksums of all blocks that were stored.
    const std::vector<uint32_t>& checksums() const { return checksums_; }
    bool isCancelled() const { return isCancelled_; }
    bool isTooLarge() const { return isTooLarge_; }

  private:
    void put(auto value) { append(&value, sizeof value); }
    void append(const void* bytes, size_t count) {
        isTooLarge_ = isTooLarge_ || count > maxSmallBytes_ - small_.size();
        if (isTooLarge_) return;
        const auto* from = static_cast<const std::byte*>(bytes);
        small_.insert(small_.end(), from, from + count);
    }
    template <class T>
    StoredColumn store(const Column<T>& column) {
        std::vector<int64_t> rest;
        for (const T& value : column.tail()) rest.push_back(Column<T>::bitsOf(value));
        return store(column.packed(), rest);
    }
    StoredColumn store(const PackedBlocks& packed, std::vector<int64_t>& rest);

    AtomicFile& file_;
    size_t maxSmallBytes_;
    std::function<bool()> isWanted_;
    std::vector<std::byte> small_;
    std::vector<uint32_t> checksums_;
    std::unordered_map<const void*, StoredColumn> ahead_;  ///< By column.
    bool isCancelled_ = false, isTooLarge_ = false;
};

StoredColumn FieldWriter::store(const PackedBlocks& packed, std::vector<int64_t>& rest) {
    isCancelled_ = isCancelled_ || !isWanted_();
    if (isCancelled_ || isTooLarge_) return {};
    StoredColumn stored{.count = packed.blockCount() * PackedBlocks::blockSize + rest.size()};
    std::vector<PackedBlock> blocks(packed.blocks().begin(), packed.blocks().end());
    std::span<const std::byte> bytes = packed.bytes();
    if (!bytes.empty()) bytes = bytes.first(bytes.size() - PackedBlocks::padding);
    stored.firstChecksum = checksums_.size();
    for (const PackedBlock& block : blocks)
        checksums_.push_back(PackedBlocks::checksumOfBlock(block, bytes).value_or(0));
    stored.dataOffset = file_.offset();
    file_.write(bytes);
    if (!rest.empty()) {
        // The last block is padded, so that it is read like all others.
        rest.resize(PackedBlocks::blockSize, rest.back());
        PackedBlocks last;
        last.append(std::span<const int64_t, PackedBlocks::blockSize>(rest));
        PackedBlock block = last.blocks().front();
        block.place += bytes.size();
        blocks.push_back(block);
        const auto values = last.bytes().first(last.bytes().size() - PackedBlocks::padding);
        checksums_.push_back(checksumOf(values, checksumOf(std::as_bytes(std::span(&block, 1)))));
        file_.write(values);
    }
    file_.write(std::array<std::byte, PackedBlocks::padding>{});
    stored.dataBytes = file_.offset() - stored.dataOffset;
    align();
    stored.blocksOffset = file_.offset();
    stored.blockCount = blocks.size();
    file_.write(std::as_bytes(std::span(blocks)));
    return stored;
}

void FieldWriter::align() {
    constexpr std::array<std::byte, 8> zeros{};
    file_.write(std::span(zeros).first((8 - file_.offset() % 8) % 8));
}

void FieldWriter::storeTilesAhead(const Trace& trace) {
    using Level = std::variant<const LaneTiles::Level*, const CounterSeries::Level*>;
    std::vector<std::pair<size_t, Level>> levels;  // with their sizes
    for (const Track& track : trace.tracks)
        for (const Lane& lane : track.lanes)
            for (const LaneTiles::Level& level : lane.tiles->levels) levels.emplace_back(level.bucketCount(), &level);
    for (const CounterSeries& counter : trace.counters)
        for (const CounterSeries::Level& level : counter.levels()) levels.emplace_back(level.timesNs.size(), &level);
    std::ranges::stable_sort(levels, {}, &std::pair<size_t, Level>::first);
    const auto storeAhead = [this](const auto& field) {
        if constexpr (requires { field.packed(); }) ahead_[&field] = store(field);
    };
    for (const auto& [size, level] : levels)
        std::visit([&](const auto* each) { forEachField(*each, storeAhead); }, level);
}

void FieldWriter::operator()(const StringTable& strings) {
    Column<uint64_t> ends;
    uint64_t end = 0;
    const uint64_t offset = file_.offset();
    for (uint32_t index = 0; index < strings.size(); ++index) {
        const std::string_view text = strings.at(index);
        file_.write(std::as_bytes(std::span(text)));
        ends.push_back(end += text.size());
    }
    align();
    put(offset);
    put(end);
    put(uint64_t{checksums_.size()});
    for (uint32_t first = 0; first < strings.size(); first += StringTable::blockSize)
        checksums_.push_back(strings.checksumOfBlock(first / StringTable::blockSize));
    (*this)(ends);
}

namespace {

/// Data outside of columns is read into memory as a whole and needs several times its size. It is a
/// small part of a trace, unless the trace consists of names. This size is always allowed.
constexpr uint64_t minSourceBytes = uint64_t{1} << 20;

std::span<const std::byte> bytesOf(const auto& value) { return std::as_bytes(std::span(&value, 1)); }

using Bytes = std::span<const std::byte>;

class IndexInFile : public IndexMemory {
  public:
    explicit IndexInFile(MappedFile file) : file_(std::move(file)) {}
    std::span<const std::byte> bytes() const override { return file_.bytes(); }
    void unload() const override { file_.unload(); }
    void countLossesInto(std::atomic<uint32_t>& losses) const override { file_.countLossesInto(losses); }

  private:
    MappedFile file_;
};

/// The memory behind the columns of a mapped trace.
struct Backing {
    explicit Backing(std::shared_ptr<const IndexMemory> memory) : index(std::move(memory)) {}

    std::shared_ptr<const IndexMemory> index;
    RowCounts rows{};
    CheckedBlocks checkedBlocks;
};

bool isChecksum(uint32_t checksum, Bytes bytes) { return checksumOf(bytes) == checksum; }

std::optional<Bytes> part(Bytes file, uint64_t offset, uint64_t bytes) {
    if (offset > file.size() || bytes > file.size() - offset) return std::nullopt;
    return file.subspan(static_cast<size_t>(offset), static_cast<size_t>(bytes));
}

/// Returns the header. Returns nullopt unless the file is a complete index.
std::optional<IndexHeader> headerOf(Bytes file) {
    IndexHeader header;
    if (file.size() < sizeof header) return std::nullopt;
    std::memcpy(&header, file.data(), sizeof header);
    if (header.magic != indexMagic || header.version != indexVersion || header.fileBytes != file.size() ||
        header.checksumsOffset > file.size() || header.checksumsOffset % alignof(uint32_t) != 0 ||
        !isChecksum(header.checksum, file.first(offsetof(IndexHeader, checksum))))
        return std::nullopt;
    return header;
}

/// Returns the fields of the trace; nullopt if they are missing or corrupt.
std::optional<Bytes> fieldsOf(Bytes file, const IndexHeader& header) {
    const auto sections = part(file, header.sectionsOffset, header.sectionCount * uint64_t{sizeof(IndexSection)});
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

/// Returns true if a trusted file is believed: it has the code of this user, or is as good as the trace, because only
/// users who can write to the trace could write it.
bool isTrusted(int descriptor, Bytes file, const IndexHeader& header) {
    struct stat status {};
    if (::fstat(descriptor, &status) != 0) return false;
    if (status.st_uid != ::geteuid()) return true;
    const std::optional<SipHash::Key> key = userKey();
    return key && codeOfIndex(file, *key) == header.code;
}

/// Writes the contents of an index, without the file's name.
Result<void> writeContents(const Trace& trace, const SourceKey& source, const SipHash::Key& key, AtomicFile& file,
                           const std::filesystem::path& path, const std::function<bool()>& isWanted) {
    IndexHeader header;
    file.write(bytesOf(header));  // reserved; the contents are known at the end

    FieldWriter fields(file, static_cast<size_t>(std::max(source.bytes, minSourceBytes)),
                       [&isWanted] { return !isWanted || isWanted(); });
    fields.storeTilesAhead(trace);
    fields(trace);
    if (fields.isCancelled()) return fail("{}: writing was cancelled.", path.string());
    if (fields.isTooLarge())
        return fail(
            "{} has so many threads, streams and counters that reading its index would need more memory than the "
            "trace.",
            trace.path.string());
    fields.align();
    // Everything from here on is authenticated. The columns are by their CRC-32, which detects damage, but no forger
    // who has another index of this user.
    SipHash code(key);
    const auto write = [&](std::span<const std::byte> bytes) {
        constexpr std::array<std::byte, 8> zeros{};
        for (const auto part : {bytes, std::span(zeros).first((8 - bytes.size() % 8) % 8)}) {
            file.write(part);
            code.add(part);
        }
    };
    header.checksumsOffset = file.offset();
    write(std::as_bytes(std::span(fields.checksums())));
    IndexSection section{.name = traceSection,
                         .offset = file.offset(),
                         .bytes = fields.small().size(),
                         .checksum = checksumOf(fields.small())};
    write(fields.small());

    header.sectionCount = 1;
    header.source = source;
    header.sectionsOffset = file.offset();
    header.sectionsChecksum = checksumOf(bytesOf(section));
    write(bytesOf(section));
    header.fileBytes = file.offset();
    header.checksum = checksumOf(bytesOf(header).first(offsetof(IndexHeader, checksum)));
    code.add(bytesOf(header).first(offsetof(IndexHeader, code)));
    header.code = code.value();
    file.writeAtStart(bytesOf(header));
    return {};
}

}  // namespace

Result<void> writeIndex(const Trace& trace, const SourceKey& source, const std::filesystem::path& path,
                        const std::function<bool()>& isWanted) {
    const Result<SipHash::Key> key = ensureUserKey();
    if (!key) return fail(key.error());
    Result<AtomicFile> file = AtomicFile::create(path);
    if (!file) return fail(file.error());
    file->copyReadPermissionsOf(trace.path);
    if (auto written = writeContents(trace, source, *key, *file, path, isWanted); !written) return written;
    return file->commit();
}

Result<std::shared_ptr<const IndexMemory>> unnamedIndexOf(const Trace& trace) {
    const Result<ScratchFolder> folder = ScratchFolder::create();
    if (!folder) return fail(folder.error());
    // It gets a name for as long as it takes to open it.
    const std::filesystem::path path = folder->path() / "index";
    Result<AtomicFile> file = AtomicFile::create(path);
    if (!file) return fail(file.error());
    const SourceKey anySize{.bytes = UINT32_MAX};
    if (auto written = writeContents(trace, anySize, {}, *file, path, {}); !written) return fail(written.error());
    if (auto committed = file->commit(); !committed) return fail(committed.error());
    std::optional<MappedFile> mapped = MappedFile::open(path, MappedFile::Access::Mapped);
    if (!mapped) return fail("{}: the index cannot be mapped.", path.string());
    return std::make_shared<const IndexInFile>(std::move(*mapped));
}

std::optional<SipHash::Value> codeOfIndex(std::span<const std::byte> index, const SipHash::Key& key) {
    IndexHeader header;
    if (index.size() < sizeof header) return std::nullopt;
    std::memcpy(&header, index.data(), sizeof header);
    if (header.checksumsOffset > index.size()) return std::nullopt;
    SipHash code(key);
    code.add(index.subspan(static_cast<size_t>(header.checksumsOffset)));
    code.add(index.first(offsetof(IndexHeader, code)));
    return code.value();
}

/// Creates a trace without a builder. Its events are those of a finished trace, and `boundTrace` makes them safe.
class IndexedTrace {
  public:
    static std::shared_ptr<Trace> create() { return std::shared_ptr<Trace>(new Trace()); }
};

TracePtr readIndex(const std::filesystem::path& path, const SourceKey& source, const std::filesystem::path& tracePath,
                   std::shared_ptr<LargeMemory> memory) {
    const UniqueFd descriptor = openTrustedFile(path, tracePath);
    if (descriptor < 0) return nullptr;
    std::optional<MappedFile> file = MappedFile::open(descriptor);
    if (!file) return nullptr;
    const std::optional<IndexHeader> header = headerOf(file->bytes());
    if (!header || !(header->source == source) || !isTrusted(descriptor, file->bytes(), *header)) return nullptr;
    const auto trace = traceInMemory(std::make_shared<const IndexInFile>(std::move(*file)), tracePath);
    if (!trace) return nullptr;
    trace->corruptBlocks = &static_cast<const Backing*>(trace->backing.get())->checkedBlocks.corruptCount();
    trace->memory = std::move(memory);
    return trace;
}

std::shared_ptr<Trace> traceInMemory(std::shared_ptr<const IndexMemory> index, const std::filesystem::path& tracePath) {
    const auto backing = std::make_shared<Backing>(std::move(index));
    const Bytes bytes = backing->index->bytes();
    const std::optional<IndexHeader> header = headerOf(bytes);
    const std::optional<Bytes> fields = header ? fieldsOf(bytes, *header) : std::nullopt;
    if (!fields) return nullptr;
    backing->index->countLossesInto(backing->checkedBlocks.corruptCount());
    const std::shared_ptr<Trace> trace = IndexedTrace::create();
    FieldReader reader(bytes, *fields, bytes.subspan(static_cast<size_t>(header->checksumsOffset)),
                       backing->checkedBlocks);
    reader(*trace);
    if (!reader.isGood() || !reader.isAtEnd() || !boundTrace(*trace, backing->rows)) return nullptr;
    trace->backing = backing;
    trace->path = tracePath;
    trace->title = tracePath.filename().string();
    return trace;
}

std::shared_ptr<const IndexMemory> indexMemoryOf(const Trace& trace) {
    // Only `traceInMemory` sets a backing.
    return trace.backing ? static_cast<const Backing*>(trace.backing.get())->index : nullptr;
}

void unloadIndex(const Trace& trace) {
    if (const auto index = indexMemoryOf(trace)) index->unload();
}

}  // namespace lanescope
