#include "model/load/Identities.h"

#include "model/format/GlobalId.h"
#include "model/load/TableReader.h"

namespace lanescope {

namespace {

constexpr size_t maximumProcesses = 1 << 16;
constexpr size_t maximumThreads = 1 << 16;
constexpr size_t maximumStreams = 1 << 14;
constexpr size_t maximumGpus = 1 << 10;

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

size_t Identities::StreamHash::operator()(const StreamKey& key) const {
    uint64_t hash = key.process;
    for (const int64_t part : {key.device, key.context, key.stream})
        hash = (hash ^ static_cast<uint64_t>(part)) * 0x9e3779b97f4a7c15u;
    return static_cast<size_t>(hash ^ hash >> 32);
}

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
        const uint32_t index = id ? gpu(*id) : noIndex;
        if (index == noIndex) {
            reader.skipRow();
            continue;
        }
        Gpu& gpu = trace_.gpus[index];
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
        const uint32_t index = id ? gpu(*id) : noIndex;
        if (index == noIndex) {
            reader.skipRow();
            continue;
        }
        Gpu& gpu = trace_.gpus[index];
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
        if (const auto id = processes.integer(0)) processNames_[processOf(*id)] = processes.text(1);
    TableReader threads(context, "ThreadNames", {"globalTid", "nameId", "priority"}, "threads");
    while (threads.next()) {
        const std::optional<int64_t> id = threads.integer(0);
        const std::optional<StringIndex> name = threads.string(1, strings);
        if (!id || !name) continue;
        const int64_t priority = threads.integerOr(2, 0);
        const auto [found, isNew] = threadNames_.try_emplace(*id, priority, *name);
        if (!isNew && priority > found->second.first) found->second = {priority, *name};
    }
}

uint32_t Identities::gpu(int64_t gpuId) {
    if (const auto found = gpus_.find(gpuId); found != gpus_.end()) return found->second;
    if (trace_.gpus.size() >= maximumGpus) return noIndex;
    Gpu gpu;
    gpu.id = gpuId;
    trace_.gpus.push_back(std::move(gpu));
    const auto index = static_cast<uint32_t>(trace_.gpus.size() - 1);
    gpus_.emplace(gpuId, index);
    return index;
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

uint32_t Identities::process(int64_t globalPid) {
    const int64_t id = processOf(globalPid);
    if (lastProcess_.first == id && lastProcess_.second != noIndex) return lastProcess_.second;
    auto found = processes_.find(id);
    if (found == processes_.end()) {
        if (trace_.processes.size() >= maximumProcesses) return noIndex;
        Process process;
        process.globalPid = id;
        process.pid = processIdOf(id);
        if (const auto name = processNames_.find(id); name != processNames_.end())
            process.name = name->second;
        trace_.processes.push_back(std::move(process));
        found = processes_.emplace(id, static_cast<uint32_t>(trace_.processes.size() - 1)).first;
    }
    lastProcess_ = {id, found->second};
    return found->second;
}

uint32_t Identities::thread(int64_t globalTid) {
    if (lastThread_.first == globalTid && lastThread_.second != noIndex) return lastThread_.second;
    auto found = threads_.find(globalTid);
    if (found == threads_.end()) {
        const uint32_t owner = process(globalTid);
        if (owner == noIndex || trace_.threads.size() >= maximumThreads) return noIndex;
        Thread thread;
        thread.globalTid = globalTid;
        thread.tid = threadIdOf(globalTid);
        thread.process = owner;
        if (const auto name = threadNames_.find(globalTid); name != threadNames_.end())
            thread.name = trace_.strings.at(name->second.second);
        // A program is called as its main thread is, where the file does not name it.
        if (thread.tid == trace_.processes[owner].pid && trace_.processes[owner].name.empty())
            trace_.processes[owner].name = thread.name;
        trace_.threads.push_back(std::move(thread));
        found = threads_.emplace(globalTid, static_cast<uint32_t>(trace_.threads.size() - 1)).first;
    }
    lastThread_ = {globalTid, found->second};
    return found->second;
}

uint32_t Identities::stream(uint32_t process, int64_t device, int64_t context, int64_t stream) {
    const StreamKey key{process, device, context, stream};
    if (lastStream_.first == key && lastStream_.second != noIndex) return lastStream_.second;
    auto found = streams_.find(key);
    if (found == streams_.end()) {
        if (trace_.streams.size() >= maximumStreams) return noIndex;
        const Process& owner = trace_.processes[process];
        const uint32_t gpuIndex = gpu(gpuIdOf(owner, device));
        if (gpuIndex == noIndex) return noIndex;
        trace_.streams.push_back(
            {process, gpuIndex, context, stream, isNullStream(owner, context, stream)});
        found = streams_.emplace(key, static_cast<uint32_t>(trace_.streams.size() - 1)).first;
    }
    lastStream_ = {key, found->second};
    return found->second;
}

uint32_t Identities::gpuOf(uint32_t process, int64_t device) {
    return device < 0 ? noIndex : gpu(gpuIdOf(trace_.processes[process], device));
}

uint32_t Identities::gpuNumbered(int64_t gpuId) {
    return gpuId < 0 ? noIndex : gpu(gpuId);
}

uint32_t Identities::unnamedProcess() {
    return trace_.processes.size() == 1 ? 0 : process(0);
}

uint32_t Identities::unnamedThread() {
    return trace_.threads.size() == 1 ? 0 : thread(0);
}

}  // namespace lanescope
