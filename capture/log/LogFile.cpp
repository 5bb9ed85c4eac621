// SPDX-License-Identifier: Apache-2.0
#include "capture/log/LogFile.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/uio.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "capture/log/clocks.h"

namespace lanescope::log {

namespace {

constexpr int maxFilesPerName = 1000;
constexpr int minDescriptors[] = {500, 100, 3};  // the highest that the process limit allows

/// Writes everything. Returns false on failure; a signal does not truncate a block.
bool writeAll(int descriptor, iovec* parts, int count) {
    while (count > 0) {
        const ssize_t written = ::writev(descriptor, parts, count);
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) return false;  // some file systems write nothing and report no error
        size_t left = static_cast<size_t>(written);
        while (count > 0 && left >= parts->iov_len) {
            left -= parts->iov_len;
            ++parts;
            --count;
        }
        if (count > 0) {
            parts->iov_base = static_cast<char*>(parts->iov_base) + left;
            parts->iov_len -= left;
        }
    }
    return true;
}

constexpr int ringParts = 8;
constexpr size_t maxRepeatedNotes = 100;
constexpr size_t maxStringBytes = 32u << 10;
constexpr size_t maxTotalStringBytes = 256u << 20;  // maximum memory for names in the traced process

}  // namespace

LogFile::LogFile(LogFolder folder, std::string nameWithoutSuffix)
    : folder_(std::move(folder)), nameWithoutSuffix_(std::move(nameWithoutSuffix)) {
    block_.reserve(blockBytes_ + (64u << 10));
}

LogFile::~LogFile() { close(); }

void LogFile::keepRing(int64_t ns, uint64_t bytes) {
    constexpr size_t minBlocks = 64;  // so that parts of a small ring have several
    ringNs_ = ns;
    ringBytes_ = bytes;
    if (bytes > 0) blockBytes_ = std::min<size_t>(blockBytes_, bytes / minBlocks);
}

void LogFile::close() {
    if (file_.descriptor >= 0 && isStillOurs()) ::close(file_.descriptor);
    file_.descriptor = -1;
}

void LogFile::letGo() {
    // The number stays: it no longer belongs to the file, so `flush` opens that again.
    if (file_.descriptor >= 0 && isStillOurs()) ::close(file_.descriptor);
}

bool LogFile::isStillOurs() const {
    struct stat now {};
    return ::fstat(file_.descriptor, &now) == 0 && now.st_dev == file_.deviceNumber && now.st_ino == file_.fileNumber;
}

void LogFile::append(const void* record, size_t bytes, int64_t timeNs) {
    if (isFinished_) return;
    if (isBroken_) {
        isMoreLost_ = true;
        return;
    }
    const auto* begin = static_cast<const unsigned char*>(record);
    block_.insert(block_.end(), begin, begin + bytes);
    if (timeNs > 0) {
        if (header_.minTimeNs == 0 || timeNs < header_.minTimeNs) header_.minTimeNs = timeNs;
        if (timeNs > header_.maxTimeNs) header_.maxTimeNs = timeNs;
    }
    if (block_.size() >= blockBytes_) flush();
}

