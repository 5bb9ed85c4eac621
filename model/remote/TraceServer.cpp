// SPDX-License-Identifier: Apache-2.0
#include "model/remote/TraceServer.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <thread>

#include "model/analysis/storedSummary.h"
#include "model/format/UniqueFd.h"
#include "model/format/version.h"
#include "model/index/indexedSummary.h"
#include "model/index/openTrace.h"
#include "model/live/LiveTrace.h"
#include "model/lod/reduceToPixels.h"
#include "model/query/TraceQuery.h"
#include "model/remote/PageTracker.h"
#include "model/remote/wire.h"
#include "model/reports/reports.h"
#include "model/roofline/ShapedCalls.h"

namespace lanescope {

namespace {

using Clock = std::chrono::steady_clock;
constexpr size_t maxWaiting = 64;
/// A viewer uses the newest state of a growing file, and the one before until it shows that.
constexpr size_t maxGenerations = 3;
constexpr std::chrono::milliseconds progressInterval{200};

/// A file as it was when it was opened.
struct Generation {
    std::filesystem::path path;
    std::shared_ptr<const IndexMemory> index;
    std::optional<SourceKey> source;  ///< The file before it was opened.
    TracePtr seen;                    ///< Of `index`, as the viewer opens it. Only its pages matter.
    TracePtr work;                    ///< The same in other memory, for everything else (`workOf`).
    std::vector<bool> isSent;         ///< By page.
};

/// Reads what a picture of a lane reads.
void readLane(const Trace& trace, const Lane& lane, TimeRange range, int widthPx) {
    const std::vector<PixelSlice> drawn = reduceToPixels(lane, range, widthPx);
    constexpr float maxRunGapPx = 3;
    for (size_t at = 0; at < drawn.size(); ++at) {
        const PixelSlice& slice = drawn[at];
        const bool isRange = slice.category == SliceCategory::Nvtx || slice.category == SliceCategory::Projection;
        if (slice.sliceCount == 1) {
            static_cast<void>(trace.strings.at(slice.name));
            if (isRange && trace.nvtx.hasColors) static_cast<void>(lane.event[slice.firstSlice]);
        }
        if (!isRange) continue;
        // The names at both ends of a run of short ranges label it.
        const bool begins = at == 0 || slice.left - drawn[at - 1].right > maxRunGapPx || drawn[at - 1].sliceCount == 1;
        const bool ends = at + 1 == drawn.size() || drawn[at + 1].left - slice.right > maxRunGapPx;
        if (begins) static_cast<void>(lane.name[slice.firstSlice]);
        if (ends) static_cast<void>(lane.name[slice.firstSlice + slice.sliceCount - 1]);
    }
}

/// Reads what the first picture of a trace reads, without its counters.
void readFirstPicture(const Trace& trace, int widthPx) {
    constexpr size_t maxLanes = 32;  // as many as a window shows
    constexpr size_t manyGpus = 4;   // a window shows only their groups
    const TimeRange range = trace.timelineRange();
    if (range.isEmpty()) return;
    std::vector<bool> isFolded;
    size_t lanes = 0;
    for (const Track& track : trace.tracks) {
        const bool isHidden = track.parent >= 0 && isFolded[static_cast<size_t>(track.parent)];
        isFolded.push_back(isHidden || track.isInitiallyFolded || trace.gpus.size() >= manyGpus);
        // The overview shows them all.
        const bool isInOverview = track.kind == TrackKind::Gpu || track.kind == TrackKind::Process;
        for (const Lane& lane : track.lanes)
            if (isInOverview || (!isHidden && lanes++ < maxLanes)) readLane(trace, lane, range, widthPx);
    }
}

/// Reads what the page of a trace reads of all tracks before its first picture.
void readTracks(const Trace& trace) {
    for (const Track& track : trace.tracks) {
        if (track.parent >= 0)
            for (const Lane& lane : trace.tracks[static_cast<size_t>(track.parent)].lanes)
                if (lane.size() > 0) static_cast<void>(lane.isSummary());
        if (track.kind == TrackKind::Stream)
            for (const Lane& lane : track.lanes) static_cast<void>(lane.busyBefore(lane.size()));
    }
    for (const CounterSeries& counter : trace.counters) static_cast<void>(counter.hasValue());
}

class TraceServer {
  public:
    TraceServer(const std::vector<std::filesystem::path>& files, int output) : files_(files), output_(output) {
        WireWriter hello;
        hello.bytes() = wireMagic;
        for (const uint32_t version : wireVersions) hello.number(version);
        send(hello.text(productVersion()).bytes());
        worker_ = std::thread([this] { work(); });
    }
    ~TraceServer() {
        {
            const std::lock_guard lock(mutex_);
            isStopping_ = true;
        }
        wake_.notify_all();
        worker_.join();
    }

