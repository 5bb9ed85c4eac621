// SPDX-License-Identifier: Apache-2.0
#include "model/pages/TimelineData.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <unordered_map>

#include "model/analysis/IdleGaps.h"
#include "model/analysis/StepSelection.h"
#include "model/explain/findingPlace.h"
#include "model/lod/SelectionStatistics.h"
#include "model/lod/reduceToPixels.h"
#include "model/lod/traceSums.h"
#include "model/pages/ExplanationReport.h"
#include "model/pages/htmlPage.h"
#include "model/reports/reports.h"
#include "model/text/formatValue.h"
#include "model/text/knownRangeName.h"
#include "model/trace/healthNotes.h"
#include "model/trace/kinds/Kernel.h"
#include "model/trace/kinds/eventFacts.h"
#include "model/trace/kinds/workStacks.h"

namespace lanescope::report {

using namespace analysis;
using Json = nlohmann::ordered_json;

namespace {

/// Slices of a trace that is shown in full.
constexpr uint64_t maxWholeSlices = 60'000;
/// Slices of steps chosen by default.
constexpr uint64_t maxDefaultSlices = 150'000;
/// Rectangles of the whole run, for all lanes together, and for one.
constexpr size_t maxRectangles = 100'000;
constexpr int minLanePixels = 128, maxLanePixels = 2048;
constexpr size_t maxCounterValues = 60'000;
constexpr size_t maxPlaces = 5, maxTableRows = 500, maxSteps = 4000, maxGapsElsewhere = 200;
constexpr size_t maxNameBytes = 4096;

/// Returns what `path` would be called without its folders, for each absolute path in a text.
std::string withoutFolders(std::string_view text) {
    const auto isOfPath = [](char each) {
        return each == '/' || std::isalnum(static_cast<unsigned char>(each)) != 0 || each == '.' || each == '_' ||
               each == '-' || each == '~' || each == '+' || (each & 0x80) != 0;
    };
    std::string result;
    for (size_t at = 0; at < text.size();) {
        const bool begins = (text[at] == '/' || text[at] == '~') && (at == 0 || !isOfPath(text[at - 1]));
        size_t end = at;
        while (begins && end < text.size() && isOfPath(text[end])) ++end;
        if (end > at)
            at = std::min(text.rfind('/', end - 1), end - 1) + 1;  // A path that ends with its folder becomes empty.
        if (end > at || !begins) result += text[at++];
    }
    return result;
}

}  // namespace

NameFilter::NameFilter(const Trace& trace) : isOn_(true) {
    const auto add = [this](std::string_view name, std::string_view substitute) {
        if (name.size() > 1) replaced_.emplace_back(name, substitute);
    };
    const auto addHome = [&](std::string_view home) {
        const size_t slash = home.find_last_of('/');
        if (slash != std::string_view::npos) add(home.substr(slash + 1), "user");
    };
    add(trace.facts.host, "host");
    for (const HostName& host : trace.facts.hosts) add(host.name, "host");
    for (const SamplerFacts& sampler : trace.facts.samplers) add(sampler.host, "host");
    for (const Process& process : trace.processes) add(process.facts->host, "host");
    addHome(trace.facts.homeDirectory);
    std::ranges::stable_sort(replaced_, std::greater(), [](const auto& each) { return each.first.size(); });
}

std::string NameFilter::operator()(std::string_view text) const {
    std::string result = printable(text.substr(0, maxNameBytes));
    if (!isOn_) return result;
    result = withoutFolders(result);
    for (const auto& [name, substitute] : replaced_)
        for (size_t at = result.find(name); at != std::string::npos; at = result.find(name, at + substitute.size()))
            result.replace(at, name.size(), substitute);
    return result;
}

namespace {

/// Part of a run with every slice.
struct FullPart {
    TimeRange range;
    std::string what;
};

uint64_t sliceCount(const Trace& trace, TimeRange range) {
    uint64_t count = 0;
    for (const Track& track : trace.tracks)
        for (const Lane& lane : track.lanes) {
            const SliceRun run = slicesIn(lane, range);
            count += run.end - run.first;
        }
    return count;
}

Result<TimeRange> timeOfSteps(const Trace& trace, StepRange numbers) {
    const Result<RunSteps> steps = findSteps(trace, StepSelection{{}, numbers, {}, false});
    if (!steps) return fail(steps.error());
    std::optional<TimeRange> all;
    for (const WorkerSteps& worker : steps->workers)
        for (const StepSpan& step : worker.steps) {
            TimeRange range = step.range;
            if (!step.launches.isEmpty()) range = range.united(step.launches);
            all = all ? all->united(range) : range;
        }
    if (!all) return fail("{} has no steps {}-{}.", trace.title, numbers.first, numbers.last);
    return *all;
}

/// Returns the index of the first of three steps: those around `middle`, or those of the most usual duration.
size_t firstOfThree(const std::vector<StepSummary>& steps, std::optional<uint32_t> middle) {
    const size_t last = steps.size() < 3 ? 0 : steps.size() - 3;
    if (middle) return std::min<size_t>(*middle == 0 ? 0 : *middle - 1, last);
    std::vector<int64_t> walls;
    for (const StepSummary& step : steps) walls.push_back(step.wallNs);
    std::ranges::nth_element(walls, walls.begin() + static_cast<ptrdiff_t>(walls.size() / 2));
    const int64_t medianNs = walls[walls.size() / 2];
    size_t best = 0;
    int64_t bestNs = INT64_MAX;
    for (size_t first = 0; first <= last; ++first) {
        int64_t ns = 0;
        for (size_t step = first; step < std::min(first + 3, steps.size()); ++step)
            ns += std::abs(steps[step].wallNs - medianNs);
        if (ns < bestNs) best = first;
        bestNs = std::min(ns, bestNs);
    }
    return best;
}

std::optional<StepRange> threeSteps(const RunSummary& run, uint32_t worker, std::optional<uint32_t> middle) {
    if (worker >= run.workers.size() || run.source == StepSource::WholeRun) return std::nullopt;
    const auto& steps = run.workers[worker].steps;
    if (steps.empty()) return std::nullopt;
    const size_t first = firstOfThree(steps, middle);
    return StepRange{steps[first].number, steps[std::min(first + 2, steps.size() - 1)].number};
}

std::string stepsText(StepRange numbers) {
    return numbers.first == numbers.last ? fmt::format("step {}", numbers.first)
                                         : fmt::format("steps {} to {}", numbers.first, numbers.last);
}

/// Returns the longest part around the middle of a range that has few enough slices.
TimeRange partOf(const Trace& trace, TimeRange range) {
    while (range.durationNs() > 1000 && sliceCount(trace, range) > maxDefaultSlices) {
        const int64_t quarterNs = range.durationNs() / 4;
        range = {range.startNs + quarterNs, range.endNs - quarterNs};
    }
    return range;
}

FullPart defaultPart(const Trace& trace, const RunSummary& run, const explain::Explanation& explanation,
                     const std::optional<explain::FindingPlace>& place) {
    const TimeRange whole = trace.timelineRange();
    if (sliceCount(trace, whole) <= maxWholeSlices) return {whole, "the whole run"};
    const bool isFound = place && place->stepIndex;
    const std::optional<StepRange> numbers =
        isFound ? threeSteps(run, explanation.findings.front().worker, place->stepIndex) : usualSteps(run);
    if (const Result<TimeRange> time = timeOfSteps(trace, numbers.value_or(StepRange{})); numbers && time) {
        const TimeRange range = partOf(trace, *time);
        return {range, fmt::format("{}{}, {}", range == *time ? "" : "a part of ", stepsText(*numbers),
                                   isFound ? "around the largest finding" : "the most usual ones")};
    }
    if (place) return {partOf(trace, place->view), "around the largest finding"};
    return {partOf(trace, whole), "the middle of the run"};
}

Result<FullPart> fullPartOf(const Trace& trace, const RunSummary& run, const explain::Explanation& explanation,
                            const std::optional<explain::FindingPlace>& place, const TimelineRequest& request) {
    if (request.time) {
        const TimeRange range = request.time->intersected(trace.timelineRange());
        if (range.isEmpty()) return fail("The chosen time is outside of {}.", trace.title);
        return FullPart{range, "the chosen time"};
    }
    if (request.steps) {
        const Result<TimeRange> range = timeOfSteps(trace, *request.steps);
        if (!range) return fail(range.error());
        return FullPart{*range, stepsText(*request.steps) + ", as chosen"};
    }
    return defaultPart(trace, run, explanation, place);
}

/// Columns of variable-length numbers: seven bits per byte, lowest first.
class NumberColumn {
  public:
    void add(uint64_t value) {
        for (; value >= 0x80; value >>= 7) bytes_ += static_cast<char>(value | 0x80);
        bytes_ += static_cast<char>(value);
    }
    void addSigned(int64_t value) { add(static_cast<uint64_t>(value) << 1 ^ static_cast<uint64_t>(value >> 63)); }
    void addReal(double value) {
        for (int shift = 0; shift < 64; shift += 8)
            bytes_ += static_cast<char>(std::bit_cast<uint64_t>(value) >> shift);
    }
    void addByte(uint8_t value) { bytes_ += static_cast<char>(value); }
    const std::string& bytes() const { return bytes_; }

