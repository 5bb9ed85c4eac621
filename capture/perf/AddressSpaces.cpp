// SPDX-License-Identifier: Apache-2.0
#include "capture/perf/AddressSpaces.h"

#include <algorithm>

namespace lanescope::capture {

namespace {

constexpr size_t maxChanges = 2'000'000, maxFiles = 100'000;

}  // namespace

void AddressSpace::add(Mapping mapping) {
    if (mapping.end <= mapping.start) return;
    // Removes the previous mappings there, except for parts that extend beyond either end.
    auto at = mappings_.upper_bound(mapping.start);
    if (at != mappings_.begin() && std::prev(at)->second.end > mapping.start) --at;
    while (at != mappings_.end() && at->second.start < mapping.end) {
        const Mapping old = at->second;
        at = mappings_.erase(at);
        if (old.start < mapping.start) {
            Mapping before = old;
            before.end = mapping.start;
            mappings_.emplace(before.start, before);
        }
        if (old.end > mapping.end) {
            Mapping rest = old;
            rest.fileOffset += mapping.end - old.start;
            rest.start = mapping.end;
            at = mappings_.emplace(rest.start, rest).first;
        }
    }
    mappings_.insert_or_assign(mapping.start, mapping);
}

const Mapping* AddressSpace::find(uint64_t address) const {
    auto at = mappings_.upper_bound(address);
    if (at == mappings_.begin()) return nullptr;
    --at;
    return address < at->second.end ? &at->second : nullptr;
}

bool AddressSpaces::hasRoom() {
    if (changes_.size() < maxChanges && files_.size() < maxFiles) return true;
    ++skipped_;
    return false;
}

void AddressSpaces::add(const PerfMapping& mapping) {
    if (!hasRoom() || mapping.bytes == 0 || mapping.address + mapping.bytes < mapping.address) return;
    const auto [known, isNew] = numbers_.try_emplace(std::string(mapping.file), static_cast<uint32_t>(files_.size()));
    if (isNew) files_.push_back(known->first);
    changes_.push_back({mapping.place.timeNs,
                        mapping.place.process,
                        0,
                        Kind::Map,
                        {mapping.address, mapping.address + mapping.bytes, mapping.fileOffset, known->second}});
}

void AddressSpaces::add(const PerfName& name) {
    if (name.isExec && hasRoom()) changes_.push_back({name.place.timeNs, name.place.process, 0, Kind::Exec, {}});
}

void AddressSpaces::add(const PerfFork& fork) {
    if (fork.place.process != fork.parentProcess && hasRoom())
        changes_.push_back({fork.place.timeNs, fork.place.process, fork.parentProcess, Kind::Fork, {}});
}

void AddressSpaces::seal() {
    std::ranges::stable_sort(changes_, {}, &Change::timeNs);
    const auto fresh = [this](const Change& change) {
        const auto number = static_cast<uint32_t>(spaces_.size());
        spaces_.emplace_back();
        spacesOf_[change.process].push_back({change.timeNs, number});
        return number;
    };
    for (const Change& change : changes_) {
        const uint32_t current = of(change.kind == Kind::Fork ? change.parent : change.process, change.timeNs);
        if (change.kind == Kind::Exec || (change.kind == Kind::Fork && current == none))
            fresh(change);
        else if (change.kind == Kind::Fork)
            spacesOf_[change.process].push_back({change.timeNs, current});
        else
            spaces_[current == none ? fresh(change) : current].add(change.mapping);
    }
    changes_.clear();
    changes_.shrink_to_fit();
}

uint32_t AddressSpaces::of(uint32_t process, int64_t timeNs) const {
    const auto known = spacesOf_.find(process);
    if (known == spacesOf_.end()) return none;
    const std::vector<Since>& spaces = known->second;
    auto at = std::ranges::upper_bound(spaces, timeNs, {}, &Since::timeNs);
    return at == spaces.begin() ? at->space : std::prev(at)->space;
}

}  // namespace lanescope::capture