    void run(int input) {
        FrameReader frames(maxRequestBytes);
        char part[1 << 16];
        while (!isStopping_) {
            const ssize_t got = ::read(input, part, sizeof part);
            if (got < 0 && errno == EINTR) continue;
            if (got <= 0) return;
            frames.add({part, static_cast<size_t>(got)});
            while (const auto frame = frames.next()) take(*frame);
            if (frames.isBroken()) return;
        }
    }

  private:
    struct Job {
        Message type{};
        uint32_t request = 0;
        std::string body;
    };

    void send(std::string_view bytes) {
        const std::lock_guard lock(outputMutex_);
        if (!writeAll(output_, bytes.data(), bytes.size())) isStopping_ = true;
    }
    void answer(uint32_t request, std::string_view body) {
        send(frameOf(Message::Answer, request, packedAnswer(body)));
    }
    void refuse(uint32_t request, const std::string& sentence) { send(frameOf(Message::Failure, request, sentence)); }

    void take(const Frame& frame) {
        switch (frame.type) {
            case Message::Pages: return sendPages(frame);
            case Message::View: return sendView(frame);
            case Message::Cancel: cancelled_ = WireReader(frame.body).number<uint32_t>(); return;
            case Message::Open:
            case Message::Summary:
            case Message::Report:
            case Message::Query:
            case Message::Tables: break;
            default: return refuse(frame.request, "Unknown message.");
        }
        const std::lock_guard lock(mutex_);
        if (jobs_.size() >= maxWaiting) return refuse(frame.request, "Too many requests wait.");
        jobs_.push_back({frame.type, frame.request, std::string(frame.body)});
        wake_.notify_all();
    }

    std::shared_ptr<Generation> generation(WireReader& reader) {
        const auto number = reader.number<uint32_t>();
        const std::lock_guard lock(mutex_);
        const auto found = generations_.find(number);
        return found == generations_.end() ? nullptr : found->second;
    }

    /// Sends pages that were not sent yet, in parts.
    void sendParts(Generation& of, uint32_t number, uint32_t request, std::vector<uint32_t> pages, size_t max) {
        std::erase_if(pages, [&](uint32_t page) { return page >= of.isSent.size() || of.isSent[page]; });
        if (pages.size() > max) pages.resize(max);
        for (size_t begin = 0; begin < pages.size(); begin += maxPartPages) {
            const size_t count = std::min<size_t>(maxPartPages, pages.size() - begin);
            const std::vector<uint32_t> part(pages.begin() + static_cast<std::ptrdiff_t>(begin),
                                             pages.begin() + static_cast<std::ptrdiff_t>(begin + count));
            std::string bytes(count * pageBytes, '\0');
            for (size_t at = 0; at < count; ++at) {
                const std::span<const std::byte> rest = of.index->bytes().subspan(size_t{part[at]} * pageBytes);
                std::memcpy(bytes.data() + at * pageBytes, rest.data(), std::min<size_t>(pageBytes, rest.size()));
                of.isSent[part[at]] = true;
            }
            const std::vector<PageRun> runs = runsOf(part);
            WireWriter writer;
            writer.number(number).number(static_cast<uint32_t>(runs.size()));
            for (const PageRun& run : runs) writer.number(run.first).number(run.count);
            constexpr int level = 1;
            writer.bytes() += deflated(bytes, level);
            send(frameOf(Message::Part, request, writer.bytes()));
        }
    }

    void sendPages(const Frame& frame) {
        WireReader reader(frame.body);
        const auto of = generation(reader);
        std::vector<uint32_t> pages;
        for (uint32_t left = reader.count(2 * sizeof(uint32_t)); left > 0 && reader.isGood(); --left) {
            const auto first = reader.number<uint32_t>(), count = reader.number<uint32_t>();
            if (count > maxRequestedPages - pages.size() || first > UINT32_MAX - count)
                return refuse(frame.request, "Too many pages.");
            for (uint32_t at = 0; at < count; ++at) pages.push_back(first + at);
        }
        if (!of || !reader.isAtEnd()) return refuse(frame.request, "Invalid pages.");
        const auto number = WireReader(frame.body).number<uint32_t>();
        const std::lock_guard lock(pagesMutex_);
        sendParts(*of, number, frame.request, std::move(pages), maxRequestedPages);
        answer(frame.request, {});
    }