  private:
    std::string bytes_;
};

/// Texts that are listed once.
class Dictionary {
  public:
    /// Returns the number of an entry, which `make` makes if it is new.
    template <class Make>
    uint64_t numberOf(const std::string& key, const Make& make) {
        const auto [found, isNew] = numbers_.try_emplace(key, list_.size());
        if (isNew) list_.push_back(make());
        return found->second;
    }
    Json take() { return std::move(list_); }

  private:
    std::unordered_map<std::string, uint64_t> numbers_;
    Json list_ = Json::array();
};

// The layout of an item; `timeline.js` reads the same.
constexpr uint8_t isRunFlag = 64, hasEventFlag = 128;
/// Categories after those of slices are parts of a step: reasons of idle time.
constexpr uint8_t firstPart = sliceCategoryCount;
static_assert(sliceCategoryCount + stepPartCount <= isRunFlag);

class TimelineWriter {
  public:
    TimelineWriter(const Trace& trace, const FullPart& full, const NameFilter& filter)
        : trace_(trace), whole_(trace.timelineRange().united(full.range)), full_(full.range), filter_(filter) {
        texts_.numberOf({}, [] { return Json(""); });
        details_.numberOf({}, [] { return Json::array({0, -1, ""}); });
    }

    void addTracks(const IdleGaps* gaps) {
        size_t laneCount = 0, counterCount = 0;
        for (const Track& track : trace_.tracks) {
            counterCount += track.kind == TrackKind::Counter ? 1 : 0;
            for (const Lane& lane : track.lanes) laneCount += lane.size() > 0 ? 1 : 0;
        }
        pixels_ =
            std::clamp(static_cast<int>(maxRectangles / std::max<size_t>(1, laneCount)), minLanePixels, maxLanePixels);
        counterValues_ =
            static_cast<int>(std::clamp<size_t>(maxCounterValues / std::max<size_t>(1, counterCount), 64, 1024));
        const std::vector<bool> isEmpty = emptyTracks(trace_, whole_);
        std::vector<int64_t> places(trace_.tracks.size(), -1);
        for (uint32_t index = 0; index < trace_.tracks.size(); ++index) {
            const Track& track = trace_.tracks[index];
            if (isEmpty[index]) continue;
            places[index] = static_cast<int64_t>(tracks_.size());
            addTrack(track, track.parent < 0 ? -1 : places[static_cast<size_t>(track.parent)], gaps);
        }
    }

