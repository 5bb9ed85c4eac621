// SPDX-License-Identifier: Apache-2.0
#include "model/importers/kineto/scanEvents.h"

#include <algorithm>
#include <array>

#include "model/format/text.h"
#include "model/importers/events/EventDecoder.h"
#include "model/importers/events/JsonCursor.h"

namespace lanescope {

namespace {

/// Returns true if one of the words comes next, in quotes.
template <size_t count>
bool isNextKey(JsonCursor cursor, const std::array<std::string_view, count>& words) {
    JsonValue key;
    return cursor.keyOfMember(key) == JsonStatus::Complete &&
           std::find(words.begin(), words.end(), key.text) != words.end();
}

constexpr std::array<std::string_view, 12> eventKeys{"ph",  "name", "cat", "ts", "pid", "tid",
                                                     "dur", "args", "id",  "s",  "bp",  "tts"};

/// Returns true if an event begins at the brace. `begin` limits the search backwards: an object
/// after a colon is the argument list of an event.
bool isEventStart(const char* begin, const char* brace, const char* end) {
    const char* before = brace;
    while (before != begin && isSpace(before[-1])) --before;
    if (before != begin && before[-1] == ':') return false;
    return isNextKey(JsonCursor(brace + 1, end), eventKeys);
}

/// The answer to whether an array of events may end at the bracket. Other members of a trace follow, another trace, or
/// the end. Otherwise the text is corrupt.
enum class ArrayEnd : uint8_t { Yes, No, Unclear };
ArrayEnd arrayEndAt(const char* bracket, const char* end, bool isLast) {
    JsonCursor cursor(bracket + 1, end);
    cursor.skipSpace();
    if (cursor.isAtEnd()) return isLast ? ArrayEnd::Yes : ArrayEnd::Unclear;
    if (cursor.takes('}')) {
        cursor.skipSpace();
        if (cursor.isAtEnd()) return isLast ? ArrayEnd::Yes : ArrayEnd::Unclear;
        // Another trace may follow.
        if (!cursor.takes('{') || isNextKey(cursor, eventKeys)) return ArrayEnd::No;
    } else if (!cursor.takes(',')) {
        return ArrayEnd::No;
    }
    JsonValue key;
    const JsonStatus status = cursor.keyOfMember(key);
    if (status == JsonStatus::Truncated) return isLast ? ArrayEnd::Yes : ArrayEnd::Unclear;
    return status == JsonStatus::Complete ? ArrayEnd::Yes : ArrayEnd::No;
}

/// Returns true if the array of events ends at the bracket of corrupt text: a member follows that
/// torch.profiler writes after it.
bool isArrayEndInCorruptText(const char* bracket, const char* end) {
    constexpr std::array<std::string_view, 7> keys{"traceName",       "displayTimeUnit", "baseTimeNanoseconds",
                                                   "distributedInfo", "schemaVersion",   "deviceProperties",
                                                   "traceEvents"};
    JsonCursor cursor(bracket + 1, end);
    return cursor.takes(',') && isNextKey(cursor, keys);
}

/// Distance from the end of a piece within which no decision is possible, since the deciding text may follow later.
constexpr size_t lookahead = 256;

class EventScanner {
  public:
    EventScanner(std::string_view text, bool isLast, ImportedChunk& chunk)
        : begin_(text.data()), end_(text.data() + text.size()), isLast_(isLast), chunk_(chunk), decoder_(chunk) {}

    ScanEnd scan() {
        JsonCursor cursor(begin_, end_);
        while (true) {
            while (cursor.takes(',')) {
            }
            if (cursor.isAtEnd()) return endAt(cursor.at());
            const char* const start = cursor.at();
            JsonStatus status = JsonStatus::Malformed;
            if (*start == '{') {
                status = decoder_.take(cursor);
            } else if (*start == ']') {
                const ArrayEnd end = arrayEndAt(start, end_, isLast_);
                if (end == ArrayEnd::Yes) return endAt(start + 1, true);
                if (end == ArrayEnd::Unclear) return endAt(start);
            }
            if (status == JsonStatus::Complete) continue;
            if (status == JsonStatus::Truncated && !isLast_) return endAt(start);
            const char* const next = resumeFrom(start + 1);
            chunk_.corruption.emplace_back(start - begin_, next - begin_);
            if (next == end_ || !isCertain(next)) return endAt(next);
            cursor.moveTo(next);
        }
    }

  private:
    ScanEnd endAt(const char* at, bool isArrayEnd = false) const {
        return {static_cast<size_t>(at - begin_), isArrayEnd};
    }
    /// Returns true if the text there suffices to distinguish it from corruption.
    bool isCertain(const char* at) const { return isLast_ || static_cast<size_t>(end_ - at) > lookahead; }
    /// Returns the position at which events, or the end of their array, begin again.
    const char* resumeFrom(const char* at) const {
        for (; at != end_; ++at) {
            if (!isCertain(at)) return isLast_ ? end_ : at;
            if (*at == '{' && isEventStart(begin_, at, end_)) return at;
            if (*at == ']' && isArrayEndInCorruptText(at, end_)) return at;
        }
        return at;
    }

