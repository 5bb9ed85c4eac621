// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/timeline/TrackArrangement.h"

#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <algorithm>
#include <climits>
#include <numeric>
#include <tuple>
#include <unordered_map>

#include "model/numbers/Statistics.h"
#include "model/trace/processes.h"
#include "views/text/shownText.h"

namespace lanescope::views {

LayoutMetrics LayoutMetrics::forText(int textHeight, RowHeight rowHeight, Previews previews) {
    LayoutMetrics metrics{.laneHeight = std::max(20, textHeight + 4), .rowHeight = rowHeight, .previews = previews};
    if (rowHeight == RowHeight::Compact) {
        metrics.laneHeight = std::max(14, textHeight - 1);
        metrics.padding = 1;
        metrics.squeezedLaneHeight = 3;
        metrics.summaryHeight = 6;
        metrics.counterHeight = 2 * metrics.laneHeight;
    } else if (rowHeight == RowHeight::Tall) {
        metrics.laneHeight = metrics.laneHeight * 8 / 5;
        metrics.padding = 5;
        metrics.squeezedLaneHeight = 8;
        metrics.summaryHeight = 12;
        metrics.counterHeight = 88;
    }
    metrics.headerHeight = std::max(metrics.laneHeight, textHeight) + 2 * metrics.padding;
    metrics.titleHeight = std::min(metrics.headerHeight, textHeight + 6);
    return metrics;
}

namespace {

using Paths = std::vector<std::string> TrackArrangement::*;

constexpr std::pair<const char*, Paths> lists[] = {{"order", &TrackArrangement::order},
                                                   {"hidden", &TrackArrangement::hidden},
                                                   {"pinned", &TrackArrangement::pinned},
                                                   {"folded", &TrackArrangement::folded},
                                                   {"unfolded", &TrackArrangement::unfolded}};

constexpr std::pair<const char*, RowHeight> heights[] = {{"compact", RowHeight::Compact},
                                                         {"normal", RowHeight::Normal},
                                                         {"tall", RowHeight::Tall},
                                                         {"fitted", RowHeight::Fitted}};

/// GPUs before processes, each by rank; then idle GPUs, and last all tracks without a GPU.
using Place = std::tuple<int, int, uint32_t>;

std::vector<bool> gpusAtWork(const Trace& trace) {
    std::vector<bool> isAtWork(trace.gpus.size(), false);
    for (const Track& track : trace.tracks)
        if (track.kind == TrackKind::Stream &&
            std::ranges::any_of(track.lanes, [](const Lane& lane) { return lane.size() > 0; }))
            isAtWork[trace.streams[track.subject].gpu] = true;
    return isAtWork;
}

struct Ranks {
    explicit Ranks(const Trace& trace) : isAtWork(gpusAtWork(trace)), ofGpu(trace.gpus.size(), INT_MAX) {
        const GpusOfProcesses gpusOf(trace);
        for (uint32_t process = 0; process < trace.processes.size(); ++process) {
            const std::vector<uint32_t>& gpus = gpusOf.of(process);
            gpuOf.push_back(gpus.empty() ? noIndex : gpus.front());
            const int rank = trace.processes[process].rank.value_or(INT_MAX);
            for (const uint32_t gpu : gpus) ofGpu[gpu] = std::min(ofGpu[gpu], rank);
        }
    }
    Place placeOf(const Track& track) const {
        if (track.kind == TrackKind::Gpu && track.subject < ofGpu.size())
            return {isAtWork[track.subject] ? 0 : 3, ofGpu[track.subject], track.subject};
        if (track.kind == TrackKind::Process && track.subject < gpuOf.size() && gpuOf[track.subject] != noIndex)
            return {1, ofGpu[gpuOf[track.subject]], gpuOf[track.subject]};
        return {2, INT_MAX, noIndex};
    }
    bool isIdleGpu(const Track& track) const {
        return track.kind == TrackKind::Gpu && track.subject < isAtWork.size() && !isAtWork[track.subject];
    }
    std::vector<bool> isAtWork;   ///< By GPU.
    std::vector<int> ofGpu;       ///< The lowest rank that works on it.
    std::vector<uint32_t> gpuOf;  ///< The first GPU of a process.
};

/// The CPU time of each thread and each process, as far as it was counted.
struct Busy {
    explicit Busy(const Trace& trace) : ofThread(trace.threads.size(), 0), ofProcess(trace.processes.size(), 0) {
        const CpuStateTable& states = trace.cpuStates;
        for (uint32_t row = 0; row < states.size(); ++row) addTo(ofThread[states.thread[row]], states.cpuNs[row]);
        for (uint32_t thread = 0; thread < trace.threads.size(); ++thread)
            addTo(ofProcess[trace.threads[thread].process], ofThread[thread]);
    }
    static void addTo(int64_t& sum, int64_t ns) { sum = saturatingSum(sum, std::max<int64_t>(ns, 0)); }
    /// Other tracks come before threads.
    int64_t of(const Track& track) const {
        if (track.kind == TrackKind::Thread && track.subject < ofThread.size()) return ofThread[track.subject];
        if (track.kind == TrackKind::Process && track.subject < ofProcess.size()) return ofProcess[track.subject];
        return maxTimestampNs;
    }
    std::vector<int64_t> ofThread, ofProcess;
};

/// Without GPU work, sorts the busiest threads first and opens their processes.
TrackArrangement busiestFirst(const Trace& trace) {
    constexpr int64_t minorThreadDivisor = 20;  // threads below this part of the busiest one's time are minor
    constexpr size_t maxUnfoldedLanes = 16;     // a deeper stack fills the whole window
    const Busy busy(trace);
    TrackArrangement arrangement;
    const std::vector<std::string> paths = trackPaths(trace.tracks);
    std::vector<uint32_t> order(trace.tracks.size());
    std::iota(order.begin(), order.end(), 0);
    std::ranges::stable_sort(order, std::greater(), [&](uint32_t each) { return busy.of(trace.tracks[each]); });
    if (!std::ranges::is_sorted(order))
        for (const uint32_t track : order) arrangement.order.push_back(paths[track]);
    const auto busiest = static_cast<uint32_t>(std::ranges::max_element(busy.ofThread) - busy.ofThread.begin());
    const auto isBusy = [&](uint32_t thread) {
        return thread < busy.ofThread.size() && busy.ofThread[thread] > busy.ofThread[busiest] / minorThreadDivisor;
    };
    for (uint32_t track = 0; track < trace.tracks.size(); ++track) {
        const Track& each = trace.tracks[track];
        const bool isOpen = each.kind == TrackKind::Thread ? isBusy(each.subject)
                            : each.kind == TrackKind::ThreadStacks
                                ? each.subject == busiest && each.lanes.size() <= maxUnfoldedLanes
                                : !each.isInitiallyFolded;
        if (isOpen != each.isInitiallyFolded) continue;
        (isOpen ? arrangement.unfolded : arrangement.folded).push_back(paths[track]);
    }
    return arrangement;
}

/// Returns, by track, the processes of which only counters were recorded.
std::vector<bool> processesOfCounters(const Trace& trace) {
    std::vector<bool> result(trace.tracks.size(), false);
    for (uint32_t track = 0; track < trace.tracks.size(); ++track) {
        const Track& each = trace.tracks[track];
        const auto parent = static_cast<size_t>(each.parent);
        if (each.kind == TrackKind::Process)
            result[track] = std::ranges::all_of(each.lanes, [](const Lane& lane) { return lane.size() == 0; });
        else if (each.parent >= 0 && each.kind != TrackKind::CounterGroup && each.kind != TrackKind::Counter)
            result[parent] = false;
    }
    return result;
}

}  // namespace

std::vector<std::string> trackPaths(std::span<const Track> tracks) {
    std::vector<std::string> paths;
    paths.reserve(tracks.size());
    std::unordered_map<std::string, int> uses;
    for (size_t i = 0; i < tracks.size(); ++i) {
        const int32_t parent = tracks[i].parent;
        std::string path;
        if (parent >= 0 && static_cast<size_t>(parent) < i) path = paths[parent] + "/";
        path += tracks[i].title;
        if (const int use = ++uses[path]; use > 1) path += "#" + std::to_string(use);
        paths.push_back(std::move(path));
    }
    return paths;
}

QByteArray toJson(const TrackArrangement& arrangement) {
    QJsonObject object;
    for (const auto& [key, list] : lists) {
        if ((arrangement.*list).empty()) continue;
        QJsonArray array;
        for (const std::string& path : arrangement.*list) array.append(toQString(path));
        object.insert(QLatin1String(key), array);
    }
    for (const auto& [name, height] : heights) {
        if (height == arrangement.height && height != RowHeight::Normal)
            object.insert(QStringLiteral("height"), QLatin1String(name));
    }
    return QJsonDocument(object).toJson(QJsonDocument::Compact);
}

std::optional<TrackArrangement> arrangementFromJson(const QByteArray& json) {
    const QJsonDocument document = QJsonDocument::fromJson(json);
    if (!document.isObject()) return std::nullopt;
    const QJsonObject object = document.object();
    TrackArrangement arrangement;
    for (const auto& [key, list] : lists) {
        for (const QJsonValue& value : object.value(QLatin1String(key)).toArray())
            if (value.isString()) (arrangement.*list).push_back(value.toString().toStdString());
    }
    const QString height = object.value(QStringLiteral("height")).toString();
    for (const auto& [name, value] : heights)
        if (height == QLatin1String(name)) arrangement.height = value;
    return arrangement;
}

TrackArrangement firstArrangement(const Trace& trace) {
    if (trace.gpus.empty() && trace.cpuStates.size() > 0) return busiestFirst(trace);
    TrackArrangement arrangement;
    const Ranks ranks(trace);
    size_t working = 0, idle = 0;
    for (const Track& track : trace.tracks)
        if (track.kind == TrackKind::Gpu && track.parent < 0) ++(ranks.isIdleGpu(track) ? idle : working);
    const bool areMany = working >= manyGpus;
    const std::vector<bool> isOfCounters = processesOfCounters(trace);
    const bool hasCountersOnly = std::ranges::find(isOfCounters, true) != isOfCounters.end();
    // Without any work, all tracks are equal.
    const bool isSorted = areMany || (idle > 0 && working > 0);
    if (!isSorted && !hasCountersOnly) return arrangement;
    const std::vector<std::string> paths = trackPaths(trace.tracks);
    std::vector<uint32_t> top;
    for (uint32_t track = 0; track < trace.tracks.size(); ++track)
        if (trace.tracks[track].parent < 0) top.push_back(track);
    if (areMany)
        std::ranges::stable_sort(top, {}, [&](uint32_t track) { return ranks.placeOf(trace.tracks[track]); });
    else if (isSorted)
        std::ranges::stable_partition(top, [&](uint32_t track) { return !ranks.isIdleGpu(trace.tracks[track]); });
    if (areMany) arrangement.height = RowHeight::Fitted;
    // An arrangement lists all tracks, from top to bottom, if their order differs from the trace's.
    const bool isMoved = !std::is_sorted(top.begin(), top.end());
    for (const uint32_t group : top) {
        const TrackKind kind = trace.tracks[group].kind;
        const bool isGroup = isOfCounters[group] || (areMany ? kind == TrackKind::Gpu || kind == TrackKind::Process
                                                             : isSorted && ranks.isIdleGpu(trace.tracks[group]));
        if (isGroup && !trace.tracks[group].isInitiallyFolded) arrangement.folded.push_back(paths[group]);
        for (uint32_t track = group;
             isMoved && track < trace.tracks.size() && (track == group || trace.tracks[track].parent >= 0); ++track)
            arrangement.order.push_back(paths[track]);
    }
    return arrangement;
}

}  // namespace lanescope::views
