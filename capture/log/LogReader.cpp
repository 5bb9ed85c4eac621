// SPDX-License-Identifier: Apache-2.0
#include "capture/log/LogReader.h"

#include <sys/stat.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <set>
#include <utility>

#include "model/format/parseNumber.h"

namespace lanescope::log {

namespace {

/// A later version may lengthen the file header, within this limit.
constexpr uint32_t maxHeaderBytes = 64 * 1024;

uint32_t checksumOf(const BlockHeader& header, const void* payload) {
    constexpr size_t fieldBytes = sizeof(BlockHeader) - offsetof(BlockHeader, sequence);
    static_assert(fieldBytes == 24);
    const auto* fields = reinterpret_cast<const Bytef*>(&header.sequence);
    const uLong begun = crc32(0, fields, fieldBytes);
    return static_cast<uint32_t>(crc32(begun, static_cast<const Bytef*>(payload), header.payloadBytes));
}

bool isGoodBlock(const BlockHeader& block) {
    return block.magic == blockMagic && block.type == BlockType::Records && block.payloadBytes <= maxBlockBytes &&
           block.payloadBytes % 8 == 0;
}

}  // namespace

std::optional<LogPart> logPart(std::string_view name) {
    static constexpr std::string_view ending = ".log";
    const size_t at = name.rfind(ending);
    if (at == std::string_view::npos || at == 0) return std::nullopt;
    const std::string_view rest = name.substr(at + ending.size());
    LogPart part{std::string(name.substr(0, at + ending.size()))};
    if (rest.empty()) return part;
    const auto number = parseNumber<uint32_t>(rest.substr(1));
    if (rest.front() != '.' || !number) return std::nullopt;
    part.part = *number;
    return part;
}

std::vector<std::string> logNames(const std::vector<std::string>& names) {
    std::set<std::string> logs;
    for (const std::string& name : names)
        if (std::optional<LogPart> part = logPart(name)) logs.insert(std::move(part->log));
    return {logs.begin(), logs.end()};
}

/// Returns the lowest part of the log, from `from` on, that exists.
std::optional<uint32_t> LogReader::lowestPart(uint32_t from) const {
    std::optional<uint32_t> lowest;
    for (const std::string& name : folder_->names())
        if (const std::optional<LogPart> each = logPart(name); each && each->log == name_ && each->part >= from)
            lowest = std::min(each->part, lowest.value_or(each->part));
    return lowest;
}

Result<LogReader> LogReader::open(std::shared_ptr<const Folder> folder, const std::string& name) {
    LogReader reader;
    reader.folder_ = std::move(folder);
    reader.name_ = name;
    reader.file_ = reader.folder_->openFile(name);
    // The first file of a ring may go while it is opened.
    constexpr int maxAttempts = 10;
    for (int attempt = 0; attempt < maxAttempts && reader.file_ < 0 && errno == ENOENT; ++attempt) {
        const std::optional<uint32_t> lowest = reader.lowestPart(0);
        reader.part_ = reader.firstPart_ = lowest.value_or(0);
        reader.followsGap_ = lowest.has_value();
        reader.file_ = reader.folder_->openFile(reader.fileName(reader.part_));
    }
    if (reader.file_ >= 0) return reader;
    if (errno == EINVAL || errno == EISDIR) return fail("{}: not a regular file, not a log.", reader.shown());
    return fail("{}: cannot read the log: {}.", reader.shown(), std::strerror(errno));
}

int LogReader::brokenErrno() const {
    uint32_t problem = 0;
    const bool isRead = readAt(&problem, sizeof problem, offsetof(FileHeader, brokenErrno)) == Step::Done;
    return header_ && header_->headerBytes >= sizeof(FileHeader) && isRead ? static_cast<int>(problem) : 0;
}

Result<uint64_t> LogReader::fileBytes() const {
    struct stat status {};
    if (fstat(file_, &status) != 0) return fail("{}: cannot read the log: {}.", shown(), std::strerror(errno));
    return static_cast<uint64_t>(std::max<off_t>(status.st_size, 0));
}

Result<size_t> LogReader::pollBlocks(const PassRecord& pass, size_t maxBlocks) {
    Result<uint64_t> bytes = fileBytes();
    if (!bytes) return fail(bytes.error());
    isDamaged_ = false;
    Step step = Step::Done;
    if (!header_) {
        const Result<Step> read = readHeader(*bytes);
        if (!read) return fail(read.error());
        step = *read;
    }
    size_t blocks = 0;
    while (step == Step::Done && blocks < maxBlocks) {
        Result<Step> read = readBlock(*bytes, pass);
        if (!read) return fail(read.error());
        step = *read;
        if (step == Step::Done) {
            ++blocks;
        } else if (goToNextPart()) {
            if (bytes = fileBytes(); !bytes) return fail(bytes.error());
            step = Step::Done;
        }
    }
    isDamaged_ = step == Step::Damaged;
    bytesNotUnderstood_ = skippedBytes_ + (*bytes > offset_ ? *bytes - offset_ : 0);
    return blocks;
}

/// Continues in the next file of the log if that exists and the present one was read. Errors in the present file are
/// final then, since its writer has left it. Returns true too if the present file turns out to have more data.
bool LogReader::goToNextPart() {
    if (!header_) return false;
    uint32_t next = part_ + 1;
    UniqueFd file = folder_->openFile(fileName(next));
    struct stat status {};
    if (file < 0 && ::fstat(file_, &status) == 0 && status.st_nlink == 0) {
        // A ring was faster than this reader.
        next = lowestPart(next).value_or(next);
        file = folder_->openFile(fileName(next));
    }
    if (file < 0) return false;
    std::swap(file, file_);
    FileHeader header{};
    const bool isNext = readAt(&header, sizeof header, 0) == Step::Done &&
                        std::memcmp(header.magic, fileMagic, sizeof fileMagic) == 0 &&
                        header.version <= formatVersion && header.headerBytes >= sizeof header &&
                        header.headerBytes <= maxHeaderBytes && header.pid == header_->pid && header.part == next;
    std::swap(file, file_);
    const Result<uint64_t> bytes = fileBytes();
    if (!isNext || !bytes) return false;
    // The present file may have grown before the next was begun.
    BlockHeader block{};
    const uint64_t left = *bytes - std::min(*bytes, offset_);
    const bool isMore = left >= sizeof block && readAt(&block, sizeof block, offset_) == Step::Done;
    if (isMore && isGoodBlock(block) && left >= sizeof block + block.payloadBytes && offset_ != retriedAt_) {
        retriedAt_ = offset_;
        return true;
    }
    skippedBytes_ += left;
    earlierBytes_ += offset_;
    file_ = std::move(file);
    followsGap_ = followsGap_ || next != part_ + 1;
    part_ = next;
    offset_ = header.headerBytes;
    retriedAt_ = UINT64_MAX;
    progress_.bytesRead = earlierBytes_ + offset_;
    return true;
}

Result<LogReader::Step> LogReader::readHeader(uint64_t fileBytes) {
    FileHeader header{};
    if (fileBytes < minHeaderBytes) return Step::Wait;
    if (const Result<Step> read = readAt(&header, minHeaderBytes, 0); read != Step::Done) return read;
    if (std::memcmp(header.magic, fileMagic, sizeof(fileMagic)) != 0)
        return fail("{}: not a log of the agent, or its start is corrupt.", shown());
    if (header.version > formatVersion)
        return fail("{}: written by a newer Lanescope (format {}). Recover it with that version.", shown(),
                    header.version);
    if (header.headerBytes < minHeaderBytes || header.headerBytes > maxHeaderBytes)
        return fail("{}: the start of the log is corrupt.", shown());
    if (fileBytes < header.headerBytes) return Step::Wait;
    if (part_ > 0 && header.headerBytes < sizeof header) return fail("{}: the start of the log is corrupt.", shown());
    if (header.headerBytes >= sizeof header) {
        if (const Result<Step> read = readAt(&header, sizeof header, 0); read != Step::Done) return read;
    }
    if (part_ > 0 && header.part != part_) return fail("{}: not a part of this log.", shown());
    header_ = header;
    offset_ = header.headerBytes;
    progress_.bytesRead = offset_;
    return Step::Done;
}

Result<LogReader::Step> LogReader::readBlock(uint64_t fileBytes, const PassRecord& pass) {
    BlockHeader block{};
    if (fileBytes - std::min(fileBytes, offset_) < sizeof(block)) return Step::Wait;
    if (const Result<Step> read = readAt(&block, sizeof block, offset_); read != Step::Done) return read;
    if (!isGoodBlock(block)) return Step::Damaged;
    const uint64_t blockBytes = sizeof(block) + block.payloadBytes;
    if (fileBytes - offset_ < blockBytes) return Step::Wait;
    payload_.resize(block.payloadBytes / 8);
    if (const Result<Step> read = readAt(payload_.data(), block.payloadBytes, offset_ + sizeof block);
        read != Step::Done)
        return read;
    if (checksumOf(block, payload_.data()) != block.checksum || block.sequence < expectedSequence_)
        return Step::Damaged;

    if (std::exchange(followsGap_, false)) expectedSequence_ = block.sequence;
    offset_ += blockBytes;
    progress_.bytesRead = earlierBytes_ + offset_;
    progress_.lostBlocks += block.sequence - expectedSequence_;
    expectedSequence_ = block.sequence + 1;
    ++progress_.blocks;
    progress_.latestTimeNs = std::max(progress_.latestTimeNs, block.maxTimeNs);
    passRecords(std::as_bytes(std::span(payload_)), pass);
    return Step::Done;
}

/// Returns `Wait` if the file ends earlier; a file may shrink while it is read.
Result<LogReader::Step> LogReader::readAt(void* target, size_t bytes, uint64_t offset) const {
    if (readAllAt(file_, target, bytes, offset) == bytes) return Step::Done;
    if (errno == 0) return Step::Wait;
    return fail("{}: cannot read the log: {}.", shown(), std::strerror(errno));
}

void LogReader::passRecords(std::span<const std::byte> payload, const PassRecord& pass) {
    while (payload.size() >= sizeof(RecordHeader)) {
        const auto& record = *reinterpret_cast<const RecordHeader*>(payload.data());
        if (record.bytes < sizeof(RecordHeader) || record.bytes % 8 != 0 || record.bytes > payload.size()) {
            ++progress_.oddRecords;  // The start of the next record is unknown.
            return;
        }
        const std::optional<bool> passed = pass(static_cast<RecordKind>(record.kind), payload.first(record.bytes));
        ++progress_.records;
        if (!passed)
            ++progress_.unknownRecords;
        else if (!*passed)
            ++progress_.oddRecords;
        payload = payload.subspan(record.bytes);
    }
}

}  // namespace lanescope::log
