// SPDX-License-Identifier: Apache-2.0
#include "model/load/proto/perfettoAsJson.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "model/export/jsonText.h"
#include "model/format/TimeRange.h"
#include "model/format/perfettoFields.h"
#include "model/load/json/eventKinds.h"
#include "model/load/proto/jsonMembers.h"

namespace lanescope {

namespace {

namespace pf = perfetto;

constexpr size_t readAtOnce = size_t{1} << 18;
/// A packet of events is some hundred bytes long, and one that says what sequences refer to some
/// kB.
constexpr size_t longestPacket = size_t{16} << 20;
/// Slices that are open at the same time, of all tracks.
constexpr size_t mostOpen = size_t{1} << 20;
constexpr size_t mostTexts = size_t{1} << 22;
/// Longer ones are cut: short events may all refer to the same long one.
constexpr size_t longestText = 4096;
/// Bytes of JSON for each of the trace, at most; more is no trace but an attack.
constexpr size_t mostTextPerByte = 256, textForAll = size_t{64} << 20;
constexpr int deepestTrack = 64;

}  // namespace

Result<size_t> PerfettoAsJson::read(std::span<char> bytes) {
    out_.erase(0, outAt_);
    outAt_ = 0;
    while (out_.size() < bytes.size() && !isEnded_) {
        const Result<bool> filled = fill();
        if (!filled) return fail(filled.error());
    }
    const size_t count = std::min(bytes.size(), out_.size() - outAt_);
    std::copy_n(out_.begin() + static_cast<std::ptrdiff_t>(outAt_), count, bytes.begin());
    outAt_ += count;
    return count;
}

/// Takes the next packet, or the end.
Result<bool> PerfettoAsJson::fill() {
    if (!isBegun_) out_ += "{\"traceEvents\": [";
    isBegun_ = true;
    std::string packet;
    const Result<bool> isThere = nextPacket(packet);
    if (!isThere) return isThere;
    takenBytes_ += packet.size();
    if (*isThere && madeBytes_ <= textForAll + mostTextPerByte * takenBytes_) {
        takePacket(packet);
        return true;
    }
    isEnded_ = true;
    for (auto& [track, slices] : open_)
        for (const Open& each : slices) give("B", each.event, each.startNs);
    out_ += fmt::format("\n], \"baseTimeNanoseconds\": {}, \"traceName\": \"\"}}", utcAheadNs_);
    return true;
}

/// Reads on until so many bytes are there; false if there are no more.
Result<bool> PerfettoAsJson::take(size_t bytes) {
    if (inAt_ > readAtOnce) {
        in_.erase(0, inAt_);
        inAt_ = 0;
    }
    while (in_.size() - inAt_ < bytes && !isSourceEnded_) {
        const size_t before = in_.size();
        in_.resize(before + readAtOnce);
        const Result<size_t> got = source_(std::span(in_).subspan(before));
        in_.resize(before + (got ? *got : 0));
        if (!got) return fail(got.error());
        isSourceEnded_ = *got == 0;
    }
    return in_.size() - inAt_ >= bytes;
}

Result<bool> PerfettoAsJson::nextPacket(std::string& packet) {
    while (true) {
        // The number of the field, and how long it is.
        constexpr size_t longestHead = 20;
        const Result<bool> isHead = take(longestHead);
        if (!isHead) return isHead;
        std::string_view head(in_);
        head.remove_prefix(inAt_);
        std::array<uint64_t, 2> numbers{};
        size_t at = 0;
        for (uint64_t& number : numbers)
            for (int shift = 0; shift < 64 && at < head.size(); shift += 7) {
                const auto byte = static_cast<unsigned char>(head[at++]);
                number |= uint64_t{byte & 0x7fu} << shift;
                if (byte < 0x80) break;
            }
        const bool isField = (numbers[0] & 7) == static_cast<uint64_t>(ProtoFields::Kind::Bytes);
        if (head.size() < 2 || !isField || numbers[1] > longestPacket) return false;
        const Result<bool> isWhole = take(at + numbers[1]);
        if (!isWhole || !*isWhole) return isWhole;
        packet.assign(in_, inAt_ + at, numbers[1]);
        inAt_ += at + numbers[1];
        if (numbers[0] >> 3 == pf::trace::packet) return true;
    }
}

void PerfettoAsJson::takePacket(std::string_view packet) {
    uint64_t id = 0, timestamp = 0, clock = 0, flags = 0;
    std::string_view event, descriptor, interned, snapshot, defaults;
    ProtoFields fields(packet);
    while (fields.next()) switch (fields.number()) {
            case pf::packet::sequence:
                id = fields.value();
                break;
            case pf::packet::timestamp:
                timestamp = fields.value();
                break;
            case pf::packet::timestampClock:
                clock = fields.value();
                break;
            case pf::packet::sequenceFlags:
                flags = fields.value();
                break;
            case pf::packet::trackEvent:
                event = fields.bytes();
                break;
            case pf::packet::trackDescriptor:
                descriptor = fields.bytes();
                break;
            case pf::packet::internedData:
                interned = fields.bytes();
                break;
            case pf::packet::clockSnapshot:
                snapshot = fields.bytes();
                break;
            case pf::packet::defaults:
                defaults = fields.bytes();
                break;
            default:
                break;
        }
    Sequence& sequence = sequences_[id];
    if ((flags & pf::packet::isCleared) != 0) sequence = {};
    for (ProtoFields each(defaults); each.next();) {
        if (each.number() == pf::defaults::timestampClock) sequence.clock = each.value();
        if (each.number() != pf::defaults::trackEvent) continue;
        for (ProtoFields of(each.bytes()); of.next();)
            if (of.number() == pf::event::track) sequence.track = of.value();
    }
    if (!snapshot.empty()) takeClocks(snapshot, id);
    if (!interned.empty()) takeInterned(interned, sequence);
    if (!descriptor.empty()) takeTrack(descriptor);
    if (event.empty()) return;
    const int64_t timeNs = timeOf(timestamp, clock != 0 ? clock : sequence.clock, id);
    give(eventOf(event, sequence), timeNs);
}

/// Clocks of 64 and more are of one sequence.
void PerfettoAsJson::takeClocks(std::string_view snapshot, uint64_t sequence) {
    constexpr uint64_t firstOfSequence = 64;
    struct Reading {
        uint64_t id = 0;
        int64_t value = 0, multiplier = 1;
        bool isIncremental = false;
        int64_t timeNs() const { return value * multiplier; }
    };
    std::vector<Reading> readings;
    for (ProtoFields fields(snapshot); fields.next();) {
        if (fields.number() != pf::clocks::clock) continue;
        Reading& reading = readings.emplace_back();
        for (ProtoFields of(fields.bytes()); of.next();) {
            if (of.number() == pf::clocks::id) reading.id = of.value();
            if (of.number() == pf::clocks::timestamp) reading.value = of.integer();
            if (of.number() == pf::clocks::isIncremental) reading.isIncremental = of.value() != 0;
            if (of.number() == pf::clocks::multiplierNs)
                reading.multiplier = std::clamp<int64_t>(of.integer(), 1, 1'000'000'000);
        }
        const int64_t greatest = greatestTimeNs / reading.multiplier;
        reading.value = std::clamp(reading.value, -greatest, greatest);
    }
    if (readings.empty()) return;
    const auto reference = std::find_if(readings.begin(), readings.end(), [](const Reading& each) {
        return each.id == pf::clocks::boottime;
    });
    const Reading of = reference != readings.end() ? *reference : readings.front();
    for (const Reading& each : readings) {
        clocks_[{each.id < firstOfSequence ? 0 : sequence, each.id}] = {
            each.timeNs() - of.timeNs(), each.multiplier, each.value, each.isIncremental};
        if (each.id == pf::clocks::realtime) utcAheadNs_ = each.timeNs() - of.timeNs();
    }
}

int64_t PerfettoAsJson::timeOf(uint64_t timestamp, uint64_t clock, uint64_t sequence) {
    const uint64_t id = clock != 0 ? clock : pf::clocks::boottime;
    auto found = clocks_.find({0, id});
    if (found == clocks_.end()) found = clocks_.find({sequence, id});
    const auto plain =
        static_cast<int64_t>(std::min<uint64_t>(timestamp, static_cast<uint64_t>(greatestTimeNs)));
    if (found == clocks_.end()) return plain;
    Clock& of = found->second;
    const int64_t greatest = greatestTimeNs / of.multiplier;
    int64_t value = std::min(plain, greatest);
    if (of.isIncremental) value = of.lastValue = std::min(of.lastValue + value, greatest);
    return value * of.multiplier - of.aheadNs;
}

void PerfettoAsJson::takeInterned(std::string_view data, Sequence& sequence) {
    for (ProtoFields fields(data); fields.next();) {
        std::unordered_map<uint64_t, std::string>* texts = nullptr;
        if (fields.number() == pf::interned::categories) texts = &sequence.categories;
        if (fields.number() == pf::interned::names) texts = &sequence.names;
        if (fields.number() == pf::interned::annotationNames) texts = &sequence.annotationNames;
        if (fields.number() == pf::interned::annotationTexts) texts = &sequence.texts;
        if (texts == nullptr || texts->size() >= mostTexts) continue;
        uint64_t id = 0;
        std::string_view text;
        for (ProtoFields of(fields.bytes()); of.next();) {
            if (of.number() == pf::interned::id) id = of.value();
            if (of.number() == pf::interned::text) text = of.bytes();
        }
        (*texts)[id] = text.substr(0, longestText);
    }
}

void PerfettoAsJson::takeTrack(std::string_view descriptor) {
    Track track;
    uint64_t uuid = 0;
    for (ProtoFields fields(descriptor); fields.next();) switch (fields.number()) {
            case pf::track::uuid:
                uuid = fields.value();
                break;
            case pf::track::parent:
                track.parent = fields.value();
                break;
            case pf::track::name:
            case pf::track::staticName:
                track.name = fields.bytes();
                break;
            case pf::track::counter:
                track.isCounter = true;
                break;
            case pf::track::process:
                for (ProtoFields of(fields.bytes()); of.next();) {
                    if (of.number() == pf::process::pid) track.pid = of.integer();
                    if (of.number() == pf::process::name && track.name.empty())
                        track.name = of.bytes();
                }
                break;
            case pf::track::thread:
                for (ProtoFields of(fields.bytes()); of.next();) {
                    if (of.number() == pf::thread::pid) track.pid = of.integer();
                    if (of.number() == pf::thread::tid) track.tid = of.integer();
                    if (of.number() == pf::thread::name && track.name.empty())
                        track.name = of.bytes();
                }
                break;
            default:
                break;
        }
    if (tracks_.size() >= mostTexts) return;
    const bool isNamed = track.pid >= 0 && !track.name.empty();
    if (isNamed)
        put(fmt::format(
            R"({{"ph": "M", "name": "{}", "pid": {}, "tid": {}, "args": {{"name": {}}}}})",
            track.tid >= 0 ? "thread_name" : "process_name", track.pid,
            track.tid >= 0 ? track.tid : 0, jsonString(track.name)));
    tracks_[uuid] = std::move(track);
    rows_.clear();
}

PerfettoAsJson::Event PerfettoAsJson::eventOf(std::string_view message,
                                              const Sequence& sequence) const {
    Event event;
    event.track = sequence.track;
    for (ProtoFields fields(message); fields.next();) switch (fields.number()) {
            case pf::event::type:
                event.type = fields.value();
                break;
            case pf::event::track:
                event.track = fields.value();
                break;
            case pf::event::name:
                event.name = fields.bytes();
                break;
            case pf::event::nameId:
                event.name = textIn(sequence.names, fields.value());
                break;
            case pf::event::categories:
                if (event.category.empty()) event.category = fields.bytes();
                break;
            case pf::event::categoryIds:
                if (event.category.empty())
                    event.category = textIn(sequence.categories, fields.value());
                break;
            case pf::event::annotations:
                takeAnnotation(fields.bytes(), sequence, event);
                break;
            case pf::event::flows:
            case pf::event::lastFlows:
                event.flow = fields.value();
                break;
            case pf::event::counterValue:
                event.counterValue = static_cast<double>(fields.integer());
                break;
            case pf::event::realCounterValue:
                event.counterValue = fields.real();
                break;
            default:
                break;
        }
    return event;
}

const PerfettoAsJson::Row& PerfettoAsJson::rowOf(uint64_t uuid) {
    const auto [found, isNew] = rows_.try_emplace(uuid);
    Row& row = found->second;
    if (!isNew) return row;
    uint64_t at = uuid;
    std::string top;
    for (int depth = 0; depth < deepestTrack; ++depth) {
        const auto track = tracks_.find(at);
        if (track == tracks_.end()) break;
        if (at == uuid && track->second.tid >= 0) row.tid = fmt::format("{}", track->second.tid);
        if (at == uuid && row.tid.empty() && !track->second.name.empty())
            row.tid = jsonString(track->second.name);
        if (track->second.pid >= 0) {
            row.pid = fmt::format("{}", track->second.pid);
            break;
        }
        if (!track->second.name.empty()) top = track->second.name;
        if (track->second.parent == 0 || track->second.parent == at) break;
        at = track->second.parent;
    }
    if (row.pid.empty()) row.pid = jsonString(top.empty() ? "Tracks" : top);
    if (row.tid.empty()) row.tid = jsonString(fmt::format("Track {}", uuid));
    return row;
}

void PerfettoAsJson::give(Event event, int64_t timeNs) {
    // Calls and work of GPUs that only an arrow joins get its number.
    if (event.flow != 0 && !event.hasCorrelation) {
        const JsonEventKind kind = eventKindOf(event.category);
        if (kind == JsonEventKind::RuntimeCall || kind == JsonEventKind::DriverCall ||
            kind == JsonEventKind::Kernel || kind == JsonEventKind::Memcpy ||
            kind == JsonEventKind::Memset) {
            const auto number = static_cast<uint32_t>(flows_.size()) + 1;
            addMember(event.arguments, "correlation",
                      fmt::format("{}", flows_.try_emplace(event.flow, number).first->second));
        }
    }
    const auto track = tracks_.find(event.track);
    const bool isCounter = event.type == pf::event::counter ||
                           (event.type == 0 && track != tracks_.end() && track->second.isCounter);
    std::vector<Open>& open = open_[event.track];
    if (isCounter) {
        if (event.name.empty() && track != tracks_.end()) event.name = track->second.name;
        event.arguments.clear();
        addMember(event.arguments, "value", numberText(event.counterValue));
        give("C", event, timeNs);
    } else if (event.type == pf::event::begin) {
        if (openCount_ >= mostOpen) return;
        ++openCount_;
        open.push_back({timeNs, std::move(event)});
    } else if (event.type == pf::event::end) {
        // One without a beginning began before the trace did.
        if (open.empty()) return;
        Open& slice = open.back();
        if (!event.arguments.empty())
            slice.event.arguments += (slice.event.arguments.empty() ? "" : ", ") + event.arguments;
        if (slice.event.name.empty()) slice.event.name = event.name;
        giveSlice(slice, timeNs);
        open.pop_back();
        --openCount_;
    } else if (event.type == pf::event::instant) {
        give("i", event, timeNs);
    }
}

void PerfettoAsJson::giveSlice(const Open& open, int64_t endNs) {
    give("X", open.event, open.startNs,
         fmt::format("\"dur\": {}, ", microseconds(std::max<int64_t>(0, endNs - open.startNs))));
}

void PerfettoAsJson::give(std::string_view phase, const Event& event, int64_t timeNs,
                          const std::string& more) {
    const Row& row = rowOf(event.track);
    put(fmt::format(
        R"({{"ph": "{}", "cat": {}, "name": {}, "pid": {}, "tid": {}, "ts": {}, {}"args": {{{}}}}})",
        phase, jsonString(event.category), jsonString(event.name), row.pid, row.tid,
        microseconds(timeNs), more, event.arguments));
}

void PerfettoAsJson::put(const std::string& event) {
    out_ += isFirst_ ? "\n" : ",\n";
    out_ += event;
    madeBytes_ += event.size();
    isFirst_ = false;
}

}  // namespace lanescope
