// SPDX-License-Identifier: Apache-2.0
#include "model/importers/perfetto/PacketReader.h"

#include <fmt/format.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>

#include "model/format/text.h"
#include "model/importers/perfetto/readPerfettoTrace.h"
#include "model/text/formatValue.h"

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
    const ProtoEntry entry = entryIn(message, nameField);
    if (textBytes_ > maxInternedBytes) return false;
    std::string& kept = texts_[static_cast<size_t>(which)][entry.number];
    kept = entry.bytes.substr(0, maxTextBytes);
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
    return valueOr(texts_[static_cast<size_t>(which)], number, std::string_view());
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
    return sum(reading, valueOr(offsets_, id, int64_t{0}));
}

namespace {

constexpr int maxValueDepth = 16;
/// Maximum for a list as text. Longer ones are not useful.
constexpr size_t maxListTextBytes = size_t{1} << 16;
constexpr size_t maxArguments = 256;

using Texts = PacketSequence::Texts;

struct Value {
    JsonValue::Kind kind = JsonValue::Kind::Word;
    std::string text;
};

Value word(std::string text) { return {JsonValue::Kind::Word, std::move(text)}; }

std::string asJson(const Value& value) {
    return value.kind == JsonValue::Kind::String ? jsonQuoted(value.text) : value.text;
}

/// The items of a list, or the members of a group, as JSON.
class Parts {
  public:
    void add(const Value& value, const std::string* name) {
        if (text_.size() > maxListTextBytes) return;
        if (!text_.empty()) text_ += ", ";
        if (name != nullptr) text_ += jsonQuoted(*name) + ": ";
        text_ += asJson(value);
        isAny_ = true;
    }
    bool isAny() const { return isAny_; }
    Value value(char open, char close) const {
        return {JsonValue::Kind::Nested, fmt::format("{}{}{}", open, text_, close)};
    }

