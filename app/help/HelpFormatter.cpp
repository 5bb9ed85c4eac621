// SPDX-License-Identifier: Apache-2.0
#include "app/help/HelpFormatter.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>

namespace lanescope::help {

CLI::Option* acceptOneOf(CLI::Option* option, const std::vector<std::string>& words) {
    option->type_name(fmt::format("{}", fmt::join(words, "|")))->capture_default_str();
    return option->check([words](const std::string& text) {
        if (std::ranges::find(words, text) != words.end()) return std::string();
        return fmt::format("unknown value \"{}\"; choose from: {}", text, fmt::join(words, ", "));
    });
}

CLI::Option* acceptNumber(CLI::Option* option, const std::string& name, double minimum, double maximum) {
    option->type_name(name)->capture_default_str();
    return option->check([minimum, maximum](const std::string& text) {
        char* end = nullptr;
        const double number = std::strtod(text.c_str(), &end);
        const bool isNumber = !text.empty() && *end == '\0';
        if (isNumber && number >= minimum && number <= maximum) return std::string();
        const std::string shown = isNumber ? text + " is out of range" : "\"" + text + "\" is not a number";
        return fmt::format("{} ({} to {})", shown, minimum, maximum);
    });
}

CLI::Option* addOutputPath(CLI::App& app, const std::string& name, const std::string& valueName, std::string& target,
                           const std::string& description) {
    return addValue(app, name, valueName, target, description)->check([](const std::string& text) {
        return std::string(text.empty() ? "the output name is empty" : "");
    });
}

std::string emptyValueProblem(const std::vector<std::string>& words) {
    for (const std::string& word : words) {
        if (word == "--") break;
        if (word.starts_with("--") && word.find('=') == word.size() - 1) return fmt::format("{} has no value", word);
    }
    return {};
}

namespace {

constexpr size_t nameWidth = 28;
constexpr size_t lineWidth = 96;

/// Formats a name with its description in the second column, or below a name that is too long.
std::string entry(std::string name, std::string_view description) {
    std::string text = "  " + std::move(name);
    const auto toColumn = [&text](size_t lineBegin) {
        text.append(nameWidth - std::min(nameWidth, text.size() - lineBegin), ' ');
    };
    size_t lineBegin = 0;
    const auto breakLine = [&] {
        text += '\n';
        lineBegin = text.size();
        toColumn(lineBegin);
    };
    if (text.size() + 1 >= nameWidth && !description.empty()) breakLine();
    toColumn(lineBegin);
    bool isFirst = true;
    while (!description.empty()) {
        const std::string_view word = description.substr(0, description.find(' '));
        if (!isFirst && text.size() - lineBegin + 1 + word.size() > lineWidth) {
            breakLine();
            isFirst = true;
        }
        if (!isFirst) text += ' ';
        text += word;
        isFirst = false;
        description.remove_prefix(std::min(description.size(), word.size() + 1));
    }
    while (text.ends_with(' ')) text.pop_back();
    return text + '\n';
}

bool isMany(const CLI::Option& option) { return option.get_expected_max() >= CLI::detail::expected_max_vector_size; }

/// Returns, for example, "-f, --format text|csv".
std::string namesOf(const CLI::Option& option) {
    std::vector<std::string> names;
    for (const std::string& name : option.get_snames()) names.push_back("-" + name);
    for (const std::string& name : option.get_lnames()) names.push_back("--" + name);
    std::string text = fmt::format("{}", fmt::join(names, ", "));
    if (!option.get_option_text().empty()) return text + option.get_option_text();
    if (option.get_type_size() != 0) text += " " + option.get_type_name();
    return text + (isMany(option) && option.get_allow_extra_args() ? "..." : "");
}

}  // namespace

HelpFormatter::HelpFormatter() { column_width(nameWidth); }

std::string HelpFormatter::make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const {
    return CLI::detail::find_and_replace(CLI::Formatter::make_help(app, std::move(name), mode), "\n\n\n", "\n\n");
}

std::string HelpFormatter::make_option(const CLI::Option* option, bool isPositional) const {
    std::string description = option->get_description();
    if (option->get_type_size() != 0 && !option->get_default_str().empty())
        description += fmt::format(" (default: {})", option->get_default_str());
    const std::string name = isPositional ? option->get_name(true) + (isMany(*option) ? "..." : "") : namesOf(*option);
    return entry(name, description);
}

std::string HelpFormatter::make_subcommand(const CLI::App* command) const {
    return entry(command->get_display_name(true), command->get_description());
}

}  // namespace lanescope::help
