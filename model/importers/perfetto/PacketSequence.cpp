// SPDX-License-Identifier: Apache-2.0
#include "model/importers/perfetto/PacketSequence.h"

namespace lanescope {

namespace {

constexpr size_t maxInternedBytes = size_t{256} << 20;
/// Memory of a text in addition to its bytes.
constexpr size_t textCost = 96;
constexpr size_t maxTextBytes = size_t{1} << 20;
constexpr size_t maxCountersOfTrack = 256;

void takeNumbers(const ProtoField& field, std::vector<uint64_t>& into) {
    ProtoCursor::forEachNumber(field, ProtoField::Wire::Varint, [&into](uint64_t value) {
        if (into.size() < maxCountersOfTrack) into.push_back(value);
    });
}

constexpr uint64_t timeOfDayClock = 1, bootClock = 6, firstOwnClock = 64, lastOwnClock = 127;
constexpr size_t maxClocks = 256;

/// Returns the sum with wrap-around. Invalid times are detected later.
int64_t sum(int64_t a, int64_t b) { return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b)); }

int64_t product(int64_t a, int64_t b) {
    return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}

bool isOwn(uint64_t clock) { return clock >= firstOwnClock && clock <= lastOwnClock; }

PerfettoClock clockIn(std::string_view message) {
    PerfettoClock clock;
    for (const ProtoField& field : ProtoCursor(message)) {
        if (!field.isNumber()) continue;
        if (field.number == 1) clock.id = field.value;
        if (field.number == 2) clock.time = field.signedValue();
        if (field.number == 3) clock.isIncremental = field.value != 0;
        if (field.number == 4 && field.value > 0) clock.unitNs = field.signedValue();
    }
    return clock;
}

}  // namespace

void PacketSequence::clear() {
    const std::optional<int64_t> ownProcess = process, ownThread = thread;
    *this = PacketSequence();
    process = ownProcess;
    thread = ownThread;
}

bool PacketSequence::takeText(Texts which, std::string_view message, uint32_t nameField) {
    uint64_t number = 0;
    std::string_view name;
    for (const ProtoField& field : ProtoCursor(message)) {
        if (field.number == 1 && field.isNumber()) number = field.value;
        if (field.number == nameField && field.isBytes()) name = field.bytes;
    }
    if (textBytes_ > maxInternedBytes) return false;
    std::string& kept = texts_[static_cast<size_t>(which)][number];
    kept = name.substr(0, maxTextBytes);
    textBytes_ += kept.size() + textCost;
    return true;
}

bool PacketSequence::takeTexts(std::string_view message) {
    bool isRoom = true;
    for (const ProtoField& field : ProtoCursor(message)) {
        if (!field.isBytes()) continue;
        switch (field.number) {
            case 1: isRoom = takeText(Texts::Categories, field.bytes, 2) && isRoom; break;
            case 2: isRoom = takeText(Texts::Names, field.bytes, 2) && isRoom; break;
            case 3: isRoom = takeText(Texts::ArgumentNames, field.bytes, 2) && isRoom; break;
            case 24: isRoom = takeText(Texts::Stages, field.bytes, 2) && isRoom; break;
            case 29: isRoom = takeText(Texts::ArgumentValues, field.bytes, 2) && isRoom; break;
            case 1000: isRoom = takeText(Texts::Kernels, field.bytes, 3) && isRoom; break;
            default: break;
        }
    }
    return isRoom;
}

void PacketSequence::takeDefaults(std::string_view message) {
    defaultTrack.reset();
    defaultClock.reset();
    extraCounters.clear();
    extraRealCounters.clear();
    for (const ProtoField& field : ProtoCursor(message)) {
        if (field.number == 58 && field.isNumber()) defaultClock = field.value;
        if (field.number != 11 || !field.isBytes()) continue;
        for (const ProtoField& each : ProtoCursor(field.bytes)) {
            if (each.number == 11 && each.isNumber()) defaultTrack = each.value;
            if (each.number == 31) takeNumbers(each, extraCounters);
            if (each.number == 45) takeNumbers(each, extraRealCounters);
        }
    }
}

std::string_view PacketSequence::text(Texts which, uint64_t number) const {
    const Table& table = texts_[static_cast<size_t>(which)];
    const auto found = table.find(number);
    return found != table.end() ? std::string_view(found->second) : std::string_view();
}

void PerfettoClocks::takeSnapshot(std::string_view message, PacketSequence& sequence) {
    std::vector<PerfettoClock> clocks;
    uint64_t primary = bootClock;
    for (const ProtoField& field : ProtoCursor(message)) {
        if (field.number == 1 && field.isBytes() && clocks.size() < maxClocks) clocks.push_back(clockIn(field.bytes));
        if (field.number == 2 && field.isNumber()) primary = field.value;
    }
    const PerfettoClock* reference = nullptr;
    for (const PerfettoClock& clock : clocks) {
        const bool isBetter =
            reference == nullptr || clock.id == primary || (clock.id == bootClock && reference->id != primary);
        if (!isOwn(clock.id) && isBetter) reference = &clock;
    }
    if (reference == nullptr) return;
    const bool isOfFile = reference->id == primary || reference->id == bootClock;
    const auto known = offsets_.find(reference->id);
    const int64_t referenceNs =
        sum(product(reference->time, reference->unitNs), isOfFile || known == offsets_.end() ? 0 : known->second);
    for (const PerfettoClock& clock : clocks) {
        const int64_t offset = sum(referenceNs, product(-1, product(clock.time, clock.unitNs)));
        if (isOwn(clock.id)) {
            PerfettoClock own = clock;
            own.time = product(clock.time, clock.unitNs);
            sequence.clocks[clock.id] = own;
            sequence.clockOffsets[clock.id] = offset;
        } else if (offsets_.size() < maxClocks) {
            offsets_[clock.id] = offset;
        }
        if (clock.id == timeOfDayClock && reference->id != timeOfDayClock) toTimeOfDay_ = product(-1, offset);
    }
}

int64_t PerfettoClocks::timeOf(uint64_t time, std::optional<uint64_t> clock, PacketSequence& sequence) const {
    const auto reading = static_cast<int64_t>(time);
    const uint64_t id = clock ? *clock : sequence.defaultClock.value_or(bootClock);
    if (isOwn(id)) {
        const auto own = sequence.clocks.find(id);
        if (own == sequence.clocks.end()) return reading;
        int64_t timeNs = product(reading, own->second.unitNs);
        if (own->second.isIncremental) timeNs = own->second.time = sum(own->second.time, timeNs);
        return sum(timeNs, sequence.clockOffsets[id]);
    }
    const auto offset = offsets_.find(id);
    return sum(reading, offset != offsets_.end() ? offset->second : 0);
}

}  // namespace lanescope
