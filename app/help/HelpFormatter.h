// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace lanescope::help {

/// Limits the option to one of these words; help shows "one|other" and the default. Returns the option.
CLI::Option* acceptOneOf(CLI::Option* option, const std::vector<std::string>& words);

/// Limits the option to numbers from `minimum` to `maximum`; help shows `name` and the default. Returns the option.
CLI::Option* acceptNumber(CLI::Option* option, const std::string& name, double minimum, double maximum);

/// Adds an option whose value is called `valueName` in help.
template <class Target>
CLI::Option* addValue(CLI::App& app, const std::string& name, const std::string& valueName, Target& target,
                      const std::string& description) {
    return app.add_option(name, target, description)->type_name(valueName);
}

/// Adds an option and calls `acceptOneOf`.
inline CLI::Option* addOneOf(CLI::App& app, const std::string& name, const std::vector<std::string>& words,
                             std::string& target, const std::string& description) {
    return acceptOneOf(app.add_option(name, target, description), words);
}

/// Adds an option and calls `acceptNumber`.
template <class Target>
CLI::Option* addNumber(CLI::App& app, const std::string& name, const std::string& valueName, double minimum,
                       double maximum, Target& target, const std::string& description) {
    return acceptNumber(app.add_option(name, target, description), valueName, minimum, maximum);
}

/// Adds an option for the output path of a file or folder, called `valueName` in help; an empty one is an error.
CLI::Option* addOutputPath(CLI::App& app, const std::string& name, const std::string& valueName, std::string& target,
                           const std::string& description);

/// Returns CLI11's error text: a sentence without its full stop, which CLI11 adds; empty if there is none.
template <class Result>
std::string checkText(const Result& result) {
    return result ? std::string() : result.error().sentence;
}

/// Adds a repeatable option, each of whose values `parse` converts to a `Result` without error.
template <class Parse>
CLI::Option* addRepeated(CLI::App& app, const std::string& name, const std::string& valueName, Parse parse,
                         std::vector<std::string>& target, const std::string& description) {
    return addValue(app, name, valueName, target, description)
        ->allow_extra_args(false)
        ->check([parse](const std::string& text) { return checkText(parse(text)); });
}

/// Adds an option whose value `parse` converts to a `Result`; `target`, which outlives the parse, receives it.
template <class Parse, class Target>
CLI::Option* addParsed(CLI::App& app, const std::string& name, const std::string& valueName, Parse parse,
                       Target& target, const std::string& description) {
    const auto read = [parse, &target](const std::string& text) {
        if (const auto value = parse(text)) target = *value;
    };
    return app.add_option_function<std::string>(name, read, description)
        ->type_name(valueName)
        ->check([parse](const std::string& text) { return checkText(parse(text)); });
}

/// Returns the error if a word before "--" gives an option an empty value, as "--output=$OUT" does
/// if OUT is not set: the parser would use the next word as the value. Empty if there is none.
std::string emptyValueProblem(const std::vector<std::string>& words);

/// Formats help texts: "-f, --format text|csv", descriptions in a separate column that end with the
/// default. Shows only the type name of an option's value, so the type name must be complete.
class HelpFormatter : public CLI::Formatter {
  public:
    HelpFormatter();

    std::string make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const override;
    std::string make_option(const CLI::Option* option, bool isPositional) const override;
    std::string make_subcommand(const CLI::App* command) const override;
};

}  // namespace lanescope::help