    void sendView(const Frame& frame) {
        WireReader reader(frame.body);
        const auto of = generation(reader);
        const auto range = reader.range();
        const auto widthPx = reader.number<uint32_t>();
        std::vector<const Lane*> lanes;
        std::vector<const CounterSeries*> counters;
        const auto laneCount = reader.count(2 * sizeof(uint32_t));
        for (uint32_t left = of ? laneCount : 0; left > 0; --left) {
            const auto track = reader.number<uint32_t>(), lane = reader.number<uint32_t>();
            if (track < of->seen->tracks.size() && lane < of->seen->tracks[track].lanes.size())
                lanes.push_back(&of->seen->tracks[track].lanes[lane]);
        }
        for (uint32_t left = of ? reader.count(sizeof(uint32_t)) : 0; left > 0; --left)
            if (const auto counter = reader.number<uint32_t>(); counter < of->seen->counters.size())
                counters.push_back(&of->seen->counters[counter]);
        if (!of || !range || widthPx > maxViewWidthPx || lanes.size() > maxViewLanes ||
            counters.size() > maxViewLanes || !reader.isAtEnd())
            return refuse(frame.request, "Invalid view.");
        const std::lock_guard lock(pagesMutex_);
        const std::vector<uint32_t> pages = recorded(*of->index, [&] {
            if (widthPx == 0) return static_cast<void>(emptyTracks(*of->seen, *range));
            for (const Lane* lane : lanes) readLane(*of->seen, *lane, *range, static_cast<int>(widthPx));
            for (const CounterSeries* counter : counters)
                static_cast<void>(counter->extremesAt(*range, static_cast<int>(widthPx)));
        });
        const auto number = WireReader(frame.body).number<uint32_t>();
        sendParts(*of, number, frame.request, pages, maxViewPages);
        answer(frame.request, {});
    }

    /// Returns the pages of the messages that `work` reads.
    static std::vector<uint32_t> recorded(const IndexMemory& index, const std::function<void()>& work) {
        const auto perPage = static_cast<uint32_t>(::sysconf(_SC_PAGESIZE)) / pageBytes;
        std::vector<uint32_t> pages;
        for (const uint32_t page : pagesReadBy(index.bytes(), work))
            for (uint32_t part = 0; part < perPage; ++part) pages.push_back(page * perPage + part);
        return pages;
    }

    void work() {
        std::unique_lock lock(mutex_);
        for (;;) {
            wake_.wait(lock, [this] { return isStopping_ || !jobs_.empty(); });
            if (isStopping_) return;
            const Job job = std::move(jobs_.front());
            jobs_.pop_front();
            lock.unlock();
            try {
                perform(job);
            } catch (const std::exception&) {
                refuse(job.request, "Not enough memory on the server.");
            }
            lock.lock();
        }
    }

    LoadProgress progressOf(uint32_t request) {
        return [this, request, last = Clock::now()](double fraction, std::string_view what) mutable {
            if (Clock::now() - last > progressInterval) {
                last = Clock::now();
                send(frameOf(Message::Progress, request, WireWriter().number(fraction).text(what).bytes()));
            }
            return !isStopping_ && cancelled_ != request;
        };
    }

    void perform(const Job& job) {
        WireReader reader(job.body);
        if (job.type == Message::Open) return open(job, reader);
        const std::shared_ptr<Generation> of = generation(reader);
        if (!of) return refuse(job.request, "Unknown state of a file.");
        if (job.type == Message::Summary) return summarize(job, reader, *of);
        if (job.type == Message::Report) {
            const std::string name(reader.text());
            const auto range = reader.range();
            if (!reader.isAtEnd()) return refuse(job.request, "Invalid report.");
            const TracePtr work = workOf(*of);
            if (!work) return refuse(job.request, "The file has changed. Connect again.");
            const Result<ReportTable> table = makeReport(*work, name, range);
            return table ? answer(job.request, WireWriter().table(*table).bytes())
                         : refuse(job.request, table.error().sentence);
        }
        if (!query_ || queried_ != of->path) {
            auto opened = TimedQuery::open(of->path, progressOf(job.request));
            if (!opened) return refuse(job.request, opened.error().sentence);
            query_.emplace(std::move(*opened));
            queried_ = of->path;
        }
        job.type == Message::Query ? query(job, reader) : listTables(job);
        if (of->path.extension() == ".partial") query_.reset();  // Its writer must not wait.
    }

