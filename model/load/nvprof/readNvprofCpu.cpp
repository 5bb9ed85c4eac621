// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <string>

#include "model/load/nvprof/callNames.h"
#include "model/load/nvprof/nvprofTables.h"
#include "model/load/sqlite/RowReader.h"
#include "model/trace/kinds/Api.h"
#include "model/trace/kinds/Nvtx.h"
#include "model/values/formatValue.h"

namespace lanescope {

namespace {

/// What CUPTI calls threads among the things that have names and events.
constexpr int64_t threadKind = 2;

/// The thread in what says what an event is of: the numbers of the process and the thread, four
/// bytes each, the least first. Nothing for what is no thread.
std::optional<int64_t> threadIn(int64_t kind, std::string_view object) {
    if (kind != threadKind || object.size() < 8) return std::nullopt;
    uint32_t number = 0;
    for (size_t byte = 8; byte-- > 4;)
        number = number << 8 | static_cast<unsigned char>(object[byte]);
    return static_cast<int32_t>(number);
}

/// Calls by the number of their function, which is all that the file has of it.
void readCalls(NvprofContext& context, bool isDriver, int64_t& rows, int64_t& untimed) {
    enum : int { Start, End, Function, Thread, Correlation, Returned };
    RowReader reader(
        context.load(), isDriver ? "CUPTI_ACTIVITY_KIND_DRIVER" : "CUPTI_ACTIVITY_KIND_RUNTIME",
        {"start", "end", "cbid", "threadId", "correlationId", "returnValue"}, "CUDA API calls");
    MixedMap<int64_t, StringIndex> names;
    while (reader.next()) {
        const std::optional<TimeRange> found = reader.times(Start, End);
        if (!found) continue;
        const uint32_t thread = context.thread(reader.integerOr(Thread, 0));
        if (thread == noIndex) {
            reader.skipRow();
            continue;
        }
        const int64_t function = reader.integerOr(Function, 0);
        const auto [name, isNew] = names.try_emplace(function, 0);
        if (isNew) {
            const std::string_view known =
                isDriver ? driverCallName(function) : runtimeCallName(function);
            name->second = context.builder().intern(
                known.empty()
                    ? fmt::format("CUDA {} call {}", isDriver ? "driver" : "runtime", function)
                    : std::string(known));
        }
        const TimeRange times = context.shifted(*found);
        context.builder().add<kinds::Api>(
            {.startNs = times.startNs,
             .endNs = times.endNs,
             .name = name->second,
             .thread = thread,
             .correlation = reader.unsigned32(Correlation),
             .returnValue = static_cast<int32_t>(reader.unsigned32(Returned)),
             .isDriver = isDriver});
    }
    rows += reader.rowCount();
    untimed += reader.untimedCount();
}

}  // namespace

void readNvprofCalls(NvprofContext& context) {
    int64_t rows = 0, untimed = 0;
    for (const bool isDriver : {false, true}) readCalls(context, isDriver, rows, untimed);
    context.builder().count(kinds::Api::plural, rows, untimed);
}

void readNvprofMarkers(NvprofContext& context) {
    enum : int { Flags, Time, Id, Kind, Object, Name, Domain };
    constexpr int64_t isMark = 1, isStart = 2, isEnd = 4;
    // A range that is begun, by its id.
    MixedMap<int64_t, kinds::Nvtx::Row> open;
    int64_t unmatched = 0;
    RowReader reader(context.load(), "CUPTI_ACTIVITY_KIND_MARKER",
                     {"flags", "timestamp", "id", "objectKind", "objectId", "name", "domain"},
                     "NVTX ranges");
    while (reader.next()) {
        const int64_t flags = reader.integerOr(Flags, 0);
        const std::optional<int64_t> timeNs = reader.time(Time);
        if (!timeNs || (flags & (isMark | isStart | isEnd)) == 0) continue;
        const int64_t id = reader.integerOr(Id, 0);
        if ((flags & isEnd) != 0) {
            const auto begun = open.find(id);
            if (begun == open.end()) {
                ++unmatched;
                continue;
            }
            kinds::Nvtx::Row row = begun->second;
            row.endNs = std::max(row.startNs, *timeNs - context.zeroNs());
            context.builder().add<kinds::Nvtx>(row);
            open.erase(begun);
            continue;
        }
        kinds::Nvtx::Row row;
        const std::optional<int64_t> thread =
            threadIn(reader.integerOr(Kind, 0), reader.text(Object));
        row.thread = context.thread(thread.value_or(0));
        row.startNs = row.endNs = *timeNs - context.zeroNs();
        row.text = context.text(reader.integerOr(Name, 0));
        row.domain = context.text(reader.integerOr(Domain, 0));
        if ((flags & isMark) != 0) {
            row.style = NvtxStyle::Mark;
            context.builder().add<kinds::Nvtx>(row);
        } else if (!open.try_emplace(id, row).second) {
            ++unmatched;
        }
    }
    for (auto& [id, row] : open) {
        row.isOpen = true;
        context.builder().add<kinds::Nvtx>(row);
    }
    context.builder().skip("ends of ranges that never began", unmatched);
}

void readNvprofOverhead(NvprofContext& context) {
    RowReader reader(context.load(), "CUPTI_ACTIVITY_KIND_OVERHEAD", {"start", "end"}, "overhead");
    int64_t totalNs = 0;
    while (reader.next())
        if (const std::optional<TimeRange> times = reader.times(0, 1)) {
            const int64_t room = std::numeric_limits<int64_t>::max() / 2 - totalNs;
            totalNs += std::min(times->durationNs(), room);
        }
    if (totalNs > 0)
        context.load().note({Severity::Info, HealthCode::ProfilerOverhead,
                             fmt::format("The profiler itself took {}.", formatDuration(totalNs))});
}

void readNvprofDevices(NvprofContext& context) {
    enum : int { Id, Name, Memory, Bandwidth, Multiprocessors, Major, Minor, Uuid };
    constexpr int64_t bytesOfKilobyte = 1000;
    RowReader reader(
        context.load(), "CUPTI_ACTIVITY_KIND_DEVICE",
        {"id", "name", "globalMemorySize", "globalMemoryBandwidth", "numMultiprocessors",
         "computeCapabilityMajor", "computeCapabilityMinor", "uuid"},
        "GPUs");
    while (reader.next()) {
        const uint32_t index = context.builder().gpu(reader.integerOr(Id, 0));
        if (index == noIndex) {
            reader.skipRow();
            continue;
        }
        Gpu& gpu = context.builder().gpus()[index];
        gpu.name = context.builder().text(context.text(reader.integerOr(Name, 0)));
        gpu.memoryBytes = reader.bytes(Memory);
        const int64_t bandwidth = reader.integerOr(Bandwidth, 0);
        if (bandwidth > 0 && bandwidth < INT64_MAX / bytesOfKilobyte)
            gpu.memoryBandwidthBytesPerSecond = bandwidth * bytesOfKilobyte;
        gpu.smCount = static_cast<int>(reader.unsigned32(Multiprocessors) & 0xffff);
        gpu.computeMajor = static_cast<int>(reader.unsigned32(Major) & 0xff);
        gpu.computeMinor = static_cast<int>(reader.unsigned32(Minor) & 0xff);
        const std::string_view uuid = reader.text(Uuid);
        if (uuid.size() != 16) continue;
        for (size_t byte = 0; byte < uuid.size(); ++byte) {
            const bool isParted = byte == 4 || byte == 6 || byte == 8 || byte == 10;
            gpu.uuid += fmt::format("{}{:02x}",
                                    isParted    ? "-"
                                    : byte == 0 ? "GPU-"
                                                : "",
                                    static_cast<unsigned char>(uuid[byte]));
        }
    }
}

}  // namespace lanescope