  private:
    std::string text_;
    bool isAny_ = false;
};

/// Reads a NestedValue, which writers used before lists became arguments.
Value nestedValueOf(std::string_view message, int depth) {
    if (depth >= maxValueDepth) return word("");
    Parts parts;
    std::vector<std::string> keys;
    size_t next = 0;
    Value value = word("");
    bool isGroup = false;
    for (const ProtoField& field : ProtoCursor(message)) {
        switch (field.number) {
            case 2:
                isGroup = true;
                if (keys.size() < maxListTextBytes) keys.emplace_back(field.bytes);
                break;
            case 3:
                if (next < keys.size()) parts.add(nestedValueOf(field.bytes, depth + 1), &keys[next++]);
                break;
            case 4: parts.add(nestedValueOf(field.bytes, depth + 1), nullptr); break;
            case 5: value = word(fmt::format("{}", field.signedValue())); break;
            case 6: value = word(fmt::format("{}", field.real())); break;
            case 7: value = word(field.value != 0 ? "true" : "false"); break;
            case 8: value = {JsonValue::Kind::String, std::string(field.bytes)}; break;
            default: break;
        }
    }
    return parts.isAny() ? parts.value(isGroup ? '{' : '[', isGroup ? '}' : ']') : value;
}

Value valueOf(std::string_view message, const PacketSequence& sequence, std::string& name, int depth) {
    Value value = word("");
    if (depth >= maxValueDepth) return value;
    Parts list, group;
    for (const ProtoField& field : ProtoCursor(message)) {
        switch (field.number) {
            case 1: name = sequence.text(Texts::ArgumentNames, field.value); break;
            case 10: name = field.bytes; break;
            case 2: value = word(field.value != 0 ? "true" : "false"); break;
            case 3:
            case 7: value = word(fmt::format("{}", field.value)); break;
            case 4: value = word(fmt::format("{}", field.signedValue())); break;
            case 5: value = word(fmt::format("{}", field.real())); break;
            case 6: value = {JsonValue::Kind::String, std::string(field.bytes)}; break;
            case 17:
                value = {JsonValue::Kind::String, std::string(sequence.text(Texts::ArgumentValues, field.value))};
                break;
            case 8: value = nestedValueOf(field.bytes, depth + 1); break;
            case 9: value = {JsonValue::Kind::Nested, std::string(field.bytes)}; break;
            case 11: {
                std::string key;
                const Value member = valueOf(field.bytes, sequence, key, depth + 1);
                group.add(member, &key);
                break;
            }
            case 12: {
                std::string ignored;
                list.add(valueOf(field.bytes, sequence, ignored, depth + 1), nullptr);
                break;
            }
            default: break;
        }
    }
    if (group.isAny()) return group.value('{', '}');
    if (list.isAny()) return list.value('[', ']');
    return value;
}

constexpr size_t atOnce = size_t{1} << 16;
/// 16 MiB: larger than the window that a writer needs for one buffer, and the maximum allocation for a frame.
constexpr int maxWindowLog = 24;

/// Returns the limit of decompressed bytes. A writer compresses a buffer of some hundred KiB.
/// Deflate expands up to 1,000 times. A larger ratio of Zstandard is an attack on the reader.
size_t maxUnpackedBytesOf(std::string_view packed) {
    constexpr size_t maxUnpackedBytes = size_t{64} << 20;
    constexpr size_t highestRatio = 1024;
    return packed.size() > maxUnpackedBytes / highestRatio ? maxUnpackedBytes : packed.size() * highestRatio + atOnce;
}

constexpr size_t maxSequences = size_t{1} << 16;
constexpr size_t chunkEvents = size_t{1} << 15;
constexpr size_t chunkTextBytes = size_t{8} << 20;
/// The limit of decompressed bytes is above the ratio of about 10 that writers reach, so that the
/// memory depends on the size of the file.
constexpr uint64_t minUnpackedLimit = uint64_t{256} << 20, maxUnpackedFactor = 200;
constexpr uint32_t clearedFlag = 1;

/// Returns true for payloads without information on execution.
bool isAuxiliary(uint32_t number) {
    constexpr std::array<uint32_t, 24> numbers{9,  33, 34, 35, 36, 38, 45, 46, 47, 48,  49,  51,
                                               67, 68, 69, 72, 82, 87, 89, 90, 98, 107, 124, 126};
    return std::ranges::find(numbers, number) != numbers.end();
}

/// Returns true for members of a packet other than its payload.
bool isOfHead(uint32_t number) {
    constexpr std::array<uint32_t, 12> numbers{3, 8, 10, 12, 13, 41, 42, 58, 59, 79, 87, 98};
    return std::ranges::find(numbers, number) != numbers.end();
}

constexpr size_t maxCounterNames = size_t{1} << 16;
/// Marks numbers of interned descriptors, to separate them from those of GPUs.
constexpr uint64_t internedFlag = uint64_t{1} << 63;

std::string sizesIn(std::string_view message) {
    std::array<uint64_t, 3> sizes{1, 1, 1};
    for (const ProtoField& field : ProtoCursor(message))
        if (field.isNumber() && field.number >= 1 && field.number <= 3) sizes[field.number - 1] = field.value;
    return fmt::format("[{}, {}, {}]", sizes[0], sizes[1], sizes[2]);
}

/// Reads a launch: its grid and block sizes become arguments.
void takeLaunch(std::string_view message, KeptTexts& texts, std::vector<EventDecoder::Argument>& arguments) {
    for (const ProtoField& field : ProtoCursor(message))
        if (field.isBytes() && (field.number == 1 || field.number == 2))
            arguments.push_back({field.number == 1 ? "grid" : "block",
                                 {JsonValue::Kind::Nested, false, texts.kept(sizesIn(field.bytes))}});
}

void takeExtra(std::string_view message, KeptTexts& texts, std::vector<EventDecoder::Argument>& arguments) {
    std::string_view name, value;
    for (const ProtoField& field : ProtoCursor(message)) {
        if (field.number == 1 && field.isBytes()) name = field.bytes;
        if (field.number == 2 && field.isBytes()) value = field.bytes;
    }
    if (arguments.size() < maxArguments)
        arguments.push_back({texts.kept(name), {JsonValue::Kind::String, false, texts.kept(value)}});
}

}  // namespace

