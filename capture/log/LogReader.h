// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "capture/log/LogFormat.h"
#include "capture/log/Records.h"
#include "model/format/Result.h"
#include "model/format/UniqueFd.h"
#include "model/format/files.h"

namespace lanescope::log {

// Variable part of a record: what its struct states of the bytes after it. Returns nullopt if they are fewer.

inline std::optional<std::string_view> tailOf(const StringRecord& record, std::span<const std::byte> rest) {
    if (record.length > rest.size()) return std::nullopt;
    return std::string_view(reinterpret_cast<const char*>(rest.data()), record.length);
}

inline std::optional<std::span<const std::byte>> tailOf(const NvtxRecord& record, std::span<const std::byte> rest) {
    if (record.extendedBytes > rest.size()) return std::nullopt;
    return rest.first(record.extendedBytes);
}

inline std::optional<std::span<const SampleValue>> tailOf(const SamplesRecord& record,
                                                          std::span<const std::byte> rest) {
    if (record.count > rest.size() / sizeof(SampleValue)) return std::nullopt;
    return std::span(reinterpret_cast<const SampleValue*>(rest.data()), record.count);
}

/// The samples as stored in the log: `1 + metricCount` words each.
inline std::optional<std::span<const uint64_t>> tailOf(const GpuMetricSamplesRecord& record,
                                                       std::span<const std::byte> rest) {
    const uint64_t words = record.count * (uint64_t{record.metricCount} + 1);
    if (words > rest.size() / sizeof(uint64_t)) return std::nullopt;
    return std::span(reinterpret_cast<const uint64_t*>(rest.data()), words);
}

/// Calls `receive(record)`, or `receive(record, tail)` for a record with a variable part, if
/// `receive` accepts it. Returns false if `bytes` are too few for the record.
template <class Record, class Receiver>
bool deliver(std::span<const std::byte> bytes, Receiver& receive) {
    if (bytes.size() < sizeof(Record)) return false;
    const auto& record = *reinterpret_cast<const Record*>(bytes.data());
    if constexpr (requires { tailOf(record, bytes); }) {
        const auto tail = tailOf(record, bytes.subspan(sizeof(Record)));
        if (!tail) return false;
        if constexpr (std::is_invocable_v<Receiver&, const Record&, decltype(*tail)>) receive(record, *tail);
    } else if constexpr (std::is_invocable_v<Receiver&, const Record&>) {
        receive(record);
    }
    return true;
}

/// Passes the record in `bytes`, aligned to 8, to `receive` by `deliver`. Returns nullopt if its
/// kind is not in the list.
template <class Receiver, class... Records>
std::optional<bool> dispatchRecord(RecordKind kind, std::span<const std::byte> bytes, Receiver& receive,
                                   RecordList<Records...>) {
    std::optional<bool> delivered;
    const auto tryOne = [&]<class Record>(const Record*) {
        if (kind != Record::kind) return false;
        delivered = deliver<Record>(bytes, receive);
        return true;
    };
    static_cast<void>((tryOne(static_cast<const Records*>(nullptr)) || ...));
    return delivered;
}

/// A file of a log: "x.log" is part 0 of "x.log", "x.log.7" is part 7.
struct LogPart {
    std::string log;
    uint32_t part = 0;
};
/// Returns the log and the part of a file by its name; nullopt if that is no name of a log.
std::optional<LogPart> logPart(std::string_view name);
/// Returns the logs of a folder with these names, sorted, each once, also those whose first files are gone.
std::vector<std::string> logNames(const std::vector<std::string>& names);

/// Reader of one log while it grows. It validates everything: any prefix and any corruption is safe. Reads whole blocks
/// only and stops at the first bad block of a file. Follows the log through its files. A ring is read from the first
/// file that exists; if the next file of a growing one is removed before it is read, the reader goes on at the first
/// that exists. Blocks in removed files are no loss. One thread at a time.
class LogReader {
  public:
    struct Progress {
        uint64_t bytesRead = 0;  ///< Bytes of the file header and of whole good blocks.
        uint64_t blocks = 0;
        uint64_t records = 0;
        uint64_t lostBlocks = 0;      ///< Gaps in the sequence: blocks never written, or lost.
        uint64_t oddRecords = 0;      ///< Records in good blocks that are too short for their kind.
        uint64_t unknownRecords = 0;  ///< Records of kinds unknown to this version.
        int64_t latestTimeNs = 0;     ///< Time of the latest event; 0 if there was none.
    };