    /// Returns the packed data: the description as JSON, then the columns.
    std::string packed(Json description) {
        for (size_t part = 0; part < stepPartCount; ++part)
            description["parts"].push_back(name(static_cast<StepPart>(part)));
        description["kinds"] = Json::array();
        for (size_t kind = 0; kind < EventRef::kindLimit; ++kind)
            description["kinds"].push_back(nameOfKind(static_cast<EventKind>(kind)));
        description["start"] = whole_.startNs;
        description["end"] = whole_.endNs;
        description["full"] = {full_.startNs, full_.endNs};
        description["colors"] = trace_.nvtx.hasColors;
        description["tracks"] = std::move(tracks_);
        description["texts"] = texts_.take();
        description["details"] = details_.take();
        NumberColumn sizes;
        const std::string json = description.dump(-1, ' ', false, Json::error_handler_t::replace);
        sizes.add(json.size());
        for (const NumberColumn& column : columns_) sizes.add(column.bytes().size());
        std::string all = sizes.bytes() + json;
        for (const NumberColumn& column : columns_) all += column.bytes();
        return all;
    }

  private:
    enum ColumnNumber : size_t {
        Start,
        Duration,
        Name,
        Flags,
        Count,
        Busy,
        Kind,
        Row,
        Detail,
        Cause,
        Color,
        Counter,
        Parts,
        columnCount
    };

    uint64_t text(std::string_view whole) {
        const std::string name = filter_(whole);
        return texts_.numberOf(name, [&] {
            const std::string known = knownRangeName(name);
            return known.empty() ? Json(name) : Json{known, name};
        });
    }

