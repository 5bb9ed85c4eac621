// SPDX-License-Identifier: Apache-2.0
// Takes the events of a Perfetto trace.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "model/importers/events/ImportedEvents.h"
#include "model/importers/events/JsonCursor.h"
#include "model/importers/perfetto/PacketReader.h"

namespace lanescope {

namespace {

using Texts = PacketSequence::Texts;

enum : uint64_t { Unspecified = 0, Begin = 1, End = 2, Instant = 3, Counter = 4 };

JsonValue word(std::string_view text) { return {JsonValue::Kind::Word, false, text}; }
JsonValue string(std::string_view text) { return {JsonValue::Kind::String, false, text}; }

/// Per event. Operators have one or a few.
constexpr size_t maxFlowsPerEvent = 64;

/// Later times are skipped here, so that the indexes of kept events are known.
constexpr int64_t maxPacketTimeNs = int64_t{1} << 60;

/// Returns a time in the form of JSON files.
std::string microseconds(int64_t timeNs) {
    const bool isNegative = timeNs < 0;
    const uint64_t ns = isNegative ? -static_cast<uint64_t>(timeNs) : static_cast<uint64_t>(timeNs);
    return fmt::format("{}{}.{:03}", isNegative ? "-" : "", ns / 1000, ns % 1000);
}

bool isApiName(std::string_view name) {
    return isFunctionOf("cuda", name) || isFunctionOf("cu", name) || isFunctionOf("hip", name);
}

/// Values of counters in one event.
constexpr size_t maxValues = 256;

/// Adds the counters of an event, which replace those of its sequence.
void takeUuids(const ProtoField& field, std::vector<uint64_t>& uuids, bool& areOwn) {
    if (!std::exchange(areOwn, true)) uuids.clear();
    ProtoCursor::forEachNumber(field, ProtoField::Wire::Varint, [&uuids](uint64_t uuid) {
        if (uuids.size() < maxValues) uuids.push_back(uuid);
    });
}

}  // namespace

void PacketReader::addNumber(std::string_view key, int64_t value) {
    arguments_.push_back({key, word(texts_->kept(std::to_string(value)))});
}

bool PacketReader::hasArgument(std::string_view key) const {
    return std::ranges::any_of(arguments_, [key](const EventDecoder::Argument& each) { return each.key == key; });
}

std::optional<int64_t> PacketReader::numberIn(std::string_view key) const {
    for (const EventDecoder::Argument& each : arguments_)
        if (each.key == key) return decimalOf(each.value.text, 0);
    return std::nullopt;
}

uint32_t PacketReader::flowNumber(uint64_t flow) {
    constexpr size_t maxFlows = size_t{1} << 24;
    // Outside of the range of the program's own correlations.
    constexpr uint32_t first = 0x80000000u;
    const auto found = flowNumbers_.find(flow);
    if (found != flowNumbers_.end()) return found->second;
    if (flowNumbers_.size() >= maxFlows) return 0;
    return flowNumbers_[flow] = first + static_cast<uint32_t>(flowNumbers_.size());
}

void PacketReader::takeMember(const ProtoField& field, PacketSequence& sequence, Event& event) {
    const auto category = [&event](std::string_view name) {
        // The first known category counts.
        if (event.category.empty() || eventKindOf(event.category) == ImportedEventKind::Other) event.category = name;
    };
    switch (field.number) {
        case 3:
            ProtoCursor::forEachNumber(field, ProtoField::Wire::Varint,
                                       [&](uint64_t number) { category(sequence.text(Texts::Categories, number)); });
            break;
        case 22: category(field.bytes); break;
        case 10: event.name = sequence.text(Texts::Names, field.value); break;
        case 23: event.name = field.bytes; break;
        case 9: event.type = field.value; break;
        case 11: event.track = tracks_.numberOf(field.value); break;
        case 30:
            event.counterValue = static_cast<double>(field.signedValue());
            event.hasCounterValue = true;
            break;
        case 44:
            event.counterValue = field.real();
            event.hasCounterValue = true;
            break;
        case 36:
        case 42:
        case 47:
        case 48:
            ProtoCursor::forEachNumber(field, field.number < 47 ? ProtoField::Wire::Varint : ProtoField::Wire::Fixed64,
                                       [this, &event](uint64_t flow) {
                                           if (event.flow == 0) event.flow = flow;
                                           if (flows_.size() < maxFlowsPerEvent)
                                               flows_.push_back(flow);
                                           else
                                               ++chunk_->tally.otherFlows;
                                       });
            break;
        case 4:
            if (field.isBytes()) takeDebugArgument(field.bytes, sequence, *texts_, arguments_);
            break;
        case 6:
            if (field.isBytes()) takeLegacy(field.bytes, sequence, event);
            break;
        default: break;
    }
}

void PacketReader::takeLegacy(std::string_view message, PacketSequence& sequence, Event& event) {
    std::optional<int64_t> process, thread;
    for (const ProtoField& field : ProtoCursor(message)) {
        switch (field.number) {
            case 1:
                if (event.name.empty()) event.name = sequence.text(Texts::Names, field.value);
                break;
            case 2: {
                const char phase = static_cast<char>(field.value & 0x7f);
                event.phase = texts_->kept(std::string_view(&phase, 1));
                event.isLegacy = true;
                break;
            }
            case 3:
                if (field.value < uint64_t{1} << 50) event.durationNs = field.signedValue() * 1000;
                break;
            case 6:
            case 10:
            case 11: event.id = texts_->kept(std::to_string(field.value)); break;
            case 18: process = static_cast<int32_t>(field.value); break;
            case 19: thread = field.signedValue(); break;
            default: break;
        }
    }
    if (process || thread)
        event.track = tracks_.numberOfThread(process.value_or(sequence.process.value_or(0)),
                                             thread.value_or(sequence.thread.value_or(0)));
}

void PacketReader::takeTrackEvent(std::string_view message, PacketSequence& sequence, std::optional<int64_t> timeNs) {
    arguments_.clear();
    flows_.clear();
    Event event;
    std::vector<uint64_t> counters = sequence.extraCounters, reals = sequence.extraRealCounters;
    std::vector<double> values, realValues;
    bool hasOwnCounters = false, hasOwnReals = false;
    ProtoCursor cursor(message);
    for (const ProtoField& field : cursor) {
        if (field.number == 1 && field.value < uint64_t{1} << 50 && !timeNs)
            timeNs = sequence.oldTimeNs += field.signedValue() * 1000;
        if (field.number == 16 && field.value < uint64_t{1} << 50 && !timeNs) timeNs = field.signedValue() * 1000;
        switch (field.number) {
            case 31: takeUuids(field, counters, hasOwnCounters); break;
            case 45: takeUuids(field, reals, hasOwnReals); break;
            case 12:
                ProtoCursor::forEachNumber(field, ProtoField::Wire::Varint, [&](uint64_t value) {
                    if (values.size() < maxValues) values.push_back(static_cast<double>(static_cast<int64_t>(value)));
                });
                break;
            case 46:
                ProtoCursor::forEachNumber(field, ProtoField::Wire::Fixed64, [&](uint64_t value) {
                    if (realValues.size() < maxValues) realValues.push_back(std::bit_cast<double>(value));
                });
                break;
            default: takeMember(field, sequence, event);
        }
    }
    if (cursor.isMalformed()) ++corruptCount_;
    if (event.track == PerfettoTracks::noTrack)
        event.track = sequence.defaultTrack ? tracks_.numberOf(*sequence.defaultTrack)
                      : sequence.thread     ? tracks_.numberOfThread(sequence.process.value_or(0), *sequence.thread)
                                            : tracks_.numberOf(0);
    if (event.track == PerfettoTracks::noTrack) {
        ++chunk_->tally.untimed;
        return;
    }
    event.name = texts_->kept(event.name);
    event.category = texts_->kept(event.category);
    if (event.name == "trace_metadata" || event.name == "device_properties") takeFacts(event);
    const bool isPossible = timeNs && *timeNs > -maxPacketTimeNs && *timeNs < maxPacketTimeNs;
    if (!isPossible) {
        if (event.type != Instant) ++chunk_->tally.untimed;
        return;
    }
    event.timeNs = *timeNs;
    lastNs_ = std::max(lastNs_, event.timeNs);
    for (size_t at = 0; at < std::min(counters.size(), values.size()); ++at)
        keepCounter(tracks_.numberOf(counters[at]), event.timeNs, values[at]);
    for (size_t at = 0; at < std::min(reals.size(), realValues.size()); ++at)
        keepCounter(tracks_.numberOf(reals[at]), event.timeNs, realValues[at]);
    if (event.type == Unspecified && event.isLegacy)
        keepLegacy(event);
    else
        keepTyped(event);
    flushIfFull();
}

void PacketReader::takeFacts(const Event& event) {
    constexpr size_t maxFacts = 256;
    for (const EventDecoder::Argument& each : arguments_) {
        std::string text(each.value.text);
        if (text.size() >= 2 && text.front() == '"' && text.back() == '"')
            text = unescaped(std::string_view(text).substr(1, text.size() - 2));
        const std::string key = event.name == "device_properties" ? "deviceProperties" : std::string(each.key);
        if (facts_.size() < maxFacts) facts_[key] = std::move(text);
    }
}

void PacketReader::keepTyped(Event& event) {
    switch (event.type) {
        case Begin: joiner_.begin(event.track, event.timeNs, keepSlice(event, "X")); break;
        case End: joiner_.end(event.track, event.timeNs); break;
        case Instant:
            if (event.name == "trace_metadata" || event.name == "device_properties") break;
            decoder_->take(placed(event, "i"), arguments_);
            break;
        case Counter:
            if (event.hasCounterValue) keepCounter(event.track, event.timeNs, event.counterValue);
            break;
        default: ++chunk_->tally.unknown;
    }
}

void PacketReader::keepLegacy(Event& event) {
    const char phase = event.phase.empty() ? '\0' : event.phase.front();
    switch (phase) {
        case 'B': joiner_.begin(event.track, event.timeNs, keepSlice(event, "X")); break;
        case 'E': joiner_.end(event.track, event.timeNs); break;
        case 'X':
            keepSlice(event, "X");
            lastNs_ = std::max(lastNs_, event.timeNs + event.durationNs);
            break;
        case 'S': decoder_->take(placed(event, "b"), arguments_); break;
        case 'F': decoder_->take(placed(event, "e"), arguments_); break;
        case 'M': break;
        default: decoder_->take(placed(event, event.phase), arguments_);
    }
}

/// Adds arguments that writers omit or name differently than in JSON.
void PacketReader::completeArguments(Event& event) {
    const size_t own = arguments_.size();
    for (size_t at = 0; at < own; ++at) {
        if (arguments_[at].key != "metadata" || !arguments_[at].value.isString()) continue;
        // Members of an object without its braces.
        JsonCursor cursor(texts_->kept(fmt::format("{{{}}}", arguments_[at].value.text)));
        cursor.object([this](std::string_view key, const JsonValue& value) { arguments_.push_back({key, value}); });
    }
    if (!hasArgument("correlation"))
        for (size_t at = 0; at < arguments_.size(); ++at)
            if (arguments_[at].key == "correlation_id") {
                arguments_.push_back({"correlation", arguments_[at].value});
                break;
            }
    if (event.category.empty()) {
        const std::string_view name = event.name;
        const auto has = [this](std::string_view key) { return hasArgument(key); };
        if (has("Python id"))
            event.category = "python_function";
        else if (isApiName(name) && (has("correlation") || has("cbid") || event.flow != 0))
            event.category = name.starts_with("cu") && !name.starts_with("cuda") ? "cuda_driver" : "cuda_runtime";
        else if (name.starts_with("Memcpy ") && (has("stream") || has("bytes")))
            event.category = "gpu_memcpy";
        else if (name.starts_with("Memset (") && (has("stream") || has("bytes")))
            event.category = "gpu_memset";
        else if (has("cuda_sync_kind"))
            event.category = "cuda_sync";
        else if (has("grid") && has("block"))
            event.category = "kernel";
        else if (isAnnotationName(name))
            event.category = "user_annotation";
        else if (has("External id") || has("Ev Idx") || has("Input Dims") || has("Record function id"))
            event.category = "cpu_op";
    }
    // A flow connects a call with its work in the whole file, a correlation only within a process.
    // If both are the same number, a writer may omit the flow.
    const std::optional<int64_t> correlation = numberIn("correlation");
    if (event.flow == 0 || correlation == static_cast<int64_t>(event.flow)) return;
    const ImportedEventKind kind = eventKindOf(event.category);
    if (kind == ImportedEventKind::RuntimeCall || kind == ImportedEventKind::DriverCall ||
        kind == ImportedEventKind::Kernel || kind == ImportedEventKind::Memcpy || kind == ImportedEventKind::Memset)
        addNumber("correlation", flowNumber(event.flow));
}

EventDecoder::Event PacketReader::placed(const Event& event, std::string_view phase) {
    const auto found = places_.try_emplace(event.track).first;
    if (found->second.second.empty()) {
        const PerfettoPlace place = tracks_.placeOf(event.track);
        found->second = {texts_->kept(place.process), texts_->kept(place.thread)};
        const auto keepName = [&](bool isOfThread, const std::string& name) {
            if (name.empty()) return;
            const std::string_view thread = isOfThread ? found->second.second : std::string_view();
            chunk_->names.push_back(
                {{found->second.first, thread}, isOfThread, chunk_->strings.add(texts_->kept(name))});
        };
        keepName(false, place.processName);
        keepName(true, place.threadName);
    }
    EventDecoder::Event taken;
    taken.phase = phase;
    taken.category = string(event.category);
    taken.name = string(event.name);
    taken.process = string(found->second.first);
    taken.thread = string(found->second.second);
    taken.time = word(texts_->kept(microseconds(event.timeNs)));
    taken.id = string(event.id);
    return taken;
}

/// A flow between operators connects one with its backward.
void PacketReader::keepFlowEnds(const ImportedSlice& slice) {
    for (const uint64_t flow : flows_)
        chunk_->flowEnds.push_back({slice.startNs, flow, slice.thread, ImportedFlowEnd::either});
}

SliceJoiner::Place PacketReader::keepSlice(const Event& original, std::string_view phase) {
    Event event = original;
    completeArguments(event);
    EventDecoder::Event taken = placed(event, phase);
    taken.duration = word(texts_->kept(microseconds(event.durationNs)));
    std::array<size_t, static_cast<size_t>(ImportedEventKind::Other) + 1> before{};
    for (size_t kind = 0; kind < before.size(); ++kind) before[kind] = chunk_->slices[kind].size();
    const size_t workBefore = chunk_->gpuWork.size();
    decoder_->take(taken, arguments_);
    constexpr auto operators = static_cast<size_t>(ImportedEventKind::Operator);
    if (chunk_->slices[operators].size() > before[operators]) keepFlowEnds(chunk_->slices[operators].back());
    SliceJoiner::Place place;
    place.index = SliceJoiner::Place::nowhere;
    if (chunk_->gpuWork.size() > workBefore) {
        place.isWork = true;
        place.index = static_cast<uint32_t>(events_.gpuWork.size() + workBefore);
    }
    for (size_t kind = 0; kind < before.size(); ++kind)
        if (chunk_->slices[kind].size() > before[kind]) {
            place.kind = static_cast<ImportedEventKind>(kind);
            place.index = static_cast<uint32_t>(events_.slices(place.kind).size() + before[kind]);
        }
    return place;
}

void PacketReader::keepCounter(uint32_t number, int64_t timeNs, double value) {
    if (number == PerfettoTracks::noTrack || !std::isfinite(value)) return;
    PerfettoTrack& track = tracks_.at(number);
    if (track.isIncremental) value = track.sum += value;
    Event event;
    event.track = number;
    event.timeNs = timeNs;
    event.name = texts_->kept(track.name.empty() ? fmt::format("counter {}", track.uuid) : track.name);
    const double multiplier = track.multiplier == 0 ? 1 : static_cast<double>(track.multiplier);
    const Arguments argument{{texts_->kept(track.unit.empty() ? "value" : track.unit),
                              word(texts_->kept(fmt::format("{}", value * multiplier)))}};
    decoder_->take(placed(event, "C"), argument);
}

}  // namespace lanescope
