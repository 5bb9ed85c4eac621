#include "model/load/sqlite/Identities.h"

#include <unordered_map>

#include "model/format/GlobalId.h"
#include "model/load/sqlite/TableReader.h"

namespace lanescope {

namespace {

int toInt(int64_t value) {
    return value >= 0 && value <= INT32_MAX ? static_cast<int>(value) : 0;
}

/// The host in a column that holds packed PIDs; 0 for a plain PID.
uint32_t hostOfPid(int64_t value) {
    return value > 0xffffff ? hostOf(value) : 0;
}

/// The PID in a column that holds plain PIDs in some files and packed ones in others.
uint32_t plainPid(int64_t value) {
    return value > 0xffffff ? processIdOf(value) : static_cast<uint32_t>(value & 0xffffff);
}

}  // namespace

void Identities::read(LoadContext& context, FileStrings& strings) {
    readGpus(context);
    readOldGpus(context);
    readDeviceMap(context);
    readNullStreams(context);
    readNames(context, strings);
}

void Identities::readGpus(LoadContext& context) {
    TableReader reader(context, "TARGET_INFO_GPU",
                       {"id", "name", "uuid", "busLocation", "totalMemory", "memoryBandwidth",
                        "smCount", "computeMajor", "computeMinor", "deviceId"},
                       "GPUs");
    while (reader.next()) {
        // The first exports called the column otherwise.
        const std::optional<int64_t> id = reader.integer(reader.hasColumn(0) ? 0 : 9);
        const uint32_t index = id ? builder_.gpu(*id) : noIndex;
        if (index == noIndex) {
            reader.skipRow();
            continue;
        }
        Gpu& gpu = builder_.gpus()[index];
        gpu.name = reader.text(1);
        gpu.uuid = reader.text(2);
        gpu.busLocation = reader.text(3);
        gpu.memoryBytes = reader.bytes(4);
        gpu.memoryBandwidthBytesPerSecond = reader.bytes(5);
        gpu.smCount = toInt(reader.integerOr(6, 0));
        gpu.computeMajor = toInt(reader.integerOr(7, 0));
        gpu.computeMinor = toInt(reader.integerOr(8, 0));
    }
}

void Identities::readOldGpus(LoadContext& context) {
    TableReader reader(context, "TARGET_INFO_CUDA_GPU",
                       {"deviceId", "name", "pciBusId", "globalMemorySize", "globalMemoryBandwidth",
                        "numMultiprocessors", "computeCapabilityMajor", "computeCapabilityMinor"},
                       "GPUs");
    while (reader.next()) {
        const std::optional<int64_t> id = reader.integer(0);
        const uint32_t index = id ? builder_.gpu(*id) : noIndex;
        if (index == noIndex) {
            reader.skipRow();
            continue;
        }
        Gpu& gpu = builder_.gpus()[index];
        if (gpu.smCount > 0) continue;
        if (gpu.name.empty()) gpu.name = reader.text(1);
        if (gpu.busLocation.empty()) gpu.busLocation = reader.text(2);
        gpu.memoryBytes = reader.bytes(3);
        gpu.memoryBandwidthBytesPerSecond = reader.bytes(4);
        gpu.smCount = toInt(reader.integerOr(5, 0));
        gpu.computeMajor = toInt(reader.integerOr(6, 0));
        gpu.computeMinor = toInt(reader.integerOr(7, 0));
    }
}

void Identities::readDeviceMap(LoadContext& context) {
    TableReader reader(context, "TARGET_INFO_CUDA_DEVICE", {"gpuId", "cudaId", "pid"}, "GPUs");
    while (reader.next()) {
        const std::optional<int64_t> gpuId = reader.integer(0);
        const std::optional<int64_t> cudaId = reader.integer(1);
        const int64_t pid = reader.integerOr(2, 0);
        if (gpuId && cudaId) gpuIdOf_[{plainPid(pid), *cudaId}][hostOfPid(pid)] = *gpuId;
    }
}

void Identities::readNullStreams(LoadContext& context) {
    const auto read = [&](const char* table, const char* stream) {
        TableReader reader(context, table, {"processId", "contextId", stream, "hwId"}, "streams");
        while (reader.next()) {
            const int64_t pid = reader.integerOr(0, 0);
            const uint32_t host = pid > 0xffffff ? hostOf(pid) : reader.unsigned32(3);
            nullStreams_[{plainPid(pid), reader.integerOr(1, 0), reader.integerOr(2, -1)}].insert(
                host);
        }
    };
    read("TARGET_INFO_CUDA_NULL_STREAM", "streamId");
    read("TARGET_INFO_CUDA_CONTEXT_INFO", "nullStreamId");
}

void Identities::readNames(LoadContext& context, FileStrings& strings) {
    TableReader processes(context, "PROCESSES", {"globalPid", "name"}, "processes");
    while (processes.next())
        if (const auto id = processes.integer(0)) builder_.nameProcess(*id, processes.text(1));
    std::unordered_map<int64_t, int64_t> priorities;
    TableReader threads(context, "ThreadNames", {"globalTid", "nameId", "priority"}, "threads");
    while (threads.next()) {
        const std::optional<int64_t> id = threads.integer(0);
        const std::optional<StringIndex> name = threads.string(1, strings);
        if (!id || !name) continue;
        const int64_t priority = threads.integerOr(2, 0);
        const auto [found, isNew] = priorities.try_emplace(*id, priority);
        if (!isNew && priority <= found->second) continue;
        found->second = priority;
        builder_.nameThread(*id, strings.text(*name));
    }
}

int64_t Identities::gpuIdOf(const Process& process, int64_t device) const {
    const auto found = gpuIdOf_.find({process.pid, device});
    if (found == gpuIdOf_.end()) return device;
    const auto& byHost = found->second;
    const auto ofHost = byHost.find(hostOf(process.globalPid));
    // Where PIDs are plain, the only process of that PID is meant, whatever its host.
    return ofHost != byHost.end() ? ofHost->second : byHost.begin()->second;
}

bool Identities::isNullStream(const Process& process, int64_t context, int64_t stream) const {
    const auto found = nullStreams_.find({process.pid, context, stream});
    if (found == nullStreams_.end()) return false;
    // Exports exist that number hosts otherwise in this table; then one host can only be the one.
    return found->second.size() == 1 || found->second.contains(hostOf(process.globalPid));
}

uint32_t Identities::stream(uint32_t process, int64_t device, int64_t context, int64_t stream) {
    const uint32_t gpu = gpuOf(process, device);
    const size_t known = builder_.streams().size();
    const uint32_t index =
        gpu == noIndex ? noIndex : builder_.stream(process, gpu, context, stream);
    if (index == known && index != noIndex)
        builder_.streams()[index].isNullStream =
            isNullStream(builder_.processes()[process], context, stream);
    return index;
}

uint32_t Identities::gpuOf(uint32_t process, int64_t device) {
    if (device < 0) return noIndex;
    if (lastDevice_.gpu == noIndex || lastDevice_.process != process ||
        lastDevice_.number != device) {
        const uint32_t gpu = builder_.gpu(gpuIdOf(builder_.processes()[process], device));
        lastDevice_ = {process, device, gpu};
    }
    return lastDevice_.gpu;
}

uint32_t Identities::gpuNumbered(int64_t gpuId) {
    return gpuId < 0 ? noIndex : builder_.gpu(gpuId);
}

uint32_t Identities::unnamedProcess() {
    return builder_.processes().size() == 1 ? 0 : process(0);
}

uint32_t Identities::unnamedThread() {
    return builder_.trace().threads.size() == 1 ? 0 : thread(0);
}

}  // namespace lanescope