    void addTrack(const Track& track, int64_t parent, const IdleGaps* gaps) {
        Json json{{"title", filter_(track.title)}, {"kind", static_cast<int>(track.kind)}};
        if (!track.subtitle.empty()) json["more"] = filter_(track.subtitle);
        if (parent >= 0) json["parent"] = parent;
        if (track.isInitiallyFolded) json["folded"] = true;
        addRanges(json, "unrecorded", *track.unrecorded);
        addRanges(json, "lossy", *track.lossy);
        std::vector<size_t> sizes;
        if (track.kind == TrackKind::Counter && track.subject < trace_.counters.size())
            json["counter"] = counter(trace_.counters[track.subject]);
        else if (track.kind != TrackKind::CounterGroup)
            for (const Lane& lane : track.lanes) sizes.push_back(addLane(lane));
        json["lanes"] = sizes;
        const auto place = static_cast<int64_t>(tracks_.size());
        if (track.kind == TrackKind::Gpu && gaps != nullptr) json["parts"] = parts(*gaps, track.subject);
        tracks_.push_back(std::move(json));
        if (track.kind == TrackKind::Gpu && gaps != nullptr) addGaps(*gaps, track.subject, place);
    }

    static void addRanges(Json& json, const char* name, const std::vector<TimeRange>& ranges) {
        if (ranges.empty()) return;
        for (const TimeRange& range : ranges) json[name].push_back({range.startNs, range.endNs});
    }

    /// Slice, or a run of slices, of the lane being written.
    struct Item {
        TimeRange range;
        StringIndex name = 0;
        uint8_t flags = 0;
        uint32_t count = 1;
        int64_t busyNs = 0;
    };

    void beginLane() {
        lastEndNs_ = 0;
        lastRows_ = {};
        lastCause_ = 0;
        size_ = 0;
    }
    void put(const Item& item, uint64_t name) {
        columns_[Start].addSigned(item.range.startNs - lastEndNs_);
        columns_[Duration].add(static_cast<uint64_t>(item.range.durationNs()));
        columns_[Name].add(name);
        columns_[Flags].addByte(item.flags);
        lastEndNs_ = item.range.endNs;
        ++size_;
        if ((item.flags & isRunFlag) == 0) return;
        columns_[Count].add(item.count);
        columns_[Busy].add(static_cast<uint64_t>(item.busyNs));
    }
    uint64_t nameOf(StringIndex name) {
        const auto [found, isNew] = names_.try_emplace(name, 0);
        if (isNew) found->second = text(trace_.strings.at(name));
        return found->second;
    }

    size_t addLane(const Lane& lane) {
        beginLane();
        if (lane.size() == 0) return 0;
        const SliceRun inFull = slicesIn(lane, full_);
        const bool hasFull = !inFull.isEmpty();
        addPicture(lane,
                   {whole_.startNs, hasFull ? std::min(full_.startNs, lane.startNs[inFull.first]) : full_.startNs}, 0,
                   inFull.first);
        for (uint32_t slice = inFull.first; slice < inFull.end; ++slice) addSlice(lane, slice);
        addPicture(lane, {hasFull ? std::max(full_.endNs, lane.endNs(inFull.end - 1)) : full_.endNs, whole_.endNs},
                   inFull.end, lane.size());
        return size_;
    }

    /// Adds the picture of the slices `[first, end)` of a lane, which are the ones that start in a range.
    void addPicture(const Lane& lane, TimeRange range, uint32_t first, uint32_t end) {
        if (range.isEmpty() || first >= end) return;
        const double share = static_cast<double>(range.durationNs()) / static_cast<double>(whole_.durationNs());
        const PixelGrid grid(range, std::max(1, static_cast<int>(std::ceil(pixels_ * share))));
        uint32_t next = first;
        for (const PixelSlice& each : reduceToPixels(lane, grid)) {
            const uint32_t from = std::max(each.firstSlice, next);
            const uint32_t until = std::min(each.firstSlice + each.sliceCount, end);
            if (each.firstSlice >= end) break;
            const auto category = static_cast<uint8_t>(each.category);
            if (until - from == 1 && from < until) {
                put({{lane.startNs[from], lane.endNs(from)}, 0, category}, nameOf(each.name));
            } else if (from < until) {
                const int64_t startNs = lane.startNs[from];
                const int64_t endNs =
                    std::max(startNs, std::min(grid.edge(static_cast<int>(each.right)), lane.endNs(until - 1)));
                put({{startNs, endNs},
                     0,
                     static_cast<uint8_t>(category | isRunFlag),
                     until - from,
                     lane.busyBefore(until) - lane.busyBefore(from)},
                    nameOf(each.name));
            } else if (lane.endNs(each.firstSlice) > lastEndNs_) {
                // The rest of the last slice of a run.
                put({{lastEndNs_, lane.endNs(each.firstSlice)}, 0, static_cast<uint8_t>(category | isRunFlag), 0, 0},
                    nameOf(each.name));
            }
            next = std::max(next, until);
        }
    }

