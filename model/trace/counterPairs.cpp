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

}  // namespace

CounterPairs counterPairs(const std::vector<CounterSeries>& counters) {
    struct Pair {
        uint32_t upper = noIndex, lower = noIndex;
    };
    // One of the same sampler about the same link or device; the key is without its direction.
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
            Pair& pair = places[{each.key.substr(0, length), each.source, each.device, each.unit,
                                 each.gpu, each.process, each.link, each.core}];
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

}  // namespace lanescope
