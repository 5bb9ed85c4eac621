// SPDX-License-Identifier: Apache-2.0
#include "app/python/library/Options.h"

#include <charconv>
#include <cstdint>

#include "model/values/formatValue.h"

namespace lanescope::python {

Options::Options(const char* const* pairs) {
    for (; pairs != nullptr && pairs[0] != nullptr && pairs[1] != nullptr; pairs += 2)
        given_.emplace_back(pairs[0], pairs[1]);
}

std::string Options::take(std::string_view name) {
    const std::vector<std::string> values = takeAll(name);
    return values.empty() ? std::string() : values.back();
}

std::vector<std::string> Options::takeAll(std::string_view name) {
    std::vector<std::string> values;
    std::erase_if(given_, [&](const auto& option) {
        if (option.first != name) return false;
        values.push_back(option.second);
        return true;
    });
    return values;
}

Result<int64_t> Options::takeCount(std::string_view name, int64_t otherwise) {
    const std::string text = take(name);
    if (text.empty()) return otherwise;
    int64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size() || number < 1)
        return fail("{} is a whole number above 0, not \"{}\".", name, printable(text));
    return number;
}

Result<void> Options::checkAllTaken(std::string_view what) const {
    if (given_.empty()) return {};
    return fail("{} takes no option \"{}\".", what, printable(given_.front().first));
}

}  // namespace lanescope::python