    void addSlice(const Lane& lane, uint32_t slice) {
        const EventRef event = lane.event[slice];
        const auto category = static_cast<uint8_t>(lane.category[slice]);
        const int64_t startNs = lane.startNs[slice];
        const TimeRange range{startNs, startNs + std::max<int64_t>(0, lane.durationNs[slice])};
        put({range, 0, static_cast<uint8_t>(category | (event.isValid() ? hasEventFlag : 0))},
            nameOf(lane.name[slice]));
        if (!event.isValid()) return;
        const auto kind = static_cast<size_t>(event.kind());
        columns_[Kind].addByte(static_cast<uint8_t>(kind));
        columns_[Row].addSigned(int64_t{event.row()} - lastRows_[kind]);
        lastRows_[kind] = event.row();
        columns_[Detail].add(detailOf(event));
        if (isGpuWork(event.kind())) {
            const EventRef call = trace_.launchingCall(event);
            const int64_t cause = call.isValid() ? int64_t{call.row()} + 1 : 0;
            columns_[Cause].addSigned(cause - lastCause_);
            lastCause_ = cause;
        }
        if (trace_.nvtx.hasColors)
            columns_[Color].add(event.kind() == EventKind::Nvtx ? trace_.nvtx.colorArgb[event.row()] : 0);
    }

    /// An entry has the number of the full name, the bytes or -1, and lines of text.
    uint64_t detailOf(EventRef event) {
        const uint32_t row = event.row();
        switch (event.kind()) {
            case EventKind::Kernel: {
                const uint32_t config = trace_.kernels.config[row];
                return details_.numberOf(fmt::format("k{}", config), [&] {
                    const LaunchConfig& each = trace_.launchConfigs[config];
                    return Json::array({text(trace_.strings.at(each.demangledName)), -1,
                                        fmt::format("Grid {} x {} x {}, block {} x {} x {}\n{} registers per thread",
                                                    each.grid[0], each.grid[1], each.grid[2], each.block[0],
                                                    each.block[1], each.block[2], each.registersPerThread)});
                });
            }
            case EventKind::Memcpy: {
                const MemcpyTable& copies = trace_.memcpys;
                const SumKey key =
                    SumKey::ofMemcpy(copies.kind[row], copies.sourceMemory[row], copies.destinationMemory[row]);
                return details_.numberOf(fmt::format("c{} {}", key.bits(), copies.bytes[row]), [&] {
                    return Json::array({text(lanescope::nameOf(trace_, key)), copies.bytes[row], ""});
                });
            }
            case EventKind::Memset:
                return details_.numberOf(fmt::format("s{}", trace_.memsets.bytes[row]), [&] {
                    return Json::array({0, trace_.memsets.bytes[row], ""});
                });
            case EventKind::Api:
            case EventKind::Nvtx:
            case EventKind::CpuState: {
                const std::string line = pythonLine(trace_, event);
                if (line.empty()) return 0;
                return details_.numberOf("l" + line, [&] { return Json::array({0, -1, filter_(line)}); });
            }
            default: return 0;
        }
    }

    /// Adds the gaps of a GPU as a track below it: all in the full part, and the longest elsewhere.
    void addGaps(const IdleGaps& gaps, uint32_t gpu, int64_t parent) {
        std::map<int64_t, std::pair<TimeRange, size_t>> chosen;
        for (size_t worker = 0; worker < gaps.workerCount(); ++worker) {
            if (gaps.gpuOf(worker) != gpu) continue;
            std::vector<TimeRange> elsewhere;
            for (const IdleGap& gap : gaps.gapsOf(worker)) {
                if (gap.range.overlaps(full_))
                    chosen.try_emplace(gap.range.startNs, gap.range, worker);
                else
                    elsewhere.push_back(gap.range);
            }
            const size_t kept = std::min(maxGapsElsewhere, elsewhere.size());
            std::ranges::partial_sort(elsewhere, elsewhere.begin() + static_cast<ptrdiff_t>(kept), std::greater(),
                                      &TimeRange::durationNs);
            for (size_t index = 0; index < kept; ++index)
                chosen.try_emplace(elsewhere[index].startNs, elsewhere[index], worker);
        }
        beginLane();
        for (const auto& [startNs, gap] : chosen) {
            const auto& [range, worker] = gap;
            if (startNs < lastEndNs_) continue;  // Of another process at the same time.
            const std::vector<GapCause> causes = gaps.whyIdle(worker, range);
            if (causes.empty()) continue;
            std::string lines;
            for (size_t index = 0; index < std::min<size_t>(causes.size(), 4); ++index)
                lines +=
                    fmt::format("{}{}: {}{}", index > 0 ? "\n" : "", formatDuration(causes[index].ns),
                                causes[index].name.text(), causes[index].path.empty() ? "" : ", " + causes[index].path);
            put({range, 0, static_cast<uint8_t>((firstPart + static_cast<uint8_t>(causes[0].part)) | hasEventFlag)},
                text(causes[0].name.text()));
            columns_[Kind].addByte(0);
            columns_[Row].addSigned(0);
            columns_[Detail].add(details_.numberOf("g" + lines, [&] { return Json::array({0, -1, filter_(lines)}); }));
            if (trace_.nvtx.hasColors) columns_[Color].add(0);
        }
        if (size_ == 0) return;
        tracks_.push_back(
            {{"title", "Idle"}, {"more", "reason of each gap"}, {"kind", -1}, {"parent", parent}, {"lanes", {size_}}});
    }

