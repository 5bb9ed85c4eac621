// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <variant>
#include <vector>

#include "capture/log/Records.h"

namespace lanescope::agent {

/// Maximum bytes kept of a text; longer texts are truncated.
inline constexpr size_t maxNvtxTextBytes = 8u << 10;

/// One NVTX call, as its thread made it. Views must be valid during the call only.
struct NvtxCall {
    log::NvtxEvent event = log::NvtxEvent::Mark;
    log::NvtxPayload payload = log::NvtxPayload::None;
    uint32_t domain = 0;
    uint32_t category = 0;
    uint32_t colorArgb = 0;
    uint64_t rangeId = 0;
    uint64_t payloadBits = 0;
    uint64_t schemaId = 0;
    const std::string* registered = nullptr;  ///< A registered string that replaces `text`.
    std::string_view text{};
    std::string_view extended{};  ///< Bytes of the extended payload.
};

/// Returns the key of the range that a push or its pop belongs to. Bit 63 distinguishes it from the
/// ids of start/end ranges.
inline uint64_t keyOfPush(uint32_t threadId, uint32_t domain, int32_t level) {
    constexpr uint64_t bits16 = 0xffff;
    return (uint64_t{1} << 63) | (uint64_t{threadId & 0x7fffffff} << 32) | (std::min<uint64_t>(domain, bits16) << 16) |
           std::min<uint64_t>(static_cast<uint32_t>(level), bits16);
}

/// A definition that a program makes once and refers to later: its record, without the ids of its texts, and those
/// texts in UTF-8.
template <class Record>
struct NvtxDefinition {
    Record record{};
    std::string name;
};
template <class Record, class Entry>
struct NvtxLayout : NvtxDefinition<Record> {
    std::vector<Entry> entries;
};
struct NvtxSchemaEntry : NvtxDefinition<log::NvtxSchemaEntryRecord> {
    std::string description;
};
using NvtxDomain = NvtxDefinition<log::NvtxDomainRecord>;
using NvtxCategory = NvtxDefinition<log::NvtxCategoryRecord>;
using NvtxThreadName = NvtxDefinition<log::ThreadNameRecord>;
using NvtxSchema = NvtxLayout<log::NvtxSchemaRecord, NvtxSchemaEntry>;
using NvtxEnum = NvtxLayout<log::NvtxEnumRecord, NvtxDefinition<log::NvtxEnumEntryRecord>>;
using NvtxAnnouncement = std::variant<NvtxDomain, NvtxCategory, NvtxThreadName, NvtxSchema, NvtxEnum>;

/// Registry of everything announced in this process, in order. NVTX handles point into it, so it outlives everything,
/// even a fork: a forked child continues to use its parent's handles. Locked briefly and never while other code is
/// called; `lockForFork` keeps a fork from copying a held lock.
class NvtxRegistry {
  public:
    /// Returns the domain of that name and creates it if it is new. Never null.
    const NvtxDomain* domain(std::string_view name, int64_t timestampNs, uint32_t threadId);
    /// Returns the name of a domain that `domain` has made, or an empty text.
    std::string domainName(uint32_t id);
    /// Returns a string that lives as long as the process; equal texts share one.
    const std::string* registerString(std::string_view text);
    /// Adds the name of a category or of a thread.
    void add(NvtxAnnouncement name);
    /// Adds a schema. Returns its own id if it has one, else a new one.
    uint64_t add(NvtxSchema schema);
    uint64_t add(NvtxEnum enumeration);

    /// Returns the number of announcements. Cheap, so that the writer can check for new ones.
    size_t announcementCount() const { return count_.load(std::memory_order_acquire); }
    /// Returns the announcement at `index` < `announcementCount()`. It never changes.
    const NvtxAnnouncement& announcement(size_t index);

    void lockForFork() { mutex_.lock(); }
    bool tryLock() { return mutex_.try_lock(); }
    void unlockAfterFork() { mutex_.unlock(); }

  private:
    uint64_t addLayout(auto layout);
    const NvtxAnnouncement& append(NvtxAnnouncement announcement);

    std::mutex mutex_;
    std::atomic<size_t> count_{0};
    std::deque<NvtxAnnouncement> announcements_;  // a deque, so that handles stay valid
    std::unordered_map<std::string, const NvtxDomain*> domains_;
    std::deque<std::string> strings_;
    std::unordered_map<std::string_view, const std::string*> stringOf_;
    uint32_t nextDomain_ = 1;
    uint64_t nextSchema_;

  public:
    NvtxRegistry();
};

/// Returns the registry of the process. The first use creates it, and it is never destroyed,
/// because NVTX calls may come until the end. Creation takes no lock, since a fork at that time
/// would leave the lock held. Throws `std::bad_alloc`.
NvtxRegistry& nvtxRegistry();
NvtxRegistry* existingNvtxRegistry();

}  // namespace lanescope::agent
