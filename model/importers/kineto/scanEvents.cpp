// SPDX-License-Identifier: Apache-2.0
#include "model/importers/kineto/scanEvents.h"

#include <algorithm>
#include <array>

#include "model/importers/events/EventDecoder.h"
#include "model/importers/events/JsonCursor.h"

namespace lanescope {

namespace {

bool isSpace(char c) {
    return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

/// Whether one of the words comes next, in quotes.
template <size_t count>
bool isNextKey(JsonCursor cursor, const std::array<std::string_view, count>& words) {
    JsonValue key;
    return cursor.keyOfMember(key) == JsonLook::Whole &&
           std::find(words.begin(), words.end(), key.text) != words.end();
}

/// Whether an event begins at the brace. `begin` is where the text does, which is looked at
/// backwards: what stands behind a colon are the arguments of an event.
bool isEventStart(const char* begin, const char* brace, const char* end) {
    constexpr std::array<std::string_view, 12> keys{"ph",  "name", "cat", "ts", "pid", "tid",
                                                    "dur", "args", "id",  "s",  "bp",  "tts"};
    const char* before = brace;
    while (before != begin && isSpace(before[-1])) --before;
    if (before != begin && before[-1] == ':') return false;
    return isNextKey(JsonCursor(brace + 1, end), keys);
}

/// Whether an array of events may end at the bracket: what else stands in a trace follows, or the
/// end. Elsewhere it is damage.
enum class ArrayEnd : uint8_t { Yes, No, Unclear };
ArrayEnd arrayEndAt(const char* bracket, const char* end, bool isLast) {
    JsonCursor cursor(bracket + 1, end);
    cursor.skipSpace();
    if (cursor.isAtEnd()) return isLast ? ArrayEnd::Yes : ArrayEnd::Unclear;
    if (cursor.takes('}')) {
        cursor.skipSpace();
        if (!cursor.isAtEnd()) return ArrayEnd::No;
        return isLast ? ArrayEnd::Yes : ArrayEnd::Unclear;
    }
    if (!cursor.takes(',')) return ArrayEnd::No;
    JsonValue key;
    const JsonLook look = cursor.keyOfMember(key);
    if (look == JsonLook::Cut) return isLast ? ArrayEnd::Yes : ArrayEnd::Unclear;
    return look == JsonLook::Whole ? ArrayEnd::Yes : ArrayEnd::No;
}

/// Whether amid damage the array of events ends at the bracket: one of what torch.profiler writes
/// behind it follows.
bool isArrayEndAmidDamage(const char* bracket, const char* end) {
    constexpr std::array<std::string_view, 7> keys{
        "traceName",     "displayTimeUnit",  "baseTimeNanoseconds", "distributedInfo",
        "schemaVersion", "deviceProperties", "traceEvents"};
    JsonCursor cursor(bracket + 1, end);
    return cursor.takes(',') && isNextKey(cursor, keys);
}

/// How far before the end of a piece nothing can be told, since what it takes may stand behind it.
constexpr size_t lookahead = 256;

class EventScanner {
  public:
    EventScanner(std::string_view text, bool isLast, ScannedChunk& chunk)
        : begin_(text.data()),
          end_(text.data() + text.size()),
          isLast_(isLast),
          chunk_(chunk),
          taker_(chunk) {}

    ScanEnd scan() {
        JsonCursor cursor(begin_, end_);
        while (true) {
            while (cursor.takes(',')) {
            }
            if (cursor.isAtEnd()) return endAt(cursor.at());
            const char* const start = cursor.at();
            JsonLook look = JsonLook::Broken;
            if (*start == '{') {
                look = taker_.take(cursor);
            } else if (*start == ']') {
                const ArrayEnd end = arrayEndAt(start, end_, isLast_);
                if (end == ArrayEnd::Yes) return endAt(start + 1, true);
                if (end == ArrayEnd::Unclear) return endAt(start);
            }
            if (look == JsonLook::Whole) continue;
            if (look == JsonLook::Cut && !isLast_) return endAt(start);
            const char* const next = resumeFrom(start + 1);
            chunk_.damage.emplace_back(start - begin_, next - begin_);
            if (next == end_ || !isCertain(next)) return endAt(next);
            cursor.moveTo(next);
        }
    }

  private:
    ScanEnd endAt(const char* at, bool isArrayEnd = false) const {
        return {static_cast<size_t>(at - begin_), isArrayEnd};
    }
    /// Whether what stands there can be told from damage.
    bool isCertain(const char* at) const {
        return isLast_ || static_cast<size_t>(end_ - at) > lookahead;
    }
    /// Where events, or the end of their array, begin again.
    const char* resumeFrom(const char* at) const {
        for (; at != end_; ++at) {
            if (!isCertain(at)) return isLast_ ? end_ : at;
            if (*at == '{' && isEventStart(begin_, at, end_)) return at;
            if (*at == ']' && isArrayEndAmidDamage(at, end_)) return at;
        }
        return at;
    }

    const char* const begin_;
    const char* const end_;
    const bool isLast_;
    ScannedChunk& chunk_;
    EventTaker taker_;
};

}  // namespace

ScanEnd scanEvents(std::string_view text, bool isLast, ScannedChunk& chunk) {
    return EventScanner(text, isLast, chunk).scan();
}

size_t lastEventStart(std::string_view text) {
    constexpr size_t furthest = size_t{64} << 10;
    const char* const end = text.data() + text.size();
    const size_t from = text.size() > furthest ? text.size() - furthest : 0;
    for (size_t at = text.size(); at > from; --at)
        if (text[at - 1] == '{' && isEventStart(text.data(), text.data() + at - 1, end))
            return at - 1;
    return text.size();
}

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