    /// Adds the shares of the parts of a step in columns of the whole run, and each piece of the full part.
    Json parts(const IdleGaps& gaps, uint32_t gpu) {
        for (size_t worker = 0; worker < gaps.workerCount(); ++worker) {
            if (gaps.gpuOf(worker) != gpu) continue;
            const PartTimeline& timeline = gaps.partsOf(worker);
            const TimeRange range = timeline.range();
            if (range.isEmpty()) continue;
            std::vector<StepParts> sums;
            const auto count = static_cast<size_t>(std::max(256, pixels_ / 2));
            timeline.columns(range, count, sums);
            for (const StepParts& column : sums)
                for (const int64_t ns : column.ns)
                    columns_[Parts].addByte(static_cast<uint8_t>(255 * ns / std::max<int64_t>(1, column.sum())));
            std::vector<std::pair<int64_t, StepPart>> pieces;
            int64_t endNs = full_.startNs;
            timeline.forEachIn(full_, [&](TimeRange piece, uint32_t contributor) {
                const StepPart part = timeline.partOf(contributor);
                if (pieces.empty() || pieces.back().second != part) pieces.emplace_back(piece.startNs, part);
                endNs = piece.endNs;
            });
            int64_t lastNs = full_.startNs;
            for (const auto& [startNs, part] : pieces) {
                columns_[Parts].add(static_cast<uint64_t>(startNs - lastNs));
                columns_[Parts].addByte(static_cast<uint8_t>(part));
                lastNs = startNs;
            }
            return {{"start", range.startNs},
                    {"end", range.endNs},
                    {"columns", count},
                    {"pieces", pieces.size()},
                    {"piecesEnd", endNs}};
        }
        return nullptr;
    }

    /// Adds the extremes of columns of the whole run, and each value of the full part.
    Json counter(const CounterSeries& series) {
        struct Value {
            int64_t timeNs;
            double min, max;
        };
        std::vector<Value> values;
        const auto addColumns = [&](TimeRange range) {
            if (range.isEmpty()) return;
            const double share = static_cast<double>(range.durationNs()) / static_cast<double>(whole_.durationNs());
            const int count = std::max(1, static_cast<int>(counterValues_ * share));
            const std::vector<CounterColumn> columns = series.extremesAt(range, count);
            for (size_t column = 0; column < columns.size(); ++column) {
                const double at = static_cast<double>(range.durationNs()) * static_cast<double>(column) / count;
                const double none = std::nan("");
                values.push_back({range.startNs + static_cast<int64_t>(at),
                                  columns[column].hasValue ? columns[column].minimum : none,
                                  columns[column].hasValue ? columns[column].maximum : none});
            }
        };
        const bool isAll = series.size() <= static_cast<size_t>(counterValues_);
        const TimeRange exact = isAll ? whole_ : full_;
        addColumns({whole_.startNs, exact.startNs});
        for (uint32_t sample = 0; sample < series.size(); ++sample) {
            const TimeRange held = series.rangeOf(sample);
            if (held.overlaps(exact))
                values.push_back({std::max(held.startNs, exact.startNs), series.value(sample), series.value(sample)});
            if (held.overlaps(exact) && sample + 1 == series.size() && held.endNs < exact.endNs)
                values.push_back({held.endNs, std::nan(""), std::nan("")});
        }
        addColumns({exact.endNs, whole_.endNs});
        const bool isWhole = std::ranges::all_of(values, [](const Value& each) {
            return each.min == std::floor(each.min) && each.max == std::floor(each.max) && std::abs(each.min) < 9e15 &&
                   std::abs(each.max) < 9e15;
        });
        NumberColumn& column = columns_[Counter];
        int64_t lastNs = whole_.startNs, last = 0;
        for (const Value& each : values) {
            column.addSigned(each.timeNs - lastNs);
            lastNs = each.timeNs;
            if (isWhole) {
                column.addSigned(static_cast<int64_t>(each.min) - last);
                column.add(static_cast<uint64_t>(each.max - each.min));
                last = static_cast<int64_t>(each.min);
            } else {
                column.addReal(each.min);
                column.addReal(each.max);
            }
        }
        return {{"unit", static_cast<int>(series.unit)}, {"count", values.size()}, {"whole", isWhole}};
    }

