// SPDX-License-Identifier: Apache-2.0
#include "model/format/tables/PageFaults.h"
#include "model/load/sqlite/TableReader.h"
#include "model/load/sqlite/readers.h"
#include "model/trace/kinds/PageFault.h"

namespace lanescope {

namespace {

FaultAccess accessFrom(int64_t number) {
    const bool isKnown = number >= 0 && number <= static_cast<int64_t>(FaultAccess::Prefetch);
    return isKnown ? static_cast<FaultAccess>(number) : FaultAccess::Unknown;
}

template <class Table>
uint32_t processIn(TableReader<Table>& reader, const Table& table, Identities& identities) {
    const std::optional<int64_t> pid = reader.integer(table.globalPid);
    return pid ? identities.process(*pid) : identities.unnamedProcess();
}

void readOfCpu(LoadContext& context, FileDirectory& directory, EventCount& count) {
    constexpr const auto& t = tables::cpuPageFaults;
    TableReader reader(context, t, {t.start, t.globalPid, t.address, t.cpuInstruction},
                       "page faults");
    while (reader.next()) {
        const std::optional<int64_t> timeNs = reader.time(t.start);
        if (!timeNs) continue;
        const uint32_t process = processIn(reader, t, directory.identities);
        if (process == noIndex) {
            reader.skipRow();
            continue;
        }
        context.builder().add<kinds::PageFault>(
            {.startNs = *timeNs,
             .endNs = *timeNs,
             .address = static_cast<uint64_t>(reader.integerOr(t.address, 0)),
             .process = process,
             .instruction = reader.string(t.cpuInstruction, directory.strings).value_or(0)});
    }
    count.total += reader.rowCount();
    count.untimed += reader.untimedCount();
}

void readOfGpus(LoadContext& context, FileDirectory& directory, EventCount& count) {
    constexpr const auto& t = tables::gpuPageFaults;
    TableReader reader(context, t,
                       {t.start, t.end, t.globalPid, t.deviceId, t.address, t.numberOfPageFaults,
                        t.faultAccessType},
                       "page faults");
    while (reader.next()) {
        const std::optional<TimeRange> times = reader.times(t.start, t.end);
        if (!times) continue;
        const uint32_t process = processIn(reader, t, directory.identities);
        const uint32_t gpu = process == noIndex ? noIndex
                                                : directory.identities.gpuOf(
                                                      process, reader.integerOr(t.deviceId, -1));
        if (gpu == noIndex) {
            reader.skipRow();
            continue;
        }
        context.builder().add<kinds::PageFault>(
            {.startNs = times->startNs,
             .endNs = times->endNs,
             .address = static_cast<uint64_t>(reader.integerOr(t.address, 0)),
             .count = reader.integerOr(t.numberOfPageFaults, 1),
             .access = accessFrom(reader.integerOr(t.faultAccessType, 0)),
             .process = process,
             .gpu = gpu});
    }
    count.total += reader.rowCount();
    count.untimed += reader.untimedCount();
}

}  // namespace

void readUnifiedMemory(LoadContext& context, FileDirectory& directory) {
    EventCount count{std::string(kinds::PageFault::plural)};
    readOfCpu(context, directory, count);
    readOfGpus(context, directory, count);
    if (count.total > 0) context.builder().count(count.name, count.total, count.untimed);
}

}  // namespace lanescope
