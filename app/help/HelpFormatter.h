// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace lanescope::help {

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
