// SPDX-License-Identifier: Apache-2.0
#include "model/load/perfetto/PerfettoClocks.h"

#include <vector>

namespace lanescope {

namespace {

constexpr uint64_t timeOfDayClock = 1, bootClock = 6, firstOwnClock = 64, lastOwnClock = 127;
constexpr size_t mostClocks = 256;

/// Sums of what files say wrap around, and are found to be impossible later.
int64_t sum(int64_t a, int64_t b) {
    return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}

int64_t product(int64_t a, int64_t b) {
    return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}

bool isOwn(uint64_t clock) {
    return clock >= firstOwnClock && clock <= lastOwnClock;
}

PerfettoClock clockIn(std::string_view message) {
    PerfettoClock clock;
    ProtoCursor cursor(message);
    for (ProtoField field; cursor.next(field);) {
        if (!field.isNumber()) continue;
        if (field.number == 1) clock.id = field.value;
        if (field.number == 2) clock.time = field.signedValue();
        if (field.number == 3) clock.isIncremental = field.value != 0;
        if (field.number == 4 && field.value > 0) clock.unitNs = field.signedValue();
    }
    return clock;
}

}  // namespace

void PerfettoClocks::takeSnapshot(std::string_view message, PacketSequence& sequence) {
    std::vector<PerfettoClock> clocks;
    uint64_t primary = bootClock;
    ProtoCursor cursor(message);
    for (ProtoField field; cursor.next(field);) {
        if (field.number == 1 && field.isBytes() && clocks.size() < mostClocks)
            clocks.push_back(clockIn(field.bytes));
        if (field.number == 2 && field.isNumber()) primary = field.value;
    }
    const PerfettoClock* reference = nullptr;
    for (const PerfettoClock& clock : clocks) {
        const bool isBetter = reference == nullptr || clock.id == primary ||
                              (clock.id == bootClock && reference->id != primary);
        if (!isOwn(clock.id) && isBetter) reference = &clock;
    }
    if (reference == nullptr) return;
    const bool isOfFile = reference->id == primary || reference->id == bootClock;
    const auto known = offsets_.find(reference->id);
    const int64_t referenceNs = sum(product(reference->time, reference->unitNs),
                                    isOfFile || known == offsets_.end() ? 0 : known->second);
    for (const PerfettoClock& clock : clocks) {
        const int64_t offset = sum(referenceNs, product(-1, product(clock.time, clock.unitNs)));
        if (isOwn(clock.id)) {
            PerfettoClock own = clock;
            own.time = product(clock.time, clock.unitNs);
            sequence.clocks[clock.id] = own;
            sequence.clockOffsets[clock.id] = offset;
        } else if (offsets_.size() < mostClocks) {
            offsets_[clock.id] = offset;
        }
        if (clock.id == timeOfDayClock && reference->id != timeOfDayClock)
            toTimeOfDay_ = product(-1, offset);
    }
}

int64_t PerfettoClocks::timeOf(uint64_t time, std::optional<uint64_t> clock,
                               PacketSequence& sequence) const {
    const auto said = static_cast<int64_t>(time);
    const uint64_t id = clock ? *clock : sequence.defaultClock.value_or(bootClock);
    if (isOwn(id)) {
        const auto own = sequence.clocks.find(id);
        if (own == sequence.clocks.end()) return said;
        int64_t timeNs = product(said, own->second.unitNs);
        if (own->second.isIncremental) timeNs = own->second.time = sum(own->second.time, timeNs);
        return sum(timeNs, sequence.clockOffsets[id]);
    }
    const auto offset = offsets_.find(id);
    return sum(said, offset != offsets_.end() ? offset->second : 0);
}

}  // namespace lanescope