    const Trace& trace_;
    TimeRange whole_, full_;
    const NameFilter& filter_;
    int pixels_ = maxLanePixels, counterValues_ = 1024;
    Json tracks_ = Json::array();
    Dictionary texts_, details_;
    std::unordered_map<StringIndex, uint64_t> names_;
    std::array<NumberColumn, columnCount> columns_;
    int64_t lastEndNs_ = 0, lastCause_ = 0;
    std::array<int64_t, EventRef::kindLimit> lastRows_{};
    size_t size_ = 0;
};

Json jsonOf(const Cell& cell, const NameFilter& filter) {
    if (const auto* whole = std::get_if<int64_t>(&cell)) return *whole;
    if (const auto* real = std::get_if<double>(&cell)) return *real;
    if (const auto* words = std::get_if<std::string>(&cell)) return filter(*words);
    return nullptr;
}

Json jsonOf(const ReportTable& table, const NameFilter& filter) {
    Json json{{"name", table.name},
              {"title", table.title},
              {"columns", Json::array()},
              {"rows", Json::array()},
              {"count", table.rows.size()}};
    for (const ReportColumn& column : table.columns)
        json["columns"].push_back({column.name, static_cast<int>(column.unit)});
    for (size_t row = 0; row < std::min(maxTableRows, table.rows.size()); ++row) {
        Json cells = Json::array();
        for (const Cell& cell : table.rows[row]) cells.push_back(jsonOf(cell, filter));
        json["rows"].push_back(std::move(cells));
    }
    return json;
}

Json jsonOf(const StepParts& parts) { return parts.ns; }

Json stepsOf(const RunSummary& run) {
    Json workers = Json::array();
    size_t left = maxSteps;
    for (const WorkerSummary& worker : run.workers) {
        Json steps = Json::array();
        for (const StepSummary& step : worker.steps) {
            if (left == 0) break;
            --left;
            steps.push_back({step.number, step.startNs, step.wallNs, jsonOf(step.parts)});
        }
        workers.push_back({{"label", worker.label()}, {"count", worker.steps.size()}, {"steps", std::move(steps)}});
    }
    return workers;
}

Json cardOf(const RunSummary& run, const explain::Explanation& explanation,
            const std::vector<std::optional<explain::FindingPlace>>& places, const NameFilter& filter) {
    const ExplanationReport report{run, explanation};
    Json card{{"sentence", filter(explanation.sentence)},
              {"what", explanation.what},
              {"title", partsTitleOf(report)},
              {"compute", filter(explanation.compute)},
              {"steps", filter(explanation.steps)},
              {"caveats", Json::array()},
              {"findings", Json::array()},
              {"workers", Json::array()}};
    for (const std::string& caveat : explanation.caveats) card["caveats"].push_back(filter(caveat));
    for (size_t index = 0; index < explanation.findings.size(); ++index) {
        const explain::Finding& finding = explanation.findings[index];
        Json json{{"heading", filter(headingOf(report, finding))},
                  {"brief", filter(finding.brief)},
                  {"sentence", filter(finding.sentence)},
                  {"advice", filter(finding.advice)},
                  {"gain", finding.maxGainNs},
                  {"share", finding.share}};
        if (index < places.size() && places[index]) {
            json["view"] = {places[index]->view.startNs, places[index]->view.endNs};
            json["range"] = {places[index]->range.startNs, places[index]->range.endNs};
        }
        card["findings"].push_back(std::move(json));
    }
    for (const explain::WorkerParts& worker : explanation.workers)
        card["workers"].push_back({{"label", run.workers[worker.worker].label()},
                                   {"mean", worker.meanNs},
                                   {"parts", jsonOf(worker.parts)},
                                   {"critical", worker.worker == run.criticalWorker()}});
    return card;
}

Json factsOf(const Trace& trace, const RunSummary& run, bool isAnonymous, const NameFilter& filter) {
    Json facts = Json::array();
    const auto add = [&](std::string_view name, const std::string& value) {
        if (!value.empty()) facts.push_back({name, filter(value)});
    };
    add("File", trace.title);
    add("Command", run.facts.commandLine);
    if (!isAnonymous) add("Host", trace.facts.host);
    for (const std::string& gpu : run.facts.gpuNames) add("GPU", gpu);
    add("Driver", run.facts.driver);
    add("CUDA", run.facts.cuda);
    add("Recorded by", run.facts.producer);
    for (const HealthNote& note : healthNotesOf(trace))
        if (note.severity != Severity::Info) add("Warning", shownText(note));
    return facts;
}

/// Returns gzip's bytes of `text` as Base64; empty if it cannot be compressed.
std::string packedText(const std::string& text) {
    z_stream stream{};
    constexpr int gzipWindow = 15 + 16, defaultMemory = 8;
    if (deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED, gzipWindow, defaultMemory, Z_DEFAULT_STRATEGY) != Z_OK)
        return {};
    std::string bytes(deflateBound(&stream, text.size()), '\0');
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
    stream.next_out = reinterpret_cast<Bytef*>(bytes.data());
    stream.avail_in = static_cast<uInt>(text.size());
    stream.avail_out = static_cast<uInt>(bytes.size());
    const int status = deflate(&stream, Z_FINISH);
    bytes.resize(status == Z_STREAM_END ? stream.total_out : 0);
    deflateEnd(&stream);
    constexpr std::string_view letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string base64;
    base64.reserve(bytes.size() / 3 * 4 + 4);
    for (size_t at = 0; at < bytes.size(); at += 3) {
        const auto byte = [&](size_t index) -> uint32_t {
            return at + index < bytes.size() ? static_cast<unsigned char>(bytes[at + index]) : 0;
        };
        const uint32_t group = byte(0) << 16 | byte(1) << 8 | byte(2);
        for (size_t index = 0; index < 4; ++index)
            base64 += at + index > bytes.size() ? '=' : letters[group >> (18 - 6 * index) & 63];
    }
    return base64;
}

}  // namespace

