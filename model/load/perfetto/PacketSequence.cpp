// SPDX-License-Identifier: Apache-2.0
#include "model/load/perfetto/PacketSequence.h"

namespace lanescope {

namespace {

constexpr size_t mostTextBytes = size_t{256} << 20;
/// What a text costs beside its bytes.
constexpr size_t textCost = 96;
constexpr size_t longestText = size_t{1} << 20;
constexpr size_t mostCounters = 256;

void takeNumbers(const ProtoField& field, std::vector<uint64_t>& into) {
    ProtoCursor::forEachNumber(field, ProtoField::Wire::Varint, [&into](uint64_t value) {
        if (into.size() < mostCounters) into.push_back(value);
    });
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
    ProtoCursor cursor(message);
    for (ProtoField field; cursor.next(field);) {
        if (field.number == 1 && field.isNumber()) number = field.value;
        if (field.number == nameField && field.isBytes()) name = field.bytes;
    }
    if (textBytes_ > mostTextBytes) return false;
    std::string& kept = texts_[static_cast<size_t>(which)][number];
    kept = name.substr(0, longestText);
    textBytes_ += kept.size() + textCost;
    return true;
}

bool PacketSequence::takeTexts(std::string_view message) {
    bool isRoom = true;
    ProtoCursor cursor(message);
    for (ProtoField field; cursor.next(field);) {
        if (!field.isBytes()) continue;
        switch (field.number) {
            case 1:
                isRoom = takeText(Texts::Categories, field.bytes, 2) && isRoom;
                break;
            case 2:
                isRoom = takeText(Texts::Names, field.bytes, 2) && isRoom;
                break;
            case 3:
                isRoom = takeText(Texts::ArgumentNames, field.bytes, 2) && isRoom;
                break;
            case 24:
                isRoom = takeText(Texts::Stages, field.bytes, 2) && isRoom;
                break;
            case 29:
                isRoom = takeText(Texts::ArgumentValues, field.bytes, 2) && isRoom;
                break;
            case 1000:
                isRoom = takeText(Texts::Kernels, field.bytes, 3) && isRoom;
                break;
            default:
                break;
        }
    }
    return isRoom;
}

void PacketSequence::takeDefaults(std::string_view message) {
    defaultTrack.reset();
    defaultClock.reset();
    extraCounters.clear();
    extraRealCounters.clear();
    ProtoCursor cursor(message);
    for (ProtoField field; cursor.next(field);) {
        if (field.number == 58 && field.isNumber()) defaultClock = field.value;
        if (field.number != 11 || !field.isBytes()) continue;
        ProtoCursor events(field.bytes);
        for (ProtoField each; events.next(each);) {
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

}  // namespace lanescope
