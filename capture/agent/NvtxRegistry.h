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

/// How many bytes of a text are kept; the rest of a longer one is left out.
inline constexpr size_t longestNvtxText = 8u << 10;

/// One NVTX call, as its thread made it. Views need to live for the call only.
struct NvtxCall {
    log::NvtxEvent event = log::NvtxEvent::Mark;
    log::NvtxPayload payload = log::NvtxPayload::None;
    uint32_t domain = 0;
    uint32_t category = 0;
    uint32_t colorArgb = 0;
    uint64_t rangeId = 0;
    uint64_t payloadBits = 0;
    uint64_t schemaId = 0;
    const std::string* registered = nullptr;  ///< A registered string instead of `text`.
    std::string_view text;
    std::string_view extended;  ///< Bytes of the extended payload.
};

/// Which range a push or its pop belongs to. Bit 63 keeps it apart from the ids of start/end
/// ranges.
inline uint64_t keyOfPush(uint32_t threadId, uint32_t domain, int32_t level) {
    constexpr uint64_t bits16 = 0xffff;
    return (uint64_t{1} << 63) | (uint64_t{threadId & 0x7fffffff} << 32) |
           (std::min<uint64_t>(domain, bits16) << 16) |
           std::min<uint64_t>(static_cast<uint32_t>(level), bits16);
}

/// What a program told NVTX once, to refer to later. Strings are UTF-8.
struct NvtxDomain {
    uint32_t id = 0;
    std::string name;
    int64_t timestampNs = 0;
    uint32_t threadId = 0;
};
struct NvtxCategory {
    uint32_t domain = 0;
    uint32_t category = 0;
    std::string name;
    int64_t timestampNs = 0;
    uint32_t threadId = 0;
};
struct NvtxThreadName {
    uint32_t threadId = 0;
    std::string name;
};
struct NvtxSchemaEntry {
    uint64_t flags = 0, type = 0, arrayOrUnionDetail = 0, offset = 0;
    std::string name, description;
};
struct NvtxSchema {
    uint32_t domain = 0;
    uint64_t schemaId = 0;
    std::string name;
    uint64_t type = 0, flags = 0, payloadBytes = 0, alignTo = 0;
    std::vector<NvtxSchemaEntry> entries;
};
struct NvtxEnumEntry {
    uint64_t value = 0;
    bool isFlag = false;
    std::string name;
};
struct NvtxEnum {
    uint32_t domain = 0;
    uint64_t schemaId = 0, bytes = 0;
    std::string name;
    std::vector<NvtxEnumEntry> entries;
};
using NvtxAnnouncement =
    std::variant<NvtxDomain, NvtxCategory, NvtxThreadName, NvtxSchema, NvtxEnum>;

/// Everything announced in this process, in order. The handles that NVTX gives out point in here,
/// so it outlives everything, a fork included: a forked child goes on using its parent's handles.
/// Locked for moments only and never while other code is called; `lockForFork` keeps a fork from
/// copying a held lock.
class NvtxRegistry {
  public:
    /// The domain of that name; made when it is new. Never null.
    const NvtxDomain* domain(std::string_view name, int64_t timestampNs, uint32_t threadId);
    /// The name of a domain that `domain` has made; empty for others.
    std::string domainName(uint32_t id);
    /// A string that lives as long as the process; equal texts share one.
    const std::string* registerString(std::string_view text);
    void add(NvtxCategory category);
    void add(NvtxThreadName name);
    /// Id of the schema: its own if it brought one, else a new one.
    uint64_t add(NvtxSchema schema);
    uint64_t add(NvtxEnum enumeration);

    /// How many announcements there are; cheap, for the writer to see whether it is behind.
    size_t announcementCount() const { return count_.load(std::memory_order_acquire); }
    /// The announcement at `index` < `announcementCount()`, which never changes.
    const NvtxAnnouncement& announcement(size_t index);

    void lockForFork() { mutex_.lock(); }
    void unlockAfterFork() { mutex_.unlock(); }

  private:
    template <class Layout>
    uint64_t addLayout(Layout layout);
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

/// The registry of the process, made with the first use and never destroyed, because NVTX calls may
/// come until the very end. Made without a lock, which a fork just then would leave taken. Throws
/// `std::bad_alloc`.
NvtxRegistry& nvtxRegistry();
/// The same, but null when there is none yet.
NvtxRegistry* existingNvtxRegistry();

}  // namespace lanescope::agent