std::optional<StepRange> usualSteps(const RunSummary& run) {
    return threeSteps(run, run.criticalWorker(), std::nullopt);
}

Result<std::string> timelineHtml(const Trace& trace, const RunSummary& run, const explain::Explanation& explanation,
                                 const TimelineRequest& request) {
    const NameFilter filter = request.isAnonymous ? NameFilter(trace) : NameFilter();
    std::vector<std::optional<explain::FindingPlace>> places;
    for (const explain::Finding& finding : explanation.findings) {
        if (places.size() == maxPlaces) break;
        Result<explain::FindingPlace> place = placeOf(trace, run, finding, explanation.findings);
        places.push_back(place ? std::optional(*place) : std::nullopt);
    }
    const Result<FullPart> full =
        fullPartOf(trace, run, explanation, places.empty() ? std::nullopt : places.front(), request);
    if (!full) return fail(full.error());
    const Result<IdleGaps> gaps = IdleGaps::of(trace);
    TimelineWriter writer(trace, *full, filter);
    writer.addTracks(gaps ? &*gaps : nullptr);
    Json description{{"title", request.label.empty() ? filter(trace.title) : request.label},
                     {"what", full->what},
                     {"gpus", trace.gpus.size()},
                     {"processes", trace.processes.size()},
                     {"card", cardOf(run, explanation, places, filter)},
                     {"facts", factsOf(trace, run, request.isAnonymous, filter)},
                     {"steps", stepsOf(run)},
                     {"tables", Json::array()}};
    for (const Report* report : {&kernelSummaryReport, &memcpyBandwidthReport})
        if (ReportTable table = makeReport(*report, {trace}); !table.rows.empty())
            description["tables"].push_back(jsonOf(table, filter));
    const std::string data = packedText(writer.packed(std::move(description)));
    if (data.empty()) return fail("{}: the page could not be compressed. Choose fewer steps.", trace.title);
    return fmt::format(
        "<div class=\"timeline\"><noscript>The timeline needs scripts.</noscript></div>\n<script "
        "type=\"application/octet-stream\" class=\"trace\">{}</script>\n",
        data);
}

Result<std::string> tracePage(const Trace& trace, const TimelineRequest& request) {
    const Result<RunSummary> run = summarizeRun(trace);
    if (!run) return fail(run.error());
    const explain::Explanation explanation = explain::explain(*run);
    Result<std::string> timeline = timelineHtml(trace, *run, explanation, request);
    if (!timeline) return timeline;
    const std::string title = markupEscaped((request.isAnonymous ? NameFilter(trace) : NameFilter())(trace.title));
    return htmlPage(title, title, *timeline, PageKind::Timeline);
}

}  // namespace lanescope::report