    const char* const begin_;
    const char* const end_;
    const bool isLast_;
    ImportedChunk& chunk_;
    EventDecoder decoder_;
};

}  // namespace

ScanEnd scanEvents(std::string_view text, bool isLast, ImportedChunk& chunk) {
    return EventScanner(text, isLast, chunk).scan();
}

size_t lastEventStart(std::string_view text) {
    constexpr size_t maxEventBytes = size_t{64} << 10;
    const char* const end = text.data() + text.size();
    const size_t from = text.size() > maxEventBytes ? text.size() - maxEventBytes : 0;
    for (size_t at = text.size(); at > from; --at)
        if (text[at - 1] == '{' && isEventStart(text.data(), text.data() + at - 1, end)) return at - 1;
    return text.size();
}

namespace {

/// More than the facts of any real trace.
constexpr size_t maxFactBytes = size_t{4} << 20;
constexpr size_t maxFacts = 1000;

/// Returns the position where another member may begin after corruption: a quoted name and a colon,
/// after a comma or at the beginning of a line.
size_t nextMember(std::string_view text, size_t from) {
    for (size_t at = from; at < text.size(); ++at) {
        if (text[at] != '"') continue;
        size_t before = at;
        while (before > 0 && (text[before - 1] == ' ' || text[before - 1] == '\t')) --before;
        if (before > 0 && text[before - 1] != ',' && text[before - 1] != '\n') continue;
        JsonCursor cursor(text.substr(at));
        JsonValue key;
        if (cursor.keyOfMember(key) == JsonStatus::Complete && key.text.size() < 100) return at;
    }
    return text.size();
}

/// Returns true if an event begins there, judged by a key that only events begin with.
bool isEventAt(std::string_view text) {
    constexpr std::array<std::string_view, 7> keys{"ph", "cat", "ts", "pid", "tid", "dur", "args"};
    JsonCursor cursor(text);
    JsonValue key;
    return cursor.takes('{') && cursor.keyOfMember(key) == JsonStatus::Complete &&
           std::find(keys.begin(), keys.end(), key.text) != keys.end();
}

/// Returns the start of the events if it is before `end`, else `end`.
size_t nextEvent(std::string_view text, size_t from, size_t end) {
    // The search stops at the end, since the caller resumes from there.
    const std::string_view before = text.substr(0, end);
    for (size_t at = before.find('{', from); at < end; at = before.find('{', at + 1))
        if (isEventAt(text.substr(at))) return at;
    return end;
}

}  // namespace

namespace {

bool endsAsObject(std::string_view text) {
    while (!text.empty() && isSpace(text.back())) text.remove_suffix(1);
    return text.ends_with('}');
}

}  // namespace

void TopLevel::keep(std::string_view key, std::string_view value, bool isText) {
    const size_t bytes = key.size() + value.size();
    if (facts_.size() >= maxFacts || keptBytes_ + bytes > maxFactBytes) return;
    keptBytes_ += bytes;
    // The first one counts: a user's own key may be equal to one of the profiler.
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
        isCorrupt_ = !cursor.takes('{');
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
            // A truncated member at the end is corruption.
            if (cursor.isAtEnd() && !isLast) return {Next::More, taken(start)};
            if (cursor.isAtEnd()) {
                isClosed_ = true;
                return {Next::End, text.size()};
            }
            // Triton's Proton writes a trace for each stream, one after the other.
            if (!cursor.takes('{')) isCorrupt_ = true;
            continue;
        }
        JsonValue key, value;
        JsonStatus status = cursor.keyOfMember(key);
        if (status == JsonStatus::Complete) {
            // The name of the array may be corrupt, too.
            JsonCursor inside = cursor;
            const bool isArray = inside.takes('[');
            const std::string_view rest = text.substr(taken(inside.at()));
            if (isArray && (key.text == "traceEvents" || isEventAt(rest))) return {Next::Events, taken(inside.at())};
            if (inside.isAtEnd()) status = JsonStatus::Truncated;
        }
        if (status == JsonStatus::Complete) status = cursor.value(value);
        if (status == JsonStatus::Complete) {
            keep(key.text, value.text, value.isString());
            continue;
        }
        if (status == JsonStatus::Truncated && !isLast) return {Next::More, taken(start)};
        if (status == JsonStatus::Truncated && cursor.isAtEnd() && start == text.data() + text.size())
            return {Next::End, text.size()};
        isCorrupt_ = true;
        const size_t next = nextMember(text, taken(start) + 1);
        if (const size_t event = nextEvent(text, taken(start), next); event < next) return {Next::Events, event};
        if (next == text.size()) {
            if (isLast) {
                // The last member is corrupt, but the object ends.
                isClosed_ = endsAsObject(text);
                return {Next::End, next};
            }
            // A member may begin at the very end.
            constexpr size_t maxKeyBytes = 256;
            return {Next::More, std::max(taken(start) + 1, next - std::min(next, maxKeyBytes))};
        }
        cursor.moveTo(text.data() + next);
    }
}

}  // namespace lanescope