    /// Returns the trace to compute with, opened when it is first needed; null if the file has changed.
    static TracePtr workOf(Generation& of) {
        if (of.work) return of.work;
        const auto trace = openTrace(of.path, {0, false});
        const auto index = trace ? indexMemoryOf(**trace) : nullptr;
        const auto headerOf = [](const IndexMemory& memory) { return memory.bytes().first(sizeof(IndexHeader)); };
        if (index && std::ranges::equal(headerOf(*index), headerOf(*of.index))) of.work = *trace;
        return of.work;
    }

    /// The state of a file when it is opened.
    struct Opened {
        TracePtr trace;
        std::filesystem::path path;  ///< For SQL.
        bool isGrowing = false, isNew = true;
    };

    Result<Opened> openFile(uint32_t number, const LoadProgress& progress) {
        const std::filesystem::path& path = files_[number];
        const auto live = liveTraceAt(path);
        if (!live || stateOf(*live) == LiveState::Finished) {
            mirrors_.erase(number);
            OpenOptions always{.minBytes = 0};
            Result<TracePtr> trace = openTrace(live ? live->finished : path, always, progress);
            if (!trace) return fail(trace.error());
            return Opened{std::move(*trace), live ? live->finished : path};
        }
        const bool isRunning = stateOf(*live) == LiveState::Recording;
        const bool isFirst = !mirrors_.contains(number);
        if (isFirst) {
            auto mirror = TraceMirror::create(live->partial);
            if (!mirror) return fail(mirror.error());
            mirrors_.emplace(number, std::move(*mirror));
        }
        TraceMirror& mirror = mirrors_.at(number);
        const auto rows = mirror.refresh();
        if (!rows) return fail(rows.error());
        if (*rows == 0 && !isFirst && !isRunning)
            return fail("The recording ended without finishing its trace. On that machine, run 'lanescope recover {}'.",
                        logFolderOf(*live).string());
        if (*rows == 0 && !isFirst) return Opened{nullptr, live->partial, true, false};
        auto trace = loadOpenTrace(mirror.descriptor(), live->finished, progress);
        if (!trace) return fail(trace.error());
        return Opened{std::move(*trace), live->partial, true};
    }

    void open(const Job& job, WireReader& reader) {
        const auto number = reader.number<uint32_t>(), widthPx = reader.number<uint32_t>();
        if (!reader.isAtEnd() || number >= files_.size() || widthPx > maxViewWidthPx)
            return refuse(job.request, "Unknown file.");
        const LoadProgress progress = progressOf(job.request);
        const auto source = sourceKeyOf(files_[number]);
        const Result<Opened> opened = openFile(number, progress);
        if (!opened) return refuse(job.request, opened.error().sentence);
        WireWriter writer;
        writer.number<uint8_t>(opened->isGrowing).number<uint8_t>(opened->isNew);
        if (!opened->isNew) return answer(job.request, writer.bytes());
        const auto made = std::make_shared<Generation>();
        made->path = opened->path;
        made->source = source;
        made->index = indexMemoryOf(*opened->trace);
        if (!made->index) {
            auto index = unnamedIndexOf(*opened->trace);
            if (!index) return refuse(job.request, index.error().sentence);
            made->index = std::move(*index);
            made->work = opened->trace;
        }
        std::vector<uint32_t> pages;
        {
            const std::lock_guard lock(pagesMutex_);
            pages = recorded(*made->index, [&] {
                made->seen = traceInMemory(made->index, made->path);
                if (made->seen) readTracks(*made->seen);
            });
        }
        if (!made->seen) return refuse(job.request, "The index is corrupt.");
        const size_t bytes = made->index->bytes().size();
        made->isSent.resize((bytes + pageBytes - 1) / pageBytes);
        uint32_t id = 0;
        {
            const std::lock_guard lock(mutex_);
            id = ++lastGeneration_;
            generations_[id] = made;
            while (generations_.size() > maxGenerations) generations_.erase(generations_.begin());
        }
        // Not of `seen`, whose blocks must be checked first while their pages are recorded.
        writer.number(id).number(uint64_t{bytes}).number<uint8_t>(reportsShapes(*opened->trace));
        // Together, since the viewer reads these pages at once.
        const std::lock_guard lock(pagesMutex_);
        answer(job.request, writer.bytes());
        sendParts(*made, id, job.request, std::move(pages), SIZE_MAX);
        if (widthPx > 0)
            sendParts(*made, id, job.request,
                      recorded(*made->index, [&] { readFirstPicture(*made->seen, static_cast<int>(widthPx)); }),
                      maxViewPages);
        answer(job.request, {});
    }

