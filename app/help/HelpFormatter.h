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

/// Makes the option an output path of a file or folder, called `name` in help; an empty one is an
/// error. Returns the option.
CLI::Option* acceptOutputPath(CLI::Option* option, const std::string& name);

/// Adds an option whose value `parse` converts to a `Result`; `target`, which outlives the parse, receives it.
template <class Parse, class Target>
CLI::Option* addParsed(CLI::App& app, const std::string& name, const std::string& valueName, Parse parse,
                       Target& target, const std::string& description) {
    const auto read = [parse, &target](const std::string& text) {
        if (const auto value = parse(text)) target = *value;
    };
    return app.add_option_function<std::string>(name, read, description)
        ->type_name(valueName)
        ->check([parse](const std::string& text) {
            const auto value = parse(text);
            return value ? std::string() : value.error().sentence;
        });
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
