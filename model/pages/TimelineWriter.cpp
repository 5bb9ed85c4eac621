// SPDX-License-Identifier: Apache-2.0
#include "model/pages/TimelineWriter.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cctype>
#include <cmath>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <unordered_map>

#include "model/lod/SelectionStatistics.h"
#include "model/lod/SumTable.h"
#include "model/lod/reduceToPixels.h"
#include "model/text/formatValue.h"
#include "model/text/knownRangeName.h"
#include "model/trace/kinds/eventFacts.h"
#include "model/trace/kinds/flows.h"
#include "model/trace/kinds/workModules.h"

namespace lanescope::report {

namespace {

constexpr size_t maxNameBytes = 4096;

/// Returns true for units such as "GB/s", and for "I/O".
bool isNoPath(std::string_view word) {
    constexpr size_t maxUnitBytes = 8;
    return word == "I/O" || (word.size() <= maxUnitBytes && word.find('/') == word.size() - 2 && word.ends_with('s'));
}

/// Returns a text in which each path has lost its folders.
std::string withoutFolders(std::string_view text) {
    const auto isOfPath = [](char each) {
        return each == '/' || std::isalnum(static_cast<unsigned char>(each)) != 0 || each == '.' || each == '_' ||
               each == '-' || each == '~' || each == '+' || (each & 0x80) != 0;
    };
    std::string result;
    for (size_t at = 0; at < text.size();) {
        size_t end = at;
        while (end < text.size() && isOfPath(text[end])) ++end;
        const std::string_view word = text.substr(at, end - at);
        const size_t slash = isNoPath(word) ? std::string_view::npos : word.rfind('/');
        // A path that ends with its folder becomes empty.
        if (slash != std::string_view::npos || word.starts_with('~')) at += std::min(slash, word.size() - 1) + 1;
        result += text.substr(at, std::max(end, at + 1) - at);
        at = std::max(end, at + 1);
    }
    return result;
}

/// Rectangles of the whole run, for all lanes together, and for one.
constexpr size_t maxRectangles = 100'000;
constexpr int minLanePixels = 128, maxLanePixels = 2048;
constexpr size_t maxCounterValues = 60'000, maxGapsElsewhere = 200;

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
    uint64_t numberOf(const std::string& key, const auto& make) {
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
    TimelineWriter(const Trace& trace, TimeRange full, const NameFilter& filter)
        : trace_(trace), whole_(trace.timelineRange().united(full)), full_(full), filter_(filter) {
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
        for (const StepPart part : allStepParts) description["parts"].push_back(name(part));
        description["kinds"] = Json::array();
        for (size_t kind = 0; kind < EventRef::kindLimit; ++kind)
            description["kinds"].push_back(nameOfKind(static_cast<EventKind>(kind)));
        description["start"] = whole_.startNs;
        description["end"] = whole_.endNs;
        description["full"] = {full_.startNs, full_.endNs};
        description["colors"] = trace_.nvtx.hasColors;
        description["ranks"] = ranks();
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

    /// Lists the kernels of each collective of which the full part has the last rank's, which is the last.
    Json ranks() {
        constexpr size_t maxSearches = 4000;
        Json all = Json::array();
        for (size_t search = 0; search < maxSearches && !collectives_.empty(); ++search) {
            const EventRef first(EventKind::Kernel, *collectives_.begin());
            const std::vector<EventRef> ofRanks = collectiveOf(trace_, first);
            const bool isLastShown = !ofRanks.empty() && collectives_.contains(ofRanks.back().row());
            Json rows = Json::array();
            for (const EventRef each : ofRanks)
                if (each.kind() == EventKind::Kernel && collectives_.erase(each.row()) > 0) rows.push_back(each.row());
            collectives_.erase(first.row());
            if (isLastShown && rows.size() > 1) all.push_back(std::move(rows));
        }
        return all;
    }

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
        const EventKind kind = event.kind();
        const auto entry = [this](const std::string& key, std::string_view name, int64_t bytes, std::string lines) {
            return details_.numberOf(key, [&] { return Json::array({text(name), bytes, std::move(lines)}); });
        };
        if (kind == EventKind::Kernel) {
            const uint32_t config = trace_.kernels.config[row];
            if (trace_.launchConfigs.isCollective(config)) collectives_.insert(row);
            const LaunchConfig each = trace_.launchConfigs[config];
            const auto& [grid, block] = std::pair(each.grid, each.block);
            return entry(fmt::format("k{}", config), trace_.strings.at(each.demangledName), -1,
                         fmt::format("Grid {} x {} x {}, block {} x {} x {}\n{} registers per thread", grid[0], grid[1],
                                     grid[2], block[0], block[1], block[2], each.registersPerThread));
        }
        if (kind == EventKind::Memcpy) {
            const MemcpyTable& copies = trace_.memcpys;
            const SumKey key =
                SumKey::ofMemcpy(copies.kind[row], copies.sourceMemory[row], copies.destinationMemory[row]);
            return entry(fmt::format("c{} {}", key.bits(), copies.bytes[row]), lanescope::nameOf(trace_, key),
                         copies.bytes[row], "");
        }
        if (kind == EventKind::Memset)
            return entry(fmt::format("s{}", trace_.memsets.bytes[row]), {}, trace_.memsets.bytes[row], "");
        if (kind != EventKind::Api && kind != EventKind::Nvtx && kind != EventKind::CpuState) return 0;
        const std::string line = pythonLine(trace_, event);
        return line.empty() ? 0 : entry("l" + line, {}, -1, filter_(line));
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
    std::set<uint32_t> collectives_;  ///< Rows of kernels in the full part.
    std::unordered_map<StringIndex, uint64_t> names_;
    std::array<NumberColumn, columnCount> columns_;
    int64_t lastEndNs_ = 0, lastCause_ = 0;
    std::array<int64_t, EventRef::kindLimit> lastRows_{};
    size_t size_ = 0;
};

}  // namespace

NameFilter::NameFilter(const Trace& trace) : isOn_(true) {
    const auto add = [this](std::string_view name, std::string_view substitute) {
        if (name.size() > 1) replaced_.emplace_back(name, substitute);
    };
    const auto addHost = [&](std::string_view host) {
        add(host, "host");
        const bool isNumber = !host.empty() && std::isdigit(static_cast<unsigned char>(host.front())) != 0;
        if (!isNumber) add(host.substr(0, host.find('.')), "host");
    };
    const auto addUsers = [&](std::string_view text) {
        for (const std::string_view homes : {"/home/", "/Users/"})
            for (size_t at = text.find(homes); at != std::string_view::npos; at = text.find(homes, at)) {
                at += homes.size();
                add(text.substr(at, text.find_first_of("/: ", at) - at), "user");
            }
    };
    addHost(trace.facts.host);
    for (const HostName& host : trace.facts.hosts) addHost(host.name);
    for (const SamplerFacts& sampler : trace.facts.samplers) addHost(sampler.host);
    for (const std::string& text : {trace.facts.homeDirectory, trace.facts.workingDirectory, trace.facts.commandLine})
        addUsers(text);
    for (const Process& process : trace.processes) {
        addHost(process.facts->host);
        addUsers(process.facts->commandLine);
        addUsers(process.facts->program);
    }
    const std::string& home = trace.facts.homeDirectory;
    add(std::string_view(home).substr(home.rfind('/') + 1), "user");
    std::ranges::stable_sort(replaced_, std::greater(), [](const auto& each) { return each.first.size(); });
}

std::string NameFilter::operator()(std::string_view text) const {
    std::string result = printable(text.substr(0, maxNameBytes));
    if (!isOn_) return result;
    result = withoutFolders(result);
    const auto isLetter = [&](size_t at) {
        return at < result.size() && std::isalnum(static_cast<unsigned char>(result[at])) != 0;
    };
    constexpr size_t minPartBytes = 4;  // Shorter names are parts of other words.
    for (const auto& [name, substitute] : replaced_)
        for (size_t at = result.find(name); at != std::string::npos; at = result.find(name, at)) {
            const bool isWord = (at == 0 || !isLetter(at - 1)) && !isLetter(at + name.size());
            const bool isName = isWord || name.size() >= minPartBytes;
            if (isName) result.replace(at, name.size(), substitute);
            at += isName ? substitute.size() : 1;
        }
    return result;
}

using namespace analysis;
using Json = nlohmann::ordered_json;

std::string packedTimeline(const Trace& trace, TimeRange full, const NameFilter& filter, const IdleGaps* gaps,
                           Json description) {
    TimelineWriter writer(trace, full, filter);
    writer.addTracks(gaps);
    return writer.packed(std::move(description));
}

}  // namespace lanescope::report
