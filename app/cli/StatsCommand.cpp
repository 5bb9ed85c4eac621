// SPDX-License-Identifier: Apache-2.0
#include "app/cli/commands.h"

#include <memory>
#include <optional>

#include "app/cli/Output.h"
#include "app/help/HelpFormatter.h"
#include "model/importers/TraceFormat.h"
#include "model/index/openTrace.h"
#include "model/reports/reports.h"
#include "model/roofline/ShapedCalls.h"
#include "model/text/formatTable.h"

namespace lanescope::cli {

namespace {

struct StatsOptions {
    std::string file;
    std::vector<std::string> reports;
    std::string format = "text";
    std::optional<TimeRange> range;
    std::string by;
    std::string rangeName;
    std::string output;
};

std::string reportsThat(bool areDefault) {
    std::string text;
    for (const Report* report : allReports())
        if (report->info.isDefault == areDefault)
            text += fmt::format("  {:<25} {}\n", report->info.name, report->info.description);
    return text;
}

std::string reportList() {
    return "Reports:\n" + reportsThat(true) + "\nReports that are printed only on request:\n" + reportsThat(false);
}

/// Returns the reason for a report without rows if the trace lacks all of its events: ": the trace has no GPU work".
std::string whyNone(const Trace& trace, std::string_view report) {
    const size_t work = trace.kernels.size() + trace.memcpys.size() + trace.memsets.size() + trace.graphs.size();
    const struct {
        std::string_view begin;
        size_t count;
        std::string_view what;
    } causes[] = {{"thread_", trace.cpuStates.size(), "thread states, which are sampled while recording"},
                  {"cpu_functions", trace.cpuStates.size(), "CPU samples"},
                  {"nccl_", trace.nccl.size(), "NCCL calls, which show bytes and communicators"},
                  {"nvtx_", trace.nvtx.size(), "NVTX ranges"},
                  {"cuda_api", trace.apiCalls.size(), "API calls"},
                  {"launches_by", trace.stacks.size(), "Python stacks"},
                  {"kernels_by", trace.stacks.size(), "Python stacks"},
                  {"idle_by", trace.stacks.size(), "Python stacks"},
                  {"cuda_memory", trace.memoryEvents.size(), "memory allocations"},
                  {"um_", trace.migrations.size() + trace.pageFaults.size(), "managed memory"},
                  {"gpu_activity", trace.counters.size(), "counters"},
                  {"nvlink", trace.counters.size(), "counters"},
                  {"energy", trace.counters.size(), "counters"},
                  {"mfu", trace.counters.size(), "counters"},
                  {"roofline", shapedCalls(trace).calls.size(),
                   "operators with shapes, such as those within `with lanescope.torch.shapes()`"},
                  {"memcpy", trace.memcpys.size(), "memcpys"},
                  {"cuda_gpu_mem", trace.memcpys.size() + trace.memsets.size(), "memcpys or memsets"},
                  {"", work, "GPU work"}};
    for (const auto& each : causes)
        if (report.starts_with(each.begin))
            return each.count == 0 ? fmt::format(": the trace has no {}", each.what) : std::string();
    return {};
}

/// Prints reports one after the other, in parts, in a form that keeps the whole output machine-readable.
class ReportPrinter {
  public:
    ReportPrinter(Output& output, TableFormat format, bool isSingle, std::string rangeName)
        : output_(output), format_(format), isSingle_(isSingle), rangeName_(std::move(rangeName)) {}

    Result<void> print(const Trace& trace, std::string_view name, std::optional<TimeRange> range,
                       bool isSkippedIfEmpty) {
        std::unique_ptr<TableFormatter> formatter;
        std::vector<std::string> notes;
        const Result<void> made = makeReportInParts(
            trace, name, range,
            [&](const ReportTable& part) {
                const bool isEmpty = part.rows.empty() && part.notes.empty();
                if (!formatter && isEmpty && isSkippedIfEmpty) return false;
                if (!formatter) output_.write(beginning(part));
                if (!formatter) formatter = makeTableFormatter(format_, part.style);
                notes = part.notes;
                if (format_ == TableFormat::Text && part.rows.empty())
                    output_.write(fmt::format("  No rows{}.\n", whyNone(trace, name)));
                else
                    output_.write(formatter->next(part));
                return output_.isWanted();
            },
            rangeName_);
        if (!made || !formatter) return made;
        output_.write(formatter->end());
        // Programs that need the notes request the report that has them as rows.
        if (format_ == TableFormat::Text && !notes.empty()) output_.write("\n");
        if (format_ == TableFormat::Text)
            for (const std::string& note : notes) output_.write(printable(note) + "\n");
        ++printed_;
        return {};
    }

