// SPDX-License-Identifier: Apache-2.0
#include "app/cli/commands.h"

#include <algorithm>
#include <memory>
#include <optional>

#include "app/cli/Output.h"
#include "model/format/ReadWatch.h"
#include "model/importers/TraceFormat.h"
#include "model/index/checkTrace.h"
#include "model/notes/NotesFile.h"
#include "model/text/formatValue.h"

namespace lanescope::cli {

namespace {

std::vector<Finding> findingsOf(const std::filesystem::path& file) {
    ProgressLine line;
    std::vector<Finding> findings = checkTrace(file, [&line](double fraction, std::string_view what) {
        line.show(fraction, what);
        return true;
    });
    const Result<FoundNotes> notes = NotesFile::forTrace(file, {}).read();
    if (!notes)
        findings.push_back({false, notes.error().sentence});
    else if (!notes->remark.empty())
        findings.push_back({notes->isIgnored, notes->remark});
    return findings;
}

Result<bool> runCheck(const std::filesystem::path& file) {
    // A file that cannot be read is not a corrupt one.
    if (const Result<uint64_t> readable = checkFile(file); !readable) return fail(readable.error());
    const std::vector<Finding> findings = findingsOf(file);
    auto output = Output::open(std::nullopt, {});
    if (!output) return fail(output.error());
    for (const Finding& finding : findings)
        output->write(fmt::format("{}  {}\n", finding.isGood ? "ok " : "BAD", printable(finding.sentence)));
    if (const Result<void> closed = output->close(); !closed) return fail(closed.error());
    return std::ranges::all_of(findings, &Finding::isGood);
}

}  // namespace

void addCheck(CLI::App& app, int& exitStatus) {
    auto file = std::make_shared<std::string>();
    CLI::App* command = app.add_subcommand("check", "Verify the checksums of a trace");
    command->add_option("FILE", *file, readableFormats())->required();
    command->footer(
        "Reads the whole trace, its index and its notes, and compares them with their stored checksums.\nExits with 0 "
        "if all match, and with 1 if anything is corrupt or was changed by another program.\n\nExample:\n  lanescope "
        "check run.sqlite");
    command->callback([file, &exitStatus] {
        const Result<bool> isGood = runCheck(*file);
        if (!isGood)
            exitStatus = reportFailure(isGood.error());
        else
            exitStatus = *isGood ? exitOk : exitFailed;
    });
}

}  // namespace lanescope::cli
