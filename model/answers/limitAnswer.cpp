// SPDX-License-Identifier: Apache-2.0
#include "model/answers/limitAnswer.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "model/format/text.h"
#include "model/text/formatValue.h"

namespace lanescope::answers {

namespace {

/// A list or text in an answer, and its size in bytes.
struct Longest {
    Json* value = nullptr;
    std::string path;
    size_t bytes = 0;
};

size_t sizeOf(const Json& value) { return lineOf(value).size(); }

/// Shortens texts and makes them printable. Returns the number of shortened ones.
size_t shortenTexts(Json& value) {
    size_t shortened = 0;
    if (value.is_string()) {
        std::string text = printable(value.get_ref<const std::string&>());
        if (text.size() > maxTextBytes) {
            text = validUtf8(text.substr(0, maxTextBytes)) + "…";
            ++shortened;
        }
        value = std::move(text);
    } else if (value.is_structured()) {
        for (Json& each : value) shortened += shortenTexts(each);
    }
    return shortened;
}

/// Finds the list whose elements take most bytes, among those with at least two elements.
void findLongest(Json& value, const std::string& path, Longest& longest) {
    if (!value.is_structured()) return;
    if (value.is_array() && value.size() > 1 && path != "truncated") {
        const size_t bytes = sizeOf(value);
        // An inner list is shortened before the list around it only if it is most of that.
        if (bytes > longest.bytes) longest = {&value, path, bytes};
    }
    for (auto& [name, each] : value.items())
        findLongest(each, value.is_array() ? path : path.empty() ? name : path + "." + name, longest);
}

}  // namespace

std::string limitedAnswer(Json answer, size_t maxTokens) {
    const size_t maxBytes = maxTokens * bytesPerToken;
    const size_t shortened = shortenTexts(answer);
    std::map<std::string, std::pair<size_t, size_t>> shown;  // by path: the shown and all elements
    const auto finished = [&] {
        Json truncated = Json::array();
        for (const auto& [path, counts] : shown)
            truncated.push_back(fmt::format("{}: {} of {} shown", path, counts.first, counts.second));
        if (shortened > 0) truncated.push_back(fmt::format("{} texts shortened", shortened));
        Json whole = answer;
        whole["truncated"] = std::move(truncated);
        return lineOf(whole);
    };
    std::string text = finished();
    while (text.size() > maxBytes) {
        Longest longest;
        findLongest(answer, {}, longest);
        if (longest.value == nullptr) break;
        auto& list = longest.value->get_ref<Json::array_t&>();
        auto& counts = shown.try_emplace(longest.path, 0, list.size()).first->second;
        const size_t excess = text.size() - maxBytes, each = std::max<size_t>(1, longest.bytes / list.size());
        const size_t kept = list.size() - std::min(list.size() - 1, std::max<size_t>(1, excess / each));
        list.resize(kept);
        counts.first = kept;
        text = finished();
    }
    if (text.size() <= maxBytes) return text;
    return lineOf({{"truncated", {"The answer is longer than the limit. Ask for less, or raise max_tokens."}}});
}

}  // namespace lanescope::answers
