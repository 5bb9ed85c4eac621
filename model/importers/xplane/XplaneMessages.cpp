// SPDX-License-Identifier: Apache-2.0
#include "model/importers/xplane/XplaneMessages.h"

namespace lanescope {

namespace {

/// Used for events if the plane lacks their kind.
const XplaneEventKind unknownKind{"(without a name)", {}, {}};

// More than any real file has. Entries of two bytes must not become as many of 100 bytes.
constexpr size_t maxLines = size_t{1} << 17;
constexpr size_t maxNames = size_t{1} << 20;
constexpr size_t maxStats = 64;

void keep(std::vector<std::string_view>& list, std::string_view message, size_t maxSize) {
    if (list.size() < maxSize) list.push_back(message);
}

struct Entry {
    uint64_t number = 0;
    std::string_view value;
};

Entry entryIn(std::string_view message) {
    Entry entry;
    ProtoCursor cursor(message);
    for (ProtoField field; cursor.next(field);) {
        if (field.number == 1 && field.isNumber()) entry.number = field.value;
        if (field.number == 2 && field.isBytes()) entry.value = field.bytes;
    }
    return entry;
}

}  // namespace

XplanePlane::XplanePlane(std::string_view message) {
    ProtoCursor cursor(message);
    for (ProtoField field; cursor.next(field);) {
        if (!field.isBytes()) continue;
        switch (field.number) {
            case 2: name_ = field.bytes; break;
            case 3: keep(lines_, field.bytes, maxLines); break;
            case 4: addEventKind(field.bytes); break;
            case 5: addStatName(field.bytes); break;
            case 6: keep(stats_, field.bytes, maxStats); break;
            default: break;
        }
    }
    see(cursor);
}

void XplanePlane::addEventKind(std::string_view entry) {
    const Entry found = entryIn(entry);
    if (eventKinds_.size() >= maxNames) return;
    XplaneEventKind& kind = eventKinds_[found.number] = {};
    ProtoCursor cursor(found.value);
    for (ProtoField field; cursor.next(field);) {
        if (!field.isBytes()) continue;
        if (field.number == 2) kind.name = field.bytes;
        if (field.number == 4) kind.displayName = field.bytes;
        if (field.number == 5) keep(kind.stats, field.bytes, maxStats);
    }
    see(cursor);
}

void XplanePlane::addStatName(std::string_view entry) {
    const Entry found = entryIn(entry);
    if (statNames_.size() >= maxNames) return;
    std::string_view& name = statNames_[found.number] = {};
    ProtoCursor cursor(found.value);
    for (ProtoField field; cursor.next(field);)
        if (field.number == 2 && field.isBytes()) name = field.bytes;
    see(cursor);
}

XplaneLine XplanePlane::line(std::string_view message) {
    XplaneLine line;
    line.message = message;
    ProtoCursor cursor(message);
    for (ProtoField field; cursor.next(field);) {
        if (field.number == 1 && field.isNumber()) line.id = field.signedValue();
        if (field.number == 2 && field.isBytes()) line.name = field.bytes;
        if (field.number == 3 && field.isNumber()) line.timeNs = field.signedValue();
        if (field.number == 11 && field.isBytes()) line.displayName = field.bytes;
    }
    see(cursor);
    return line;
}

XplaneEvent XplanePlane::event(std::string_view message) {
    XplaneEvent event;
    event.message = message;
    uint64_t kind = 0;
    ProtoCursor cursor(message);
    for (ProtoField field; cursor.next(field);) {
        if (!field.isNumber()) continue;
        if (field.number == 1) kind = field.value;
        if (field.number == 2) event.offsetPs = field.signedValue();
        if (field.number == 3) event.durationPs = field.signedValue();
        if (field.number == 5) event.isAggregated = true;
    }
    see(cursor);
    const auto found = eventKinds_.find(kind);
    event.kind = found != eventKinds_.end() ? &found->second : &unknownKind;
    return event;
}

XplaneStat XplanePlane::stat(std::string_view message) {
    XplaneStat stat;
    ProtoCursor cursor(message);
    const auto nameOf = [this](uint64_t number) {
        const auto found = statNames_.find(number);
        return found != statNames_.end() ? found->second : std::string_view();
    };
    for (ProtoField field; cursor.next(field);) {
        switch (field.number) {
            case 1: stat.name = nameOf(field.value); break;
            case 2: stat.real = field.real(); break;
            case 3:
            case 4: stat.number = field.signedValue(); break;
            case 5: stat.text = field.bytes; break;
            case 7: stat.text = nameOf(field.value); break;
            default: break;
        }
    }
    see(cursor);
    return stat;
}

}  // namespace lanescope
