// SPDX-License-Identifier: Apache-2.0
#include "capture/sample/HostSampler.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>

#include "capture/log/clocks.h"
#include "capture/sample/sampleTime.h"
#include "model/format/text.h"

namespace lanescope::capture {

using log::CounterMeaning;

namespace {

constexpr const char* root = "/sys/fs/cgroup";
/// Version 1 encodes "no limit" by a number near the maximum.
constexpr double unlimitedBytes = 9e18;
constexpr double quota = 0;  // factor that marks a value "quota period"

std::map<std::string, std::string> ownGroups() {
    std::map<std::string, std::string> groups;
    std::ifstream file("/proc/self/cgroup");
    for (std::string line; std::getline(file, line);) {
        std::string_view rest = line;
        takeUntil(rest, ':');
        std::string_view controllers = takeUntil(rest, ':');
        if (controllers.empty()) groups[""] = rest;
        while (!controllers.empty()) groups[std::string(takeUntil(controllers, ','))] = rest;
    }
    return groups;
}

/// Returns the folder of a group below `mount`, or the mount itself, as in a container that sees its own group only.
std::string folderOf(const std::string& mount, const std::string& group, const char* file) {
    const std::string folder = mount + (group == "/" ? "" : group);
    return ProcFile(folder + "/" + file).isOpen() ? folder : mount;
}

struct Query {
    const char* name;
    int64_t periodNs,
        maxPeriodNs;  ///< Period if it is cheap enough, and maximum period at any cost.
    double weight;
};
constexpr int64_t ms = 1'000'000;
constexpr Query queries[] = {
    {"processors", 100 * ms, 2000 * ms, 1},
    {"process list", 1000 * ms, 5000 * ms, 1},
    {"processes", 100 * ms, 1000 * ms, 2},
    {"memory and traffic", 500 * ms, 2000 * ms, 1},
};
constexpr size_t coresQuery = 0, treeQuery = 1, processesQuery = 2;
constexpr size_t maxCores = 4096;
constexpr size_t maxDevices = 64, maxPartitions = 1024;
constexpr int64_t bytesPerSector = 512;  // unit of /proc/diskstats on any disk

}  // namespace

bool CgroupLimits::begin() {
    const std::map<std::string, std::string> groups = ownGroups();
    const auto groupOf = [&](const char* controller) {
        const auto found = groups.find(controller);
        return found == groups.end() ? std::string() : found->second;
    };
    using enum log::CounterMeaning;
    const char* limit = "Processor time allowed to the control group";
    const char* throttled = "Time that the control group was held back";
    const char* memoryLimit = "Memory allowed to the control group";
    const char* memoryUsed = "Memory used by the control group";
    const std::string two = folderOf(root, groupOf(""), "memory.current");
    add(two + "/cpu.max", "", quota, "cgroup.cpu.limit", limit, "%", Gauge);
    add(two + "/cpu.stat", "throttled_usec", 1e-6, "cgroup.cpu.throttled", throttled, "s", Cumulative);
    add(two + "/memory.max", "", 1, "cgroup.memory.limit", memoryLimit, "B", Gauge);
    add(two + "/memory.current", "", 1, "cgroup.memory.used", memoryUsed, "B", Gauge);
    if (!values_.empty()) return true;

    const std::string processors = folderOf(std::string(root) + "/cpu", groupOf("cpu"), "cpu.cfs_quota_us");
    const std::string memory = folderOf(std::string(root) + "/memory", groupOf("memory"), "memory.usage_in_bytes");
    period_ = ProcFile(processors + "/cpu.cfs_period_us");
    add(processors + "/cpu.cfs_quota_us", "", quota, "cgroup.cpu.limit", limit, "%", Gauge);
    add(processors + "/cpu.stat", "throttled_time", 1e-9, "cgroup.cpu.throttled", throttled, "s", Cumulative);
    add(memory + "/memory.limit_in_bytes", "", 1, "cgroup.memory.limit", memoryLimit, "B", Gauge);
    add(memory + "/memory.usage_in_bytes", "", 1, "cgroup.memory.used", memoryUsed, "B", Gauge);
    return !values_.empty();
}

void CgroupLimits::add(const std::string& path, std::string_view key, double factor, const char* name,
                       const char* title, const char* unit, log::CounterMeaning meaning) {
    Value value{ProcFile(path), 0, key, factor};
    std::vector<char> buffer;
    if (!value.file.isOpen() || !read(value, buffer)) return;
    value.counter = log_.addCounter({"host", name, title, unit, meaning});
    values_.push_back(std::move(value));
}

std::optional<double> CgroupLimits::read(const Value& value, std::vector<char>& buffer) const {
    std::string_view text = value.file.read(buffer);
    if (!value.key.empty()) {
        while (!text.empty()) {
            std::string_view line = takeUntil(text, '\n');
            if (takeWord(line) == value.key) return static_cast<double>(numberIn(takeWord(line))) * value.factor;
        }
        return std::nullopt;
    }
    const long long first = numberIn(takeWord(text), -1);  // "max" is no number
    if (first < 0 || static_cast<double>(first) > unlimitedBytes) return std::nullopt;
    if (value.factor != quota) return static_cast<double>(first) * value.factor;
    if (period_.isOpen()) text = period_.read(buffer);
    const long long period = numberIn(takeWord(text), 0);
    if (period <= 0) return std::nullopt;
    return 100.0 * static_cast<double>(first) / static_cast<double>(period);
}

void CgroupLimits::sample(SampleBatch& batch, std::vector<char>& buffer) {
    for (const Value& value : values_) batch.add(value.counter, read(value, buffer));
}

HostSampler::HostSampler(SampleLog& log, int64_t periodNs, pid_t recorder)
    : log_(log), pace_(shareOfCore, periodNs), processes_(log, source(), recorder) {
    for (const Query& query : queries)
        pace_.add(query.name, std::max(periodNs, query.periodNs), query.weight, query.maxPeriodNs);
}

bool HostSampler::begin() {
    if (const long ticks = ::sysconf(_SC_CLK_TCK); ticks > 0) nsPerTick_ = 1e9 / double(ticks);
    stat_ = ProcFile("/proc/stat");
    memory_ = ProcFile("/proc/meminfo");
    disks_ = ProcFile("/proc/diskstats");
    network_ = ProcFile("/proc/net/dev");
    const bool hasCgroup = cgroup_.begin();
    std::string absent;
    for (const auto& [isThere, name] : {std::pair(stat_.isOpen(), "processors"), std::pair(memory_.isOpen(), "memory"),
                                        std::pair(disks_.isOpen(), "disks"), std::pair(network_.isOpen(), "network")})
        if (!isThere) absent += (absent.empty() ? "" : ", ") + std::string(name);
    if (!absent.empty())
        log_.note(Severity::Info, HealthCode::HostCountersAbsent,
                  fmt::format("/proc does not report {}; their counters are missing.", absent));
    return stat_.isOpen() || memory_.isOpen() || disks_.isOpen() || network_.isOpen() || hasCgroup;
}

bool HostSampler::sample() {
    const int64_t nowNs = log::monotonicNs();
    batch_.clear();
    for (size_t query = 0; query < std::size(queries); ++query) {
        if (!pace_.isDue(query, nowNs)) continue;
        pace_.begin();
        ask(query);
        pace_.end(query);
    }
    log_.write(sampleTimeNs(), batch_);
    return true;
}

void HostSampler::ask(size_t query) {
    if (query == coresQuery) return sampleCores();
    if (query == treeQuery) return processes_.search(batch_, buffer_);
    if (query == processesQuery) return processes_.sample(batch_, buffer_);
    sampleMemory();
    sampleDisks();
    sampleNetwork();
    cgroup_.sample(batch_, buffer_);
}

uint32_t HostSampler::addCounter(const char* name, std::string title, const char* unit, CounterMeaning meaning) {
    return log_.addCounter({source(), name, std::move(title), unit, meaning});
}

void HostSampler::sampleCores() {
    std::string_view text = stat_.read(buffer_);
    const int64_t nowNs = log::monotonicNs();
    const int64_t elapsedNs = nowNs - coresReadNs_;
    coresReadNs_ = nowNs;
    // "cpu", then "cpu0" and so on; offline processors have no line.
    while (text.starts_with("cpu")) {
        std::string_view line = takeUntil(text, '\n');
        const std::string_view name = takeWord(line).substr(3);
        const size_t place = name.empty() ? 0 : static_cast<size_t>(numberIn(name)) + 1;
        if (place > maxCores) continue;
        if (place >= cores_.size()) cores_.resize(place + 1);
        Core& core = cores_[place];
        if (core.counter == 0)
            core.counter = log_.addCounter(
                {.source = source(),
                 .name = "cpu.share",
                 .title = place == 0 ? std::string("Processors") : fmt::format("Processor {}", place - 1),
                 .unit = "%",
                 .meaning = CounterMeaning::Average,
                 .core = static_cast<int>(place) - 1});
        // user nice system idle iowait irq softirq steal; the time of guests is included in user.
        long long ticks = 0, stolen = 0;
        for (int column = 0; column < 8; ++column) {
            const long long value = numberIn(takeWord(line));
            if (column == 7) stolen = value;
            if (column != 3 && column != 4) ticks += value;
        }
        if (place == 0) sampleStolen(stolen);
        batch_.add(core.counter, core.share.read(ticks, elapsedNs, nsPerTick_));
    }
}

/// Samples stolen time. A machine that is not virtual has no counter for it.
void HostSampler::sampleStolen(long long ticks) {
    if (ticks == 0) return;
    if (stolen_ == 0)
        stolen_ =
            addCounter("cpu.steal", "Time that the host of this virtual machine took", "s", CounterMeaning::Cumulative);
    batch_.add(stolen_, static_cast<double>(ticks) * nsPerTick_ / 1e9);
}

void HostSampler::sampleMemory() {
    std::string_view text = memory_.read(buffer_);
    while (!text.empty()) {
        std::string_view line = takeUntil(text, '\n');
        if (takeWord(line) != "MemAvailable:") continue;
        if (availableMemory_ == 0)
            availableMemory_ = addCounter("memory.available", "Memory available", "B", CounterMeaning::Gauge);
        batch_.add(availableMemory_, int64_t{numberIn(takeWord(line)) * 1024});
        return;
    }
}

/// Adds the traffic of a device. A device without traffic gets no counters.
void HostSampler::addTraffic(PerDevice& devices, std::string_view device, const Traffic& traffic, int64_t first,
                             int64_t second) {
    auto known = devices.find(device);
    if (known == devices.end()) {
        if ((first == 0 && second == 0) || devices.size() >= maxDevices) return;
        uint32_t counters[2] = {};
        for (int which = 0; which < 2; ++which) {
            const char* const direction = traffic.directions[which];
            counters[which] = log_.addCounter({.source = source(),
                                               .name = traffic.names[which],
                                               .title = fmt::format("{} {}, {}", traffic.what, device, direction),
                                               .unit = "B",
                                               .meaning = CounterMeaning::Cumulative,
                                               .device = std::string(device),
                                               .direction = direction});
        }
        known = devices.emplace(device, std::pair(counters[0], counters[1])).first;
    }
    batch_.add(known->second.first, first);
    batch_.add(known->second.second, second);
}

void HostSampler::sampleDisks() {
    static constexpr Traffic traffic{"Disk", {"disk.read", "disk.write"}, {"read", "write"}};
    std::string_view text = disks_.read(buffer_);
    while (!text.empty()) {
        std::string_view line = takeUntil(text, '\n');
        takeWord(line);
        takeWord(line);
        const std::string_view device = takeWord(line);
        if (device.empty() || !isDisk(device)) continue;
        long long columns[8] = {};
        for (long long& column : columns) column = numberIn(takeWord(line));
        addTraffic(diskCounters_, device, traffic, columns[2] * bytesPerSector, columns[6] * bytesPerSector);
    }
}

/// Returns true for disks. Partitions have no folder there; their traffic is included in that of the disk.
bool HostSampler::isDisk(std::string_view device) {
    if (device.starts_with("loop") || device.starts_with("ram")) return false;
    if (const auto known = isDisk_.find(device); known != isDisk_.end()) return known->second;
    std::error_code error;
    const bool isThere = std::filesystem::exists(std::string("/sys/block/") + std::string(device), error);
    if (isDisk_.size() < maxPartitions) isDisk_.emplace(device, isThere);
    return isThere;
}

void HostSampler::sampleNetwork() {
    static constexpr Traffic traffic{"Network", {"net.rx", "net.tx"}, {"rx", "tx"}};
    std::string_view text = network_.read(buffer_);
    takeUntil(text, '\n');
    takeUntil(text, '\n');
    while (!text.empty()) {
        std::string_view line = takeUntil(text, '\n');
        std::string_view name = takeUntil(line, ':');
        name = takeWord(name);
        if (name.empty() || name == "lo") continue;
        long long columns[9] = {};
        for (long long& column : columns) column = numberIn(takeWord(line));
        addTraffic(networkCounters_, name, traffic, columns[0], columns[8]);
    }
}

}  // namespace lanescope::capture
