// SPDX-License-Identifier: Apache-2.0
#include "model/load/json/TopLevel.h"

#include <algorithm>
#include <array>

#include "model/load/json/JsonCursor.h"

namespace lanescope {

namespace {

/// More than any trace says about itself.
constexpr size_t mostFactBytes = size_t{4} << 20;
constexpr size_t mostFacts = 1000;

/// Where another member may begin behind damage: a name in quotes and a colon, behind a comma or at
/// the beginning of a line.
size_t nextMember(std::string_view text, size_t from) {
    for (size_t at = from; at < text.size(); ++at) {
        if (text[at] != '"') continue;
        size_t before = at;
        while (before > 0 && (text[before - 1] == ' ' || text[before - 1] == '\t')) --before;
        if (before > 0 && text[before - 1] != ',' && text[before - 1] != '\n') continue;
        JsonCursor cursor(text.substr(at));
        JsonValue key;
        if (cursor.keyOfMember(key) == JsonLook::Whole && key.text.size() < 100) return at;
    }
    return text.size();
}

/// Whether an event begins there, by a name that nothing else begins with.
bool isEventAt(std::string_view text) {
    constexpr std::array<std::string_view, 7> keys{"ph", "cat", "ts", "pid", "tid", "dur", "args"};
    JsonCursor cursor(text);
    JsonValue key;
    return cursor.takes('{') && cursor.keyOfMember(key) == JsonLook::Whole &&
           std::find(keys.begin(), keys.end(), key.text) != keys.end();
}

/// Where events begin, if that is before `end`; `end` if not.
size_t nextEvent(std::string_view text, size_t from, size_t end) {
    // Not looked for beyond the end: who calls goes on from there, and comes again.
    const std::string_view before = text.substr(0, end);
    for (size_t at = before.find('{', from); at < end; at = before.find('{', at + 1))
        if (isEventAt(text.substr(at))) return at;
    return end;
}

}  // namespace

void TopLevel::keep(std::string_view key, std::string_view value, bool isText) {
    const size_t bytes = key.size() + value.size();
    if (facts_.size() >= mostFacts || keptBytes_ + bytes > mostFactBytes) return;
    keptBytes_ += bytes;
    // The first counts: a user's own may be called like one of the profiler's.
    facts_.try_emplace(std::string(key), isText ? unescaped(value) : std::string(value));
}

TopLevel::Progress TopLevel::read(std::string_view text, bool isLast) {
    JsonCursor cursor(text);
    const auto taken = [&](const char* at) { return static_cast<size_t>(at - text.data()); };
    if (!isBegun_) {
        cursor.skipMark();
        if (cursor.takes('[')) {
            isBegun_ = isBareArray_ = true;
            return {Next::Events, taken(cursor.at())};
        }
        if (cursor.isAtEnd()) return {isLast ? Next::End : Next::More, 0};
        isBegun_ = true;
        isDamaged_ = !cursor.takes('{');
    } else if (isBareArray_) {
        isClosed_ = true;
        return {Next::End, text.size()};
    }
    while (true) {
        while (cursor.takes(',')) {
        }
        const char* const start = cursor.at();
        if (cursor.takes('}')) {
            cursor.skipSpace();
            // What ends in the middle is damage.
            if (cursor.isAtEnd() && !isLast) return {Next::More, taken(start)};
            if (cursor.isAtEnd()) {
                isClosed_ = true;
                return {Next::End, text.size()};
            }
            isDamaged_ = true;
            continue;
        }
        JsonValue key, value;
        JsonLook look = cursor.keyOfMember(key);
        if (look == JsonLook::Whole) {
            // What they are called may be damaged, too.
            JsonCursor inside = cursor;
            const bool isArray = inside.takes('[');
            const std::string_view rest = text.substr(taken(inside.at()));
            if (isArray && (key.text == "traceEvents" || isEventAt(rest)))
                return {Next::Events, taken(inside.at())};
            if (inside.isAtEnd()) look = JsonLook::Cut;
        }
        if (look == JsonLook::Whole) look = cursor.value(value);
        if (look == JsonLook::Whole) {
            keep(key.text, value.text, value.isString());
            continue;
        }
        if (look == JsonLook::Cut && !isLast) return {Next::More, taken(start)};
        if (look == JsonLook::Cut && cursor.isAtEnd() && start == text.data() + text.size())
            return {Next::End, text.size()};
        isDamaged_ = true;
        const size_t next = nextMember(text, taken(start) + 1);
        if (const size_t event = nextEvent(text, taken(start), next); event < next)
            return {Next::Events, event};
        if (next == text.size()) {
            if (isLast) return {Next::End, next};
            // What begins at the very end may be one.
            constexpr size_t mostKey = 256;
            return {Next::More, std::max(taken(start) + 1, next - std::min(next, mostKey))};
        }
        cursor.moveTo(text.data() + next);
    }
}

}  // namespace lanescope