void LogFile::flush() {
    if (block_.empty()) return;
    if (file_.descriptor >= 0 && !isStillOurs()) {
        file_.descriptor = -1;
        cannotOpen_ = !openAgain();
    }
    if (file_.descriptor < 0 && !open()) {
        ++lostBlocks_;
        block_.clear();
        return;
    }
    header_.magic = log::blockMagic;
    header_.type = log::BlockType::Records;
    header_.flags = 0;
    header_.payloadBytes = static_cast<uint32_t>(block_.size());
    header_.sequence = sequence_++;
    // the sequence and both times are adjacent at the end of the header
    uLong checksum = ::crc32(0, reinterpret_cast<const Bytef*>(&header_.sequence), 24);
    checksum = ::crc32(checksum, block_.data(), static_cast<uInt>(block_.size()));
    header_.checksum = static_cast<uint32_t>(checksum);

    iovec parts[2] = {{&header_, sizeof header_}, {block_.data(), block_.size()}};
    const uint64_t bytes = sizeof header_ + block_.size();
    isAtLimit_ = isAtLimit_ || bytes > allowedBytes_;
    const bool isFull = isAtLimit_ || !fitsRing(bytes);
    if (!isFull && writeAll(file_.descriptor, parts, 2)) {
        allowedBytes_ -= bytes;
        fileBytes_ += static_cast<int64_t>(bytes);
        if (isMarked_) markBroken(0);
        if (isRing()) noteTimes();
    } else {
        const int problem = isFull ? ENOSPC : errno;
        ++lostBlocks_;
        isBroken_ = true;
        // A half-written block would hide all following ones. Meanwhile the program may have opened
        // another file under this descriptor.
        if (!isStillOurs() || ::ftruncate(file_.descriptor, fileBytes_) != 0) cannotOpen_ = true;
        if (!isMarked_ && isStillOurs()) markBroken(problem);
    }
    block_.clear();
    header_ = {};
    if (cannotOpen_) close();
}

/// Removes the oldest file before the present one. Returns false if there is none or it cannot be removed.
bool LogFile::removeOldest() {
    if (earlier_.empty()) return false;
    const Earlier& oldest = earlier_.front();
    if (!folder_.removeFile(oldest.part == 0 ? firstName_ : firstName_ + "." + std::to_string(oldest.part)))
        return false;
    earlierBytes_ -= oldest.bytes;
    earlier_.pop_front();
    return true;
}

/// Makes room for a block in a ring. Returns false if the ring has none.
bool LogFile::fitsRing(uint64_t bytes) {
    const auto isOver = [&] {
        return isRing() && earlierBytes_ + static_cast<uint64_t>(fileBytes_) + bytes > ringBytes_;
    };
    while (isOver() && removeOldest()) {
    }
    // The present file may be all of the ring, because the next one could not be opened.
    isRingStuck_ = isOver();
    return !isRingStuck_;
}

/// Notes the events of a block that was written, and that the next file is due.
void LogFile::noteTimes() {
    // Times come from the program's libraries. One in the future must not remove everything before it.
    const int64_t newestNs = std::min(header_.maxTimeNs, eventTimeNs());
    newestNs_ = std::max(newestNs_, newestNs);
    if (partBegunNs_ == 0) partBegunNs_ = newestNs_;
    isPartDue_ = static_cast<uint64_t>(fileBytes_) >= ringBytes_ / ringParts ||
                 (ringNs_ > 0 && newestNs_ - partBegunNs_ >= ringNs_ / ringParts);
}

/// Overwrites a field of the header, which needs no space on a full disk.
void LogFile::markBroken(int problem) {
    const int flags = ::fcntl(file_.descriptor, F_GETFL);
    const auto value = static_cast<uint32_t>(problem);
    // Linux ignores the offset of a file opened for appending.
    if (flags < 0 || ::fcntl(file_.descriptor, F_SETFL, flags & ~O_APPEND) != 0) return;
    const ssize_t written = ::pwrite(file_.descriptor, &value, sizeof value, offsetof(log::FileHeader, brokenErrno));
    ::fcntl(file_.descriptor, F_SETFL, flags);
    if (written == sizeof value) isMarked_ = problem != 0;
}

uint64_t LogFile::takeLostBlocks() {
    if (std::exchange(isMoreLost_, false)) {
        ++lostBlocks_;
        ++sequence_;
    }
    const uint64_t lost = std::exchange(lostBlocks_, 0);
    return cannotOpen_ ? 0 : lost;
}

void LogFile::loseBlock() {
    block_.clear();
    header_ = {};
    ++lostBlocks_;
    ++sequence_;  // so that a reader notices the gap
}

