// SPDX-License-Identifier: Apache-2.0
#include "model/merge/placeParts.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "model/format/GlobalId.h"

namespace lanescope {

std::vector<std::string> shortNames(std::span<const TracePtr> traces) {
    std::vector<std::string> names = mapped(traces, [](const TracePtr& trace) { return trace->title; });
    const auto distinguish = [&](auto longer) {
        std::map<std::string, int> times;
        for (const std::string& name : names) ++times[name];
        for (size_t index = 0; index < names.size(); ++index)
            if (times[names[index]] > 1) names[index] = longer(*traces[index]);
    };
    distinguish([](const Trace& trace) { return (trace.path.parent_path().filename() / trace.title).string(); });
    distinguish([](const Trace& trace) { return trace.path.string(); });
    std::set<std::string> taken;
    for (std::string& name : names) {
        const std::string first = name;
        for (int number = 2; !taken.insert(name).second; ++number) name = fmt::format("{} ({})", first, number);
    }
    return names;
}

bool isOfEveryFile(const HealthNote& note) {
    if (note.count || note.globalPid || note.timeNs) return false;
    return note.severity == Severity::Info || note.code == HealthCode::NotShown || note.code == HealthCode::CoarseTimes;
}

namespace {

/// Number range of packed ids.
constexpr size_t maxHosts = 128;

/// A GPU of the whole.
struct PlacedGpu {
    int64_t id = 0;
    std::string uuid, busLocation;
    int64_t numberThere = 0;  ///< Number on its host.
    bool hasWork = false;     ///< In some part.
};

class Placer {
  public:
    explicit Placer(std::span<const TracePtr> traces) : traces_(traces) {}

    Result<PlacedParts> place() {
        for (size_t index = 0; index < traces_.size(); ++index) {
            boots_.push_back(bootsOf(*traces_[index]));
            PlacedParts::Part& part = out_.parts.emplace_back();
            part.clock = clockOf(index);
            placeProcesses(index, part);
            placeGpus(index, part);
        }
        if (numbers_.size() > maxHosts)
            return fail("These traces have processes of {} hosts; one trace can have {}. Merge fewer.", numbers_.size(),
                        maxHosts);
        std::set<std::string> names;
        for (const std::string& name : numbers_) names.insert(name);
        if (names.size() > 1)
            for (size_t number = 0; number < numbers_.size(); ++number)
                out_.hosts.push_back({static_cast<int64_t>(number), numbers_[number]});
        return std::move(out_);
    }

  private:
    static const std::string& nameOfHost(const Trace& trace, const Process& process) {
        return process.facts->host.empty() ? trace.facts.host : process.facts->host;
    }

    /// Returns the boots of the hosts of a part. A process that was only sampled has no boot of its own: it is that of
    /// its host. Unknown for a host with two boots, such as two merged files of one name.
    static std::map<std::string, std::string> bootsOf(const Trace& trace) {
        std::map<std::string, std::set<std::string>> all;
        for (const Process& process : trace.processes)
            if (!process.facts->bootId.empty()) all[nameOfHost(trace, process)].insert(process.facts->bootId);
        std::map<std::string, std::string> boots;
        for (const auto& [host, ids] : all)
            if (ids.size() == 1) boots.emplace(host, *ids.begin());
        return boots;
    }

    /// Returns the identity of a machine; empty if the file has none.
    std::string keyOf(size_t index, const Process& process) const {
        const std::string& host = nameOfHost(*traces_[index], process);
        if (!process.facts->bootId.empty()) return host + " " + process.facts->bootId;
        const auto boot = boots_[index].find(host);
        return boot == boots_[index].end() ? host : host + " " + boot->second;
    }

    /// The clocks within a trace of several hosts are already synchronized.
    uint32_t clockOf(size_t index) {
        const Trace& trace = *traces_[index];
        std::set<std::string> keys;
        for (const Process& process : trace.processes) keys.insert(hostOf(index, process));
        const bool isKnown = keys.size() == 1 && !keys.begin()->empty() && trace.startUtcNs > 0;
        const std::string key = isKnown ? *keys.begin() : "\n" + std::to_string(index);
        const auto [found, isNew] = clocks_.try_emplace(key, static_cast<uint32_t>(out_.clocks.size()));
        if (isNew) {
            const bool isNamed = keys.size() == 1 && !trace.facts.host.empty();
            out_.clocks.push_back(isNamed ? trace.facts.host : trace.title);
        }
        return found->second;
    }

