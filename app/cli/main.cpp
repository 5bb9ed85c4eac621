// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <new>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "app/cli/Output.h"
#include "app/cli/commands.h"
#include "app/completion/completions.h"
#include "app/help/HelpFormatter.h"
#include "model/format/version.h"
#include "model/importers/TraceFormat.h"
#include "model/pages/ComparisonReport.h"
#include "model/reports/describeTrace.h"
#include "model/reports/reports.h"
#include "model/system/system.h"

namespace lanescope::cli {

/// Returns the values of options with this type name that `--help` lists separately: `REPORT`,
/// `TABLE`. For completions.
std::vector<completion::Candidate> valueLists(std::string_view typeName) {
    std::vector<completion::Candidate> list;
    if (typeName == "REPORT")
        for (const Report* report : allReports())
            list.push_back({std::string(report->info.name), std::string(report->info.description)});
    if (typeName == "TABLE")
        for (const std::string_view name : report::comparisonTableNames()) list.push_back({std::string(name), {}});
    return list;
}

namespace {

#ifdef LANESCOPE_CUPTI_API_VERSION
constexpr int64_t cuptiHeaders = LANESCOPE_CUPTI_API_VERSION;
#else
constexpr int64_t cuptiHeaders = 0;
#endif

}  // namespace

/// Returns the output of `lanescope --version` without a final line feed: the version first, then
/// the details that distinguish builds of one version, one per line.
std::string versionText() {
    const std::string_view commit = productCommit();
    return fmt::format("lanescope {}\ncommit {}\nCUPTI headers {}", productVersion(),
                       commit.empty() ? "unknown" : commit, cuptiHeaders > 0 ? cuptiVersionText(cuptiHeaders) : "none");
}

}  // namespace lanescope::cli

#ifdef LANESCOPE_HAS_CAPTURE
#include "capture/sample/runSampler.h"
#endif
#ifdef LANESCOPE_HAS_PM
#include "capture/cupti/makePmSampler.h"
#endif

