// SPDX-License-Identifier: Apache-2.0
#include "model/load/json/EventScanner.h"

#include <algorithm>
#include <array>

#include "model/load/json/EventTaker.h"

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

}  // namespace lanescope
