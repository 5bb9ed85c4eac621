// SPDX-License-Identifier: Apache-2.0
#include "model/load/perfetto/PacketReader.h"

#include <algorithm>
#include <array>

namespace lanescope {

namespace {

constexpr size_t mostSequences = size_t{1} << 16;
constexpr size_t enoughEvents = size_t{1} << 15;
constexpr size_t enoughTextBytes = size_t{8} << 20;
/// What is unpacked of packets that are packed: no more than any trace becomes, of which a writer
/// makes some tenth, so that what a file takes follows from its size.
constexpr uint64_t mostUnpackedOfFew = uint64_t{256} << 20, mostTimesUnpacked = 200;
constexpr uint32_t clearedFlag = 1;

/// Payloads of packets that say nothing of what ran.
bool isBeside(uint32_t number) {
    constexpr std::array<uint32_t, 24> numbers{9,  33, 34, 35, 36, 38, 45, 46, 47, 48,  49,  51,
                                               67, 68, 69, 72, 82, 87, 89, 90, 98, 107, 124, 126};
    return std::find(numbers.begin(), numbers.end(), number) != numbers.end();
}

/// Members of a packet that are no payload.
bool isOfHead(uint32_t number) {
    constexpr std::array<uint32_t, 12> numbers{3, 8, 10, 12, 13, 41, 42, 58, 59, 79, 87, 98};
    return std::find(numbers.begin(), numbers.end(), number) != numbers.end();
}

}  // namespace

PacketReader::PacketReader(JsonEvents& events, LargeMemory* memory)
    : events_(events), joiner_(memory) {
    flush();
}

void PacketReader::flush() {
    if (chunk_ != nullptr) events_.take(*chunk_, 0);
    places_.clear();
    // Who looks at texts of others goes first.
    taker_.reset();
    chunk_ = std::make_unique<ScannedChunk>();
    texts_ = std::make_unique<KeptTexts>();
    taker_ = std::make_unique<EventTaker>(*chunk_);
    count_ = 0;
}

void PacketReader::flushIfFull() {
    if (++count_ >= enoughEvents || texts_->bytes() >= enoughTextBytes) flush();
}

void PacketReader::finish() {
    flush();
    unmatched_ = joiner_.join(events_, lastNs_);
}

void PacketReader::takePacked(std::string_view packed, Unpacker unpack, int depth) {
    packedBytes_ += packed.size();
    if (unpackedBytes_ > mostUnpackedOfFew + mostTimesUnpacked * packedBytes_) {
        ++damages_;
        return;
    }
    const UnpackedPackets packets = unpack(packed);
    unpackedBytes_ += packets.bytes.size();
    ProtoCursor cursor(packets.bytes);
    for (ProtoField field; cursor.next(field);)
        if (field.number == 1 && field.isBytes()) take(field.bytes, depth + 1);
    damages_ += !packets.isWhole || cursor.isBroken() ? 1 : 0;
}

void PacketReader::take(std::string_view packet, int depth) {
    std::optional<uint64_t> time, clock;
    uint64_t sequenceNumber = 0;
    bool isCleared = false;
    std::string_view interned, defaults;
    ProtoCursor head(packet);
    for (ProtoField field; head.next(field);) {
        if (field.number == 8 && field.isNumber()) time = field.value;
        if (field.number == 58 && field.isNumber()) clock = field.value;
        if (field.number == 10 && field.isNumber()) sequenceNumber = field.value;
        if (field.number == 13 && field.isNumber()) isCleared |= (field.value & clearedFlag) != 0;
        if (field.number == 41 && field.isNumber()) isCleared |= field.value != 0;
        if (field.number == 42 && field.isNumber() && field.value != 0) ++lostPackets_;
        if (field.number == 12 && field.isBytes()) interned = field.bytes;
        if (field.number == 59 && field.isBytes()) defaults = field.bytes;
    }
    if (head.isBroken()) ++damages_;
    if (sequences_.size() >= mostSequences && !sequences_.contains(sequenceNumber))
        sequenceNumber = 0;
    PacketSequence& sequence = sequences_[sequenceNumber];
    if (isCleared) sequence.clear();
    if (!interned.empty()) {
        if (!sequence.takeTexts(interned)) ++damages_;
        takeGpuCounterNames(interned);
    }
    if (!defaults.empty()) sequence.takeDefaults(defaults);
    std::optional<int64_t> timeNs;
    const auto atTime = [&] {
        if (time && !timeNs) timeNs = clocks_.timeOf(*time, clock, sequence);
        return timeNs.value_or(0);
    };
    ProtoCursor cursor(packet);
    for (ProtoField field; cursor.next(field);) {
        if (!field.isBytes() || isOfHead(field.number)) continue;
        switch (field.number) {
            case 2:
                takeProcessTree(field.bytes);
                break;
            case 6:
                clocks_.takeSnapshot(field.bytes, sequence);
                break;
            case 11:
                atTime();
                takeTrackEvent(field.bytes, sequence, timeNs);
                break;
            case 44:
                takeThread(field.bytes, sequence);
                break;
            case 43:
                break;
            case 50:
                if (depth == 0) takePacked(field.bytes, unpackDeflate, depth);
                break;
            case 52:
                takeGpuCounters(field.bytes, atTime());
                break;
            case 53:
                takeRenderStage(field.bytes, sequence, atTime());
                break;
            case 60:
                tracks_.describe(field.bytes);
                break;
            case 133:
                if (depth == 0) takePacked(field.bytes, unpackZstandard, depth);
                break;
            default:
                if (!isBeside(field.number)) ++others_[field.number];
        }
    }
}

void PacketReader::takeThread(std::string_view message, PacketSequence& sequence) {
    std::string_view name;
    ProtoCursor cursor(message);
    for (ProtoField field; cursor.next(field);) {
        if (field.number == 1 && field.isNumber())
            sequence.process = static_cast<int32_t>(field.value);
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
        JsonName named;
        named.whose = {texts_->kept(process), texts_->kept(thread)};
        named.isOfThread = isOfThread;
        named.name = chunk_->strings.add(texts_->kept(name));
        chunk_->names.push_back(named);
        flushIfFull();
    };
    ProtoCursor cursor(message);
    for (ProtoField field; cursor.next(field);) {
        const bool isProcess = field.number == 1;
        if (!field.isBytes() || (!isProcess && field.number != 2)) continue;
        int64_t own = 0, process = 0;
        std::string_view name;
        ProtoCursor each(field.bytes);
        for (ProtoField part; each.next(part);) {
            if (part.number == 1 && part.isNumber()) own = part.signedValue();
            if (part.number == 3 && part.isNumber()) process = part.signedValue();
            if (part.number == (isProcess ? 3u : 2u) && part.isBytes() && name.empty())
                name = part.bytes;
        }
        if (isProcess)
            keep(std::to_string(own), {}, false, name);
        else
            keep(std::to_string(process), std::to_string(own), true, name);
    }
}

}  // namespace lanescope
