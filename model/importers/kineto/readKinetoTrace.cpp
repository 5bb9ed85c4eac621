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

#include "model/importers/events/ForeignFile.h"
#include "model/importers/events/emitEvents.h"
#include "model/importers/kineto/scanEvents.h"

namespace lanescope {

namespace {

constexpr size_t pieceBytes = size_t{4} << 20;
/// Read at once: what a damaged file still gave is lost by no more than this.
constexpr size_t readBytes = size_t{1} << 17;
/// An event, or a member beside the events, that is longer is damage.
constexpr size_t longestItem = size_t{32} << 20;
/// What lies ahead of the end of an array of events is read again. A trace has one array, damage
/// may make some of it; where there are so many that this much is read again, and so many times
/// what was read, the rest is left.
constexpr uint64_t mostBytesAgain = uint64_t{1} << 30, mostTimesAgain = 8;

/// A piece of the file and what was found in it.
struct Piece {
    std::string text;
    uint64_t offset = 0;
    bool isLast = false;  ///< Nothing follows it.
    ScannedChunk chunk = {};
    ScanEnd end = {};

    void scan() {
        chunk = ScannedChunk();
        end = scanEvents(text, isLast, chunk);
    }
};
/// Pieces that are being scanned, in the order of the file.
using PiecesUnderWay = std::deque<std::future<std::shared_ptr<Piece>>>;

class Reader {
  public:
    Reader(const ByteSource& source, JsonEvents& events, unsigned threads,
           const std::function<bool()>& isWanted, uint64_t mostBytes)
        : source_(source),
          events_(events),
          threads_(threads),
          isWanted_(isWanted),
          mostBytes_(mostBytes) {}

    Result<JsonFile> read() {
        while (!isAtEnd_ || !rest_.empty()) {
            if (!isWanted_()) return fail("Reading was cancelled.");
            if (bytesAgain_ > mostBytesAgain + mostTimesAgain * file_.bytes)
                dropRest();
            else if (isInEvents_)
                readEvents();
            else if (!readBeside())
                break;
        }
        // A bare array may end with the last byte of all.
        if (!isInEvents_ && rest_.empty()) top_.read({}, true);
        if (file_.bytes == 0 && file_.readError) return fail(*file_.readError);
        file_.facts = top_.facts();
        file_.isClosed = top_.isClosed() && !file_.readError && !file_.isTooLong;
        file_.isBesideDamaged = top_.isDamaged();
        return std::move(file_);
    }

  private:
    /// Adds to `rest_` until it is as long as that or there is no more.
    void fill(size_t bytes) {
        while (!isAtEnd_ && rest_.size() < bytes) {
            const size_t before = rest_.size();
            rest_.resize(before + readBytes);
            const Result<size_t> count = source_(std::span(rest_).subspan(before));
            const size_t taken = count ? std::min(*count, readBytes) : 0;
            rest_.resize(before + taken);
            file_.bytes += taken;
            if (!count) file_.readError = count.error();
            file_.isTooLong = file_.bytes > mostBytes_;
            isAtEnd_ = taken == 0 || file_.isTooLong;
        }
    }

    /// What stands beside the events; false at the end.
    bool readBeside() {
        fill(rest_.size() + pieceBytes);
        const TopLevel::Progress progress = top_.read(rest_, isAtEnd_);
        offset_ += progress.taken;
        rest_.erase(0, progress.taken);
        if (progress.next == TopLevel::Next::End) return false;
        isInEvents_ = progress.next == TopLevel::Next::Events;
        if (!isInEvents_ && rest_.size() > longestItem) drop(rest_);
        return isInEvents_ || !isAtEnd_;
    }

    /// Passes over what is too long.
    void drop(std::string& text) {
        events_.takeDamage(offset_, offset_ + text.size());
        offset_ += text.size();
        text.clear();
    }

    /// Reads what is left to say how much that is.
    void dropRest() {
        drop(rest_);
        fill(pieceBytes);
    }

    /// The next piece of events: as much as ends where an event seems to begin.
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

    /// Scans it on another thread, if there is one to be had.
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

