// SPDX-License-Identifier: Apache-2.0
#include "model/export/PerfettoPackets.h"

namespace lanescope {

namespace {

constexpr size_t pieceSize = 64 * 1024;
/// All packets are of one writer.
constexpr uint64_t sequence = 1;

enum EventType : uint64_t { Begin = 1, End = 2, Instant = 3, Counter = 4 };
enum TextField : uint32_t { Categories = 1, Names = 2, ArgumentNames = 3 };

}  // namespace

void PerfettoPackets::flush() {
    if (isWanted_ && !text_.isEmpty()) isWanted_ = sink_(text_.bytes());
    text_.clear();
}

void PerfettoPackets::packet(const ProtoWriter& content) {
    if (!isWanted_) return;
    ProtoWriter whole;
    whole.number(10, sequence);
    // The first says that nothing is known from before, the others that they rely on it.
    whole.number(13, isBegun_ ? 2 : 1);
    isBegun_ = true;
    if (!interned_.isEmpty()) {
        whole.message(12, interned_);
        interned_.clear();
    }
    text_.bytes(1, whole.bytes() + content.bytes());
    if (text_.bytes().size() >= pieceSize) flush();
}

uint64_t PerfettoPackets::numberOf(Numbers& numbers, uint32_t field, std::string_view text) {
    const auto [found, isNew] = numbers.try_emplace(std::string(text), numbers.size() + 1);
    if (isNew) {
        ProtoWriter entry;
        entry.number(1, found->second);
        entry.bytes(2, text);
        interned_.message(field, entry);
    }
    return found->second;
}

PerfettoPackets::Arguments& PerfettoPackets::Arguments::add(std::string_view name, int64_t value) {
    ProtoWriter argument;
    argument.number(1, packets_.numberOf(packets_.argumentNames_, ArgumentNames, name));
    argument.signedNumber(4, value);
    event_.message(4, argument);
    return *this;
}

PerfettoPackets::Arguments& PerfettoPackets::Arguments::add(std::string_view name,
                                                            std::string_view value) {
    ProtoWriter argument;
    argument.number(1, packets_.numberOf(packets_.argumentNames_, ArgumentNames, name));
    argument.bytes(6, value);
    event_.message(4, argument);
    return *this;
}

PerfettoPackets::Arguments& PerfettoPackets::Arguments::add(std::string_view name,
                                                            const std::array<uint32_t, 3>& values) {
    ProtoWriter argument;
    argument.number(1, packets_.numberOf(packets_.argumentNames_, ArgumentNames, name));
    for (const uint32_t value : values) {
        ProtoWriter part;
        part.number(4, value);
        argument.message(12, part);
    }
    event_.message(4, argument);
    return *this;
}

void PerfettoPackets::timeOfDay(int64_t utcNs) {
    constexpr uint64_t timeOfDayClock = 1, bootClock = 6;
    ProtoWriter snapshot;
    const auto clock = [&snapshot](uint64_t id, int64_t time) {
        ProtoWriter reading;
        reading.number(1, id);
        reading.signedNumber(2, time);
        snapshot.message(1, reading);
    };
    clock(bootClock, shiftNs_);
    clock(timeOfDayClock, utcNs);
    ProtoWriter content;
    content.message(6, snapshot);
    packet(content);
}

void PerfettoPackets::descriptor(const ProtoWriter& descriptor) {
    ProtoWriter content;
    content.message(60, descriptor);
    packet(content);
}

void PerfettoPackets::processTrack(uint64_t track, int64_t pid, std::string_view name) {
    ProtoWriter process, whole;
    process.signedNumber(1, pid);
    process.bytes(6, name);
    whole.number(1, track);
    whole.message(3, process);
    descriptor(whole);
}

void PerfettoPackets::threadTrack(uint64_t track, uint64_t parent, int64_t pid, int64_t tid,
                                  std::string_view name) {
    ProtoWriter thread, whole;
    thread.signedNumber(1, pid);
    thread.signedNumber(2, tid);
    if (!name.empty()) thread.bytes(5, name);
    whole.number(1, track);
    whole.number(5, parent);
    whole.message(4, thread);
    descriptor(whole);
}

void PerfettoPackets::plainTrack(uint64_t track, uint64_t parent, std::string_view name) {
    ProtoWriter whole;
    whole.number(1, track);
    if (parent != 0) whole.number(5, parent);
    whole.bytes(2, name);
    descriptor(whole);
}

void PerfettoPackets::counterTrack(uint64_t track, uint64_t parent, std::string_view name,
                                   std::string_view unit) {
    ProtoWriter counter, whole;
    if (!unit.empty()) counter.bytes(6, unit);
    whole.number(1, track);
    if (parent != 0) whole.number(5, parent);
    whole.bytes(2, name);
    whole.message(8, counter);
    descriptor(whole);
}

void PerfettoPackets::event(uint64_t type, uint64_t track, int64_t timeNs,
                            std::string_view category, std::string_view name,
                            const Arguments* arguments) {
    ProtoWriter event, content;
    event.number(9, type);
    event.number(11, track);
    if (!category.empty()) event.number(3, numberOf(categories_, Categories, category));
    if (type != End) event.number(10, numberOf(names_, Names, name));
    content.signedNumber(8, timeNs + shiftNs_);
    if (arguments == nullptr)
        content.message(11, event);
    else
        content.bytes(11, event.bytes() + arguments->event_.bytes());
    packet(content);
}

void PerfettoPackets::begin(uint64_t track, int64_t timeNs, std::string_view category,
                            std::string_view name, const Arguments& arguments) {
    event(Begin, track, timeNs, category, name, &arguments);
}

void PerfettoPackets::end(uint64_t track, int64_t timeNs) {
    event(End, track, timeNs, {}, {}, nullptr);
}

void PerfettoPackets::mark(uint64_t track, int64_t timeNs, std::string_view category,
                           std::string_view name, const Arguments& arguments) {
    event(Instant, track, timeNs, category, name, &arguments);
}

void PerfettoPackets::value(uint64_t track, int64_t timeNs, double value) {
    ProtoWriter event, content;
    event.number(9, Counter);
    event.number(11, track);
    event.real(44, value);
    content.signedNumber(8, timeNs + shiftNs_);
    content.message(11, event);
    packet(content);
}

}  // namespace lanescope