    void summarize(const Job& job, WireReader& reader, Generation& of) {
        StepSelection selection{.rangeName = std::string(reader.text())};
        if (!reader.isAtEnd()) return refuse(job.request, "Invalid summary.");
        std::optional<analysis::RunSummary> stored;
        if (selection.isDefault()) stored = analysis::readRunSummary(of.path);
        if (selection.isDefault() && !stored) stored = readIndexedSummary(of.path);
        if (!stored) {
            const LoadProgress progress = progressOf(job.request);
            const TracePtr work = workOf(of);
            if (!work) return refuse(job.request, "The file has changed. Connect again.");
            auto run = analysis::summarizeRun(
                *work, selection, [&progress](double fraction) { return progress(fraction, "explaining"); });
            if (!run) return refuse(job.request, run.error().sentence);
            stored = std::move(*run);
            // Like `explain`; a failure costs the next reader some time.
            if (of.source && selection.isDefault() && work->backing)
                static_cast<void>(writeIndexedSummary(*stored, of.path, *of.source));
        }
        const Result<std::vector<std::byte>> packed = packedSummary(*stored, of.path);
        if (!packed) return refuse(job.request, packed.error().sentence);
        answer(job.request, {reinterpret_cast<const char*>(packed->data()), packed->size()});
    }

    void query(const Job& job, WireReader& reader) {
        const std::string sql(reader.text());
        QueryLimits limits;
        limits.time =
            std::clamp(std::chrono::milliseconds(reader.number<uint32_t>()), std::chrono::milliseconds(1), limits.time);
        limits.rows = std::clamp<int64_t>(reader.number<int64_t>(), 0, limits.rows);
        if (!reader.isAtEnd()) return refuse(job.request, "Invalid query.");
        const LoadProgress progress = progressOf(job.request);
        const auto result = query_->run(sql, limits, [&](std::chrono::milliseconds) { return progress(0, "query"); });
        WireWriter writer;
        writer.number<uint8_t>(result.has_value());
        if (result)
            writer.table(result->table).number<uint8_t>(result->isCut).number(int64_t{result->took.count()});
        else
            writer.text(result.error().sentence)
                .number(static_cast<uint64_t>(result.error().offset.value_or(SIZE_MAX)));
        answer(job.request, writer.bytes());
    }

    void listTables(const Job& job) {
        const auto tables = query_->tables();
        if (!tables) return refuse(job.request, tables.error().sentence);
        WireWriter writer;
        writer.number(static_cast<uint32_t>(tables->size()));
        for (const QueryTable& table : *tables) {
            writer.text(table.name).number(static_cast<uint32_t>(table.columns.size()));
            for (const QueryTable::Column& column : table.columns) writer.text(column.name).text(column.type);
        }
        answer(job.request, writer.bytes());
    }

    const std::vector<std::filesystem::path>& files_;
    const int output_;
    /// `pagesMutex_` is for sent pages and their recording; locked in this order.
    std::mutex pagesMutex_, mutex_, outputMutex_;
    std::condition_variable wake_;
    std::deque<Job> jobs_;
    std::map<uint32_t, std::shared_ptr<Generation>> generations_;
    uint32_t lastGeneration_ = 0;
    std::atomic<bool> isStopping_{false};
    std::atomic<uint32_t> cancelled_{0};
    // Used by the worker only.
    std::map<uint32_t, TraceMirror> mirrors_;
    std::optional<TimedQuery> query_;
    std::filesystem::path queried_;
    std::thread worker_;
};

}  // namespace

void serveTraces(const std::vector<std::filesystem::path>& files, int input, int output) {
    TraceServer(files, output).run(input);
}

}  // namespace lanescope
