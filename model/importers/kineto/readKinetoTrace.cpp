// SPDX-License-Identifier: Apache-2.0
#include "model/importers/kineto/readKinetoTrace.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <deque>
#include <future>
#include <memory>
#include <string>
#include <system_error>
#include <utility>

#include "model/format/text.h"
#include "model/importers/events/EventDecoder.h"
#include "model/importers/events/JsonCursor.h"
#include "model/importers/events/emitEvents.h"

namespace lanescope {

namespace {

/// The end position of the scan of a piece of an array of events.
struct ScanEnd {
    /// After the last complete event or after the end of the array.
    size_t at = 0;
    bool isArrayEnd = false;
};

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
           std::ranges::find(keys, key.text) != keys.end();
}

/// Returns the start of the events if it is before `end`, else `end`.
size_t nextEvent(std::string_view text, size_t from, size_t end) {
    // The search stops at the end, since the caller resumes from there.
    const std::string_view before = text.substr(0, end);
    for (size_t at = before.find('{', from); at < end; at = before.find('{', at + 1))
        if (isEventAt(text.substr(at))) return at;
    return end;
}

bool endsAsObject(std::string_view text) {
    while (!text.empty() && isSpace(text.back())) text.remove_suffix(1);
    return text.ends_with('}');
}

constexpr size_t pieceBytes = size_t{4} << 20;
/// Size of a read, and so the maximum loss before an unreadable place.
constexpr size_t readBytes = size_t{1} << 17;
/// A longer event or other member is treated as corrupt.
constexpr size_t maxItemBytes = size_t{32} << 20;
/// The text after the end of an array of events is read again. A trace has one array, corruption may create more. The
/// rest is skipped when this many bytes, and this many times the file, were read again.
constexpr uint64_t maxRereadBytes = uint64_t{1} << 30, maxRereadFactor = 8;

/// Reads the text around the arrays of events of a trace: members of an object, or nothing if the
/// trace is a bare array. Accepts the text in pieces.
class TopLevel {
  public:
    enum class Next {
        More,    ///< The text ends within a member.
        Events,  ///< An array of events begins.
        End      ///< The trace ends.
    };
    struct Progress {
        Next next = Next::More;
        size_t taken = 0;  ///< The rest is passed again with the following text.
    };