    std::string hostOf(size_t index, const Process& process) const {
        for (const HostName& each : traces_[index]->facts.hosts)
            if (each.number == static_cast<int64_t>(lanescope::hostOf(process.globalPid))) return each.name;
        return keyOf(index, process);
    }
    /// Files without a host name are each on a machine of their own, as far as known.
    std::string machineOf(size_t index, const Process& process) const {
        const std::string key = hostOf(index, process);
        return key.empty() ? "\n" + std::to_string(out_.parts[index].clock) : key;
    }
    std::string nameOf(size_t index, const Process& process) const {
        const Trace& trace = *traces_[index];
        for (const HostName& each : trace.facts.hosts)
            if (each.number == static_cast<int64_t>(lanescope::hostOf(process.globalPid))) return each.name;
        if (!process.facts->host.empty()) return process.facts->host;
        return trace.facts.host.empty() ? trace.title : trace.facts.host;
    }

    /// Processes of one machine have one number, but processes of containers may have the same PID:
    /// the second then gets another number with the same name.
    void placeProcesses(size_t index, PlacedParts::Part& part) {
        std::map<std::string, uint32_t> numberOf;  // of this part
        for (const Process& process : traces_[index]->processes) {
            const std::string machine = machineOf(index, process);
            if (!numberOf.contains(machine)) {
                uint32_t number = 0;
                while (number < numbers_.size() && (machines_[number] != machine || isTaken(index, machine, number)))
                    ++number;
                if (number == numbers_.size()) {
                    numbers_.push_back(nameOf(index, process));
                    machines_.push_back(machine);
                }
                numberOf[machine] = number;
            }
            const int64_t id = globalPid(process.pid, numberOf[machine]);
            taken_.insert(id);
            part.globalPids.push_back(id);
        }
    }

    bool isTaken(size_t index, const std::string& machine, uint32_t number) const {
        const auto& processes = traces_[index]->processes;
        return std::ranges::any_of(processes, [&](const Process& process) {
            return machineOf(index, process) == machine && taken_.contains(globalPid(process.pid, number));
        });
    }

    void placeGpus(size_t index, PlacedParts::Part& part) {
        const Trace& trace = *traces_[index];
        for (uint32_t gpu = 0; gpu < trace.gpus.size(); ++gpu) {
            const auto stream =
                std::ranges::find_if(trace.streams, [gpu](const Stream& each) { return each.gpu == gpu; });
            const bool hasWork = stream != trace.streams.end();
            std::string machine = "\n" + std::to_string(part.clock);
            if (!trace.processes.empty()) machine = machineOf(index, trace.processes[hasWork ? stream->process : 0]);
            part.gpuIds.push_back(gpuIn(gpusOf_[machine], trace.gpus[gpu], hasWork, part.gpuIds));
        }
    }

    int64_t gpuIn(std::vector<PlacedGpu>& there, const Gpu& gpu, bool hasWork, const std::vector<int64_t>& mine) {
        const auto same = std::ranges::find_if(there, [&](const PlacedGpu& each) {
            if (std::ranges::find(mine, each.id) != mine.end()) return false;
            if (!gpu.uuid.empty() && !each.uuid.empty()) return gpu.uuid == each.uuid;
            if (!gpu.busLocation.empty() && !each.busLocation.empty()) return gpu.busLocation == each.busLocation;
            return gpu.id == each.numberThere && !(hasWork && each.hasWork);
        });
        if (same != there.end()) {
            same->hasWork |= hasWork;
            return same->id;
        }
        int64_t id = gpu.id;
        while (ids_.contains(id)) id = *ids_.rbegin() + 1;
        ids_.insert(id);
        there.push_back({id, gpu.uuid, gpu.busLocation, gpu.id, hasWork});
        return id;
    }

    std::span<const TracePtr> traces_;
    PlacedParts out_;
    std::vector<std::map<std::string, std::string>> boots_;  ///< By host, of each part.
    std::map<std::string, uint32_t> clocks_;
    std::vector<std::string> numbers_;   ///< Name of each host number.
    std::vector<std::string> machines_;  ///< Identity of its machine.
    std::set<int64_t> taken_;
    std::map<std::string, std::vector<PlacedGpu>> gpusOf_;
    std::set<int64_t> ids_;
};

}  // namespace

Result<PlacedParts> placeParts(std::span<const TracePtr> traces) { return Placer(traces).place(); }

}  // namespace lanescope
