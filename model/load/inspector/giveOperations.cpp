// SPDX-License-Identifier: Apache-2.0
#include "model/load/inspector/giveOperations.h"

#include <fmt/format.h>

#include <algorithm>

#include "model/trace/communicatorId.h"
#include "model/trace/kinds/Api.h"
#include "model/trace/kinds/Kernel.h"
#include "model/trace/kinds/Nvtx.h"
#include "model/trace/rangeDomains.h"

namespace lanescope {

OperationGiver::OperationGiver(TraceBuilder& builder)
    : builder_(builder),
      domain_(builder.intern(ncclDomain)),
      domainAtWriting_(builder.intern(ncclAtWritingDomain)) {
    // What the trace has already is not to be joined with what is given here.
    const Trace& trace = builder.trace();
    const auto see = [&](uint32_t process, uint32_t correlation) {
        Owner& owner = owners_[trace.processes[process].globalPid];
        owner.correlation = std::max(owner.correlation, correlation);
    };
    for (const Thread& each : trace.threads) threads_.insert(each.globalTid);
    for (const Stream& each : trace.streams) {
        int64_t& next = owners_[trace.processes[each.process].globalPid].nextStream;
        if (each.contextId == 0 && each.streamId < greatestTimeNs)
            next = std::max(next, each.streamId + 1);
    }
    for (uint32_t row = 0; row < trace.apiCalls.size(); ++row)
        see(trace.threads[trace.apiCalls.thread[row]].process, trace.apiCalls.correlation[row]);
    for (uint32_t row = 0; row < trace.kernels.size(); ++row)
        see(trace.streams[trace.kernels.stream[row]].process, trace.kernels.correlation[row]);
}

uint32_t OperationGiver::configOf(const NcclRow& row) {
    std::string name = fmt::format("ncclDevKernel_{}", builder_.text(row.operation));
    for (const StringIndex word : {row.facts.algorithm, row.facts.protocol})
        if (word != 0) name += fmt::format("_{}", builder_.text(word));
    LaunchConfig config;
    config.demangledName = config.shortName = builder_.intern(name);
    // NCCL launches a block for each channel.
    if (row.facts.channels > 0) config.grid = {static_cast<uint32_t>(row.facts.channels), 1, 1};
    return builder_.launchConfig(config);
}

void OperationGiver::give(int64_t globalPid, uint32_t gpu,
                          std::span<const SeenOperation> operations) {
    if (operations.empty()) return;
    Owner& owner = owners_[globalPid];
    const NcclRow& first = operations.front().row;
    while (threads_.contains(globalPid | owner.nextThread)) --owner.nextThread;
    const int64_t globalTid = globalPid | owner.nextThread;
    const uint32_t thread = builder_.thread(globalTid);
    if (thread == noIndex) {
        builder_.skip("NCCL operations", static_cast<int64_t>(operations.size()));
        return;
    }
    --owner.nextThread;
    const std::string_view name = builder_.text(first.facts.communicatorName);
    builder_.nameThread(globalTid, fmt::format("NCCL, communicator {}",
                                               name.empty() ? communicatorId(first.communicator)
                                                            : std::string(name)));
    const uint32_t process = builder_.process(globalPid);
    uint32_t stream = noIndex;
    int64_t lastStartNs = -greatestTimeNs;
    for (const SeenOperation& one : operations) {
        // Several calls begin in the same microsecond; in a file each is found by its start.
        TimeRange call = one.call;
        call.startNs = std::max(call.startNs, lastStartNs + 1);
        call.endNs = std::max(call.endNs, call.startNs + 1);
        lastStartNs = call.startNs;
        const StringIndex function =
            builder_.intern(fmt::format("nccl{}", builder_.text(one.row.operation)));
        const EventRef range =
            builder_.add<kinds::Nvtx>({.startNs = call.startNs,
                                       .endNs = call.endNs,
                                       .text = function,
                                       .domain = one.isAtWriting ? domainAtWriting_ : domain_,
                                       .thread = thread});
        if (!range.isValid()) continue;
        // Of a group all calls begin and end together: each launched its own kernel.
        NcclRow row = one.row;
        if (row.facts.launchThread == noIndex) {
            row.facts.launchThread = thread;
            row.facts.launch = {call.startNs, call.startNs + 1};
        }
        builder_.nccl(range, row);
        if (!one.kernel || gpu == noIndex) continue;
        if (stream == noIndex) stream = builder_.stream(process, gpu, 0, owner.nextStream++);
        const uint32_t correlation = ++owner.correlation;
        builder_.add<kinds::Api>({.startNs = call.startNs,
                                  .endNs = call.endNs,
                                  .name = function,
                                  .thread = thread,
                                  .correlation = correlation});
        builder_.add<kinds::Kernel>({.startNs = one.kernel->startNs,
                                     .endNs = one.kernel->endNs,
                                     .stream = stream,
                                     .correlation = correlation,
                                     .config = configOf(one.row)});
    }
}

}  // namespace lanescope