void takeDebugArgument(std::string_view message, const PacketSequence& sequence, KeptTexts& keeper,
                       std::vector<EventDecoder::Argument>& arguments) {
    if (arguments.size() >= maxArguments) return;
    std::string name;
    const Value value = valueOf(message, sequence, name, 0);
    EventDecoder::Argument argument{.key = keeper.kept(name)};
    argument.value.kind = value.kind;
    argument.value.text = keeper.kept(value.text);
    arguments.push_back(argument);
}

UnpackedPackets unpackDeflate(std::string_view packed) {
    UnpackedPackets unpacked;
    z_stream stream{};
    if (inflateInit(&stream) != Z_OK) return unpacked;
    // zlib does not write there.
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
    stream.avail_in = static_cast<uInt>(packed.size());
    int code = Z_OK;
    while (code == Z_OK && unpacked.bytes.size() < maxUnpackedBytesOf(packed)) {
        const size_t before = unpacked.bytes.size();
        unpacked.bytes.resize(before + atOnce);
        stream.next_out = reinterpret_cast<Bytef*>(unpacked.bytes.data() + before);
        stream.avail_out = static_cast<uInt>(atOnce);
        code = inflate(&stream, Z_NO_FLUSH);
        unpacked.bytes.resize(before + (atOnce - stream.avail_out));
    }
    inflateEnd(&stream);
    unpacked.isWhole = code == Z_STREAM_END;
    return unpacked;
}

UnpackedPackets unpackZstandard(std::string_view packed) {
    UnpackedPackets unpacked;
    const std::unique_ptr<ZSTD_DCtx, decltype(&ZSTD_freeDCtx)> context(ZSTD_createDCtx(), &ZSTD_freeDCtx);
    if (context == nullptr) return unpacked;
    ZSTD_DCtx_setParameter(context.get(), ZSTD_d_windowLogMax, maxWindowLog);
    ZSTD_inBuffer in{packed.data(), packed.size(), 0};
    size_t left = 1;
    while (in.pos < in.size || left != 0) {
        const size_t before = unpacked.bytes.size();
        if (before >= maxUnpackedBytesOf(packed)) return unpacked;
        unpacked.bytes.resize(before + atOnce);
        ZSTD_outBuffer out{unpacked.bytes.data() + before, atOnce, 0};
        const size_t readBefore = in.pos;
        left = ZSTD_decompressStream(context.get(), &out, &in);
        unpacked.bytes.resize(before + out.pos);
        // A truncated frame makes no progress. Another frame may follow a complete one.
        if (ZSTD_isError(left) != 0 || (out.pos == 0 && in.pos == readBefore)) return unpacked;
    }
    unpacked.isWhole = true;
    return unpacked;
}

PacketReader::PacketReader(ImportedEvents& events, LargeMemory* memory) : events_(events), joiner_(memory) { flush(); }

void PacketReader::flush() {
    if (chunk_ != nullptr) events_.take(*chunk_, 0);
    places_.clear();
    // Destroyed first, since it has views of the texts.
    decoder_.reset();
    chunk_ = std::make_unique<ImportedChunk>();
    texts_ = std::make_unique<KeptTexts>();
    decoder_ = std::make_unique<EventDecoder>(*chunk_);
    count_ = 0;
}

void PacketReader::flushIfFull() {
    if (++count_ >= chunkEvents || texts_->bytes() >= chunkTextBytes) flush();
}

void PacketReader::finish() {
    flush();
    unmatched_ = joiner_.join(events_, lastNs_);
}

