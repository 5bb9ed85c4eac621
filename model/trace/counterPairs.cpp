// SPDX-License-Identifier: Apache-2.0
#include "model/trace/counterPairs.h"

#include <array>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

namespace lanescope {

namespace {

/// Ends of the keys of the two directions, the upper one first.
constexpr std::array<std::pair<std::string_view, std::string_view>, 2> directions{
    {{".tx", ".rx"}, {".read", ".write"}}};

bool endsWith(std::string_view text, std::string_view end) {
    return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

/// Of the same sampler, about the same link or device.
bool areOfOneSubject(const CounterSeries& a, const CounterSeries& b) {
    return a.source == b.source && a.device == b.device && a.unit == b.unit && a.gpu == b.gpu &&
           a.process == b.process && a.link == b.link && a.core == b.core;
}

}  // namespace

CounterPairs counterPairs(const std::vector<CounterSeries>& counters) {
    struct Pair {
        uint32_t upper = noIndex, lower = noIndex;
    };
    // One of the same sampler about the same link or device; the key is that of the upper one.
    std::map<std::tuple<std::string, std::string, std::string, CounterUnit, uint32_t, uint32_t,
                        int32_t, int32_t>,
             Pair>
        places;
    for (uint32_t counter = 0; counter < counters.size(); ++counter) {
        const CounterSeries& each = counters[counter];
        for (const auto& [upper, lower] : directions) {
            const bool isUpper = endsWith(each.key, upper);
            if (!isUpper && !endsWith(each.key, lower)) continue;
            const size_t length = each.key.size() - (isUpper ? upper : lower).size();
            Pair& pair = places[{each.key.substr(0, length).append(upper), each.source, each.device,
                                 each.unit, each.gpu, each.process, each.link, each.core}];
            uint32_t& place = isUpper ? pair.upper : pair.lower;
            // A damaged file may have a direction twice; the others have tracks of their own.
            if (place == noIndex) place = counter;
        }
    }
    CounterPairs pairs;
    pairs.lowerOf.assign(counters.size(), noIndex);
    pairs.upperOf.assign(counters.size(), noIndex);
    for (const auto& [key, pair] : places) {
        if (pair.upper == noIndex || pair.lower == noIndex) continue;
        pairs.lowerOf[pair.upper] = pair.lower;
        pairs.upperOf[pair.lower] = pair.upper;
    }
    return pairs;
}

uint32_t upperCounterOf(const std::vector<CounterSeries>& counters, uint32_t counter) {
    const CounterSeries& own = counters[counter];
    const auto first = [&](std::string_view stem, std::string_view direction) {
        for (uint32_t index = 0; index < counters.size(); ++index) {
            const std::string_view key = counters[index].key;
            if (key.size() == stem.size() + direction.size() && key.starts_with(stem) &&
                endsWith(key, direction) && areOfOneSubject(counters[index], own))
                return index;
        }
        return noIndex;
    };
    for (const auto& [upper, lower] : directions) {
        if (!endsWith(own.key, lower)) continue;
        const std::string_view stem(own.key.data(), own.key.size() - lower.size());
        if (first(stem, lower) == counter) return first(stem, upper);
    }
    return noIndex;
}

}  // namespace lanescope