    /// Reads on. `isLast` means that no text follows. O(length).
    Progress read(std::string_view text, bool isLast) {
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
                if (isArray && (key.text == "traceEvents" || isEventAt(rest)))
                    return {Next::Events, taken(inside.at())};
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

    bool isClosed() const { return isClosed_; }
    bool isCorrupt() const { return isCorrupt_; }
    const TopLevelFacts& facts() const { return facts_; }

  private:
    void keep(std::string_view key, std::string_view value, bool isText) {
        const size_t bytes = key.size() + value.size();
        if (facts_.size() >= maxFacts || keptBytes_ + bytes > maxFactBytes) return;
        keptBytes_ += bytes;
        // The first one counts: a user's own key may be equal to one of the profiler.
        facts_.try_emplace(std::string(key), isText ? unescaped(value) : std::string(value));
    }

    bool isBegun_ = false;
    bool isBareArray_ = false;
    bool isClosed_ = false;
    bool isCorrupt_ = false;
    size_t keptBytes_ = 0;
    TopLevelFacts facts_;
};

/// Returns true if one of the words comes next, in quotes.
bool isNextKey(JsonCursor cursor, std::span<const std::string_view> words) {
    JsonValue key;
    return cursor.keyOfMember(key) == JsonStatus::Complete && std::ranges::find(words, key.text) != words.end();
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

/// Scans a piece of an array of events that begins between two events or within corrupt text. Corrupt text is skipped
/// up to the next event and recorded. An event that the piece truncates is not read. If `isLast`, the truncated event
/// is corrupt, too. The chunk contains views of `text`. O(length).
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

/// Returns the start of the last event that begins in the last 64 KiB of `text`, judged without the
/// text before. Returns its size if none does.
size_t lastEventStart(std::string_view text) {
    constexpr size_t maxEventBytes = size_t{64} << 10;
    const char* const end = text.data() + text.size();
    const size_t from = text.size() > maxEventBytes ? text.size() - maxEventBytes : 0;
    for (size_t at = text.size(); at > from; --at)
        if (text[at - 1] == '{' && isEventStart(text.data(), text.data() + at - 1, end)) return at - 1;
    return text.size();
}

struct Piece {
    std::string text;
    uint64_t offset = 0;
    bool isLast = false;  ///< No text follows it.
    ImportedChunk chunk = {};
    ScanEnd end = {};

    void scan() {
        chunk = ImportedChunk();
        end = EventScanner(text, isLast, chunk).scan();
    }
};
using PiecesUnderWay = std::deque<std::future<std::shared_ptr<Piece>>>;

class Reader {
  public:
    Reader(const ByteSource& source, ImportedEvents& events, unsigned threads, const std::function<bool()>& isWanted,
           uint64_t maxBytes)
        : source_(source), events_(events), threads_(threads), isWanted_(isWanted), maxBytes_(maxBytes) {}

    Result<ImportedFile> read() {
        while (!isAtEnd_ || !rest_.empty()) {
            if (!isWanted_()) return fail("Reading was cancelled.");
            if (bytesAgain_ > maxRereadBytes + maxRereadFactor * file_.bytes)
                dropRest();
            else if (isInEvents_)
                readEvents();
            else if (!readTopLevel())
                break;
        }
        // A bare array may end with the last byte.
        if (!isInEvents_ && rest_.empty()) top_.read({}, true);
        if (file_.bytes == 0 && file_.readError) return fail(*file_.readError);
        file_.facts = top_.facts();
        file_.isClosed = top_.isClosed() && !file_.readError && !file_.isTooLong;
        file_.isTopLevelCorrupt = top_.isCorrupt();
        return std::move(file_);
    }

  private:
    /// Extends `rest_` to that length, or to the end of the file.
    void fill(size_t bytes) {
        while (!isAtEnd_ && rest_.size() < bytes) {
            const size_t before = rest_.size();
            rest_.resize(before + readBytes);
            const Result<size_t> count = source_(std::span(rest_).subspan(before));
            const size_t taken = count ? std::min(*count, readBytes) : 0;
            rest_.resize(before + taken);
            file_.bytes += taken;
            if (!count) file_.readError = count.error();
            file_.isTooLong = file_.bytes > maxBytes_;
            isAtEnd_ = taken == 0 || file_.isTooLong;
        }
    }

    /// Reads the members other than events. Returns false at the end.
    bool readTopLevel() {
        fill(rest_.size() + pieceBytes);
        const TopLevel::Progress progress = top_.read(rest_, isAtEnd_);
        offset_ += progress.taken;
        rest_.erase(0, progress.taken);
        if (progress.next == TopLevel::Next::End) return false;
        isInEvents_ = progress.next == TopLevel::Next::Events;
        if (!isInEvents_ && rest_.size() > maxItemBytes) drop(rest_);
        return isInEvents_ || !isAtEnd_;
    }

    void drop(std::string& text) {
        events_.addCorruption(offset_, offset_ + text.size());
        offset_ += text.size();
        text.clear();
    }

    /// Reads the rest to count its bytes.
    void dropRest() {
        drop(rest_);
        fill(pieceBytes);
    }

    /// Returns the next piece of events, up to the last place where an event seems to begin.
    std::shared_ptr<Piece> nextPiece() {
        fill(pieceBytes);
        auto piece = std::make_shared<Piece>();
        piece->offset = offset_;
        piece->isLast = isAtEnd_;
        piece->text = std::move(rest_);
        rest_ = {};
        if (!isAtEnd_) {
            size_t end = lastEventStart(piece->text);
            if (end == 0) end = piece->text.size();
            rest_ = piece->text.substr(end);
            piece->text.resize(end);
        }
        offset_ += piece->text.size();
        return piece;
    }

    std::future<std::shared_ptr<Piece>> begin(const std::shared_ptr<Piece>& piece) {
        const auto scan = [piece] {
            piece->scan();
            return piece;
        };
        if (threads_ > 1) {
            try {
                return std::async(std::launch::async, scan);
            } catch (const std::system_error&) {
                threads_ = 1;
            }
        }
        return std::async(std::launch::deferred, scan);
    }

    void readEvents() {
        const size_t maxPending = threads_ > 1 ? 2 * size_t{threads_} : 1;
        PiecesUnderWay underWay;
        std::string truncated;  // the truncated event of the previous piece
        bool isLastBegun = false;
        while (isWanted_()) {
            while (!isLastBegun && underWay.size() < maxPending) {
                const std::shared_ptr<Piece> next = nextPiece();
                isLastBegun = next->isLast;
                underWay.push_back(begin(next));
            }
            const std::shared_ptr<Piece> piece = underWay.front().get();
            underWay.pop_front();
            if (truncated.size() > maxItemBytes) {
                events_.addCorruption(piece->offset - truncated.size(), piece->offset);
            } else if (!truncated.empty()) {
                // It did not begin at the expected place.
                piece->offset -= truncated.size();
                piece->text.insert(0, truncated);
                piece->scan();
            }
            events_.take(piece->chunk, piece->offset);
            truncated = piece->text.substr(piece->end.at);
            file_.areEventsComplete = piece->end.isArrayEnd;
            if (piece->end.isArrayEnd) return finishEvents(truncated, *piece, underWay);
            if (piece->isLast) return finishEvents({}, *piece, underWay);
        }
    }

    /// Continues after an array of events. `rest` is the rest of its last piece.
    void finishEvents(std::string rest, const Piece& piece, PiecesUnderWay& underWay) {
        for (auto& each : underWay) rest += each.get()->text;
        bytesAgain_ += rest.size();
        rest_.insert(0, rest);
        offset_ = piece.offset + piece.end.at;
        isInEvents_ = false;
    }

    const ByteSource& source_;
    ImportedEvents& events_;
    unsigned threads_;
    const std::function<bool()>& isWanted_;
    const uint64_t maxBytes_;
    TopLevel top_;
    ImportedFile file_;
    std::string rest_;     ///< Text that was read and not yet scanned.
    uint64_t offset_ = 0;  ///< Offset of `rest_` in the file.
    uint64_t bytesAgain_ = 0;
    bool isAtEnd_ = false;  ///< No text follows `rest_`.
    bool isInEvents_ = false;
};

/// Share of the progress for scanning. The rest is for building tables.
constexpr double scanningShare = 0.7;
constexpr std::chrono::milliseconds reportInterval{40};

/// Reports progress at intervals and remembers a cancellation.
class Reporter {
  public:
    Reporter(const std::function<double()>& fractionRead, const LoadProgress& progress)
        : fractionRead_(fractionRead), progress_(progress) {}

    bool operator()() {
        const auto now = std::chrono::steady_clock::now();
        if (!isWanted_ || !progress_ || now < next_) return isWanted_;
        next_ = now + reportInterval;
        isWanted_ = progress_(scanningShare * fractionRead_(), "events");
        return isWanted_;
    }

  private:
    const std::function<double()>& fractionRead_;
    const LoadProgress& progress_;
    bool isWanted_ = true;
    std::chrono::steady_clock::time_point next_;
};

void emitAll(const ImportedFile& file, ImportedEvents& events, TraceBuilder& builder, const LoadProgress& progress) {
    // Times count from a base. Work without a time lies at the zero of the clock.
    if (const auto base = file.facts.find("baseTimeNanoseconds"); base != file.facts.end())
        if (const std::optional<int64_t> baseNs = decimalOf(base->second, 0); baseNs && *baseNs > 0)
            events.dropTime(-*baseNs);
    ImportedIdentities identities(events, builder);
    const int64_t zeroNs = events.isEmpty() ? 0 : events.range().startNs;
    EmitContext output{events, identities, builder, zeroNs, rankOf(file.facts, builder.trace().path)};
    EmitFindings findings;
    const auto isWanted = [&](double share) {
        return !progress || progress(scanningShare + share * (1 - scanningShare), "events");
    };
    emitEvents(output, findings, isWanted);
    describeImportedFile(file, output);
    noteImportedFile(file, findings, output);
}

}  // namespace

Result<ImportedFile> readKinetoEvents(const ByteSource& source, ImportedEvents& events, unsigned threads,
                                      const std::function<bool()>& isWanted, uint64_t maxBytes) {
    return Reader(source, events, threads, isWanted, maxBytes).read();
}

Result<void> readKinetoTrace(const ByteSource& source, TraceBuilder& builder, unsigned threads,
                             const std::function<double()>& fractionRead, const LoadProgress& progress,
                             uint64_t maxBytes) {
    ImportedEvents events(builder);
    Reporter reporter(fractionRead, progress);
    const Result<ImportedFile> file = readKinetoEvents(
        source, events, threads, [&reporter] { return reporter(); }, maxBytes);
    if (!file) return fail(file.error());
    emitAll(*file, events, builder, progress);
    return {};
}

}  // namespace lanescope
