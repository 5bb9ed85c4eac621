// SPDX-License-Identifier: Apache-2.0
#include "app/help/takes.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>

namespace lanescope::help {

CLI::Option* takesOneOf(CLI::Option* option, const std::vector<std::string>& words) {
    option->type_name(fmt::format("{}", fmt::join(words, "|")));
    return option->check(CLI::Validator(
        [words](const std::string& text) {
            if (std::find(words.begin(), words.end(), text) != words.end()) return std::string();
            return fmt::format("There is no \"{}\"; there {}: {}", text,
                               words.size() == 1 ? "is" : "are", fmt::join(words, ", "));
        },
        ""));
}

CLI::Option* takesNumber(CLI::Option* option, const std::string& name, double least, double most) {
    option->type_name(name);
    return option->check(CLI::Validator(
        [least, most](const std::string& text) {
            char* end = nullptr;
            const double number = std::strtod(text.c_str(), &end);
            const bool isNumber = !text.empty() && *end == '\0';
            if (isNumber && number >= least && number <= most) return std::string();
            return fmt::format("\"{}\" is no number from {} to {}", text, least, most);
        },
        ""));
}

CLI::Option* takesOutput(CLI::Option* option, const std::string& name) {
    option->type_name(name);
    return option->check(CLI::Validator(
        [](const std::string& text) {
            return std::string(text.empty() ? "The output name is empty" : "");
        },
        ""));
}

std::string emptyValueProblem(const std::vector<std::string>& words) {
    for (const std::string& word : words) {
        if (word == "--") break;
        if (word.starts_with("--") && word.find('=') == word.size() - 1)
            return fmt::format("{} has no value", word);
    }
    return {};
}

}  // namespace lanescope::help
