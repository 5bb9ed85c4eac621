// SPDX-License-Identifier: Apache-2.0
#include "capture/agent/NvtxRegistry.h"

#include <utility>

namespace lanescope::agent {

namespace {

// NVTX_PAYLOAD_SCHEMA_ID_DYNAMIC_START: the tool assigns ids from here on.
constexpr uint64_t firstDynamicSchema = uint64_t{1} << 32;

constinit std::atomic<NvtxRegistry*> theRegistry{nullptr};

}  // namespace

NvtxRegistry::NvtxRegistry() : nextSchema_(firstDynamicSchema) {}

const NvtxAnnouncement& NvtxRegistry::append(NvtxAnnouncement announcement) {
    const NvtxAnnouncement& kept = announcements_.emplace_back(std::move(announcement));
    count_.store(announcements_.size(), std::memory_order_release);
    return kept;
}

const NvtxDomain* NvtxRegistry::domain(std::string_view name, int64_t timestampNs, uint32_t threadId) {
    const std::lock_guard lock(mutex_);
    const NvtxDomain*& known = domains_[std::string(name)];
    if (known) return known;
    NvtxDomain made{{}, std::string(name)};
    made.record.domain = nextDomain_++;
    made.record.timestampNs = timestampNs;
    made.record.threadId = threadId;
    return known = &std::get<NvtxDomain>(append(std::move(made)));
}

std::string NvtxRegistry::domainName(uint32_t id) {
    const std::lock_guard lock(mutex_);
    for (const auto& [name, domain] : domains_) {
        // A domain that lacked memory has its name, but no number.
        if (domain && domain->record.domain == id) return name;
    }
    return {};
}

const std::string* NvtxRegistry::registerString(std::string_view text) {
    const std::lock_guard lock(mutex_);
    if (const auto found = stringOf_.find(text); found != stringOf_.end()) return found->second;
    const std::string& kept = strings_.emplace_back(text);
    stringOf_.emplace(kept, &kept);
    return &kept;
}

void NvtxRegistry::add(NvtxAnnouncement name) {
    const std::lock_guard lock(mutex_);
    append(std::move(name));
}

uint64_t NvtxRegistry::addLayout(auto layout) {
    const std::lock_guard lock(mutex_);
    if (layout.record.schemaId == 0) layout.record.schemaId = nextSchema_++;
    const uint64_t id = layout.record.schemaId;
    layout.record.entryCount = static_cast<uint32_t>(layout.entries.size());
    for (auto& entry : layout.entries) {
        entry.record.schemaId = id;
        entry.record.domain = layout.record.domain;
    }
    append(std::move(layout));
    return id;
}

uint64_t NvtxRegistry::add(NvtxSchema schema) { return addLayout(std::move(schema)); }

uint64_t NvtxRegistry::add(NvtxEnum enumeration) { return addLayout(std::move(enumeration)); }

const NvtxAnnouncement& NvtxRegistry::announcement(size_t index) {
    const std::lock_guard lock(mutex_);
    return announcements_[index];
}

NvtxRegistry& nvtxRegistry() {
    NvtxRegistry* registry = theRegistry.load(std::memory_order_acquire);
    if (registry) [[likely]]
        return *registry;
    auto* const fresh = new NvtxRegistry;
    if (theRegistry.compare_exchange_strong(registry, fresh)) return *fresh;
    delete fresh;  // another thread was first
    return *registry;
}

NvtxRegistry* existingNvtxRegistry() { return theRegistry.load(std::memory_order_acquire); }

}  // namespace lanescope::agent
