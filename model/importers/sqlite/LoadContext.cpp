// SPDX-License-Identifier: Apache-2.0
#include "model/importers/sqlite/LoadContext.h"

#include <fmt/format.h>

#include <algorithm>

#include "model/format/GlobalId.h"
#include "model/format/tables/Hardware.h"
#include "model/format/tables/Session.h"
#include "model/format/text.h"
#include "model/importers/sqlite/RowReader.h"

namespace lanescope {

namespace {

int toInt(int64_t value) { return value >= 0 && value <= INT32_MAX ? static_cast<int>(value) : 0; }

/// Returns the host of a packed PID; 0 for a plain PID.
uint32_t hostOfPid(int64_t value) { return value > 0xffffff ? hostOf(value) : 0; }

/// Returns the PID of a column with plain or packed PIDs, depending on the file.
uint32_t plainPid(int64_t value) {
    return value > 0xffffff ? processIdOf(value) : static_cast<uint32_t>(value & 0xffffff);
}

/// Minimum size of a row: a cell pointer, two lengths and a record header.
constexpr int64_t minBytesPerRow = 6;
/// Each byte of a file belongs to at most one text. A table may be read twice, and the default text
/// of an added column is stored once in the file.
constexpr uint64_t textsPerByte = 4;
constexpr uint64_t minTextLimitBytes = uint64_t{1} << 20;
constexpr std::chrono::milliseconds reportInterval{40};

}  // namespace

void Identities::read(LoadContext& context, FileStrings& strings) {
    readGpus(context);
    readOldGpus(context);
    readDeviceMap(context);
    readNullStreams(context);
    readContexts(context);
    readNames(context, strings);
}

void Identities::readGpus(LoadContext& context) {
    constexpr const auto& t = tables::gpus;
    if (context.database().hasColumn(t.tableName(), t.id.name))
        readGpus(context, t);
    else
        readGpus(context, tables::oldestGpus);
}

void Identities::readGpus(LoadContext& context, const auto& t) {
    TableReader reader(context, t,
                       {t.id, t.name, t.uuid, t.busLocation, t.totalMemory, t.memoryBandwidth, t.smCount,
                        t.computeMajor, t.computeMinor},
                       "GPUs");
    while (reader.next()) {
        const std::optional<int64_t> id = reader.integer(t.id);
        const uint32_t index = id ? builder_.gpu(*id) : noIndex;
        if (reader.skipRowIf(index == noIndex)) continue;
        Gpu& gpu = builder_.gpus()[index];
        gpu.name = reader.text(t.name);
        gpu.uuid = reader.text(t.uuid);
        gpu.busLocation = reader.text(t.busLocation);
        gpu.memoryBytes = reader.bytes(t.totalMemory);
        gpu.memoryBandwidthBytesPerSecond = reader.bytes(t.memoryBandwidth);
        gpu.smCount = toInt(reader.integerOr(t.smCount, 0));
        gpu.computeMajor = toInt(reader.integerOr(t.computeMajor, 0));
        gpu.computeMinor = toInt(reader.integerOr(t.computeMinor, 0));
    }
}

void Identities::readOldGpus(LoadContext& context) {
    constexpr const auto& t = tables::cudaGpus;
    TableReader reader(context, t, "GPUs");
    while (reader.next()) {
        const std::optional<int64_t> id = reader.integer(t.deviceId);
        const uint32_t index = id ? builder_.gpu(*id) : noIndex;
        if (reader.skipRowIf(index == noIndex)) continue;
        Gpu& gpu = builder_.gpus()[index];
        if (gpu.smCount > 0) continue;
        if (gpu.name.empty()) gpu.name = reader.text(t.name);
        if (gpu.busLocation.empty()) gpu.busLocation = reader.text(t.pciBusId);
        gpu.memoryBytes = reader.bytes(t.globalMemorySize);
        gpu.memoryBandwidthBytesPerSecond = reader.bytes(t.globalMemoryBandwidth);
        gpu.smCount = toInt(reader.integerOr(t.numMultiprocessors, 0));
        gpu.computeMajor = toInt(reader.integerOr(t.computeCapabilityMajor, 0));
        gpu.computeMinor = toInt(reader.integerOr(t.computeCapabilityMinor, 0));
    }
}

void Identities::readDeviceMap(LoadContext& context) {
    constexpr const auto& t = tables::cudaDevices;
    TableReader reader(context, t, {t.gpuId, t.cudaId, t.pid}, "GPUs");
    while (reader.next()) {
        const std::optional<int64_t> gpuId = reader.integer(t.gpuId);
        const std::optional<int64_t> cudaId = reader.integer(t.cudaId);
        const int64_t pid = reader.integerOr(t.pid, 0);
        if (gpuId && cudaId) gpuIdOf_[{plainPid(pid), *cudaId}][hostOfPid(pid)] = *gpuId;
    }
}

void Identities::readNullStreams(LoadContext& context) {
    const auto read = [&](const auto& t, auto stream) {
        TableReader reader(context, t, {t.processId, t.contextId, stream, t.hwId}, "streams");
        while (reader.next()) {
            const int64_t pid = reader.integerOr(t.processId, 0);
            const uint32_t host = pid > 0xffffff ? hostOf(pid) : reader.unsigned32(t.hwId);
            nullStreams_[{plainPid(pid), reader.integerOr(t.contextId, 0), reader.integerOr(stream, -1)}].insert(host);
        }
    };
    read(tables::nullStreams, tables::nullStreams.streamId);
    read(tables::contexts, tables::contexts.nullStreamId);
}

void Identities::readContexts(LoadContext& context) {
    constexpr const auto& t = tables::contexts;
    TableReader reader(context, t, {t.processId, t.contextId, t.deviceId}, "contexts");
    while (reader.next())
        if (const std::optional<int64_t> device = reader.integer(t.deviceId))
            devicesOf_[{plainPid(reader.integerOr(t.processId, 0)), reader.integerOr(t.contextId, 0)}].insert(*device);
}

void Identities::readNames(LoadContext& context, FileStrings& strings) {
    constexpr const auto& process = tables::processes;
    TableReader processes(context, process, {process.globalPid, process.name}, "processes");
    while (processes.next())
        if (const auto id = processes.integer(process.globalPid))
            builder_.nameProcess(*id, processes.text(process.name));
    MixedMap<int64_t, int64_t> priorities;
    constexpr const auto& thread = tables::threadNames;
    TableReader threads(context, thread, {thread.globalTid, thread.nameId, thread.priority}, "threads");
    while (threads.next()) {
        const std::optional<int64_t> id = threads.integer(thread.globalTid);
        const std::optional<StringIndex> name = threads.string(thread.nameId, strings);
        if (!id || !name) continue;
        const int64_t priority = threads.integerOr(thread.priority, 0);
        if (priority == tables::substitutePriority) continue;
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
    // A plain PID refers to the only process of that PID on any host.
    return ofHost != byHost.end() ? ofHost->second : byHost.begin()->second;
}

bool Identities::isNullStream(const Process& process, int64_t context, int64_t stream) const {
    const auto found = nullStreams_.find({process.pid, context, stream});
    if (found == nullStreams_.end()) return false;
    // Some exports number hosts differently in this table. With one host, it is that one.
    return found->second.size() == 1 || found->second.contains(hostOf(process.globalPid));
}

uint32_t Identities::stream(uint32_t process, int64_t device, int64_t context, int64_t stream) {
    const uint32_t gpu = gpuOf(process, device);
    const size_t known = builder_.streams().size();
    const uint32_t index = gpu == noIndex ? noIndex : builder_.stream(process, gpu, context, stream);
    if (index == known && index != noIndex)
        builder_.streams()[index].isNullStream = isNullStream(builder_.processes()[process], context, stream);
    return index;
}

uint32_t Identities::gpuOf(uint32_t process, int64_t device) {
    if (device < 0) return noIndex;
    if (lastDevice_.gpu == noIndex || lastDevice_.process != process || lastDevice_.number != device) {
        const uint32_t gpu = builder_.gpu(gpuIdOf(builder_.processes()[process], device));
        lastDevice_ = {process, device, gpu};
    }
    return lastDevice_.gpu;
}

int64_t Identities::deviceOf(uint32_t process, int64_t context) const {
    const auto found = devicesOf_.find({builder_.processes()[process].pid, context});
    return found != devicesOf_.end() && found->second.size() == 1 ? *found->second.begin() : -1;
}

uint32_t Identities::gpuNumbered(int64_t gpuId) { return gpuId < 0 ? noIndex : builder_.gpu(gpuId); }

uint32_t Identities::unnamedProcess() { return builder_.processes().size() == 1 ? 0 : process(0); }

uint32_t Identities::unnamedThread() { return builder_.trace().threads.size() == 1 ? 0 : thread(0); }

void FileStrings::read(LoadContext& context) {
    constexpr const auto& table = tables::strings;
    TableReader reader(context, table, {table.id, table.value}, "strings");
    // Larger ids than the file can contain rows would make the vector larger than the file.
    const int64_t denseLimit = context.possibleRows();
    while (reader.next()) {
        const std::optional<int64_t> id = reader.integer(table.id);
        if (reader.skipRowIf(!id)) continue;
        const StringIndex index = builder_.intern(reader.text(table.value));
        if (*id < 0 || *id >= denseLimit) {
            sparse_[*id] = index;
            continue;
        }
        const auto position = static_cast<size_t>(*id);
        if (position >= dense_.size()) dense_.resize(position + 1, missing);
        dense_[position] = index;
    }
}

std::optional<StringIndex> FileStrings::find(int64_t id) const {
    if (id >= 0 && static_cast<uint64_t>(id) < dense_.size()) {
        const StringIndex index = dense_[static_cast<size_t>(id)];
        return index != missing ? std::optional(index) : std::nullopt;
    }
    return valueOr(sparse_, id, std::optional<StringIndex>());
}

std::string_view plainApiName(std::string_view entryPoint) {
    const size_t version = entryPoint.rfind("_v");
    if (version == std::string_view::npos) return entryPoint;
    const std::string_view digits = entryPoint.substr(version + 2);
    // CUDA versions have four or five digits ("_v3020", "_v12000").
    if (digits.size() < 4 || digits.size() > 5 || !isNumber(digits)) return entryPoint;
    std::string_view name = entryPoint.substr(0, version);
    // Variants of the default stream, which are the same call for the user.
    for (const std::string_view suffix : {"_ptsz", "_ptds"})
        if (name.ends_with(suffix)) name.remove_suffix(suffix.size());
    return name;
}

LoadContext::LoadContext(const Database& database, TraceBuilder& builder, unsigned threads,
                         const LoadProgress& progress)
    : database_(database),
      builder_(builder),
      threads_(threads),
      progress_(progress),
      possibleRows_(static_cast<int64_t>(database.fileBytes()) / minBytesPerRow),
      possibleTextBytes_(minTextLimitBytes + textsPerByte * database.fileBytes()) {}

std::span<const Database> LoadContext::borrowConnections() {
    if (areBorrowed_) return {};
    while (furtherConnections_.size() + 1 < threads_) {
        Result<Database> database = database_.reopen();
        if (!database) break;
        furtherConnections_.push_back(std::move(*database));
    }
    areBorrowed_ = !furtherConnections_.empty();
    return furtherConnections_;
}

int64_t LoadContext::estimatedRows(const char* table) const {
    if (!database_.hasTable(table)) return 0;
    auto statement = database_.prepare(fmt::format("SELECT max(rowid) FROM {}", table));
    if (!statement) return 0;
    const auto row = statement->step();
    return row && *row ? std::clamp<int64_t>(statement->integer(0), 0, possibleRows_) : 0;
}

bool LoadContext::advance(int64_t rows, std::string_view what) {
    readRows_ += rows;
    const double read =
        static_cast<double>(readRows_) / static_cast<double>(std::max<int64_t>({1, expectedRows_, readRows_}));
    return report(read, what);
}

bool LoadContext::report(double fraction, std::string_view what) {
    if (!progress_ || isCancelled_) return !isCancelled_;
    const auto now = std::chrono::steady_clock::now();
    if (now < nextReport_) return true;
    nextReport_ = now + reportInterval;
    isCancelled_ = !progress_(fraction, what);
    return !isCancelled_;
}

}  // namespace lanescope
