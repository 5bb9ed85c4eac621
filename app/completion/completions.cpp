// SPDX-License-Identifier: Apache-2.0
#include "app/completion/completions.h"

#include <fmt/format.h>

#include <algorithm>

namespace lanescope::completion {

namespace {

constexpr size_t maxDescriptionLength = 120;

std::string line(std::string_view word, std::string_view description) {
    std::string text(description.substr(0, description.find('\n')));
    if (text.size() > maxDescriptionLength) {
        text.resize(text.rfind(' ', maxDescriptionLength));
        text += " ...";
    }
    return fmt::format("{}\t{}\n", word, text);
}

/// Returns the max number of words after an option.
int maxValuesOf(const CLI::Option& option) {
    if (option.get_items_expected_max() <= 0) return 0;
    return option.get_allow_extra_args() ? option.get_items_expected_max()
                                         : std::max(1, option.get_items_expected_min());
}

/// Returns the words between the braces of "TEXT:{text,csv}".
std::vector<std::string> membersOf(const std::string& typeName) {
    const size_t start = typeName.find('{');
    const size_t end = typeName.find('}', start);
    if (end == std::string::npos) return {};
    return CLI::detail::split(typeName.substr(start + 1, end - start - 1), ',');
}

/// Parses the words before the cursor and determines what may follow.
class Position {
  public:
    explicit Position(const CLI::App& app) : app_(&app) {}

    const CLI::App& app() const { return *app_; }
    /// Returns the option whose value may come next, or null.
    const CLI::Option* open() const { return valuesLeft_ > 0 ? open_ : nullptr; }
    /// Returns true if the next word is a value, even if it begins with a hyphen.
    bool mustBeValue() const { return open() != nullptr && isFirstValue_; }
    bool isAfterOptions() const { return isAfterOptions_; }

    void read(const std::string& word) {
        const bool isOption = !isAfterOptions_ && word.size() > 1 && word.front() == '-';
        if (mustBeValue() || (open() != nullptr && !isOption)) {
            --valuesLeft_;
            isFirstValue_ = false;
        } else if (word == "--" && !isAfterOptions_) {
            isAfterOptions_ = true;
            valuesLeft_ = 0;
        } else if (isOption) {
            open_ = findOption(word.substr(0, word.find('=')));
            const bool hasItsValue = open_ == nullptr || word.find('=') != std::string::npos;
            valuesLeft_ = hasItsValue ? 0 : maxValuesOf(*open_);
            isFirstValue_ = true;
        } else if (const CLI::App* command = findCommand(word)) {
            app_ = command;
        } else {
            ++positionals_;
        }
    }

    const CLI::Option* findOption(const std::string& name) const {
        for (const CLI::Option* option : app_->get_options())
            if (option->nonpositional() && option->check_name(name)) return option;
        return nullptr;
    }

    /// Returns the positional that the next word would be, or null.
    const CLI::Option* positional() const {
        size_t left = positionals_;
        for (const CLI::Option* option : app_->get_options()) {
            if (!option->get_positional()) continue;
            if (left < static_cast<size_t>(option->get_items_expected_max())) return option;
            left -= static_cast<size_t>(option->get_items_expected_max());
        }
        return nullptr;
    }

  private:
    const CLI::App* findCommand(const std::string& word) const {
        for (const CLI::App* command : app_->get_subcommands({}))
            if (command->get_name() == word) return command;
        return nullptr;
    }

    const CLI::App* app_;
    const CLI::Option* open_ = nullptr;
    int valuesLeft_ = 0;
    bool isFirstValue_ = false;
    bool isAfterOptions_ = false;
    size_t positionals_ = 0;
};

std::string valuesOf(const CLI::Option& option, std::string_view tracePatterns, const ValueLists& valueLists,
                     std::string_view before = {}) {
    const std::string type = option.get_positional() ? option.get_name(true) : option.get_type_name();
    std::string text;
    for (const std::string& member : membersOf(option.get_type_name()))
        text += line(fmt::format("{}{}", before, member), "");
    for (const Candidate& candidate : valueLists(type))
        text += line(fmt::format("{}{}", before, candidate.word), candidate.description);
    if (!text.empty()) return text;
    const auto starts = [&type](const char* name) { return type.starts_with(name); };
    if (starts("TRACE") || starts("BASELINE") || starts("CANDIDATE") || (option.get_positional() && type == "FILE"))
        return fmt::format(":traces {}\n", tracePatterns);
    if (type.ends_with("FILE")) return ":files\n";
    if (type == "DIR") return ":folders\n";
    return {};
}

std::string optionsOf(const CLI::App& app) {
    std::string text;
    for (const CLI::Option* option : app.get_options()) {
        for (const std::string& name : option->get_lnames()) text += line("--" + name, option->get_description());
        for (const std::string& name : option->get_snames()) text += line("-" + name, option->get_description());
    }
    return text;
}

/// Returns the start of the last program in a list of programs that starts at `first`: after the last "---".
size_t lastProgram(std::span<const std::string> words, size_t first) {
    for (size_t at = words.size() - 1; at-- > first;)
        if (words[at] == "---") return at + 1;
    return first;
}

/// Returns true after the "--" of `bisect`, whose program follows states.
bool isProgramOfStates(const Position& position) {
    const CLI::Option* const next = position.positional();
    return position.isAfterOptions() && next != nullptr && next->get_name(true) == "STATE";
}

}  // namespace

std::string completions(const CLI::App& app, std::span<const std::string> words, std::string_view tracePatterns,
                        const ValueLists& valueLists) {
    if (words.empty()) return {};
    Position position(app);
    for (size_t i = 0; i + 1 < words.size(); ++i) {
        const CLI::Option* const next = position.positional();
        const bool isOption = !position.isAfterOptions() && words[i].starts_with('-');
        if (next != nullptr && next->get_name(true) == "PROGRAM" && position.open() == nullptr && !isOption)
            return fmt::format(":program {}\n", lastProgram(words, i));
        if (isProgramOfStates(position)) return fmt::format(":program {}\n", i);
        position.read(words[i]);
    }
    if (isProgramOfStates(position)) return fmt::format(":program {}\n", words.size() - 1);
    const std::string& word = words.back();
    if (position.mustBeValue()) return valuesOf(*position.open(), tracePatterns, valueLists);
    if (word.starts_with('-') && !position.isAfterOptions()) {
        const size_t equals = word.find('=');
        if (equals == std::string::npos) return optionsOf(position.app());
        const CLI::Option* const option = position.findOption(word.substr(0, equals));
        return option == nullptr ? std::string()
                                 : valuesOf(*option, tracePatterns, valueLists, word.substr(0, equals + 1));
    }
    if (position.open() != nullptr) return valuesOf(*position.open(), tracePatterns, valueLists);
    std::string text;
    for (const CLI::App* command : position.app().get_subcommands({}))
        text += line(command->get_name(), command->get_description());
    if (!text.empty()) return text;
    const CLI::Option* const positional = position.positional();
    if (positional == nullptr) return optionsOf(position.app());
    if (positional->get_name(true) == "PROGRAM") return fmt::format(":program {}\n", words.size() - 1);
    return valuesOf(*positional, tracePatterns, valueLists);
}

}  // namespace lanescope::completion
