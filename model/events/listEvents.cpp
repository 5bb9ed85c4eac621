// SPDX-License-Identifier: Apache-2.0
#include "model/events/listEvents.h"

#include <algorithm>
#include <numeric>

#include "model/trace/kinds/StackFilter.h"
#include "model/values/lowerCase.h"

namespace lanescope {

namespace {

constexpr int64_t scannedAtOnce = 8192;

std::vector<std::string> wordsOf(const std::string& text) {
    std::vector<std::string> words;
    std::string word;
    for (const char letter : lowerCase(text) + ' ') {
        if (letter != ' ' && letter != '\t') {
            word += letter;
        } else if (!word.empty()) {
            words.push_back(std::move(word));
            word.clear();
        }
    }
    return words;
}

bool holdsAll(const Trace& trace, EventRef event, const std::vector<std::string>& words) {
    std::string text = trace.nameOf(event);
    const Cell line = eventCell(trace, event, EventColumn::Line);
    if (const auto* lineText = std::get_if<std::string>(&line)) text += '\n' + *lineText;
    text = lowerCase(std::move(text));
    return std::ranges::all_of(
        words, [&](const std::string& word) { return text.find(word) != std::string::npos; });
}

}  // namespace

std::optional<EventList> listEvents(const Trace& trace, const EventRequest& request,
                                    const std::function<bool()>& isCancelled) {
    const EventWindow window(trace, request.range, request.kinds);
    const TypedTerms typed = splitTerms(request.words);
    const std::vector<std::string> words = wordsOf(typed.rest);
    const StackFilter stacks(trace, typed.stack);
    EventList list;
    list.inRange = window.size();
    const int64_t most = std::min(window.size(), request.mostScanned);
    while (list.scanned < most) {
        if (isCancelled && isCancelled()) return std::nullopt;
        const auto part = window.slice(list.scanned, std::min(scannedAtOnce, most - list.scanned));
        if (part.empty()) break;
        for (const EventRef event : part)
            if (holdsAll(trace, event, words) && stacks.holds(event)) list.events.push_back(event);
        list.scanned += static_cast<int64_t>(part.size());
    }
    if (request.sortedBy == EventColumn::Start) {
        if (request.isDescending) std::reverse(list.events.begin(), list.events.end());
        return list;
    }
    std::vector<Cell> keys;
    keys.reserve(list.events.size());
    for (const EventRef event : list.events) {
        if (keys.size() % scannedAtOnce == 0 && isCancelled && isCancelled()) return std::nullopt;
        keys.push_back(eventCell(trace, event, request.sortedBy));
    }
    std::vector<uint32_t> order(list.events.size());
    std::iota(order.begin(), order.end(), 0u);
    // Events without a value stand last either way.
    std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
        const bool hasA = keys[a].index() != 0, hasB = keys[b].index() != 0;
        if (!hasA || !hasB) return hasA && !hasB;
        return request.isDescending ? keys[b] < keys[a] : keys[a] < keys[b];
    });
    std::vector<EventRef> sorted;
    sorted.reserve(order.size());
    for (const uint32_t index : order) sorted.push_back(list.events[index]);
    list.events = std::move(sorted);
    return list;
}

}  // namespace lanescope
