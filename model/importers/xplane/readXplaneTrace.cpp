// SPDX-License-Identifier: Apache-2.0
#include "model/importers/xplane/readXplaneTrace.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>

#include "model/format/factNames.h"
#include "model/format/text.h"
#include "model/importers/events/ImportedFile.h"
#include "model/trace/rangeDomains.h"

namespace lanescope {

namespace {

template <class Number>
Number numberIn(std::string_view text) {
    Number number = 0;
    std::from_chars(text.data(), text.data() + text.size(), number);
    return number;
}

/// Calls `visit(key, value)` for each "key:value" of a text.
void forEachDetail(std::string_view details, auto visit) {
    while (!details.empty()) {
        const std::string_view word = takeUntil(details, ' ');
        const size_t colon = word.find(':');
        if (colon != std::string_view::npos) visit(word.substr(0, colon), word.substr(colon + 1));
    }
}

std::array<uint32_t, 3> sizesIn(std::string_view text) {
    std::array<uint32_t, 3> sizes{};
    for (uint32_t& size : sizes) size = numberIn<uint32_t>(takeUntil(text, ','));
    return sizes;
}

std::string plain(std::string_view text) {
    std::string word;
    for (const char c : text)
        if (isLetter(c) || isDigit(c)) word += lowerCase(c);
    return word;
}

MemoryKind memoryIn(std::string_view word) {
    constexpr std::array<std::pair<std::string_view, MemoryKind>, 8> kinds{{
        {"pageable", MemoryKind::Pageable},
        {"pinned", MemoryKind::Pinned},
        {"device", MemoryKind::Device},
        {"array", MemoryKind::Array},
        {"managed", MemoryKind::Managed},
        {"unified", MemoryKind::Managed},
        {"devicestatic", MemoryKind::DeviceStatic},
        {"managedstatic", MemoryKind::ManagedStatic},
    }};
    const std::string wanted = plain(word);
    for (const auto& [name, kind] : kinds)
        if (wanted == name) return kind;
    return MemoryKind::Unknown;
}

MemcpyKind directionIn(std::string_view name) {
    constexpr std::array<std::pair<std::string_view, MemcpyKind>, 10> kinds{{
        {"memcpyh2d", MemcpyKind::HtoD},
        {"memcpyd2h", MemcpyKind::DtoH},
        {"memcpyd2d", MemcpyKind::DtoD},
        {"memcpyp2p", MemcpyKind::PtoP},
        {"memcpyh2h", MemcpyKind::HtoH},
        {"memcpyhtod", MemcpyKind::HtoD},
        {"memcpydtoh", MemcpyKind::DtoH},
        {"memcpydtod", MemcpyKind::DtoD},
        {"memcpyptop", MemcpyKind::PtoP},
        {"memcpyhtoh", MemcpyKind::HtoH},
    }};
    const std::string wanted = plain(name);
    for (const auto& [word, kind] : kinds)
        if (wanted.starts_with(word)) return kind;
    return MemcpyKind::Unknown;
}

bool beginsWith(std::string_view name, std::string_view lower) { return plain(name.substr(0, lower.size())) == lower; }

/// Used for events if the plane lacks their kind.
const XplaneEventKind unknownKind{"(without a name)", {}, {}};

// More than any real file has. Entries of two bytes must not become as many of 100 bytes.
constexpr size_t maxLines = size_t{1} << 17;
constexpr size_t maxNames = size_t{1} << 20;
constexpr size_t maxStats = 64;

void keep(std::vector<std::string_view>& list, std::string_view message, size_t maxSize) {
    if (list.size() < maxSize) list.push_back(message);
}

constexpr int64_t picosecondsPerNs = 1000;
/// A limit so that the sum of two times of a file cannot overflow.
constexpr int64_t maxTimeNs = int64_t{1} << 60;
/// Names of operations, more than any real file has.
constexpr size_t maxKeptNames = size_t{1} << 20;
/// More than any machine has.
constexpr int64_t maxGpus = 1024;
/// A file has a single process for the host.
constexpr std::string_view hostProcess = "host";

/// Returns "tf_pool" for "tf_pool/-2462417173218157370". The number repeats that of the thread.
std::string_view withoutNumber(std::string_view name) {
    const size_t slash = name.rfind('/');
    if (slash == std::string_view::npos || slash == 0) return name;
    const std::string_view number = name.substr(slash + 1);
    const bool isNumber = number.find_first_not_of("-0123456789") == std::string_view::npos;
    return isNumber && !number.empty() ? name.substr(0, slash) : name;
}

/// Returns the domain of ranges that profilers derive from others.
std::string_view derivedDomain(std::string_view line) {
    if (line == "XLA Modules") return xlaModuleDomain;
    if (line == "XLA Ops") return xlaOperationDomain;
    if (line == "Steps") return xlaStepDomain;
    return line;
}

/// Returns "gemm" for "gemm.kd", AMD's name of a kernel descriptor.
std::string_view withoutEnding(std::string_view kernel) {
    return kernel.ends_with(".kd") ? kernel.substr(0, kernel.size() - 3) : kernel;
}

}  // namespace

ImportedLaunch launchOf(std::string_view details) {
    ImportedLaunch launch;
    forEachDetail(details, [&](std::string_view key, std::string_view value) {
        if (key == "grid") launch.grid = sizesIn(value);
        if (key == "block") launch.block = sizesIn(value);
        if (key == "regs") launch.registers = numberIn<uint32_t>(value);
        if (key == "static_shared" || key == "dynamic_shared" || key == "group_mem")
            launch.sharedBytes += numberIn<uint32_t>(value);
    });
    return launch;
}

XplaneCopy copyOf(std::string_view name, std::string_view details) {
    XplaneCopy copy{.kind = directionIn(name)};
    forEachDetail(details, [&](std::string_view key, std::string_view value) {
        if (key == "size" || key == "num_bytes") copy.bytes = std::max<int64_t>(0, numberIn<int64_t>(value));
        if (key == "kind_src") copy.source = memoryIn(value);
        if (key == "kind_dst" || key == "kind") copy.destination = memoryIn(value);
    });
    return copy;
}

bool isCopyName(std::string_view name) { return beginsWith(name, "memcpy"); }

bool isMemsetName(std::string_view name) { return beginsWith(name, "memset"); }

bool isDriverName(std::string_view name) { return isFunctionOf("cu", name); }

bool isApiName(std::string_view name) {
    return isFunctionOf("cu", name) || isFunctionOf("cuda", name) || isFunctionOf("hip", name) ||
           name.starts_with("hsa_");
}

int64_t numberAfter(std::string_view text, std::string_view word) {
    const size_t found = text.find(word);
    if (found == std::string_view::npos) return -1;
    const std::string_view digits = text.substr(found + word.size());
    int64_t number = -1;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    return error == std::errc{} && end != digits.data() && number >= 0 ? number : -1;
}

XplanePlane::XplanePlane(std::string_view message) {
    ProtoCursor cursor(message);
    for (const ProtoField& field : cursor) {
        if (!field.isBytes()) continue;
        switch (field.number) {
            case 2: name_ = field.bytes; break;
            case 3: keep(lines_, field.bytes, maxLines); break;
            case 4: addEventKind(field.bytes); break;
            case 5: addStatName(field.bytes); break;
            case 6: keep(stats_, field.bytes, maxStats); break;
            default: break;
        }
    }
    see(cursor);
}

void XplanePlane::addEventKind(std::string_view entry) {
    const ProtoEntry found = entryIn(entry);
    if (eventKinds_.size() >= maxNames) return;
    XplaneEventKind& kind = eventKinds_[found.number] = {};
    ProtoCursor cursor(found.bytes);
    for (const ProtoField& field : cursor) {
        if (!field.isBytes()) continue;
        if (field.number == 2) kind.name = field.bytes;
        if (field.number == 4) kind.displayName = field.bytes;
        if (field.number == 5) keep(kind.stats, field.bytes, maxStats);
    }
    see(cursor);
}

void XplanePlane::addStatName(std::string_view entry) {
    const ProtoEntry found = entryIn(entry);
    if (statNames_.size() >= maxNames) return;
    std::string_view& name = statNames_[found.number] = {};
    ProtoCursor cursor(found.bytes);
    for (const ProtoField& field : cursor)
        if (field.number == 2 && field.isBytes()) name = field.bytes;
    see(cursor);
}

XplaneLine XplanePlane::line(std::string_view message) {
    XplaneLine line{.message = message};
    ProtoCursor cursor(message);
    for (const ProtoField& field : cursor) {
        if (field.number == 1 && field.isNumber()) line.id = field.signedValue();
        if (field.number == 2 && field.isBytes()) line.name = field.bytes;
        if (field.number == 3 && field.isNumber()) line.timeNs = field.signedValue();
        if (field.number == 11 && field.isBytes()) line.displayName = field.bytes;
    }
    see(cursor);
    return line;
}

XplaneEvent XplanePlane::event(std::string_view message) {
    XplaneEvent event{.message = message};
    uint64_t kind = 0;
    ProtoCursor cursor(message);
    for (const ProtoField& field : cursor) {
        if (!field.isNumber()) continue;
        if (field.number == 1) kind = field.value;
        if (field.number == 2) event.offsetPs = field.signedValue();
        if (field.number == 3) event.durationPs = field.signedValue();
        if (field.number == 5) event.isAggregated = true;
    }
    see(cursor);
    const auto found = eventKinds_.find(kind);
    event.kind = found != eventKinds_.end() ? &found->second : &unknownKind;
    return event;
}

XplaneStat XplanePlane::stat(std::string_view message) {
    XplaneStat stat;
    ProtoCursor cursor(message);
    const auto nameOf = [this](uint64_t number) { return valueOr(statNames_, number, std::string_view()); };
    for (ProtoField field; cursor.next(field);) {
        switch (field.number) {
            case 1: stat.name = nameOf(field.value); break;
            case 2: stat.real = field.real(); break;
            case 3:
            case 4: stat.number = field.signedValue(); break;
            case 5: stat.text = field.bytes; break;
            case 7: stat.text = nameOf(field.value); break;
            default: break;
        }
    }
    see(cursor);
    return stat;
}

void XplaneChunk::flush() {
    events_.take(chunk_, 0);
    chunk_ = ImportedChunk();
    made_.clear();
    threads_.clear();
    places_.clear();
    launches_.clear();
    counters_.clear();
    count_ = 0;
}

const std::string* XplaneReader::keptName(std::string_view name) {
    const auto found = names_.find(name);
    if (found != names_.end()) return &*found;
    if (names_.size() >= maxKeptNames) return nullptr;
    return &*names_.insert(std::string(name)).first;
}

bool XplaneReader::timesOf(const XplaneLine& line, const XplaneEvent& event, int64_t& startNs, int64_t& durationNs) {
    if (event.isAggregated) {
        ++aggregated_;
        return false;
    }
    ++chunk_.tally().events;
    const int64_t endPs = event.durationPs > 0 && event.offsetPs > 0 && event.durationPs > INT64_MAX - event.offsetPs
                              ? INT64_MAX
                              : event.offsetPs + event.durationPs;
    const int64_t offsetNs = event.offsetPs / picosecondsPerNs;
    const bool isPossible =
        line.timeNs > -maxTimeNs && line.timeNs < maxTimeNs * 4 && offsetNs > -maxTimeNs && event.durationPs >= 0;
    if (!isPossible || __builtin_add_overflow(line.timeNs, offsetNs, &startNs)) {
        ++chunk_.tally().untimed;
        return false;
    }
    durationNs = endPs / picosecondsPerNs - offsetNs;
    ++chunk_.tally().fractions;
    return true;
}

XplaneReader::Stats XplaneReader::statsOf(XplanePlane& plane, const XplaneEvent& event) {
    Stats stats;
    const auto keep = [](std::string_view& into, const XplaneStat& stat) {
        if (into.empty()) into = stat.text;
    };
    plane.forEachStat(event, [&](const XplaneStat& stat) {
        if (stat.name == "correlation_id" && stat.number) stats.correlation = *stat.number;
        if (stat.name == "context_id" && stat.number) stats.context = *stat.number;
        if (stat.name == "cuda_graph_node_id" && stat.number) stats.graphNode = *stat.number;
        if (stat.name == "kernel_details") keep(stats.kernel, stat);
        if (stat.name == "hlo_op") keep(stats.operation, stat);
        if (stat.name == "hlo_module") keep(stats.module, stat);
        if (stat.name == "allocator_name") keep(stats.allocator, stat);
        if (stat.name == "step_num") stats.step = stat.number;
        if (stat.name == "bytes_allocated") stats.allocated = stat.number;
        if (stat.name == "memcpy_details") {
            keep(stats.copy, stat);
            stats.isCopy = true;
        }
        if (stat.name == "memset_details") {
            keep(stats.memset, stat);
            stats.isMemset = true;
        }
    });
    return stats;
}

void XplaneReader::take(std::string_view bytes) {
    XplanePlane plane(bytes);
    describe(plane);
    const int64_t gpu = numberAfter(plane.name(), "/device:GPU:");
    if (gpu >= 0 && gpu < maxGpus) {
        takeGpu(plane, gpu);
    } else if (plane.name() != "/host:metadata") {
        const bool isHost = plane.name().starts_with("/host:");
        for (const std::string_view message : plane.lines()) {
            const XplaneLine line = plane.line(message);
            const std::string_view title = line.displayName.empty() ? line.name : line.displayName;
            const std::string& number = threadsOfPlane_.emplace_back(
                isHost ? fmt::format("{}", line.id) : fmt::format("{} {} {}", plane.name(), line.id, line.name));
            takeThread(plane, line, {hostProcess, number},
                       isHost ? std::string(withoutNumber(title)) : fmt::format("{} {}", plane.name(), title),
                       isHost ? xlaDomain : derivedDomain(title));
        }
    }
    chunk_.flush();
    threadsOfPlane_.clear();
    corruptCount_ += plane.corruptCount();
}

void XplaneReader::describe(XplanePlane& plane) {
    const int64_t number = numberAfter(plane.name(), "/device:GPU:");
    XplaneGpu gpu{.number = number};
    plane.forEachStat([&](const XplaneStat& stat) {
        const int64_t value = std::max<int64_t>(0, stat.number.value_or(0));
        if (stat.name == "profile_start_time") beganNs_ = value;
        if (stat.name == "device_vendor") gpu.vendor = stat.text;
        if (stat.name == "device_type_string") gpu.name = stat.text;
        if (stat.name == "memory_size") gpu.memoryBytes = value;
        if (stat.name == "memory_bandwidth") gpu.bytesPerSecond = value;
        if (stat.name == "core_count") gpu.cores = value;
        if (stat.name == "compute_cap_major") gpu.major = value;
        if (stat.name == "compute_cap_minor") gpu.minor = value;
    });
    if (number >= 0 && number < maxGpus && gpus_.size() < static_cast<size_t>(maxGpus)) gpus_.push_back(std::move(gpu));
}

void XplaneReader::takeGpu(XplanePlane& plane, int64_t number) {
    for (const std::string_view message : plane.lines()) {
        const XplaneLine line = plane.line(message);
        const int64_t stream = numberAfter(line.name, "Stream #");
        if (stream >= 0) {
            takeStream(plane, line, number, stream);
            continue;
        }
        const std::string_view title = line.displayName.empty() ? line.name : line.displayName;
        const std::string& thread = threadsOfPlane_.emplace_back(fmt::format("GPU {} {}", number, title));
        takeThread(plane, line, {hostProcess, thread}, fmt::format("GPU {}: {}", number, title), derivedDomain(title));
    }
}

void XplaneReader::takeStream(XplanePlane& plane, const XplaneLine& line, int64_t gpu, int64_t stream) {
    plane.forEachEvent(line, [&](const XplaneEvent& event) {
        ImportedGpuWork work;
        if (!timesOf(line, event, work.startNs, work.durationNs)) return;
        const Stats stats = statsOf(plane, event);
        work.correlation = static_cast<uint32_t>(stats.correlation);
        work.place = chunk_.place({gpu, std::max<int64_t>(0, stats.context), stream});
        const bool isKernel = !stats.kernel.empty();
        const bool isCopy = stats.isCopy || (!isKernel && isCopyName(event.name()));
        const bool isMemset = stats.isMemset || (!isKernel && isMemsetName(event.name()));
        if (isCopy || isMemset) {
            const XplaneCopy copy = copyOf(event.name(), isCopy ? stats.copy : stats.memset);
            work.kind = isCopy ? ImportedEventKind::Memcpy : ImportedEventKind::Memset;
            work.amount = copy.bytes;
            work.copy = copy.kind;
            work.source = copy.source;
            work.destination = copy.destination;
        } else {
            const std::string_view name = withoutEnding(event.name());
            ImportedLaunch launch = launchOf(stats.kernel);
            const std::optional<std::string> demangled =
                name.starts_with("_Z") ? demangledName(std::string(name)) : std::nullopt;
            launch.name = chunk_.text(demangled ? chunk_.made(*demangled) : name);
            work.config = chunk_.launch(launch);
            work.amount = stats.graphNode;
        }
        if (stats.correlation != 0 && !stats.operation.empty())
            operationsOf_[stats.correlation] = {keptName(stats.operation), keptName(stats.module)};
        chunk_.work(work);
        flushIfFull();
    });
}

void XplaneReader::takeThread(XplanePlane& plane, const XplaneLine& line, const ImportedThread& thread,
                              std::string name, std::string_view domain) {
    const bool isHost = domain == xlaDomain;
    chunk_.name({.owner = thread, .isOfThread = true, .name = chunk_.text(chunk_.made(std::move(name)))});
    std::vector<Operation> operations;
    plane.forEachEvent(line, [&](const XplaneEvent& event) {
        ImportedSlice slice;
        if (!timesOf(line, event, slice.startNs, slice.durationNs)) return;
        Stats stats = statsOf(plane, event);
        slice.thread = chunk_.thread(thread);
        if (!isHost) {
            const std::string_view shown = event.kind->displayName.empty() ? event.name() : event.kind->displayName;
            slice.name = chunk_.text(domain == xlaStepDomain ? chunk_.made(fmt::format("Step {}", shown)) : shown);
            slice.category = chunk_.text(domain);
            chunk_.slice(ImportedEventKind::Other, slice);
            return flushIfFull();
        }
        takeHostEvent(event, stats, slice, domain);
        if (isApiName(event.name()) && stats.correlation != 0) {
            if (const auto found = operationsOf_.find(stats.correlation);
                stats.operation.empty() && found != operationsOf_.end()) {
                if (found->second.first != nullptr) stats.operation = *found->second.first;
                if (found->second.second != nullptr) stats.module = *found->second.second;
            }
            if (!stats.operation.empty())
                operations.push_back({stats.operation, stats.module, slice.startNs, slice.startNs + slice.durationNs});
        }
        flushIfFull();
    });
    emitOperations(operations, thread);
}

void XplaneReader::takeHostEvent(const XplaneEvent& event, const Stats& stats, ImportedSlice slice,
                                 std::string_view domain) {
    const std::string_view name = event.name();
    if (isApiName(name) && stats.correlation != 0) {
        slice.name = chunk_.text(name);
        slice.extra = static_cast<uint32_t>(stats.correlation);
        return chunk_.slice(isDriverName(name) ? ImportedEventKind::DriverCall : ImportedEventKind::RuntimeCall, slice);
    }
    if (stats.allocated && !stats.allocator.empty()) {
        const ImportedCounter counter{
            .process = hostProcess, .name = chunk_.text(stats.allocator), .part = chunk_.text("bytes allocated")};
        return chunk_.sample(counter, slice.startNs, static_cast<double>(*stats.allocated));
    }
    if (event.durationPs == 0) slice.durationNs = ImportedSlice::mark;
    // A prefix of the Python function tracer.
    if (name.starts_with('$')) {
        slice.name = chunk_.text(name.substr(1));
        if (slice.durationNs == ImportedSlice::mark) slice.durationNs = 0;
        return chunk_.slice(ImportedEventKind::Python, slice);
    }
    slice.name = chunk_.text(stats.step ? chunk_.made(fmt::format("{} {}", name, *stats.step)) : name);
    slice.category = chunk_.text(stats.step ? xlaStepDomain : domain);
    chunk_.slice(ImportedEventKind::Other, slice);
}

/// Merges consecutive calls for one operation to a range of it, and consecutive operations of a
/// module to a range of that, until its first operation occurs again.
void XplaneReader::emitOperations(std::vector<Operation>& operations, const ImportedThread& thread) {
    std::ranges::stable_sort(operations, {}, &Operation::startNs);
    std::optional<Operation> operation, module;
    std::string_view first;
    for (const Operation& next : operations) {
        const bool isSame = operation && operation->operation == next.operation && operation->module == next.module;
        const bool isSameModule = module && module->module == next.module && (isSame || next.operation != first);
        if (isSame) {
            operation->endNs = std::max(operation->endNs, next.endNs);
        } else {
            if (operation) emitRange(*operation, operation->operation, xlaOperationDomain, thread);
            operation = next;
        }
        if (isSameModule) {
            module->endNs = std::max(module->endNs, next.endNs);
        } else {
            if (module) emitRange(*module, module->module, xlaModuleDomain, thread);
            module = next;
            first = next.operation;
        }
    }
    if (operation) emitRange(*operation, operation->operation, xlaOperationDomain, thread);
    if (module) emitRange(*module, module->module, xlaModuleDomain, thread);
}

void XplaneReader::emitRange(const Operation& range, std::string_view name, std::string_view domain,
                             const ImportedThread& thread) {
    if (name.empty()) return;
    ImportedSlice slice{.startNs = range.startNs,
                        .durationNs = range.endNs - range.startNs,
                        .name = chunk_.text(name),
                        .thread = chunk_.thread(thread),
                        .category = chunk_.text(domain)};
    chunk_.slice(ImportedEventKind::Other, slice);
    flushIfFull();
}

namespace {

/// Maximum of the protobuf library.
constexpr uint64_t maxPlaneBytes = (uint64_t{1} << 31) - 1;
constexpr uint64_t maxBytes = uint64_t{64} << 30;
/// Share of the progress for reading. The rest is for building tables.
constexpr double readingShare = 0.7;

constexpr uint32_t planeField = 1, errorField = 2, hostField = 4;

/// Returns the name of a plane from its possibly truncated message. Empty without a name.
std::string_view nameOfPlane(std::string_view plane) {
    for (const ProtoField& field : ProtoCursor(plane)) {
        if (field.number == 2) return field.bytes;
        if (field.number != 1 || !field.isNumber()) return {};
    }
    return {};
}

void describeGpus(const XplaneReader& reader, TraceBuilder& builder) {
    const auto small = [](int64_t value) { return value <= 0xffff ? static_cast<int>(value) : 0; };
    for (const XplaneGpu& gpuFacts : reader.gpus()) {
        const uint32_t index = builder.gpu(gpuFacts.number);
        if (index == noIndex) continue;
        Gpu& gpu = builder.gpus()[index];
        gpu.name = !gpuFacts.name.empty()     ? gpuFacts.name
                   : !gpuFacts.vendor.empty() ? fmt::format("{} GPU", gpuFacts.vendor)
                                              : std::string();
        gpu.memoryBytes = gpuFacts.memoryBytes;
        gpu.memoryBandwidthBytesPerSecond = gpuFacts.bytesPerSecond;
        gpu.smCount = small(gpuFacts.cores);
        // AMD numbers its architectures differently.
        if (gpuFacts.vendor == "AMD") continue;
        gpu.computeMajor = small(gpuFacts.major);
        gpu.computeMinor = small(gpuFacts.minor);
    }
}

void describe(const XplaneReader& reader, const std::string& host, EmitContext& output) {
    // Times that are absolute, not relative to the start of the profiler.
    constexpr int64_t minUnixTimeNs = int64_t{1'000'000'000} * 1'000'000'000;
    TraceDescription& trace = output.builder.description();
    trace.producer = "the profiler of JAX or TensorFlow";
    trace.facts.host = host;
    if (output.zeroNs > minUnixTimeNs)
        trace.startUtcNs = output.zeroNs;
    else if (reader.beganNs() > minUnixTimeNs && reader.beganNs() < INT64_MAX - std::max<int64_t>(0, output.zeroNs))
        trace.startUtcNs = reader.beganNs() + output.zeroNs;
    describeGpus(reader, output.builder);
    const uint32_t process = output.identities.mainProcess();
    if (process != noIndex && !host.empty()) output.builder.processes()[process].facts.edit().host = host;
}

}  // namespace

bool startsLikeXplane(std::string_view start) {
    uint64_t key = 0, length = 0;
    if (!ProtoCursor::takeNumber(start, ProtoField::Wire::Varint, key) || key != 10) return false;
    if (!ProtoCursor::takeNumber(start, ProtoField::Wire::Varint, length)) return false;
    const std::string_view name =
        nameOfPlane(start.substr(0, static_cast<size_t>(std::min<uint64_t>(length, start.size()))));
    const bool isText =
        std::ranges::all_of(name, [](char c) { return std::isprint(static_cast<unsigned char>(c)) != 0; });
    return isText && (name.starts_with("/host:") || name.starts_with("/device:") || name.starts_with("/custom:") ||
                      name == "Task Environment");
}

Result<void> readXplaneTrace(const ByteSource& source, TraceBuilder& builder,
                             const std::function<double()>& fractionRead, const LoadProgress& progress) {
    ImportedEvents events(builder);
    XplaneReader reader(events);
    ProtoStream stream(source, builder.memory(), maxPlaneBytes, maxBytes);
    std::string host;
    int64_t errors = 0;
    const auto isWanted = [&](double share) { return !progress || progress(share, "events"); };
    for (ProtoField field; stream.next(field);) {
        if (field.number == planeField && field.isBytes()) reader.take(field.bytes);
        if (field.number == errorField && field.isBytes()) ++errors;
        if (field.number == hostField && field.isBytes() && host.empty())
            host = field.bytes.substr(0, TraceBuilder::maxNameBytes);
        if (!isWanted(readingShare * fractionRead())) return {};
    }
    if (stream.bytesRead() == 0 && stream.readError()) return fail(*stream.readError());
    const ImportedFile file = endOf(stream, events);
    ImportedIdentities identities(events, builder);
    EmitContext output{events, identities, builder, events.isEmpty() ? 0 : events.range().startNs, -1};
    EmitFindings findings;
    emitEvents(output, findings, [&](double share) { return isWanted(readingShare + share * (1 - readingShare)); });
    describe(reader, host, output);
    noteImportedFile(file, findings, output, HealthCode::FileDamaged);
    noteCorruptParts("messages", reader.corruptCount(), builder);
    builder.skip("events with only their count", reader.aggregated());
    builder.noteSome(errors, Severity::Warning, HealthCode::ExportDiagnostic,
                     fmt::format("The profiler reported {} error{} of its own.", errors, errors == 1 ? "" : "s"));
    return {};
}

}  // namespace lanescope