LogFile::Disk LogFile::disk() const {
    struct statvfs status {};
    if (file_.descriptor < 0 || !isStillOurs() || ::fstatvfs(file_.descriptor, &status) != 0) return {};
    const uint64_t unit = status.f_frsize;
    return {status.f_bavail * unit, status.f_blocks * unit};
}

bool LogFile::open() {
    if (cannotOpen_) return false;
    for (int attempt = 1; attempt <= maxFilesPerName && file_.descriptor < 0; ++attempt) {
        name_ = nameWithoutSuffix_ + (attempt > 1 ? "." + std::to_string(attempt) : "") + ".log";
        file_ = opened(folder_.createFile(name_));
        if (file_.descriptor < 0 && errno != EEXIST && errno != EINTR) break;
    }
    if (file_.descriptor >= 0 && writeHeader(file_, 0)) {
        firstName_ = name_;
        fileBytes_ = sizeof(log::FileHeader);
        return true;
    }
    beginProblem_ = errno;
    cannotOpen_ = true;
    if (file_.descriptor >= 0) folder_.removeFile(name_);
    close();
    return false;
}

/// Opens the file again after the program has closed our descriptor. Returns false if the file has changed.
bool LogFile::openAgain() {
    const Opened before = file_;
    const Opened again = opened(folder_.openFile(name_));
    struct stat now {};
    const bool isSame = again.descriptor >= 0 && again.deviceNumber == before.deviceNumber &&
                        again.fileNumber == before.fileNumber && ::fstat(again.descriptor, &now) == 0 &&
                        now.st_size == fileBytes_;
    if (isSame)
        file_ = again;
    else if (again.descriptor >= 0)
        ::close(again.descriptor);
    return isSame;
}

bool LogFile::beginNextPart() {
    flush();
    isPartDue_ = false;  // Until the next block, so that a failure is not repeated at once.
    if (cannotOpen_ || file_.descriptor < 0) return false;
    const std::string name = firstName_ + "." + std::to_string(part_ + 1);
    if (isRing()) earlier_.push_back({part_, static_cast<uint64_t>(fileBytes_), newestNs_});
    const Opened next = opened(folder_.createFile(name));
    const bool isMade = next.descriptor >= 0 && writeHeader(next, part_ + 1);
    if (!isMade) {
        if (isRing()) earlier_.pop_back();
        if (next.descriptor < 0) return false;
        ::close(next.descriptor);
        folder_.removeFile(name);
        return false;
    }
    close();
    file_ = next;
    name_ = name;
    isMarked_ = false;
    ++part_;
    earlierBytes_ += static_cast<uint64_t>(fileBytes_);
    fileBytes_ = sizeof(log::FileHeader);
    partBegunNs_ = newestNs_;
    while (ringNs_ > 0 && !earlier_.empty() && earlier_.front().newestNs < newestNs_ - ringNs_ && removeOldest()) {
    }
    return true;
}

void LogFile::finish() {
    flush();
    close();
    isFinished_ = true;
}

/// Moves the descriptor above the low numbers and stores the identity of its file.
LogFile::Opened LogFile::opened(int descriptor) {
    Opened file;
    file.descriptor = descriptor;
    for (const int minDescriptor : minDescriptors) {
        if (file.descriptor < 0 || file.descriptor >= minDescriptor) break;
        const int higher = ::fcntl(file.descriptor, F_DUPFD_CLOEXEC, minDescriptor);
        if (higher < 0) continue;
        ::close(std::exchange(file.descriptor, higher));
        break;
    }
    struct stat status {};
    if (file.descriptor >= 0 && ::fstat(file.descriptor, &status) == 0) {
        file.deviceNumber = status.st_dev;
        file.fileNumber = status.st_ino;
    }
    return file;
}

