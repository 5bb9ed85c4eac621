#include "model/compare/runFacts.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <set>

namespace lanescope {

namespace {

constexpr size_t mostWarnings = 16;

/// The value of the first property called that, for the run or for any process.
std::string propertyNamed(const Trace& trace, std::string_view name) {
    for (const Property& property : trace.properties)
        if (property.name == name) return property.value;
    const std::string ofProcess = fmt::format("{} (PID ", name);
    for (const Property& property : trace.properties)
        if (property.name.starts_with(ofProcess)) return property.value;
    return {};
}

std::set<uint32_t> streamsInUse(const Trace& trace) {
    std::vector<bool> isUsed(trace.streams.size());
    for (const auto* streams : {&trace.kernels.stream, &trace.memcpys.stream, &trace.graphs.stream})
        for (const uint32_t stream : *streams) isUsed[stream] = true;
    std::set<uint32_t> used;
    for (uint32_t stream = 0; stream < trace.streams.size(); ++stream)
        if (isUsed[stream]) used.insert(stream);
    return used;
}

bool hasNvlink(const Trace& trace) {
    return std::any_of(trace.properties.begin(), trace.properties.end(),
                       [](const Property& property) {
                           return (property.name.starts_with("NVLink ") ||
                                   property.name.starts_with("NVSwitch ")) &&
                                  property.value.find("link") != std::string::npos;
                       });
}

/// FNV-1a over numbers: enough to see that two files hold the same recording.
class ContentHash {
  public:
    void add(uint64_t number) {
        for (int byte = 0; byte < 8; ++byte) {
            value_ = (value_ ^ (number & 0xff)) * 0x100000001b3ULL;
            number >>= 8;
        }
    }
    template <class Table>
    void addTimes(const Table& table) {
        add(table.size());
        for (const int64_t startNs : table.startNs) add(static_cast<uint64_t>(startNs));
        for (const int64_t endNs : table.endNs) add(static_cast<uint64_t>(endNs));
    }
    uint64_t value() const { return value_; }

  private:
    uint64_t value_ = 0xcbf29ce484222325ULL;
};

uint64_t contentHashOf(const Trace& trace) {
    ContentHash hash;
    hash.add(static_cast<uint64_t>(trace.startUtcNs));
    hash.addTimes(trace.kernels);
    hash.addTimes(trace.memcpys);
    hash.addTimes(trace.nvtx);
    hash.add(trace.apiCalls.size());
    for (const Process& process : trace.processes) hash.add(process.pid);
    return hash.value();
}

}  // namespace

RunFacts factsOf(const Trace& trace) {
    RunFacts facts;
    facts.title = trace.title;
    facts.producer = trace.producer;
    facts.driver = propertyNamed(trace, "driverVersion");
    facts.cuda = propertyNamed(trace, "driverCudaVersion");
    facts.commandLine = propertyNamed(trace, "commandLine");
    facts.recordOptions = propertyNamed(trace, "recordOptions");
    std::set<uint32_t> gpus, processes;
    for (const uint32_t stream : streamsInUse(trace)) {
        gpus.insert(trace.streams[stream].gpu);
        processes.insert(trace.streams[stream].process);
    }
    for (const uint32_t gpu : gpus) facts.gpuNames.push_back(trace.gpus[gpu].name);
    facts.isNvlinkPresent = hasNvlink(trace);
    const std::string worldSize = propertyNamed(trace, "worldSize");
    int64_t ranks = 0;
    std::from_chars(worldSize.data(), worldSize.data() + worldSize.size(), ranks);
    facts.worldSize = std::max<int64_t>(static_cast<int64_t>(processes.size()), ranks);
    facts.kernelCount = trace.kernels.size();
    facts.hasApiCalls = trace.apiCalls.size() > 0;
    facts.hasNvtx = trace.nvtx.size() > 0;
    facts.isTruncated = std::any_of(trace.processes.begin(), trace.processes.end(),
                                    [](const Process& each) { return each.endedAbnormally; });
    for (const HealthNote& note : trace.health)
        if (note.severity != Severity::Info && facts.healthWarnings.size() < mostWarnings)
            facts.healthWarnings.push_back(note.sentence);
    facts.contentHash = contentHashOf(trace);
    return facts;
}

}  // namespace lanescope
