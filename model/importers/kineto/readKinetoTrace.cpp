// SPDX-License-Identifier: Apache-2.0
#include "model/importers/kineto/readKinetoTrace.h"

#include <algorithm>
#include <chrono>
#include <deque>
#include <future>
#include <memory>
#include <string>
#include <system_error>
#include <utility>

#include "model/importers/events/ImportedFile.h"
#include "model/importers/events/JsonCursor.h"
#include "model/importers/events/emitEvents.h"
#include "model/importers/kineto/scanEvents.h"

namespace lanescope {

namespace {

constexpr size_t pieceBytes = size_t{4} << 20;
/// Size of a read, and so the maximum loss before an unreadable place.
constexpr size_t readBytes = size_t{1} << 17;
/// A longer event or other member is treated as corrupt.
constexpr size_t maxItemBytes = size_t{32} << 20;
/// The text after the end of an array of events is read again. A trace has one array, corruption may create more. The
/// rest is skipped when this many bytes, and this many times the file, were read again.
constexpr uint64_t maxRereadBytes = uint64_t{1} << 30, maxRereadFactor = 8;

struct Piece {
    std::string text;
    uint64_t offset = 0;
    bool isLast = false;  ///< No text follows it.
    ImportedChunk chunk = {};
    ScanEnd end = {};

    void scan() {
        chunk = ImportedChunk();
        end = scanEvents(text, isLast, chunk);
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
        if (threads_ > 1) {
            try {
                return std::async(std::launch::async, [piece] {
                    piece->scan();
                    return piece;
                });
            } catch (const std::system_error&) {
                threads_ = 1;
            }
        }
        std::promise<std::shared_ptr<Piece>> done;
        piece->scan();
        done.set_value(piece);
        return done.get_future();
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

}  // namespace

Result<ImportedFile> readKinetoEvents(const ByteSource& source, ImportedEvents& events, unsigned threads,
                                      const std::function<bool()>& isWanted, uint64_t maxBytes) {
    return Reader(source, events, threads, isWanted, maxBytes).read();
}

namespace {

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

Result<void> readKinetoTrace(std::string_view bytes, TraceBuilder& builder) {
    size_t taken = 0;
    const ByteSource source = [&](std::span<char> into) -> Result<size_t> {
        const size_t count = std::min(into.size(), bytes.size() - taken);
        std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(taken), count, into.begin());
        taken += count;
        return count;
    };
    return readKinetoTrace(source, builder, 1, [] { return 0.0; }, {});
}

}  // namespace lanescope