namespace {

/// Returns the `--help` command that explains the error.
std::string helpCommand(const CLI::App& app) {
    for (const CLI::App* command : app.get_subcommands()) return "lanescope " + command->get_name() + " --help";
    return "lanescope --help";
}

/// Returns the error if the first word names no command; empty otherwise. The parser would only
/// report a missing command.
std::string unknownCommand(const CLI::App& app, std::string_view word) {
    constexpr std::array options{"-h", "--help", "--version"};
    if (word.starts_with('-') && std::ranges::find(options, word) == options.end())
        return fmt::format("Unknown option \"{}\"", word);
    if (word.empty() || word.starts_with('-')) return {};
    std::string names;
    for (const CLI::App* command : app.get_subcommands({})) {
        if (command->get_name() == word) return {};
        names += (names.empty() ? "" : ", ") + command->get_name();
    }
    return fmt::format("Unknown command \"{}\"; choose from: {}", word, names);
}

/// Returns a word that looks like an unknown option if the parser reports missing or extra
/// arguments; empty if there is none.
std::string strayOption(const CLI::App& app, const CLI::ParseError& error) {
    using CLI::ExitCodes;
    const int code = error.get_exit_code();
    if (code != static_cast<int>(ExitCodes::RequiredError) && code != static_cast<int>(ExitCodes::ExtrasError))
        return {};
    for (const CLI::App* command : app.get_subcommands())
        for (const std::string& word : command->remaining()) {
            if (word == "--") break;
            if (word.size() > 1 && word.starts_with('-')) return word;
        }
    return {};
}

/// Returns the error without a full stop.
std::string sentenceOf(const CLI::App& app, const CLI::ParseError& error) {
    if (const std::string stray = strayOption(app, error); !stray.empty()) {
        std::error_code ignored;
        const bool isFile = std::filesystem::exists(stray, ignored);
        return fmt::format("Unknown option \"{}\"{}", stray, isFile ? "; the file of that name is ./" + stray : "");
    }
    std::string sentence = error.what();
    while (sentence.ends_with('.')) sentence.pop_back();
    return sentence;
}

/// Prints the requested help or version.
lanescope::Result<void> printAnswer(const CLI::App& app, const CLI::ParseError& error) {
    std::ostringstream text;
    app.exit(error, text, text);
    return lanescope::cli::printOutput(text.str());
}

int run(int argc, char** argv) {
    using namespace lanescope;
    using namespace lanescope::cli;
#ifdef LANESCOPE_HAS_CAPTURE
    if (argc > 1 && argv[1] == capture::samplerCommand) {
        const auto options = capture::SamplerOptions::fromWords({argv + 2, argv + argc});
        if (!options) return reportFailure(options.error());
#ifdef LANESCOPE_HAS_PM
        capture::runSampler(*options, capture::makePmSampler);
#else
        capture::runSampler(*options, {});
#endif
    }
#endif
    int exitStatus = exitOk;
    CLI::App app("Record, summarize and compare GPU training runs.", "lanescope");
    app.formatter(std::make_shared<help::HelpFormatter>());
    app.set_version_flag("--version", versionText());
    app.require_subcommand(1);
    app.failure_message(CLI::FailureMessage::simple);
    app.footer(
        "Examples:\n"
#ifdef LANESCOPE_HAS_CAPTURE
        "  lanescope record -o run.sqlite -- python train.py\n"
#endif
        "  lanescope stats run.sqlite\n  lanescope compare before.sqlite after.sqlite\n  lanescope view "
        "run.sqlite\n\nAlso reads files of other tools; see 'lanescope stats --help'. For more see 'lanescope COMMAND "
        "--help'.");
    for (AddCommand* add : {
#ifdef LANESCOPE_HAS_CAPTURE
             addRecord, addRecover, addWatch,  addTrigger, addHang,   addDoctor,
#endif
             addInfo,   addStats,   addSql,    addExplain, addWhatIf, addCompare,
#ifdef LANESCOPE_HAS_CAPTURE
             addBench,  addBisect,
#endif
             addPage,   addMerge,   addImport, addExport,  addIndex,  addSummarize,
             addFleet,  addCheck,   addView,   addServe,   addMcp})
        add(app, exitStatus);
    if (argc < 2) {
        std::fputs(app.help().c_str(), stderr);
        return exitUsage;
    }
    if (argv[1] == completion::completionRequest) {
        const std::vector<std::string> words(argv + 2, argv + argc);
        const std::string answer = completion::completions(app, words, formatPatterns(), valueLists);
        std::fputs(answer.c_str(), stdout);
        return exitOk;
    }
    if (const std::string sentence = unknownCommand(app, argv[1]); !sentence.empty())
        return reportFailure({sentence + ". Try 'lanescope --help'."}, exitUsage);
    try {
        std::vector<std::string> words(argv + 1, argv + argc);
#ifdef LANESCOPE_HAS_CAPTURE
        separateProgram(app, words);
#endif
        if (const std::string problem = help::emptyValueProblem(words); !problem.empty())
            return reportFailure({fmt::format("{}. Try '{}'.", problem, helpCommand(app))}, exitUsage);
        std::reverse(words.begin(), words.end());  // In the order that `parse` expects.
        app.parse(std::move(words));
    } catch (const CLI::ParseError& error) {
        // A request for help or the version also ends here, as a success.
        if (error.get_exit_code() == 0) return statusOf(printAnswer(app, error));
        return reportFailure({fmt::format("{}. Try '{}'.", sentenceOf(app, error), helpCommand(app))}, exitUsage);
    }
    return exitStatus;
}

}  // namespace

int main(int argc, char** argv) {
    lanescope::system::shareHeap();
    // Our code does not throw; the standard library does when out of memory.
    try {
        return run(argc, argv);
    } catch (const std::bad_alloc&) {
        return lanescope::cli::reportOutOfMemory();
    } catch (const std::exception& error) {
        return lanescope::cli::reportFailure({fmt::format("Unexpected failure: {}.", error.what())});
    }
}