bool LogFile::writeHeader(const Opened& file, uint32_t part) {
    log::FileHeader header{};
    std::memcpy(header.magic, log::fileMagic, sizeof header.magic);
    header.version = log::formatVersion;
    header.headerBytes = sizeof header;
    header.pid = static_cast<uint32_t>(::getpid());
    header.parentPid = static_cast<uint32_t>(::getppid());
    header.monotonicNs = monotonicNs();
    header.realtimeNs = header.monotonicNs + eventOffsetNs();
    header.part = part;
    iovec parts{&header, sizeof header};
    return writeAll(file.descriptor, &parts, 1);
}

uint32_t RecordWriter::string(std::string_view text) {
    if (text.empty() || isStopped_) return 0;
    if (text.size() > maxStringBytes) text = text.substr(0, maxStringBytes);
    if (const auto found = idOf_.find(text); found != idOf_.end()) return found->second;
    if (stringBytes_ > maxTotalStringBytes) text = "(one of too many different names)";
    if (const auto found = idOf_.find(text); found != idOf_.end()) return found->second;

    const std::string& kept = strings_.emplace_back(text);
    stringBytes_ += kept.size();
    const uint32_t id = ++lastId_;
    idOf_.emplace(kept, id);
    log::StringRecord record{};
    record.id = id;
    record.length = static_cast<uint32_t>(kept.size());
    writeWithTail(record, kept, 0);
    return id;
}

void RecordWriter::writeNvtx(log::NvtxRecord& record, std::string_view extended) {
    extended = extended.substr(0, UINT16_MAX);
    record.extendedBytes = static_cast<uint16_t>(extended.size());
    writeWithTail(record, extended, record.timestampNs);
}

void RecordWriter::startAgain() {
    idOf_.clear();
    strings_.clear();
    stringBytes_ = 0;
    ++generation_;
    file_.resume();
}

bool RecordWriter::beginPart() {
    if (!file_.beginNextPart()) return false;
    startAgain();
    for (const auto& [name, value] : properties_) writeProperty(name, value);
    for (Note& note : notes_) write(note);
    return true;
}

void RecordWriter::stop() {
    startAgain();
    file_.finish();
    isStopped_ = true;
}

void RecordWriter::property(std::string_view name, std::string_view value) {
    constexpr size_t maxProperties = 1000;
    if (file_.isRing() && properties_.size() < maxProperties)
        properties_.insert_or_assign(std::string(name), std::string(value));
    writeProperty(name, value);
}

void RecordWriter::writeProperty(std::string_view name, std::string_view value) {
    log::PropertyRecord record{};
    record.name = string(name);
    record.value = string(value);
    write(record);
}

void RecordWriter::note(Severity severity, HealthCode code, std::string_view sentence, uint64_t count) {
    Note note{{}, std::string(identifier(code)), std::string(sentence)};
    note.record.timestampNs = eventTimeNs();
    note.record.severity = severity;
    note.record.count = static_cast<uint32_t>(std::min<uint64_t>(count, UINT32_MAX));
    write(note);
    if (file_.isRing() && notes_.size() < maxRepeatedNotes) notes_.push_back(std::move(note));
}

void RecordWriter::write(Note& note) {
    note.record.code = string(note.code);
    note.record.sentence = string(note.sentence);
    write(note.record, note.record.timestampNs);
}

void RecordWriter::dropped(Loss what, uint64_t count) {
    log::DroppedRecord record{};
    record.timestampNs = eventTimeNs();
    record.count = count;
    record.what = what;
    write(record, record.timestampNs);
}

void RecordWriter::writeWithTail(log::RecordHeader& header, size_t structBytes, log::RecordKind kind,
                                 std::string_view tail, int64_t timeNs) {
    const size_t padded = (structBytes + tail.size() + 7) & ~size_t{7};
    header = {static_cast<uint16_t>(kind), header.flags, static_cast<uint32_t>(padded)};
    // The header is the first member, so its address is the record's.
    scratch_.assign(reinterpret_cast<const char*>(&header), structBytes);
    scratch_.append(tail);
    scratch_.resize(padded, '\0');
    file_.append(scratch_.data(), scratch_.size(), timeNs);
}

}  // namespace lanescope::log
