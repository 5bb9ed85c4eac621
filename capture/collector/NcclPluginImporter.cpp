// SPDX-License-Identifier: Apache-2.0
#include "capture/collector/NcclPluginImporter.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <limits>
#include <utility>

#include "capture/collector/unless.h"
#include "model/format/factNames.h"
#include "model/format/ncclFunctions.h"
#include "model/format/tables/Nccl.h"

namespace lanescope::capture {

namespace {

constexpr std::string_view prefix = "nccl";

/// The whole message, unless a damaged log makes it larger than any memory.
std::optional<int64_t> bytesOf(uint64_t count, int64_t elementBytes) {
    constexpr auto most = static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
    if (elementBytes == 0 || count > most / static_cast<uint64_t>(elementBytes))
        return std::nullopt;
    return static_cast<int64_t>(count) * elementBytes;
}

}  // namespace

int64_t ncclDatatypeBytes(std::string_view name) {
    static constexpr std::array<std::pair<std::string_view, int64_t>, 12> types{{
        {"ncclInt8", 1},
        {"ncclUint8", 1},
        {"ncclInt32", 4},
        {"ncclUint32", 4},
        {"ncclInt64", 8},
        {"ncclUint64", 8},
        {"ncclFloat16", 2},
        {"ncclFloat32", 4},
        {"ncclFloat64", 8},
        {"ncclBfloat16", 2},
        {"ncclFloat8e4m3", 1},
        {"ncclFloat8e5m2", 1},
    }};
    const auto* found = std::find_if(types.begin(), types.end(),
                                     [name](const auto& type) { return type.first == name; });
    return found == types.end() ? 0 : found->second;
}

std::string ncclDatatypeName(std::string_view name) {
    if (!name.starts_with(prefix) || name.size() == prefix.size()) return std::string(name);
    std::string brief(name.substr(prefix.size()));
    brief[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(brief[0])));
    return brief;
}

NcclPluginImporter::NcclPluginImporter(ProcessContext& process)
    : process_(process), assembler_([this](const NcclOperation& operation) { write(operation); }) {}

void NcclPluginImporter::add(const log::NcclCommunicatorRecord& record) {
    interfaceVersion_ = record.interfaceVersion;
    // A log says its communicators again in each of its files.
    if (!communicators_.emplace(record.hash, record.rank).second) return;
    constexpr const auto& t = tables::ncclCommunicators;
    process_.trace.add(t, t.globalPid = process_.processId(), t.communicator = record.hash,
                       t.rank = unlessNegative(record.rank),
                       t.rankCount = unlessNegative(record.rankCount),
                       t.nodeCount = unlessNegative(record.nodeCount),
                       t.name = unlessEmpty(process_.strings.text(record.name)));
}

void NcclPluginImporter::finish() {
    assembler_.finish();
    if (interfaceVersion_)
        process_.trace.property(facts::ncclProfilerInterface, std::to_string(*interfaceVersion_),
                                process_.processId());
}

void NcclPluginImporter::write(const NcclOperation& operation) {
    // What the program asked for stands in the call; NCCL gathers and broadcasts bytes, whatever
    // the program's type was.
    const log::NcclOperationRecord* task = operation.task ? &operation.task->begin : nullptr;
    const log::NcclOperationRecord& asked = operation.call ? operation.call->begin : *task;
    const LogStrings& strings = process_.strings;
    const std::string_view function = ncclOperationName(strings.text(asked.function));
    const NcclFunction* known = findNcclFunction(function);
    const std::string datatype(strings.text(asked.datatype));
    const std::string brief = ncclDatatypeName(datatype);
    const bool isTypeLost = !operation.call && datatype == "ncclInt8" &&
                            (function == "AllGather" || function == "Broadcast");

    const auto timeOf = [this](const std::optional<NcclInterval>& interval) {
        return interval ? std::optional<int64_t>(process_.time(interval->begin.timestampNs))
                        : std::nullopt;
    };
    const auto endOf = [this](const std::optional<NcclInterval>& interval) {
        return interval && interval->endNs ? std::optional<int64_t>(process_.time(*interval->endNs))
                                           : std::nullopt;
    };
    const auto threadOf = [this](const std::optional<NcclInterval>& interval) {
        return interval ? std::optional<int64_t>(process_.threadId(interval->begin.threadId))
                        : std::nullopt;
    };
    const bool isCopied = task && task->event == log::NcclEvent::CopyEngine;
    const std::string_view algorithm =
        isCopied ? std::string_view("copy engine") : strings.text(task ? task->algorithm : 0);
    const auto nothing = std::optional<int64_t>();
    // Where the program called; of an older NCCL where that handed it over.
    const std::optional<int64_t> stack = process_.stacks.traceId(asked.stack);
    constexpr const auto& t = tables::ncclPluginOperations;
    process_.trace.add(
        t, t.globalTid = threadOf(operation.call), t.start = timeOf(operation.call),
        t.end = endOf(operation.call), t.operation = unlessEmpty(function),
        t.datatype = isTypeLost ? std::nullopt : unlessEmpty(brief),
        t.count = isTypeLost ? nothing : std::optional<int64_t>(asked.count),
        t.bytes = bytesOf(asked.count, ncclDatatypeBytes(datatype)),
        t.communicator = unlessZero(asked.communicator), t.rank = unlessNegative(asked.rank),
        t.root = known && known->hasRoot ? unlessNegative(asked.root) : nothing,
        t.peer = task ? unlessNegative(task->peer) : nothing,
        t.sequence = task ? unlessNegative(task->sequence) : nothing,
        t.algorithm = unlessEmpty(algorithm),
        t.protocol = unlessEmpty(strings.text(task ? task->protocol : 0)),
        t.channels = task ? unlessZero(int64_t{task->channels}) : nothing,
        t.warps = task ? unlessZero(int64_t{task->warps}) : nothing,
        t.isCaptured = operation.call ? std::optional<int64_t>(asked.isCaptured != 0) : nothing,
        t.enqueueGlobalTid = threadOf(operation.task), t.enqueueStart = timeOf(operation.task),
        t.enqueueEnd = endOf(operation.task), t.launchGlobalTid = threadOf(operation.launch),
        t.launchStart = timeOf(operation.launch), t.launchEnd = endOf(operation.launch),
        t.callchainId = stack);
    ++operations_;
}

}  // namespace lanescope::capture