    /// All of an array of events, up to behind its end.
    void readEvents() {
        const size_t mostUnderWay = threads_ > 1 ? 2 * size_t{threads_} : 1;
        PiecesUnderWay underWay;
        std::string cut;  // what the piece before ended within
        bool isLastBegun = false;
        while (isWanted_()) {
            while (!isLastBegun && underWay.size() < mostUnderWay) {
                const std::shared_ptr<Piece> next = nextPiece();
                isLastBegun = next->isLast;
                underWay.push_back(begin(next));
            }
            const std::shared_ptr<Piece> piece = underWay.front().get();
            underWay.pop_front();
            if (cut.size() > longestItem) {
                events_.takeDamage(piece->offset - cut.size(), piece->offset);
            } else if (!cut.empty()) {
                // It did not begin where it seemed to.
                piece->offset -= cut.size();
                piece->text.insert(0, cut);
                piece->scan();
            }
            events_.take(piece->chunk, piece->offset);
            cut = piece->text.substr(piece->end.at);
            if (piece->end.isArrayEnd) return leaveEvents(cut, *piece, underWay);
            if (piece->isLast) return leaveEvents({}, *piece, underWay);
        }
    }

    /// Goes on with what stands behind an array of events, `left` of its last piece first.
    void leaveEvents(std::string left, const Piece& piece, PiecesUnderWay& underWay) {
        for (auto& each : underWay) left += each.get()->text;
        bytesAgain_ += left.size();
        rest_.insert(0, left);
        offset_ = piece.offset + piece.end.at;
        isInEvents_ = false;
    }

    const ByteSource& source_;
    JsonEvents& events_;
    unsigned threads_;
    const std::function<bool()>& isWanted_;
    const uint64_t mostBytes_;
    TopLevel top_;
    JsonFile file_;
    std::string rest_;     ///< Read and not yet looked at.
    uint64_t offset_ = 0;  ///< Of `rest_` in the file.
    uint64_t bytesAgain_ = 0;
    bool isAtEnd_ = false;  ///< Nothing follows `rest_`.
    bool isInEvents_ = false;
};

}  // namespace

Result<JsonFile> readJsonEvents(const ByteSource& source, JsonEvents& events, unsigned threads,
                                const std::function<bool()>& isWanted, uint64_t mostBytes) {
    return Reader(source, events, threads, isWanted, mostBytes).read();
}

namespace {

/// Share of the progress that scanning takes; the rest is making tables.
constexpr double scanningShare = 0.7;
constexpr std::chrono::milliseconds reportInterval{40};

/// Reports now and then, and knows whether the trace is still wanted.
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

void give(const JsonFile& file, JsonEvents& events, TraceBuilder& builder,
          const LoadProgress& progress) {
    JsonIdentities identities(events, builder);
    const int64_t zeroNs = events.isEmpty() ? 0 : events.range().startNs;
    JsonGiving giving{events, identities, builder, zeroNs,
                      rankOf(file.facts, builder.trace().path)};
    JsonFindings findings;
    const auto isWanted = [&](double share) {
        return !progress || progress(scanningShare + share * (1 - scanningShare), "events");
    };
    giveEvents(giving, findings, isWanted);
    describeJson(file, giving);
    noteJson(file, findings, giving);
}

}  // namespace

Result<void> readJsonTrace(const ByteSource& source, TraceBuilder& builder, unsigned threads,
                           const std::function<double()>& fractionRead,
                           const LoadProgress& progress, uint64_t mostBytes) {
    JsonEvents events(builder);
    Reporter reporter(fractionRead, progress);
    const Result<JsonFile> file = readJsonEvents(
        source, events, threads, [&reporter] { return reporter(); }, mostBytes);
    if (!file) return fail(file.error());
    give(*file, events, builder, progress);
    return {};
}

Result<void> readJsonTrace(std::string_view bytes, TraceBuilder& builder) {
    size_t taken = 0;
    const ByteSource source = [&](std::span<char> into) -> Result<size_t> {
        const size_t count = std::min(into.size(), bytes.size() - taken);
        std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(taken), count, into.begin());
        taken += count;
        return count;
    };
    return readJsonTrace(source, builder, 1, [] { return 0.0; }, {});
}

}  // namespace lanescope
