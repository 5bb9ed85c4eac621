// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace lanescope::help {

/// The option takes one of these words; help shows them as "one|other". Returns the option.
CLI::Option* takesOneOf(CLI::Option* option, const std::vector<std::string>& words);

/// The option takes a number from `least` to `most`, which help calls `name`. Returns the option.
CLI::Option* takesNumber(CLI::Option* option, const std::string& name, double least, double most);

/// The option takes the path of a file or folder to write to, which help calls `name`; an empty one
/// is an error. Returns the option.
CLI::Option* takesOutput(CLI::Option* option, const std::string& name);

/// What is wrong with words of a command line, up to "--", that give an option an empty value, as
/// "--output=$OUT" does where OUT is not set: the parser would take the next word for it. Empty if
/// there are none.
std::string emptyValueProblem(const std::vector<std::string>& words);

/// Help texts for people: "-f, --format text|csv", descriptions in a column of their own that end
/// with the default. Of what an option takes only its type name is shown, so that says it all.
class HelpFormatter : public CLI::Formatter {
  public:
    HelpFormatter();

    std::string make_help(const CLI::App* app, std::string name,
                          CLI::AppFormatMode mode) const override;
    std::string make_option(const CLI::Option* option, bool isPositional) const override;
    std::string make_subcommand(const CLI::App* command) const override;
};

}  // namespace lanescope::help
