// SPDX-License-Identifier: Apache-2.0
#include "model/roofline/OperatorCall.h"

#include "model/format/parseNumber.h"
#include "model/format/text.h"

namespace lanescope {

namespace {

constexpr size_t maxArguments = 64, maxDims = 8;
/// More elements than any tensor has in one dimension.
constexpr int64_t maxDim = int64_t{1} << 40;

/// Returns the length of the list at the beginning of the text; 0 if none begins or ends there.
size_t listLength(std::string_view text) {
    int depth = 0;
    bool isQuoted = false;
    for (size_t at = 0; at < text.size(); ++at) {
        if (text[at] == '"') isQuoted = !isQuoted;
        if (isQuoted) continue;
        if (text[at] == '[') ++depth;
        if (text[at] == ']') --depth;
        if (depth == 0) return at > 0 ? at + 1 : 0;
    }
    return 0;
}

/// Returns the items of a list, without blanks around them; nullopt if it has more than `max`.
std::optional<std::vector<std::string_view>> itemsOf(std::string_view list, size_t max) {
    std::vector<std::string_view> items;
    if (list.size() < 2) return items;
    const std::string_view inner = list.substr(1, list.size() - 2);
    int depth = 0;
    bool isQuoted = false;
    size_t begin = 0;
    for (size_t at = 0; at <= inner.size(); ++at) {
        if (at < inner.size()) {
            if (inner[at] == '"') isQuoted = !isQuoted;
            if (!isQuoted && inner[at] == '[') ++depth;
            if (!isQuoted && inner[at] == ']') --depth;
            if (isQuoted || depth > 0 || inner[at] != ',') continue;
        }
        if (items.size() == max) return std::nullopt;
        items.push_back(trimmed(inner.substr(begin, at - begin), " "));
        begin = at + 1;
    }
    if (items.size() == 1 && items.front().empty()) items.clear();
    return items;
}

std::string_view unquoted(std::string_view text) {
    return text.size() >= 2 && text.front() == '"' && text.back() == '"' ? text.substr(1, text.size() - 2) : text;
}

/// Returns the numbers of a list; nullopt for other items.
std::optional<OperatorCall::Dims> numbersIn(std::string_view list) {
    if (!list.starts_with('[')) return std::nullopt;
    const auto items = itemsOf(list, maxDims);
    if (!items) return std::nullopt;
    OperatorCall::Dims numbers;
    for (const std::string_view each : *items) {
        const auto number = parseNumber<int64_t>(each);
        if (!number || *number < 0 || *number > maxDim) return std::nullopt;
        numbers.push_back(*number);
    }
    return numbers;
}

std::vector<std::string_view> textsIn(std::string_view list) {
    std::vector<std::string_view> texts;
    if (const auto items = itemsOf(list, maxArguments))
        for (const std::string_view each : *items) texts.push_back(unquoted(each));
    return texts;
}

}  // namespace

std::optional<bool> OperatorCall::flag(size_t argument) const {
    if (argument >= values.size()) return std::nullopt;
    if (values[argument] == "True") return true;
    if (values[argument] == "False") return false;
    return std::nullopt;
}

std::optional<OperatorCall::Dims> OperatorCall::list(size_t argument) const {
    return argument < values.size() ? numbersIn(values[argument]) : std::nullopt;
}

std::array<std::string_view, 3> payloadLists(std::string_view payload) {
    std::array<std::string_view, 3> lists;
    for (std::string_view& each : lists) {
        payload = trimmed(payload, " ");
        each = payload.substr(0, listLength(payload));
        payload.remove_prefix(each.size());
    }
    return lists;
}

std::optional<OperatorCall> operatorCall(std::string_view name, std::string_view payload) {
    OperatorCall call;
    std::string_view shapes;
    constexpr std::string_view sizes = ", sizes = ";
    if (name.find(sizes) != std::string_view::npos) {
        const auto listAfter = [name](std::string_view key) {
            const size_t at = name.find(key);
            const std::string_view rest = at == std::string_view::npos ? "" : name.substr(at + key.size());
            return rest.substr(0, listLength(rest));
        };
        shapes = listAfter(sizes);
        call.types = textsIn(listAfter(", types = "));
        call.values = textsIn(listAfter(", values = "));
        call.name = name.substr(0, name.find(", "));
    } else {
        const auto lists = payloadLists(payload);
        shapes = lists[0];
        call.types = textsIn(lists[1]);
        call.values = textsIn(lists[2]);
        call.name = name;
    }
    if (shapes.empty()) return std::nullopt;
    const auto items = itemsOf(shapes, maxArguments);
    if (!items) return std::nullopt;
    // A list of tensors has no shape of its own.
    for (const std::string_view each : *items) call.dims.push_back(numbersIn(each).value_or(OperatorCall::Dims()));
    return call;
}

}  // namespace lanescope