    void finish() {
        if (format_ == TableFormat::Json && !isSingle_) output_.write("}\n");
    }
    int printed() const { return printed_; }

  private:
    std::string beginning(const ReportTable& table) const {
        switch (format_) {
            case TableFormat::Text:
                return fmt::format("{}{} ({})\n\n", printed_ > 0 ? "\n" : "", table.title, table.name);
            case TableFormat::Csv: return printed_ > 0 ? "\r\n" : "";
            case TableFormat::NsightCsv: return printed_ > 0 ? "\n" : "";
            case TableFormat::Json: break;
        }
        if (isSingle_) return {};
        return fmt::format("{}\"{}\": ", printed_ > 0 ? "," : "{\n", table.name);
    }

    Output& output_;
    TableFormat format_;
    bool isSingle_;
    std::string rangeName_;
    int printed_ = 0;
};

Result<void> printReports(const Trace& trace, const StatsOptions& options, const std::vector<std::string>& names,
                          TableFormat format, Output& output) {
    // An empty default report is skipped for people; programs get all of them.
    const bool isSkippedIfEmpty = options.reports.empty() && format == TableFormat::Text;
    ReportPrinter printer(output, format, names.size() == 1, options.rangeName);
    for (const std::string& name : names) {
        if (!output.isWanted()) break;
        const Result<void> printed = printer.print(trace, name, options.range, isSkippedIfEmpty);
        if (!printed) return printed;
    }
    printer.finish();
    if (printer.printed() == 0)
        output.write(trace.isEmpty() ? "The trace has no events.\n" : "No events in this range.\n");
    return {};
}

Result<void> runStats(const StatsOptions& options, const std::vector<std::string>& names) {
    const Result<TableFormat> format = tableFormatFrom(options.format);
    if (!format) return fail(format.error());
    const Result<TracePtr> trace = loadForCommand(options.file);
    if (!trace) return fail(trace.error());
    const Result<void> selected = checkSelection(**trace, names, options.range, options.rangeName);
    if (!selected) return selected;
    Result<Output> output = Output::open(options.output, {options.file});
    if (!output) return fail(output.error());
    output->emitOnlyWhile([&trace] { return checkIndex(**trace); });
    if (const Result<void> printed = printReports(**trace, options, names, *format, *output); !printed) return printed;
    const Result<void> closed = output->close();
    if (closed) reportTraceWarnings(**trace);
    return closed;
}

int runAndReport(const StatsOptions& options) {
    const Result<std::vector<std::string>> names = reportsAsked(options.reports, options.by);
    const Result<void> used = names ? checkRangeNameIsUsed(*names, options.rangeName) : fail(names.error());
    return used ? statusOf(runStats(options, *names)) : reportFailure(used.error(), exitUsage);
}

}  // namespace

void addStats(CLI::App& app, int& exitStatus) {
    auto options = std::make_shared<StatsOptions>();
    CLI::App* command = app.add_subcommand("stats", "Print summaries of a trace");
    command->add_option("FILE", options->file, readableFormats())->required();
    help::addRepeated(*command, "-r,--report", "REPORT", findReport, options->reports, "Report to print; repeatable");
    addFormat(*command, options->format, {"text", "csv", "nsys-csv", "json"});
    help::addParsed(*command, "--range", "START:END", parseRange, options->range,
                    "Only events that overlap START:END in timeline time, in seconds or with a unit (s, ms, us, ns)");
    help::addOneOf(*command, "--by", variantNames(), options->by, "Group rows by: " + variantsSentence())
        ->type_name("WHAT");
    help::addValue(*command, "--range-name", "NAME", options->rangeName,
                   "NVTX ranges for reports by range, '#' matches any number (\"epoch #\"); default: the steps");
    addOutputFile(*command, options->output);
    command->footer(
        reportList() +
        "\nCSV and JSON contain plain numbers: nanoseconds, bytes, GB/s (10^9 bytes per second). JSON of\nseveral "
        "reports is one object, JSON of one report is its array. CSV of several reports is one table\nafter another, "
        "separated by an empty line.\n\nExamples:\n  lanescope stats run.sqlite\n  lanescope stats run.sqlite -r "
        "cuda_gpu_kern_sum -f csv -o kernels.csv\n  lanescope stats run.sqlite -r memcpy_bandwidth --by size\n  "
        "lanescope stats run.sqlite -r memcpy_bandwidth --by range --range-name 'epoch #'\n  lanescope stats "
        "run.sqlite --range 10:20\n  lanescope stats run.sqlite --range 6.1s:6.2s");
    command->callback([options, &exitStatus] { exitStatus = runAndReport(*options); });
}

}  // namespace lanescope::cli