void PacketReader::takePacked(std::string_view packed, Unpacker unpack, int depth) {
    packedBytes_ += packed.size();
    if (unpackedBytes_ > minUnpackedLimit + maxUnpackedFactor * packedBytes_) {
        ++corruptCount_;
        return;
    }
    const UnpackedPackets packets = unpack(packed);
    unpackedBytes_ += packets.bytes.size();
    ProtoCursor cursor(packets.bytes);
    for (const ProtoField& field : cursor)
        if (field.number == 1 && field.isBytes()) take(field.bytes, depth + 1);
    corruptCount_ += !packets.isWhole || cursor.isMalformed() ? 1 : 0;
}

void PacketReader::take(std::string_view packet, int depth) {
    std::optional<uint64_t> time, clock;
    uint64_t sequenceNumber = 0;
    bool isCleared = false;
    std::string_view interned, defaults;
    ProtoCursor head(packet);
    for (const ProtoField& field : head) {
        if (field.number == 8 && field.isNumber()) time = field.value;
        if (field.number == 58 && field.isNumber()) clock = field.value;
        if (field.number == 10 && field.isNumber()) sequenceNumber = field.value;
        if (field.number == 13 && field.isNumber()) isCleared |= (field.value & clearedFlag) != 0;
        if (field.number == 41 && field.isNumber()) isCleared |= field.value != 0;
        if (field.number == 42 && field.isNumber() && field.value != 0) ++lostPackets_;
        if (field.number == 12 && field.isBytes()) interned = field.bytes;
        if (field.number == 59 && field.isBytes()) defaults = field.bytes;
    }
    if (head.isMalformed()) ++corruptCount_;
    if (sequences_.size() >= maxSequences && !sequences_.contains(sequenceNumber)) sequenceNumber = 0;
    PacketSequence& sequence = sequences_[sequenceNumber];
    if (isCleared) sequence.clear();
    if (!interned.empty()) {
        if (!sequence.takeTexts(interned)) ++corruptCount_;
        takeGpuCounterNames(interned);
    }
    if (!defaults.empty()) sequence.takeDefaults(defaults);
    std::optional<int64_t> timeNs;
    const auto atTime = [&] {
        if (time && !timeNs) timeNs = clocks_.timeOf(*time, clock, sequence);
        return timeNs.value_or(0);
    };
    for (const ProtoField& field : ProtoCursor(packet)) {
        if (!field.isBytes() || isOfHead(field.number)) continue;
        switch (field.number) {
            case 2: takeProcessTree(field.bytes); break;
            case 6: clocks_.takeSnapshot(field.bytes, sequence); break;
            case 11:
                atTime();
                takeTrackEvent(field.bytes, sequence, timeNs);
                break;
            case 44: takeThread(field.bytes, sequence); break;
            case 43: break;
            case 50:
                if (depth == 0) takePacked(field.bytes, unpackDeflate, depth);
                break;
            case 52: takeGpuCounters(field.bytes, atTime()); break;
            case 53: takeRenderStage(field.bytes, sequence, atTime()); break;
            case 60: tracks_.describe(field.bytes); break;
            case 133:
                if (depth == 0) takePacked(field.bytes, unpackZstandard, depth);
                break;
            default:
                if (!isAuxiliary(field.number)) ++others_[field.number];
        }
    }
}

void PacketReader::takeThread(std::string_view message, PacketSequence& sequence) {
    std::string_view name;
    for (const ProtoField& field : ProtoCursor(message)) {
        if (field.number == 1 && field.isNumber()) sequence.process = static_cast<int32_t>(field.value);
        if (field.number == 2 && field.isNumber()) sequence.thread = field.signedValue();
        if (field.number == 5 && field.isBytes()) name = field.bytes;
        if (field.number == 6 && field.isNumber() && field.value < uint64_t{1} << 50)
            sequence.oldTimeNs = field.signedValue() * 1000;
    }
    if (sequence.process && sequence.thread && !name.empty())
        tracks_.nameThread(*sequence.process, *sequence.thread, name);
}

