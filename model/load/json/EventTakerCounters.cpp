// SPDX-License-Identifier: Apache-2.0
// Takes the events of a trace that are values of counters.
#include <charconv>
#include <cmath>

#include "model/load/json/EventTaker.h"
#include "model/load/json/decimalOf.h"

namespace lanescope {

namespace {

/// Nothing for what is no number, or no finite one.
std::optional<double> numberIn(std::string_view text) {
    double number = 0;
    const char* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, number);
    if (error != std::errc{} || stop != end || !std::isfinite(number)) return std::nullopt;
    return number;
}

}  // namespace

void EventTaker::addSample(const JsonCounter& counter, int64_t timeNs, double value) {
    const auto [found, isNew] =
        counters_.try_emplace(counter, static_cast<uint32_t>(chunk_.counters.size()));
    if (isNew) chunk_.counters.push_back(counter);
    chunk_.samples.push_back({timeNs, value, found->second});
}

void EventTaker::keepMemory(int64_t timeNs) {
    JsonCounter counter;
    counter.process = chunk_.strings.kept(event_.process);
    counter.deviceType = numberOr("Device Type", 0);
    counter.device = numberOr("Device Id", -1);
    const auto add = [&](std::string_view key, JsonCounter::Meaning meaning) {
        const std::optional<int64_t> bytes = wholeNumber(key);
        if (!bytes) return false;
        counter.meaning = meaning;
        addSample(counter, timeNs, static_cast<double>(*bytes));
        return true;
    };
    const bool hasTotal = add("Total Allocated", JsonCounter::Meaning::Allocated);
    if (!hasTotal) add("Bytes", JsonCounter::Meaning::Change);
    add("Total Reserved", JsonCounter::Meaning::Reserved);
}

void EventTaker::keepCounters() {
    const std::optional<int64_t> timeNs = startTime();
    if (!timeNs) return;
    JsonCounter counter;
    counter.process = chunk_.strings.kept(event_.process);
    counter.name = chunk_.strings.add(event_.name);
    for (const Argument& each : arguments_) {
        const std::optional<double> value = numberIn(each.value.text);
        if (!value) continue;
        counter.part = chunk_.strings.add(each.key);
        addSample(counter, *timeNs, *value);
    }
}

}  // namespace lanescope
