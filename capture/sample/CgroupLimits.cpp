// SPDX-License-Identifier: Apache-2.0
#include "capture/sample/CgroupLimits.h"

#include <fstream>
#include <map>
#include <utility>

namespace lanescope::capture {

namespace {

constexpr const char* root = "/sys/fs/cgroup";
/// Version 1 says "no limit" by a number near the largest.
constexpr double unlimitedBytes = 9e18;
constexpr double quota = 0;  // the factor of a value that is a quota and a period

/// Our group by controller; "" is version 2.
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

/// The folder of a group below `mount`, or the mount itself, as in a container that sees its own
/// group only.
std::string folderOf(const std::string& mount, const std::string& group, const char* file) {
    const std::string folder = mount + (group == "/" ? "" : group);
    return ProcFile(folder + "/" + file).isOpen() ? folder : mount;
}

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
    add(two + "/cpu.stat", "throttled_usec", 1e-6, "cgroup.cpu.throttled", throttled, "s",
        Cumulative);
    add(two + "/memory.max", "", 1, "cgroup.memory.limit", memoryLimit, "B", Gauge);
    add(two + "/memory.current", "", 1, "cgroup.memory.used", memoryUsed, "B", Gauge);
    if (!values_.empty()) return true;

    const std::string processors =
        folderOf(std::string(root) + "/cpu", groupOf("cpu"), "cpu.cfs_quota_us");
    const std::string memory =
        folderOf(std::string(root) + "/memory", groupOf("memory"), "memory.usage_in_bytes");
    period_ = ProcFile(processors + "/cpu.cfs_period_us");
    add(processors + "/cpu.cfs_quota_us", "", quota, "cgroup.cpu.limit", limit, "%", Gauge);
    add(processors + "/cpu.stat", "throttled_time", 1e-9, "cgroup.cpu.throttled", throttled, "s",
        Cumulative);
    add(memory + "/memory.limit_in_bytes", "", 1, "cgroup.memory.limit", memoryLimit, "B", Gauge);
    add(memory + "/memory.usage_in_bytes", "", 1, "cgroup.memory.used", memoryUsed, "B", Gauge);
    return !values_.empty();
}

void CgroupLimits::add(const std::string& path, std::string_view key, double factor,
                       const char* name, const char* title, const char* unit,
                       log::CounterMeaning meaning) {
    Value value{ProcFile(path), 0, key, factor};
    std::vector<char> buffer;
    double ignored = 0;
    if (!value.file.isOpen() || !read(value, buffer, ignored)) return;
    value.counter = log_.addCounter({"host", name, title, unit, meaning});
    values_.push_back(std::move(value));
}

bool CgroupLimits::read(const Value& value, std::vector<char>& buffer, double& number) const {
    std::string_view text = value.file.read(buffer);
    if (!value.key.empty()) {
        while (!text.empty()) {
            std::string_view line = takeUntil(text, '\n');
            if (takeWord(line) != value.key) continue;
            number = static_cast<double>(numberIn(takeWord(line))) * value.factor;
            return true;
        }
        return false;
    }
    const long long first = numberIn(takeWord(text), -1);  // "max" is no number
    if (first < 0 || static_cast<double>(first) > unlimitedBytes) return false;
    number = static_cast<double>(first) * value.factor;
    if (value.factor != quota) return true;
    if (period_.isOpen()) text = period_.read(buffer);
    const long long period = numberIn(takeWord(text), 0);
    if (period <= 0) return false;
    number = 100.0 * static_cast<double>(first) / static_cast<double>(period);
    return true;
}

void CgroupLimits::sample(SampleBatch& batch, std::vector<char>& buffer) {
    for (const Value& value : values_) {
        double number = 0;
        if (read(value, buffer, number))
            batch.add(value.counter, number);
        else
            batch.addUnknown(value.counter);
    }
}

}  // namespace lanescope::capture
