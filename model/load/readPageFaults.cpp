#include <algorithm>

#include "model/load/TableReader.h"
#include "model/load/readers.h"

namespace lanescope {

namespace {

struct Fault {
    TimeRange times;
    int64_t address = 0;
    int64_t count = 1;
    int64_t access = 0;
    uint32_t process = noIndex;
    uint32_t gpu = noIndex;
    StringIndex instruction = 0;
};

void append(PageFaultTable& table, const Fault& fault) {
    const bool isKnown =
        fault.access >= 0 && fault.access <= static_cast<int64_t>(FaultAccess::Prefetch);
    table.startNs.push_back(fault.times.startNs);
    table.endNs.push_back(fault.times.endNs);
    table.address.push_back(static_cast<uint64_t>(fault.address));
    table.count.push_back(std::max<int64_t>(0, fault.count));
    table.access.push_back(isKnown ? static_cast<FaultAccess>(fault.access) : FaultAccess::Unknown);
    table.process.push_back(fault.process);
    table.gpu.push_back(fault.gpu);
    table.instruction.push_back(fault.instruction);
}

uint32_t processIn(RowReader& reader, int column, Identities& identities) {
    const std::optional<int64_t> pid = reader.integer(column);
    return pid ? identities.process(*pid) : identities.unnamedProcess();
}

void readOfCpu(LoadContext& context, FileDirectory& directory, EventCount& count) {
    TableReader reader(context, "CUDA_UM_CPU_PAGE_FAULT_EVENTS",
                       {"start", "globalPid", "address", "CpuInstruction"}, "page faults");
    while (reader.next()) {
        const std::optional<int64_t> timeNs = reader.time(0);
        if (!timeNs) continue;
        Fault fault;
        fault.times = {*timeNs, *timeNs};
        fault.process = processIn(reader, 1, directory.identities);
        fault.address = reader.integerOr(2, 0);
        fault.instruction = reader.string(3, directory.strings).value_or(0);
        if (fault.process == noIndex)
            reader.skipRow();
        else
            append(context.trace().pageFaults, fault);
    }
    count.total += reader.rowCount();
    count.untimed += reader.untimedCount();
}

void readOfGpus(LoadContext& context, FileDirectory& directory, EventCount& count) {
    TableReader reader(context, "CUDA_UM_GPU_PAGE_FAULT_EVENTS",
                       {"start", "end", "globalPid", "deviceId", "address", "numberOfPageFaults",
                        "faultAccessType"},
                       "page faults");
    while (reader.next()) {
        const std::optional<TimeRange> times = reader.times(0, 1);
        if (!times) continue;
        Fault fault;
        fault.times = *times;
        fault.process = processIn(reader, 2, directory.identities);
        if (fault.process != noIndex)
            fault.gpu = directory.identities.gpuOf(fault.process, reader.integerOr(3, -1));
        fault.address = reader.integerOr(4, 0);
        fault.count = reader.integerOr(5, 1);
        fault.access = reader.integerOr(6, 0);
        if (fault.gpu == noIndex)
            reader.skipRow();
        else
            append(context.trace().pageFaults, fault);
    }
    count.total += reader.rowCount();
    count.untimed += reader.untimedCount();
}

}  // namespace

void readPageFaults(LoadContext& context, FileDirectory& directory) {
    EventCount count{"page faults"};
    readOfCpu(context, directory, count);
    readOfGpus(context, directory, count);
    if (count.total > 0) context.trace().counts.push_back(count);
}

}  // namespace lanescope
