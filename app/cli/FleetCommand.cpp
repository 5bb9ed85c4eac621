// SPDX-License-Identifier: Apache-2.0
#include "app/cli/commands.h"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "app/cli/Output.h"
#include "app/help/HelpFormatter.h"
#include "model/system/system.h"

namespace lanescope::cli {

namespace {

constexpr const char* pythonVariable = "LANESCOPE_PYTHON";
constexpr const char* defaultPython = "python3";
constexpr const char* programVariable = "LANESCOPE_PROGRAM";

/// Prints one sentence if the package is missing, instead of Python's search path.
constexpr const char* start =
    "import sys\n"
    "try:\n"
    "    from lanescope.fleet.command import main\n"
    "except ImportError as error:\n"
    "    sys.exit(f'lanescope: The comparison of many ranks is written in Python, and "
    "{sys.executable} does not have it ({error}): pip install \"lanescope[fleet]\", or name "
    "another Python in LANESCOPE_PYTHON.')\n"
    "main(sys.argv[1:])\n";

/// Replaces this process; returns only if that fails.
Error becomePython(const std::vector<std::string>& words) {
    const char* named = std::getenv(pythonVariable);
    const std::string python = named != nullptr && *named != '\0' ? named : defaultPython;
    if (const std::filesystem::path self = system::ownProgram(); !self.empty())
        ::setenv(programVariable, self.c_str(), 1);
    std::vector<char*> arguments{const_cast<char*>(python.c_str()), const_cast<char*>("-c"), const_cast<char*>(start)};
    for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    ::execvp(python.c_str(), arguments.data());
    return {fmt::format("{}: cannot start: {}. Name a Python that has the lanescope package in {}.", python,
                        std::strerror(errno), pythonVariable)};
}

struct FleetOptions {
    std::string folder, other, output, html, roles, scheduler;
    int workers = 0;
    bool isForced = false, printsSlurm = false, printsKubernetes = false, isUnsafe = false;

    std::vector<std::string> words() const {
        std::vector<std::string> all{folder};
        if (!other.empty()) all = {folder, other};
        const auto add = [&](const char* name, const std::string& value) {
            if (!value.empty()) all.insert(all.end(), {name, value});
        };
        add("--output", output);
        add("--html", html);
        add("--roles", roles);
        add("--scheduler", scheduler);
        if (workers > 0) add("--workers", std::to_string(workers));
        if (isForced) all.emplace_back("--force");
        if (isUnsafe) all.emplace_back("--without-tls");
        if (printsSlurm) all.emplace_back("--print-slurm");
        if (printsKubernetes) all.emplace_back("--print-kubernetes");
        return all;
    }
};

}  // namespace

void addFleet(CLI::App& app, int& exitStatus) {
    auto options = std::make_shared<FleetOptions>();
    auto folders = std::make_shared<std::vector<std::string>>();
    CLI::App* command =
        app.add_subcommand("fleet", "Find the slow ranks, links and hosts of a job from the summaries of its ranks");
    command
        ->add_option("FOLDER", *folders,
                     "Folder with the summaries or traces of a job's ranks; name two to compare two jobs")
        ->required()
        ->expected(1, 2);
    help::acceptOutputPath(
        command->add_option("-o,--output", options->output, "SQLite file for the report (default: fleet.sqlite)"),
        "FILE");
    help::acceptOutputPath(command->add_option("--html", options->html, "Also write the report as an HTML page"),
                           "FILE");
    command->add_flag("--force", options->isForced, "Overwrite existing files");
    command
        ->add_option("--roles", options->roles,
                     "CSV file with the columns rank and role: ranks with the same role do the "
                     "same work (default: derived from the communicators)")
        ->type_name("FILE");
    command->add_option("--workers", options->workers, "Reader processes on this machine (default: one per core)")
        ->type_name("N");
    command
        ->add_option("--scheduler", options->scheduler,
                     "Read with a Dask cluster: the address of its scheduler, or its scheduler file")
        ->type_name("ADDRESS");
    command->add_flag("--without-tls", options->isUnsafe,
                      "Allow an unencrypted connection to a scheduler on another machine");
    command->add_flag("--print-slurm", options->printsSlurm,
                      "Print Slurm commands that start a Dask cluster, and exit");
    command->add_flag("--print-kubernetes", options->printsKubernetes,
                      "Print a Kubernetes manifest that starts a Dask cluster, and exit");
    command->footer(
        "Requires the Python package: pip install 'lanescope[fleet]'. LANESCOPE_PYTHON names the "
        "Python to use.\n"
        "\n"
        "Examples:\n"
        "  lanescope fleet summaries -o fleet.sqlite --html fleet.html\n"
        "  lanescope fleet yesterday today -o both.sqlite\n"
        "  lanescope fleet summaries --scheduler tls://node0:8786");
    command->callback([options, folders, &exitStatus] {
        options->folder = folders->front();
        if (folders->size() > 1) options->other = folders->back();
        exitStatus = reportFailure(becomePython(options->words()));
    });
}

}  // namespace lanescope::cli
