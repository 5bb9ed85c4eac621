#include "app/cli/TraceFacts.h"

#include <algorithm>
#include <charconv>
#include <optional>

namespace lanescope {

namespace {

constexpr std::string_view processMark = " (PID ";  // "rank (PID 4242)", as the loader says it
constexpr std::string_view gpuMark = "gpu";         // "gpu0.pcieWidth"

template <class Number>
std::optional<Number> numberIn(std::string_view text) {
    Number number{};
    const char* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, number);
    if (error != std::errc() || stop != end) return std::nullopt;
    return number;
}

/// Sorts a property in under a process of the trace; false if it is none of a process.
bool addToProcess(const Trace& trace, const Property& property,
                  std::map<uint32_t, FactMap>& processes) {
    const std::string_view name = property.name;
    const size_t at = name.rfind(processMark);
    if (at == std::string_view::npos || !name.ends_with(')')) return false;
    const size_t numberAt = at + processMark.size();
    const auto pid = numberIn<uint32_t>(name.substr(numberAt, name.size() - 1 - numberAt));
    const bool isKnown = std::any_of(trace.processes.begin(), trace.processes.end(),
                                     [&](const Process& each) { return each.pid == pid; });
    if (isKnown) processes[*pid].try_emplace(std::string(name.substr(0, at)), property.value);
    return isKnown;
}

/// The same for a GPU.
bool addToGpu(const Trace& trace, const Property& property, std::map<int64_t, FactMap>& gpus) {
    const std::string_view name = property.name;
    const size_t dot = name.find('.');
    if (!name.starts_with(gpuMark) || dot == std::string_view::npos) return false;
    const auto id = numberIn<int64_t>(name.substr(gpuMark.size(), dot - gpuMark.size()));
    const bool isKnown = std::any_of(trace.gpus.begin(), trace.gpus.end(),
                                     [&](const Gpu& each) { return each.id == id; });
    if (isKnown) gpus[*id].try_emplace(std::string(name.substr(dot + 1)), property.value);
    return isKnown;
}

}  // namespace

TraceFacts::TraceFacts(const Trace& trace) {
    for (const Property& property : trace.properties)
        if (!addToProcess(trace, property, processes) && !addToGpu(trace, property, gpus))
            run.push_back(property);
}

std::string_view factOf(const FactMap& facts, std::string_view name) {
    const auto found = facts.find(name);
    return found == facts.end() ? std::string_view() : std::string_view(found->second);
}

}  // namespace lanescope
