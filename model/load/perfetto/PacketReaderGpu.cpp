// SPDX-License-Identifier: Apache-2.0
// Takes what a Perfetto trace says of GPUs in packets of their own.
#include <fmt/format.h>

#include <array>

#include "model/load/json/eventKinds.h"
#include "model/load/perfetto/PacketReader.h"

namespace lanescope {

namespace {

using Texts = PacketSequence::Texts;

constexpr size_t mostCounterNames = size_t{1} << 16;
/// Numbers of descriptors that stand beside the events, apart from those of GPUs.
constexpr uint64_t internedFlag = uint64_t{1} << 63;

std::string sizesIn(std::string_view message) {
    std::array<uint64_t, 3> sizes{1, 1, 1};
    ProtoCursor cursor(message);
    for (ProtoField field; cursor.next(field);)
        if (field.isNumber() && field.number >= 1 && field.number <= 3)
            sizes[field.number - 1] = field.value;
    return fmt::format("[{}, {}, {}]", sizes[0], sizes[1], sizes[2]);
}

/// A launch: its grid and its blocks as arguments.
void takeLaunch(std::string_view message, KeptTexts& texts,
                std::vector<EventTaker::Argument>& arguments) {
    ProtoCursor cursor(message);
    for (ProtoField field; cursor.next(field);)
        if (field.isBytes() && (field.number == 1 || field.number == 2))
            arguments.push_back(
                {field.number == 1 ? "grid" : "block",
                 {JsonValue::Kind::Nested, false, texts.kept(sizesIn(field.bytes))}});
}

void takeExtra(std::string_view message, KeptTexts& texts,
               std::vector<EventTaker::Argument>& arguments) {
    constexpr size_t most = 256;
    std::string_view name, value;
    ProtoCursor cursor(message);
    for (ProtoField field; cursor.next(field);) {
        if (field.number == 1 && field.isBytes()) name = field.bytes;
        if (field.number == 2 && field.isBytes()) value = field.bytes;
    }
    if (arguments.size() < most)
        arguments.push_back(
            {texts.kept(name), {JsonValue::Kind::String, false, texts.kept(value)}});
}

}  // namespace

void PacketReader::takeRenderStage(std::string_view message, PacketSequence& sequence,
                                   int64_t timeNs) {
    arguments_.clear();
    Event event;
    event.timeNs = timeNs;
    int64_t gpu = 0, queue = -1, eventNumber = 0;
    std::string_view kernel, stage, queueName;
    ProtoCursor cursor(message);
    for (ProtoField field; cursor.next(field);) {
        switch (field.number) {
            case 1:
                eventNumber = field.signedValue();
                break;
            case 2:
                event.durationNs = field.signedValue();
                break;
            case 11:
                gpu = static_cast<int32_t>(field.value);
                break;
            case 3:
                queue = static_cast<int32_t>(field.value);
                break;
            case 13:
                queue = field.signedValue();
                queueName = sequence.text(Texts::Stages, field.value);
                break;
            case 14:
                stage = sequence.text(Texts::Stages, field.value);
                break;
            case 17:
                event.name = field.bytes;
                break;
            case 20:
                event.name = sequence.text(Texts::Names, field.value);
                break;
            case 19:
                kernel = sequence.text(Texts::Kernels, field.value);
                break;
            case 21:
                if (field.isBytes()) takeLaunch(field.bytes, *texts_, arguments_);
                break;
            case 6:
                if (field.isBytes()) takeExtra(field.bytes, *texts_, arguments_);
                break;
            default:
                break;
        }
    }
    constexpr int64_t furthestNs = int64_t{1} << 60;
    if (event.durationNs < 0 || event.durationNs > furthestNs) event.durationNs = 0;
    if (timeNs <= -furthestNs || timeNs >= furthestNs) {
        ++chunk_->tally.untimed;
        return;
    }
    if (event.name.empty()) event.name = kernel.empty() ? stage : kernel;
    event.name = texts_->kept(event.name);
    event.category = event.name.starts_with("Memcpy")   ? "gpu_memcpy"
                     : event.name.starts_with("Memset") ? "gpu_memset"
                                                        : "kernel";
    event.track = tracks_.numberOfThread(gpu, queue);
    if (event.track == PerfettoTracks::noTrack) return;
    const int64_t named = streamNumberOf(queueName);
    if (!hasArgument("device")) addNumber("device", gpu);
    if (!hasArgument("stream")) addNumber("stream", named >= 0 ? named : queue);
    if (!hasArgument("correlation")) addNumber("correlation", eventNumber);
    keepSlice(event, "X");
    lastNs_ = std::max(lastNs_, timeNs);
    flushIfFull();
}

void PacketReader::takeCounterDescriptor(std::string_view message, uint64_t whose) {
    ProtoCursor cursor(message);
    for (ProtoField field; cursor.next(field);) {
        if (field.number != 1 || !field.isBytes()) continue;
        uint64_t counter = 0;
        std::string_view name;
        ProtoCursor spec(field.bytes);
        for (ProtoField part; spec.next(part);) {
            if (part.number == 1 && part.isNumber()) counter = part.value;
            if (part.number == 2 && part.isBytes()) name = part.bytes;
        }
        if (gpuCounterNames_.size() < mostCounterNames)
            gpuCounterNames_[{whose, counter}] = name.substr(0, TraceBuilder::longestName);
    }
}

void PacketReader::takeGpuCounterNames(std::string_view interned) {
    ProtoCursor cursor(interned);
    for (ProtoField field; cursor.next(field);) {
        if (field.number != 47 || !field.isBytes()) continue;
        uint64_t number = 0;
        int64_t gpu = 0;
        std::string_view descriptor;
        ProtoCursor each(field.bytes);
        for (ProtoField part; each.next(part);) {
            if (part.number == 1 && part.isNumber()) number = part.value;
            if (part.number == 2 && part.isBytes()) descriptor = part.bytes;
            if (part.number == 3 && part.isNumber()) gpu = static_cast<int32_t>(part.value);
        }
        takeCounterDescriptor(descriptor, number | internedFlag);
        if (gpusOfDescriptors_.size() < mostCounterNames)
            gpusOfDescriptors_[number | internedFlag] = gpu;
    }
}

void PacketReader::takeGpuCounters(std::string_view message, int64_t timeNs) {
    uint64_t whose = 0;
    int64_t gpu = 0;
    ProtoCursor cursor(message);
    for (ProtoField field; cursor.next(field);) {
        if (field.number == 3 && field.isNumber()) {
            gpu = static_cast<int32_t>(field.value);
            whose = static_cast<uint64_t>(gpu) & ~internedFlag;
        }
        if (field.number == 4 && field.isNumber()) {
            whose = field.value | internedFlag;
            const auto found = gpusOfDescriptors_.find(whose);
            if (found != gpusOfDescriptors_.end()) gpu = found->second;
        }
    }
    const std::string process = fmt::format("GPU {} counters", gpu);
    ProtoCursor again(message);
    for (ProtoField field; again.next(field);) {
        if (!field.isBytes()) continue;
        if (field.number == 1) takeCounterDescriptor(field.bytes, whose);
        if (field.number != 2) continue;
        uint64_t counter = 0;
        std::string value;
        ProtoCursor each(field.bytes);
        for (ProtoField part; each.next(part);) {
            if (part.number == 1 && part.isNumber()) counter = part.value;
            if (part.number == 2 && part.isNumber()) value = std::to_string(part.signedValue());
            if (part.number == 3) value = fmt::format("{}", part.real());
        }
        const auto named = gpuCounterNames_.find({whose, counter});
        EventTaker::Event event;
        event.phase = "C";
        event.process = {JsonValue::Kind::String, false, texts_->kept(process)};
        event.name = {
            JsonValue::Kind::String, false,
            texts_->kept(named != gpuCounterNames_.end() ? named->second
                                                         : fmt::format("counter {}", counter))};
        event.time = {JsonValue::Kind::Word, false, texts_->kept(fmt::format("{}e-3", timeNs))};
        taker_->take(event, {{"value", {JsonValue::Kind::Word, false, texts_->kept(value)}}});
        flushIfFull();
    }
}

}  // namespace lanescope
