#include "capture/sample/NvmlFields.h"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "capture/agent/clocks.h"

namespace lanescope {

namespace {

constexpr int maximumLinks = 64;
constexpr int allLinks = -1;
constexpr int64_t bytesPerKiB = 1024;
constexpr double joulesPerMillijoule = 1e-3;
/// NVML's own times are taken unless they are this far from ours.
constexpr int64_t largestClockDifferenceNs = 10'000'000'000;

NvmlFieldValue question(NvmlField field, int link) {
    NvmlFieldValue value{};
    value.fieldId = field;
    value.scopeId = link == allLinks ? nvmlAllLinks : static_cast<unsigned>(link);
    return value;
}

CounterDescription describe(const char* name, std::string title, const char* unit, int gpu) {
    CounterDescription counter{"nvml", name, std::move(title), unit,
                               log::CounterMeaning::Cumulative};
    counter.gpu = gpu;
    return counter;
}

}  // namespace

void NvmlFields::begin(const NvmlFunctions& nvml, NvmlFunctions::Device device, int gpu,
                       SampleLog& log, std::vector<std::string>& absent) {
    if (nvml.deviceFieldValues == nullptr) {
        absent.insert(absent.end(), {"energy", "nvlink"});
        return;
    }
    NvmlFieldValue energy = question(nvmlTotalEnergy, 0);
    if (nvml.deviceFieldValues(device, 1, &energy) == nvmlSuccess && numberIn(energy)) {
        CounterDescription counter = describe("energy", "Energy", "J", gpu);
        counter.granularity = joulesPerMillijoule;
        partsOf(Group::Energy).push_back({{energy}, {log.addCounter(std::move(counter))}});
    } else {
        absent.emplace_back("energy");
    }
    bool isAny = false;
    for (int link = 0; link < maximumLinks; ++link) {
        unsigned isActive = 0;
        // The first number that the GPU does not know ends the list.
        if (nvml.deviceLinkState == nullptr ||
            nvml.deviceLinkState(device, static_cast<unsigned>(link), &isActive) != nvmlSuccess)
            break;
        if (isActive == 0) continue;
        isAny = true;
        if (!addLinks(nvml, device, gpu, link, log))
            absent.push_back(fmt::format("nvlink {}", link));
    }
    if (isAny && !addLinks(nvml, device, gpu, allLinks, log)) absent.emplace_back("nvlink sums");
}

/// Both directions of a link or of all together; false if the GPU does not tell.
bool NvmlFields::addLinks(const NvmlFunctions& nvml, NvmlFunctions::Device device, int gpu,
                          int link, SampleLog& log) {
    Part part;
    part.fields = {question(nvmlLinkTransmittedKiB, link), question(nvmlLinkReceivedKiB, link)};
    if (nvml.deviceFieldValues(device, 2, part.fields.data()) != nvmlSuccess) return false;
    for (const NvmlFieldValue& field : part.fields)
        if (!numberIn(field)) return false;
    const std::string subject = link == allLinks ? "NVLink" : fmt::format("NVLink {}", link);
    for (const bool isReceived : {false, true}) {
        CounterDescription counter =
            describe(isReceived ? "nvlink.rx" : "nvlink.tx",
                     subject + (isReceived ? " received" : " transmitted"), "B", gpu);
        counter.link = link;
        counter.direction = std::string(isReceived ? "rx" : "tx");
        counter.granularity = bytesPerKiB;
        part.counters.push_back(log.addCounter(std::move(counter)));
    }
    partsOf(link == allLinks ? Group::LinkSums : Group::Links).push_back(std::move(part));
    return true;
}

int NvmlFields::sample(const NvmlFunctions& nvml, NvmlFunctions::Device device, Group group,
                       bool isWhole, SampleLog& log) {
    std::vector<Part>& parts = partsOf(group);
    if (parts.empty()) return nvmlSuccess;
    if (group == Group::Links && !isWhole)
        return sample(nvml, device, parts[nextLink_++ % parts.size()], log);
    int firstProblem = nvmlSuccess;
    for (Part& part : parts) {
        const int result = sample(nvml, device, part, log);
        if (firstProblem == nvmlSuccess) firstProblem = result;
    }
    return firstProblem;
}

int NvmlFields::sample(const NvmlFunctions& nvml, NvmlFunctions::Device device, Part& part,
                       SampleLog& log) {
    const int64_t nowNs = realtimeNs();
    int firstProblem =
        nvml.deviceFieldValues(device, static_cast<int>(part.fields.size()), part.fields.data());
    for (size_t at = 0; at < part.fields.size(); ++at) {
        const NvmlFieldValue& field = part.fields[at];
        const std::optional<int64_t> number =
            firstProblem == nvmlSuccess ? numberIn(field) : std::nullopt;
        if (firstProblem == nvmlSuccess) firstProblem = field.result;
        int64_t timeNs = static_cast<int64_t>(field.timestampUs) * 1000;
        if (timeNs < nowNs - largestClockDifferenceNs || timeNs > nowNs + largestClockDifferenceNs)
            timeNs = nowNs;
        batch_.clear();
        if (!number)
            batch_.addUnknown(part.counters[at]);
        else if (field.fieldId == nvmlTotalEnergy)
            batch_.add(part.counters[at], static_cast<double>(*number) * joulesPerMillijoule);
        else
            batch_.add(part.counters[at], *number * bytesPerKiB);
        log.write(timeNs, batch_);
    }
    return firstProblem;
}

}  // namespace lanescope