void PacketReader::takeProcessTree(std::string_view message) {
    const auto keep = [this](std::string_view process, std::string_view thread, bool isOfThread,
                             std::string_view name) {
        if (name.empty()) return;
        chunk_->names.push_back(
            {{texts_->kept(process), texts_->kept(thread)}, isOfThread, chunk_->strings.add(texts_->kept(name))});
        flushIfFull();
    };
    for (const ProtoField& field : ProtoCursor(message)) {
        const bool isProcess = field.number == 1;
        if (!field.isBytes() || (!isProcess && field.number != 2)) continue;
        int64_t own = 0, process = 0;
        std::string_view name;
        for (const ProtoField& part : ProtoCursor(field.bytes)) {
            if (part.number == 1 && part.isNumber()) own = part.signedValue();
            if (part.number == 3 && part.isNumber()) process = part.signedValue();
            if (part.number == (isProcess ? 3u : 2u) && part.isBytes() && name.empty()) name = part.bytes;
        }
        if (isProcess)
            keep(std::to_string(own), {}, false, name);
        else
            keep(std::to_string(process), std::to_string(own), true, name);
    }
}

void PacketReader::takeRenderStage(std::string_view message, PacketSequence& sequence, int64_t timeNs) {
    arguments_.clear();
    Event event;
    event.timeNs = timeNs;
    int64_t gpu = 0, queue = -1, eventNumber = 0;
    std::string_view kernel, stage, queueName;
    for (const ProtoField& field : ProtoCursor(message)) {
        switch (field.number) {
            case 1: eventNumber = field.signedValue(); break;
            case 2: event.durationNs = field.signedValue(); break;
            case 11: gpu = static_cast<int32_t>(field.value); break;
            case 3: queue = static_cast<int32_t>(field.value); break;
            case 13:
                queue = field.signedValue();
                queueName = sequence.text(Texts::Stages, field.value);
                break;
            case 14: stage = sequence.text(Texts::Stages, field.value); break;
            case 17: event.name = field.bytes; break;
            case 20: event.name = sequence.text(Texts::Names, field.value); break;
            case 19: kernel = sequence.text(Texts::Kernels, field.value); break;
            case 21:
                if (field.isBytes()) takeLaunch(field.bytes, *texts_, arguments_);
                break;
            case 6:
                if (field.isBytes()) takeExtra(field.bytes, *texts_, arguments_);
                break;
            default: break;
        }
    }
    constexpr int64_t maxPacketTimeNs = int64_t{1} << 60;
    if (event.durationNs < 0 || event.durationNs > maxPacketTimeNs) event.durationNs = 0;
    if (timeNs <= -maxPacketTimeNs || timeNs >= maxPacketTimeNs) {
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

void PacketReader::takeCounterDescriptor(std::string_view message, uint64_t owner) {
    for (const ProtoField& field : ProtoCursor(message)) {
        if (field.number != 1 || !field.isBytes()) continue;
        const ProtoEntry counter = entryIn(field.bytes);
        if (gpuCounterNames_.size() < maxCounterNames)
            gpuCounterNames_[{owner, counter.number}] = counter.bytes.substr(0, TraceBuilder::maxNameBytes);
    }
}

void PacketReader::takeGpuCounterNames(std::string_view interned) {
    for (const ProtoField& field : ProtoCursor(interned)) {
        if (field.number != 47 || !field.isBytes()) continue;
        uint64_t number = 0;
        int64_t gpu = 0;
        std::string_view descriptor;
        for (const ProtoField& part : ProtoCursor(field.bytes)) {
            if (part.number == 1 && part.isNumber()) number = part.value;
            if (part.number == 2 && part.isBytes()) descriptor = part.bytes;
            if (part.number == 3 && part.isNumber()) gpu = static_cast<int32_t>(part.value);
        }
        takeCounterDescriptor(descriptor, number | internedFlag);
        if (gpusOfDescriptors_.size() < maxCounterNames) gpusOfDescriptors_[number | internedFlag] = gpu;
    }
}

void PacketReader::takeGpuCounters(std::string_view message, int64_t timeNs) {
    uint64_t owner = 0;
    int64_t gpu = 0;
    for (const ProtoField& field : ProtoCursor(message)) {
        if (field.number == 3 && field.isNumber()) {
            gpu = static_cast<int32_t>(field.value);
            owner = static_cast<uint64_t>(gpu) & ~internedFlag;
        }
        if (field.number == 4 && field.isNumber()) {
            owner = field.value | internedFlag;
            gpu = valueOr(gpusOfDescriptors_, owner, gpu);
        }
    }
    const std::string process = fmt::format("GPU {} counters", gpu);
    for (const ProtoField& field : ProtoCursor(message)) {
        if (!field.isBytes()) continue;
        if (field.number == 1) takeCounterDescriptor(field.bytes, owner);
        if (field.number != 2) continue;
        uint64_t counter = 0;
        std::string value;
        for (const ProtoField& part : ProtoCursor(field.bytes)) {
            if (part.number == 1 && part.isNumber()) counter = part.value;
            if (part.number == 2 && part.isNumber()) value = std::to_string(part.signedValue());
            if (part.number == 3) value = fmt::format("{}", part.real());
        }
        const auto named = gpuCounterNames_.find({owner, counter});
        EventDecoder::Event event;
        event.phase = "C";
        event.process = {JsonValue::Kind::String, false, texts_->kept(process)};
        event.name = {
            JsonValue::Kind::String, false,
            texts_->kept(named != gpuCounterNames_.end() ? named->second : fmt::format("counter {}", counter))};
        event.time = {JsonValue::Kind::Word, false, texts_->kept(fmt::format("{}e-3", timeNs))};
        decoder_->take(event, {{"value", {JsonValue::Kind::Word, false, texts_->kept(value)}}});
        flushIfFull();
    }
}

namespace {

/// Longer than any packet of Perfetto.
constexpr uint64_t maxPacketBytes = uint64_t{256} << 20;
constexpr uint64_t maxBytes = uint64_t{64} << 30;
/// Share of the progress for reading. The rest is for building tables.
constexpr double readingShare = 0.7;
constexpr uint32_t packetField = 1;

/// A kind of packet that is not used.
struct OtherPacket {
    uint32_t field;
    std::string_view packets;
};
constexpr std::array otherPackets{
    OtherPacket{1, "packets of events of the kernel (ftrace)"},
    OtherPacket{5, "packets of old Chrome events"},
    OtherPacket{37, "profiles of memory"},
    OtherPacket{54, "packets of samples"},
    OtherPacket{57, "events of frames"},
    OtherPacket{62, "events of Vulkan memory"},
    OtherPacket{65, "calls of Vulkan"},
    OtherPacket{66, "samples of the processor (perf)"},
    OtherPacket{71, "totals of GPU memory"},
    OtherPacket{95, "packets of events of Windows"},
};

void noteOtherPackets(const PacketReader& reader, TraceBuilder& builder) {
    int64_t unknown = 0;
    for (const auto& [field, packets] : reader.others()) {
        const auto known = std::ranges::find_if(
            otherPackets, [number = field](const OtherPacket& each) { return each.field == number; });
        if (known != otherPackets.end())
            builder.noteNotShown(packets, known->packets);
        else
            unknown += packets;
    }
    builder.noteNotShown(unknown, "packets of an unknown kind");
    builder.noteSome(reader.lostPackets(), Severity::Warning, HealthCode::EventsDropped,
                     fmt::format("The writer lost packets in {} place{} (buffer full).",
                                 formatCount(reader.lostPackets()), reader.lostPackets() == 1 ? "" : "s"));
}

void describe(const ImportedFile& file, const PacketReader& reader, EmitContext& output) {
    describeImportedFile(file, output);
    TraceDescription& trace = output.builder.description();
    if (file.facts.empty()) trace.producer = "a Perfetto trace";
    if (const auto producer = file.facts.find("producer"); producer != file.facts.end())
        trace.producer = producer->second;
    const std::optional<int64_t> toTimeOfDay = reader.clocks().toTimeOfDay();
    constexpr int64_t maxTimeNs = int64_t{1} << 61;
    if (toTimeOfDay && *toTimeOfDay > 0 && *toTimeOfDay < maxTimeNs) trace.startUtcNs = *toTimeOfDay + output.zeroNs;
}

}  // namespace

bool startsLikePerfetto(std::string_view start) {
    // Members of a packet other than its payload, and the payloads at the start of traces.
    constexpr std::array<uint32_t, 20> known{1, 2, 3, 6, 8, 10, 11, 12, 13, 33, 36, 41, 42, 43, 44, 45, 58, 59, 60, 79};
    constexpr std::array<uint32_t, 7> payloads{3, 8, 10, 36, 50, 60, 133};
    bool isKnownPayload = false;
    int packets = 0;
    while (!start.empty() && packets < 16) {
        uint64_t key = 0, length = 0;
        std::string_view rest = start;
        constexpr uint64_t packetKey = packetField << 3 | 2;
        if (!ProtoCursor::takeNumber(rest, ProtoField::Wire::Varint, key) || key != packetKey) break;
        if (!ProtoCursor::takeNumber(rest, ProtoField::Wire::Varint, length) || length == 0) break;
        const bool isWhole = length <= rest.size();
        ProtoCursor cursor(rest.substr(0, static_cast<size_t>(std::min<uint64_t>(length, rest.size()))));
        bool isAny = false;
        ProtoField field;
        const auto isOfPacket = [&] {
            isAny = true;
            isKnownPayload |= std::ranges::find(payloads, field.number) != payloads.end();
            return field.number >= 33 || std::ranges::find(known, field.number) != known.end();
        };
        while (cursor.next(field))
            if (!isOfPacket()) return false;
        // A compressed packet may be longer than the sampled bytes.
        if (!isWhole && cursor.isTruncated() && !isOfPacket()) return false;
        if (isWhole && (cursor.isMalformed() || !isAny)) return false;
        ++packets;
        if (!isWhole) return isKnownPayload || packets > 1;
        start = rest.substr(static_cast<size_t>(length));
    }
    return packets > 0 && isKnownPayload && (start.empty() || packets > 1);
}

Result<void> readPerfettoTrace(const ByteSource& source, TraceBuilder& builder,
                               const std::function<double()>& fractionRead, const LoadProgress& progress) {
    ImportedEvents events(builder);
    PacketReader reader(events, builder.memory());
    ProtoStream stream(source, builder.memory(), maxPacketBytes, maxBytes);
    const auto isWanted = [&](double share) { return !progress || progress(share, "events"); };
    constexpr int packetsBetweenReports = 4096;
    int packets = 0;
    for (ProtoField field; stream.next(field);) {
        if (field.number == packetField && field.isBytes()) reader.take(field.bytes);
        if (++packets % packetsBetweenReports == 0 && !isWanted(readingShare * fractionRead())) return {};
    }
    if (stream.bytesRead() == 0 && stream.readError()) return fail(*stream.readError());
    reader.finish();
    ImportedFile file = endOf(stream, events);
    file.facts = reader.facts();
    ImportedIdentities identities(events, builder);
    EmitContext output{events, identities, builder, events.isEmpty() ? 0 : events.range().startNs,
                       rankOf(file.facts, builder.trace().path)};
    EmitFindings findings;
    emitEvents(output, findings, [&](double share) { return isWanted(readingShare + share * (1 - readingShare)); });
    describe(file, reader, output);
    findings.unmatchedEdges += reader.unmatched().ends;
    noteImportedFile(file, findings, output, HealthCode::FileDamaged);
    noteOtherPackets(reader, builder);
    noteCorruptParts("packets", reader.corruptCount(), builder);
    const int64_t open = reader.unmatched().begins;
    builder.noteSome(open, Severity::Info, HealthCode::NvtxUnmatched,
                     fmt::format("{} slice{} in the file; they are shown until its last event.", formatCount(open),
                                 open == 1 ? " never ends" : "s never end"));
    return {};
}

}  // namespace lanescope
