#include <algorithm>
#include <map>
#include <tuple>

#include "model/load/TableReader.h"
#include "model/load/readers.h"

namespace lanescope {

namespace {

constexpr size_t maximumPeaks = 1 << 14;
constexpr size_t maximumRanges = 1 << 20;
constexpr size_t maximumUses = 1 << 22;
constexpr int64_t maximumGpu = 1 << 16;
/// More than any link or memory moves a second; what a file says above it is damage.
constexpr int64_t greatestRate = int64_t{1} << 50;
constexpr int64_t greatestCount = 1 << 16;

int64_t gpuIn(RowReader& reader, int column) {
    const int64_t number = reader.integerOr(column, noGpuId);
    return number >= 0 && number <= maximumGpu ? number : noGpuId;
}

int32_t countIn(RowReader& reader, int column) {
    return static_cast<int32_t>(std::clamp<int64_t>(reader.integerOr(column, 0), 0, greatestCount));
}

std::optional<LinkKind> linkKindFrom(std::string_view text) {
    if (text == "pcie") return LinkKind::Pcie;
    if (text == "nvlink") return LinkKind::NvLink;
    if (text == "dram") return LinkKind::Dram;
    if (text == "host-copy") return LinkKind::HostCopy;
    return std::nullopt;
}

LinkDirection directionFrom(std::string_view text) {
    if (text == "tx" || text == "DtoH") return LinkDirection::Transmit;
    if (text == "rx" || text == "HtoD") return LinkDirection::Receive;
    return LinkDirection::Unknown;
}

MemoryKind memoryFrom(std::string_view text) {
    if (text == "pinned") return MemoryKind::Pinned;
    if (text == "pageable") return MemoryKind::Pageable;
    return MemoryKind::Unknown;
}

void readAffinities(LoadContext& context) {
    std::vector<GpuAffinity>& affinities = context.trace().interconnect.affinities;
    TableReader reader(context, "LANESCOPE_GPU_AFFINITY", {"gpuId", "cpus", "numaNode"},
                       "description");
    while (reader.next()) {
        const int64_t gpu = gpuIn(reader, 0);
        const int64_t node = reader.integerOr(2, -1);
        if (gpu == noGpuId || affinities.size() >= maximumPeaks) {
            reader.skipRow();
            continue;
        }
        const bool isNode = node >= 0 && node <= greatestCount;
        affinities.push_back(
            {gpu, std::string(reader.text(1)), isNode ? static_cast<int32_t>(node) : -1});
    }
    std::stable_sort(affinities.begin(), affinities.end(),
                     [](const auto& a, const auto& b) { return a.gpu < b.gpu; });
}

/// Beginning and end of an instance while they are brought together.
struct Moments {
    std::optional<int64_t> startNs, endNs;
    TimeRange startReading, endReading;
};

/// Empty if the file does not say, or says what cannot be.
/// Nothing if it is not known, or as far away as no time is.
TimeRange readingIn(RowReader& reader, int start, int end) {
    constexpr int64_t greatestTimeNs = int64_t{1} << 61;
    const std::optional<int64_t> startNs = reader.integer(start), endNs = reader.integer(end);
    const bool isKnown = startNs && endNs && *startNs < *endNs && *startNs >= -greatestTimeNs &&
                         *endNs <= greatestTimeNs;
    return isKnown ? TimeRange{*startNs, *endNs} : TimeRange{};
}

}  // namespace

void readLinkPeaks(LoadContext& context) {
    enum { kind, gpu, peer, direction, memory, rate, links, generation, width, origin };
    std::vector<LinkPeak>& peaks = context.trace().interconnect.peaks;
    TableReader reader(context, "LANESCOPE_LINK_PEAKS",
                       {"kind", "gpuId", "peerGpuId", "direction", "memory", "bytesPerSecond",
                        "links", "generation", "width", "origin"},
                       "description");
    while (reader.next()) {
        const std::optional<LinkKind> link = linkKindFrom(reader.text(kind));
        const int64_t bytesPerSecond = reader.integerOr(rate, 0);
        if (!link || bytesPerSecond <= 0 || bytesPerSecond > greatestRate ||
            peaks.size() >= maximumPeaks) {
            reader.skipRow();
            continue;
        }
        LinkPeak peak;
        peak.kind = *link;
        peak.gpu = gpuIn(reader, gpu);
        peak.peer = gpuIn(reader, peer);
        peak.direction = directionFrom(reader.text(direction));
        peak.memory = memoryFrom(reader.text(memory));
        peak.bytesPerSecond = bytesPerSecond;
        peak.links = countIn(reader, links);
        peak.generation = countIn(reader, generation);
        peak.width = countIn(reader, width);
        peak.origin =
            reader.text(origin) == "measured" ? PeakOrigin::Measured : PeakOrigin::Nominal;
        peaks.push_back(peak);
    }
    readAffinities(context);
}

void readSampledRanges(LoadContext& context) {
    enum { timestamp, range, occurrence, isEnd, globalPid, readStart, readEnd };
    std::map<std::tuple<int64_t, std::string, int64_t>, Moments> found;
    TableReader reader(
        context, "LANESCOPE_SAMPLING_MOMENTS",
        {"timestamp", "range", "occurrence", "isEnd", "globalPid", "readStart", "readEnd"},
        "counters");
    while (reader.next()) {
        const std::optional<int64_t> timeNs = reader.time(timestamp);
        if (!timeNs) continue;
        if (found.size() >= maximumRanges) {
            reader.skipRow();
            continue;
        }
        Moments& moments = found[{reader.integerOr(globalPid, 0), std::string(reader.text(range)),
                                  reader.integerOr(occurrence, 0)}];
        const bool isOfEnd = reader.integerOr(isEnd, 0) != 0;
        (isOfEnd ? moments.endNs : moments.startNs) = *timeNs;
        (isOfEnd ? moments.endReading : moments.startReading) =
            readingIn(reader, readStart, readEnd);
    }
    std::vector<SampledRange>& ranges = context.trace().interconnect.sampledRanges;
    for (const auto& [key, moments] : found) {
        const auto& [pid, name, number] = key;
        // One that was still open when the run ended has no second reading.
        if (!moments.startNs || !moments.endNs || *moments.endNs < *moments.startNs) continue;
        ranges.push_back({name,
                          number,
                          pid,
                          {*moments.startNs, *moments.endNs},
                          moments.startReading,
                          moments.endReading});
    }
    std::stable_sort(ranges.begin(), ranges.end(), [](const auto& a, const auto& b) {
        return a.range.startNs < b.range.startNs;
    });
}

void readGpuProcesses(LoadContext& context) {
    enum { timestamp, gpu, pid, name, bytes, smPercent };
    std::vector<GpuProcessUse>& uses = context.trace().interconnect.gpuProcesses;
    TableReader reader(context, "LANESCOPE_GPU_PROCESSES",
                       {"timestamp", "gpuId", "pid", "name", "bytes", "smPercent"}, "counters");
    while (reader.next()) {
        const std::optional<int64_t> timeNs = reader.time(timestamp);
        const int64_t number = gpuIn(reader, gpu);
        if (!timeNs || number == noGpuId || uses.size() >= maximumUses) {
            if (timeNs) reader.skipRow();
            continue;
        }
        const auto percent = static_cast<double>(reader.number(smPercent));
        uses.push_back({*timeNs, number, reader.integerOr(pid, 0), std::string(reader.text(name)),
                        reader.isNull(bytes) ? -1 : reader.bytes(bytes),
                        percent >= 0 ? percent : -1.0});
    }
    std::stable_sort(uses.begin(), uses.end(),
                     [](const auto& a, const auto& b) { return a.timeNs < b.timeNs; });
}

}  // namespace lanescope