    /// Opens the log `name` of a folder for reading; it may still be empty. Fails with a sentence if it is
    /// not a regular file or cannot be opened. Never follows a symbolic link. Further files of the
    /// log are opened in the same folder.
    static Result<LogReader> open(std::shared_ptr<const Folder> folder, const std::string& name);

    /// Passes the records of at most `maxBlocks` whole new blocks to `receive`, in order. A receiver is a function
    /// object with an overload for each record that it wants: `receive(const KernelRecord&)`, or with the variable
    /// part, such as `receive(const StringRecord&, std::string_view)`; other records are skipped. References and views
    /// are valid during the call. Numbers in them are unchecked values of the traced process: a receiver validates
    /// those that it uses as an index or enum. Returns the number of blocks read, 0 if there are none for now. Fails if
    /// the file cannot be read or is no log.
    Result<size_t> poll(auto&& receive, size_t maxBlocks = SIZE_MAX) {
        return pollBlocks(
            [&receive](RecordKind kind, std::span<const std::byte> bytes) {
                return dispatchRecord(kind, bytes, receive, AllRecords{});
            },
            maxBlocks);
    }

    const std::optional<FileHeader>& header() const { return header_; }
    const Progress& progress() const { return progress_; }
    /// Returns the number of bytes after the last good block that the last `poll` did not
    /// understand: an unfinished block, or corruption. Includes skipped bytes of earlier files.
    uint64_t bytesNotUnderstood() const { return bytesNotUnderstood_; }
    /// Returns true if the last `poll` stopped at a block that is wrong rather than unfinished.
    bool isCorrupt() const { return isDamaged_; }
    const std::string& name() const { return name_; }
    /// Returns the number of the file at which reading began: above 0 for a ring whose first files are gone.
    uint32_t firstPart() const { return firstPart_; }
    /// Returns the errno at which the log broke off, as its process noted; 0 if it did not. Reads the file.
    int brokenErrno() const;

  private:
    LogReader() = default;
    std::string shown() const { return (folder_->path() / name_).string(); }
    enum class Step { Done, Wait, Damaged };
    using PassRecord = std::function<std::optional<bool>(RecordKind, std::span<const std::byte>)>;

    Result<size_t> pollBlocks(const PassRecord& pass, size_t maxBlocks);
    Result<Step> readHeader(uint64_t fileBytes);
    bool goToNextPart();
    std::optional<uint32_t> lowestPart(uint32_t from) const;
    std::string fileName(uint32_t part) const { return part == 0 ? name_ : name_ + "." + std::to_string(part); }
    Result<uint64_t> fileBytes() const;
    Result<Step> readBlock(uint64_t fileBytes, const PassRecord& pass);
    Result<Step> readAt(void* target, size_t bytes, uint64_t offset) const;
    void passRecords(std::span<const std::byte> payload, const PassRecord& pass);

    std::shared_ptr<const Folder> folder_;
    std::string name_;
    UniqueFd file_;
    uint32_t part_ = 0, firstPart_ = 0;
    bool followsGap_ = false;    ///< Files before the present one were removed unread.
    uint64_t offset_ = 0;        ///< In the present file.
    uint64_t earlierBytes_ = 0;  ///< Read from earlier files.
    uint64_t skippedBytes_ = 0;  ///< Skipped in earlier files.
    uint64_t retriedAt_ = UINT64_MAX;
    uint64_t expectedSequence_ = 0;
    std::optional<FileHeader> header_;
    Progress progress_;
    uint64_t bytesNotUnderstood_ = 0;
    bool isDamaged_ = false;
    std::vector<uint64_t> payload_;  ///< 8-byte words, so that records are aligned.
};

}  // namespace lanescope::log
