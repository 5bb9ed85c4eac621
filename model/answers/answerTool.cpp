// SPDX-License-Identifier: Apache-2.0
#include "model/answers/answerTool.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <functional>
#include <map>
#include <new>
#include <optional>
#include <ranges>
#include <set>
#include <vector>

#include "model/analysis/IdleCauses.h"
#include "model/analysis/RunSummary.h"
#include "model/analysis/shownNumbers.h"
#include "model/explain/RunFindings.h"
#include "model/format/text.h"
#include "model/index/openTrace.h"
#include "model/lod/SelectionStatistics.h"
#include "model/numbers/Statistics.h"
#include "model/pages/makeComparison.h"
#include "model/query/TraceQuery.h"
#include "model/reports/describeTrace.h"
#include "model/reports/reports.h"
#include "model/text/formatTable.h"
#include "model/text/formatValue.h"
#include "model/trace/Trace.h"

namespace lanescope::answers {

namespace {

constexpr size_t maxListedFiles = 100, maxTextArgumentBytes = 20'000;

Json ofType(const char* type, const char* description) {
    Json schema{{"type", type}};
    if (*description != 0) schema["description"] = description;
    return schema;
}
Json text(const char* description = "") { return ofType("string", description); }
Json number(const char* description) { return ofType("integer", description); }
Json texts(const char* description = "") {
    Json schema = ofType("array", description);
    schema["items"] = text();
    return schema;
}

Json tool(const char* name, const char* description, Json properties, std::vector<std::string> required,
          bool isReading = true) {
    if (isReading && !properties.contains("finding")) properties["detail"] = {{"type", "boolean"}};
    properties["max_tokens"] = ofType("integer", "");
    return {
        {"name", name},
        {"description", description},
        {"inputSchema", {{"type", "object"}, {"properties", std::move(properties)}, {"required", std::move(required)}}},
        {"annotations", {{"readOnlyHint", isReading}, {"openWorldHint", false}}}};
}

bool isOfType(const Json& value, const Json& schema) {
    const std::string type = schema["type"];
    if (type == "integer") return value.is_number_integer() && value >= 0;
    if (type == "boolean") return value.is_boolean();
    if (type == "string")
        return value.is_string() && value.get_ref<const std::string&>().size() <= maxTextArgumentBytes;
    return value.is_array() && value.size() <= maxListedFiles &&
           std::ranges::all_of(value, [&schema](const Json& each) { return isOfType(each, schema["items"]); });
}

}  // namespace

Json toolList(bool mayRun) {
    Json tools = Json::array();
    tools.push_back(
        tool("explain",
             "Why steps take their time; enough for most questions. mean_step_ms: mean step by part, and by rank. "
             "causes_ms: ms per step, findings (summed by line), place, evidence (none: measured; recording: ms that "
             "the profiler may have added, not counted). A place that begins with 'line' is the line to change. No "
             "causes: nothing stands out.",
             {{"file", text()},
              {"steps", text("A-B, as 5-20")},
              {"finding", text("One of causes_ms, for its sentences and advice")}},
             {"file"}));
    tools.push_back(tool("open", "Program, GPUs, time range. Without file: all traces.", {{"file", text()}}, {}));
    tools.push_back(tool("compare", "Which runs are slower, how certain, and why. Several runs per side for programs.",
                         {{"baseline", texts()}, {"candidate", texts()}, {"steps", text()}},
                         {"baseline", "candidate"}));
    tools.push_back(tool(rangeTool, "A time range: each GPU's parts, what ran longest, what its idle time waited for.",
                         {{"file", text()}, {"range", text("START:END, as 1.5s:1.6s")}}, {"file"}));
    tools.push_back(tool("stats", "A report as rows. Without report: the list of reports.",
                         {{"file", text()},
                          {"report", text("As cuda_gpu_kern_sum, nccl_lateness")},
                          {"range", text()},
                          {"rows", number("Max, default 10")}},
                         {"file"}));
    tools.push_back(tool("sql", "One SELECT, read only. Without query: tables. Times in ns.",
                         {{"file", text()},
                          {"query", text("SQLite. Columns: SELECT name FROM pragma_table_info('TABLE')")},
                          {"rows", number("Max, default 20")}},
                         {"file"}));
    if (!mayRun) return tools;
    tools.push_back(tool("record", "Run a program and record a trace.",
                         {{"file", text("New trace")},
                          {"program", texts("Program and arguments")},
                          {"options", texts("Options of lanescope record")}},
                         {"file", "program"}, false));
    tools.push_back(tool("bench", "Run two programs alternately and compare them.",
                         {{"folder", text("New folder")},
                          {"baseline", texts("Program and arguments")},
                          {"candidate", texts("Program and arguments")},
                          {"runs", number("Max each, default 10")}},
                         {"folder", "baseline", "candidate"}, false));
    return tools;
}

std::string argumentProblem(const Json& tools, std::string_view tool, const Json& arguments) {
    const auto found = std::ranges::find_if(tools, [&](const Json& each) { return each["name"] == tool; });
    const Json& schema = (*found)["inputSchema"];
    const Json& properties = schema["properties"];
    for (const auto& [name, value] : arguments.items()) {
        const auto property = properties.find(name);
        if (property == properties.end()) return fmt::format("{}: unknown argument.", name.substr(0, 100));
        if (!isOfType(value, *property)) {
            const std::string type = (*property)["type"];
            return fmt::format("{}: no {} within the limits.", name, type);
        }
    }
    for (const Json& name : schema["required"])
        if (!arguments.contains(name.get<std::string>())) return fmt::format("{}: missing.", name.get<std::string>());
    const size_t maxTokens = arguments.value("max_tokens", defaultMaxTokens);
    if (maxTokens < 100 || maxTokens > highestMaxTokens)
        return fmt::format("max_tokens: out of range (100 to {}).", highestMaxTokens);
    return {};
}

namespace {

/// A list or text in an answer, and its size in bytes.
struct Longest {
    Json* value = nullptr;
    std::string path;
    size_t bytes = 0;
};

size_t sizeOf(const Json& value) { return lineOf(value).size(); }

/// Shortens texts and makes them printable. Returns the number of shortened ones.
size_t shortenTexts(Json& value) {
    size_t shortened = 0;
    if (value.is_string()) {
        std::string text = printable(value.get_ref<const std::string&>());
        if (text.size() > maxTextBytes) {
            text = validUtf8(text.substr(0, maxTextBytes)) + "…";
            ++shortened;
        }
        value = std::move(text);
    } else if (value.is_structured()) {
        for (Json& each : value) shortened += shortenTexts(each);
    }
    return shortened;
}

/// Finds the list whose elements take most bytes, among those with at least two elements.
void findLongest(Json& value, const std::string& path, Longest& longest) {
    if (!value.is_structured()) return;
    if (value.is_array() && value.size() > 1 && path != "truncated") {
        const size_t bytes = sizeOf(value);
        // An inner list is shortened before the list around it only if it is most of that.
        if (bytes > longest.bytes) longest = {&value, path, bytes};
    }
    for (auto& [name, each] : value.items())
        if (!value.is_array() || !each.is_array())  // Cells of a row are not omitted.
            findLongest(each, value.is_array() ? path : path.empty() ? name : path + "." + name, longest);
}

}  // namespace

std::string limitedAnswer(Json answer, size_t maxTokens) {
    const size_t maxBytes = maxTokens * bytesPerToken;
    const size_t shortened = shortenTexts(answer);
    std::map<std::string, std::pair<size_t, size_t>> shown;  // by path: the shown and all elements
    const auto finished = [&] {
        const auto omitted = answer.find("truncated");
        Json truncated = omitted != answer.end() && omitted->is_array() ? *omitted : Json::array();
        for (const auto& [path, counts] : shown)
            truncated.push_back(fmt::format("{}: {} of {} shown", path, counts.first, counts.second));
        if (shortened > 0) truncated.push_back(fmt::format("{} texts shortened", shortened));
        Json whole = answer;
        whole["truncated"] = std::move(truncated);
        return lineOf(whole);
    };
    std::string text = finished();
    while (text.size() > maxBytes) {
        Longest longest;
        findLongest(answer, {}, longest);
        if (longest.value == nullptr) break;
        auto& list = longest.value->get_ref<Json::array_t&>();
        auto& counts = shown.try_emplace(longest.path, 0, list.size()).first->second;
        const size_t excess = text.size() - maxBytes, each = std::max<size_t>(1, longest.bytes / list.size());
        const size_t kept = list.size() - std::min(list.size() - 1, std::max<size_t>(1, excess / each));
        list.resize(kept);
        counts.first = kept;
        text = finished();
    }
    if (text.size() <= maxBytes) return text;
    return lineOf({{"truncated", {"The answer is longer than the limit. Ask for less, or raise max_tokens."}}});
}

using namespace analysis;

namespace {

/// Returns frequent questions that the trace cannot answer for lack of data: "question: reason", with the remedy if the
/// answer is detailed. O(tables).
std::vector<std::string> unknownsOf(const Trace& trace, const RunSummary& run, bool hasRemedies) {
    std::vector<std::string> unknowns;
    const auto add = [&](const std::string& question, const std::string& reason, const char* remedy = "") {
        unknowns.push_back(question + ": " + reason);
        if (hasRemedies && *remedy != 0) unknowns.back() += fmt::format(". {}", remedy);
    };
    const bool hasNoSteps = run.source == StepSource::WholeRun || run.criticalWorker() == noIndex;
    if (run.isEmpty()) add("GPU time", "no GPU work");
    if (const HealthNote* damage = run.facts.damage()) add("exact totals", damage->sentence);
    if (run.facts.isTruncated) add("the end of the run", "a process ended abnormally or its log was truncated");
    if (hasNoSteps)
        add("time per step", "no steps were found", "Add NVTX ranges or name them with --range.");
    else if (std::ranges::any_of(run.workers, [](const WorkerSummary& worker) { return worker.steps.size() < 5; }))
        add("outlier steps", "fewer than five steps");
    if (trace.stacks.size() == 0) add("Python line", "no stacks", "Record with lanescope, without --no-python.");
    if (trace.cpuStates.size() == 0)
        add("host line and state", "no thread states", "Record with lanescope, without --no-threads.");
    if (!run.facts.hasApiCalls) add("launch delays and CPU waits", "no CUDA API calls");
    const auto ranks = static_cast<int64_t>(run.workers.size());
    if (run.facts.worldSize > ranks)
        add("late rank", fmt::format("{} of {} ranks recorded", ranks, run.facts.worldSize));
    else if (ranks < 2)
        add("late rank", "one rank");
    if (trace.memoryEvents.size() == 0) add("allocated bytes", "not recorded", "Use --memory.");
    if (std::ranges::none_of(run.workers, [](const WorkerSummary& worker) { return worker.use.mfu().has_value(); }))
        add("MFU, tensor cores", "no shapes or counters");
    if (run.nvlink.evidence == LinkEvidence::None) add("NVLink traffic", "no counters, copies or collectives");
    add("slowdown", "one run", "Compare several runs per side.");
    return unknowns;
}

constexpr const char* untrusted = "untrusted";
constexpr size_t maxFiles = 200, maxNames = 12, maxShortNames = 4, maxShortWorkers = 8;
constexpr int64_t defaultReportRows = 10, defaultQueryRows = 20, maxRows = 1000;

/// Replaces quotation marks, which JSON escapes.
std::string withoutEscapes(std::string text) {
    std::ranges::replace(text, '"', '\'');
    return text;
}

double milliseconds(int64_t ns) { return std::round(static_cast<double>(ns) / 1e3) / 1e3; }

/// Returns an array with what `jsonOf` returns for each.
Json arrayOf(const auto& all, auto jsonOf) {
    Json array = Json::array();
    for (const auto& each : all) array.push_back(jsonOf(each));
    return array;
}

bool isDetailed(const Json& arguments) {
    return arguments.value("detail", false) || arguments.value("finding", std::string()) == "all";
}

/// Returns the begin of an answer, which lacks the parts `omitted` without detail.
Json begun(const std::string& command, const Json& caveats, const std::vector<std::string>& unknowns,
           const Json& arguments = {}, const std::string& omitted = {}) {
    Json answer{{"command", command}, {"names", untrusted}};
    if (!caveats.empty()) answer["caveats"] = caveats;
    if (!unknowns.empty()) answer["cannot_answer"] = unknowns;
    if (!omitted.empty() && !isDetailed(arguments)) answer["truncated"] = Json::array({omitted});
    return answer;
}

Json warningsOf(const RunSummary& run) { return arrayOf(run.facts.healthWarnings, std::mem_fn(&HealthNote::sentence)); }

Json cellJson(const Cell& cell) {
    if (const auto* const number = std::get_if<int64_t>(&cell)) return *number;
    if (const auto* const real = std::get_if<double>(&cell)) return *real;
    const auto* const text = std::get_if<std::string>(&cell);
    return text == nullptr ? Json() : Json(*text);
}

/// Returns the columns with their units, and rows as lists.
void addTable(const ReportTable& table, size_t most, Json& answer) {
    answer["columns"] = arrayOf(table.columns, headerOf);
    answer["rows"] = arrayOf(table.rows | std::views::take(most),
                             [](const std::vector<Cell>& row) { return arrayOf(row, cellJson); });
    answer["allRows"] = table.rows.size();
}

size_t rowsAsked(const Json& arguments, int64_t usual) {
    return static_cast<size_t>(std::clamp<int64_t>(arguments.value("rows", usual), 1, maxRows));
}

Result<TracePtr> traceOf(const Json& arguments, const FolderGate& gate) {
    const Result<std::filesystem::path> path = gate.find(arguments.value("file", std::string()));
    if (!path) return fail(path.error());
    return openTrace(*path, {.mayWrite = false});
}

Result<CompareSelection> selectionOf(const Json& arguments) {
    CompareSelection selection;
    const std::string steps = arguments.value("steps", std::string());
    if (steps.empty()) return selection;
    const Result<StepRange> numbers = parseStepNumbers(steps);
    if (!numbers) return fail(numbers.error());
    selection.numbers = *numbers;
    return selection;
}

/// Returns the range of time that a call names; nullopt for none.
Result<std::optional<TimeRange>> rangeOf(const Json& arguments) {
    const std::string text = arguments.value("range", std::string());
    if (text.empty()) return std::nullopt;
    const Result<TimeRange> range = parseRange(text);
    if (!range) return fail(range.error());
    return *range;
}

/// Returns the file of a call as a word of its command, for the served folder.
std::string fileWord(const Json& arguments) {
    const std::string name = arguments.value("file", std::string());
    const auto isPlain = [](char each) {
        return std::isalnum(static_cast<unsigned char>(each)) != 0 || each == '.' || each == '_' || each == '-' ||
               each == '/';
    };
    if (name.starts_with('-')) return shellQuoted("./" + name);
    return std::ranges::all_of(name, isPlain) ? name : shellQuoted(name);
}

std::string stepsOption(const Json& arguments) {
    const std::string steps = arguments.value("steps", std::string());
    return steps.empty() ? "" : " --steps " + shellQuoted(steps);
}

Result<Json> answerOpen(const Json& arguments, const FolderGate& gate) {
    const Result<std::filesystem::path> path =
        arguments.contains("file") ? gate.find(arguments["file"]) : gate.folders().front();
    if (!path) return fail(path.error());
    if (std::filesystem::is_directory(*path)) {
        Json answer = begun(fmt::format("ls {}", shellQuoted(path->string())), Json::array(), {});
        answer["traces"] = Json::array();
        for (const std::filesystem::path& folder : arguments.contains("file") ? std::vector{*path} : gate.folders())
            for (const std::filesystem::path& file : gate.traces(folder, maxFiles))
                answer["traces"].push_back(file.string());
        return answer;
    }
    const Result<TracePtr> opened = traceOf(arguments, gate);
    if (!opened) return fail(opened.error());
    const Trace& trace = **opened;
    const Result<RunSummary> run = summarizeRun(trace);
    if (!run) return fail(run.error());
    const DescribedTrace described = describeTrace(trace);
    Json answer =
        begun("lanescope info " + fileWord(arguments), warningsOf(*run), unknownsOf(trace, *run, isDetailed(arguments)),
              arguments, "detail: GPUs, processes, counts, machine, remedies");
    const auto textOf = [](const Property& each) { return each.name + ": " + each.value; };
    answer["range"] = fmt::format("{:.6f}s:{:.6f}s", static_cast<double>(trace.range.startNs) / 1e9,
                                  static_cast<double>(trace.range.endNs) / 1e9);
    answer["program"] = run->facts.commandLine;
    answer["workers"] = arrayOf(run->workers, std::mem_fn(&WorkerSummary::label));
    std::map<std::string, int> gpus;
    for (const std::string& name : run->facts.gpuNames) ++gpus[name];
    answer["gpus"] = arrayOf(gpus, [](const auto& each) { return fmt::format("{} x {}", each.second, each.first); });
    if (!isDetailed(arguments)) return answer;
    answer["gpus"] = arrayOf(described.gpus, std::mem_fn(&DescribedThing::title));
    answer["processes"] = arrayOf(described.processes, std::mem_fn(&DescribedThing::title));
    answer["counts"] = arrayOf(described.counts, textOf);
    answer["run"] = arrayOf(described.run, textOf);
    return answer;
}

/// Returns the rank of a worker, else its label.
Json rankOf(const WorkerSummary& worker) { return worker.rank ? Json(*worker.rank) : Json(worker.label()); }
std::string rankText(const WorkerSummary& worker) {
    return worker.rank ? fmt::format("rank {}", *worker.rank) : worker.label();
}

/// Returns milliseconds of the mean step by its parts from 0.1 %, or 0.01 %, on. For several workers, a header, then a
/// row for each and for their mean.
Json stepTable(const RunSummary& run, const explain::Explanation& explained, bool isAll) {
    std::vector<StepPart> parts;
    Json header = Json::array({"rank", "mean"});
    for (const StepPart part : allStepParts) {
        const double minShare = isAll ? 0.0001 : 0.001;
        const auto isLarge = [&](const auto& each) {
            return explain::shareOf(each.parts[part], each.meanNs) >= minShare;
        };
        if (std::ranges::none_of(explained.workers, isLarge)) continue;
        parts.push_back(part);
        header.push_back(identifier(part));
    }
    Json table = Json::array({std::move(header)});
    explain::WorkerParts sum;
    const auto add = [&](const Json& name, const explain::WorkerParts& each, int64_t count = 1) {
        Json& row = table.emplace_back(Json::array({name, milliseconds(each.meanNs / count)}));
        for (const StepPart part : parts) row.push_back(milliseconds(each.parts[part] / count));
    };
    for (const explain::WorkerParts& each : explained.workers) {
        if (isAll || table.size() <= maxShortWorkers || each.worker == run.criticalWorker())
            add(rankOf(run.workers[each.worker]), each);
        sum.meanNs = saturatingSum(sum.meanNs, each.meanNs);
        sum.parts += each.parts;
    }
    if (const size_t count = explained.workers.size(); count != 1) {
        if (count > 1) add("mean", sum, static_cast<int64_t>(count));
        return table;
    }
    Json only = Json::object();
    for (size_t column = 1; column < table[0].size(); ++column)
        only[table[0][column].get<std::string>()] = table[1][column];
    return only;
}

/// Returns "train.py:88" for a line with its function.
std::string lineOnly(const std::string& line) {
    return analysis::lineOf(IdleCause{CauseKind::OutsideCalls}, CodePlace{{}, line});
}

/// Returns the program's line of idle time, and how it is known. A thread that alternately runs and waits has no
/// certain place, but its launches have.
std::pair<std::string, std::string> programLine(const explain::FindingText& text) {
    const WorkerSummary& worker = text.worker();
    const explain::Finding& finding = text.finding();
    const IdleCause& cause = finding.contributor.idle;
    const CodePlace& launched = finding.launched;
    if (!cause.activity.frame.isEmpty()) {
        int64_t ns = 0;
        for (const Contributor& each : worker.contributors)
            if (isIdle(each.part) && each.name.idle.activity.frame == cause.activity.frame) ns += each.exposedNs;
        const bool isPart = !finding.rule->isBetweenSteps && ns / std::ssize(worker.steps) < finding.maxGainNs / 2;
        return {
            analysis::lineOf(cause, {}),
            (isPart ? ", partly" : "") + (launched.caller.empty() ? "" : ", called at " + lineOnly(launched.caller))};
    }
    if (cause.callClass() == CallClass::Allocation) {
        const CodePlace& freed = worker.allocations.freedAt;
        return freed.caller.empty() ? std::pair(lineOnly(freed.line), std::string())
                                    : std::pair(lineOnly(freed.caller), ", frees by " + freed.line);
    }
    if (const std::string line = text.lineOfLaunches(); !line.empty())
        return {lineOnly(line),
                fmt::format(", {} of launches",
                            explain::shareText(explain::shareOf(worker.launches.placeCount, worker.launches.count)))};
    return {finding.contributor.isIdle() ? lineOnly(launched.line) : "", ""};
}

/// Returns the place of work, or of idle time without a line.
std::string placeOf(const explain::FindingText& text) {
    const explain::Finding& finding = text.finding();
    const IdleCause& cause = finding.contributor.idle;
    if (!finding.contributor.isIdle()) return text.what() + text.where();
    const bool isShort = cause.kind == CauseKind::OutsideCalls && !cause.thread.isEmpty();
    const std::string what =
        isShort ? "host code on " + cause.thread.textWithArticle() : causeText(cause.withoutState());
    return shortContributorName(what, true) + (finding.path.empty() ? "" : " in " + finding.path);
}

/// Returns the evidence of a finding whose line is `line`; empty if the finding was measured.
std::string evidenceOf(const explain::FindingText& text, const std::string& line) {
    const explain::Finding& finding = text.finding();
    const IdleCause& cause = finding.contributor.idle;
    std::vector<std::string> all;
    if (cause.kind == CauseKind::BeforeBatchCopy && 2 * explain::guessedDataShare(text.worker()) > 1)
        all.emplace_back("guessed by the next copy");
    else if (cause.kind == CauseKind::OutsideCalls && explain::hasKnownState(text.worker()))
        all.push_back(cause.runsAndWaits() ? "samples: ran and waited"
                      : cause.isObserved() ? fmt::format("samples: {}", nameOf(cause.activity.state).identifier)
                                           : "unknown if it ran or waited");
    else if (finding.rule->isEstimate)
        all.emplace_back("estimated");
    // The line of another thread, or of most samples, is a detail.
    const CodePlace& seen = finding.launched;
    const bool isElsewhere = seen.line.empty() ? !seen.empty() : lineOnly(seen.line) != line;
    if (finding.contributor.isIdle() && cause.activity.frame.isEmpty() && isElsewhere)
        all.push_back(seen.line.empty() ? shortContributorName(seen.text, true)
                                        : "seen mostly at " + lineOnly(seen.line));
    if (finding.overheadNs > 0) all.push_back(fmt::format("recording <= {}", milliseconds(finding.overheadNs)));
    if (finding.rule->isOfSingleSteps() || finding.rule->isOfLateRank) all.emplace_back("overlaps");
    return fmt::format("{}", fmt::join(all, ", "));
}

}  // namespace

Json causeTable(const RunSummary& run, const explain::Explanation& explained) {
    struct Row {
        int64_t ns = 0;
        std::vector<std::string> names;  ///< Rules and their times.
        std::string_view only;           ///< Rule of a single one.
        std::string place, evidence;
    };
    std::vector<Row> rows;
    std::map<std::pair<uint32_t, std::string>, size_t> places;
    std::set<std::pair<uint32_t, std::string>> known;  // Facts that only a rank or its steps have.
    for (size_t index = 0; index < explained.findings.size(); ++index) {
        const explain::Finding& finding = explained.findings[index];
        const explain::Rule& rule = *finding.rule;
        const explain::FindingText text(run, explained, finding);
        const auto [line, how] = programLine(text);
        const auto part = explain::partOf(run, finding);
        // The time of gradient checks includes their kernels.
        const bool isOfIdleTime =
            part && isIdle(*part) &&
            finding.maxGainNs <= text.worker().totalParts()[*part] / std::ssize(text.worker().steps);
        const bool isSummed =
            !line.empty() && isOfIdleTime && !rule.isOfSingleSteps() && !rule.isOfLateRank && !rule.isBetweenSteps;
        const auto [at, isNew] =
            places.try_emplace({finding.worker, isSummed ? line : std::to_string(index)}, rows.size());
        if (isNew) rows.emplace_back();
        Row& row = rows[at->second];
        row.ns += finding.maxGainNs;
        row.names.push_back(fmt::format("{} {}", rule.id, milliseconds(finding.maxGainNs)));
        row.only = rule.id;
        const std::string evidence = evidenceOf(text, line);
        if (evidence.starts_with(row.evidence))
            row.evidence = evidence;
        else if (!row.evidence.starts_with(evidence))
            row.evidence += "; " + evidence;
        if (!isNew) continue;
        row.place = rule.isOfSingleSteps() ? finding.brief : line.empty() ? placeOf(text) : "line " + line + how;
        if (run.workers.size() > 1 && !rule.isOfSingleSteps())
            row.place = fmt::format("{}: {}", rankText(text.worker()), row.place);
        const StepPauses& pauses = text.worker().pauses;
        if (rule.isBetweenSteps && pauses.count > 0)
            row.place += fmt::format(", {} pauses of {:.1f} ms outside the steps", pauses.count,
                                     milliseconds(pauses.idleNs / pauses.count));
        row.place += text.rarely();
        if (const Distinction* only = text.distinction(); only && known.emplace(finding.worker, only->name).second)
            row.place += "." + text.onlyThere();
    }
    Json table = Json::array();
    for (const Row& row : rows) {
        // A single finding has the time of its row.
        const std::string names =
            row.names.size() > 1 ? fmt::format("{}", fmt::join(row.names, " + ")) : std::string(row.only);
        Json& cells = table.emplace_back(Json::array({milliseconds(row.ns), names, withoutEscapes(row.place)}));
        if (!row.evidence.empty()) cells.push_back(row.evidence);
    }
    return table;
}

namespace {

Result<Json> answerExplain(const Json& arguments, const FolderGate& gate) {
    const Result<TracePtr> opened = traceOf(arguments, gate);
    const Result<CompareSelection> selection = selectionOf(arguments);
    if (!opened || !selection) return fail(opened ? selection.error() : opened.error());
    const Result<StepSelection> steps = stepSelectionFor(**opened, *selection);
    const Result<RunSummary> run = steps ? summarizeRun(**opened, *steps) : fail(steps.error());
    if (!run) return fail(run.error());
    const explain::Explanation explained = explain::explain(*run);
    const std::string finding = arguments.value("finding", std::string());
    const auto isAsked = [&](const explain::Finding& each) { return finding == "all" || each.rule->id == finding; };
    if (!finding.empty() && finding != "all" && std::ranges::none_of(explained.findings, isAsked))
        return fail("finding: \"{}\" is not in causes_ms.", printable(finding));
    Json answer = begun("lanescope explain " + fileWord(arguments) + stepsOption(arguments), explained.caveats,
                        unknownsOf(**opened, *run, isDetailed(arguments)), arguments, "finding: texts");
    if (!finding.empty()) {
        answer["findings"] = Json::array();
        for (const explain::Finding& each : explained.findings)
            if (isAsked(each))
                answer["findings"].push_back({{"rule", each.rule->id},
                                              {"sentence", each.sentence},
                                              {"code", each.code},
                                              {"advice", each.advice}});
    }
    if (!finding.empty() && !isDetailed(arguments)) {
        answer.erase("truncated");
        return answer;
    }
    if (const size_t workers = explained.workers.size(); !isDetailed(arguments) && workers > maxShortWorkers)
        answer["truncated"].push_back(fmt::format("at most {} of {} workers shown", maxShortWorkers + 1, workers));
    if (!explained.covered.empty()) answer[explained.what + "s"] = withoutEscapes(explained.covered);
    answer["mean_" + explained.what + "_ms"] = stepTable(*run, explained, isDetailed(arguments));
    answer["causes_ms"] = causeTable(*run, explained);
    if (!isDetailed(arguments)) return answer;
    answer["sentence"] = explained.sentence;
    answer["covered"] = explained.steps;
    return answer;
}

Result<Json> answerCompare(const Json& arguments, const FolderGate& gate) {
    ComparisonRequest request;
    request.candidates.emplace_back();
    const Result<CompareSelection> selection = selectionOf(arguments);
    if (!selection) return fail(selection.error());
    request.selection = *selection;
    std::string command = "lanescope compare --baseline";
    for (const bool isCandidate : {false, true}) {
        if (isCandidate) command += " --candidate";
        for (const Json& name : arguments[isCandidate ? "candidate" : "baseline"]) {
            const Result<std::filesystem::path> path = gate.find(name);
            if (!path) return fail(path.error());
            (isCandidate ? request.candidates.front() : request.baseline).push_back(path->string());
            command += " " + shellQuoted(path->string());
        }
    }
    if (request.baseline.empty() || request.candidates.front().empty()) return fail("Name a trace per side.");
    if (const Result<void> checked = checkFiles(request); !checked) return fail(checked.error());
    const Result<report::ComparisonReport> report = makeComparison(request, [](const std::filesystem::path& path) {
        return openTrace(path, {.minBytes = UINT64_MAX});  // A summary would be stored next to an index.
    });
    if (!report) return fail(report.error());
    const compare::RunComparison& comparison = report->candidates.front().comparison;
    const compare::WorkerComparison* pair = comparison.criticalPair();
    std::vector<std::string> unknowns;
    if (!pair || pair->claim.unit == compare::ClaimUnit::Steps)
        unknowns.emplace_back("whether the program is slower: one run per side shows only that these runs differ");
    Json answer = begun(command + stepsOption(arguments), comparison.answer.cautions, unknowns);
    answer["outcome"] = identifier(comparison.answer.outcome);
    answer["sentence"] = comparison.answer.sentence;
    Json causes = Json::array(), parts = Json::array();
    for (const compare::Cause& cause : comparison.answer.causes)
        causes.push_back({{"text", cause.text},
                          {"lost_ms_per_step", milliseconds(cause.lostNs)},
                          {"certain", cause.judged ? Json(cause.isCertain()) : Json(nullptr)}});
    if (pair)
        for (const compare::PartDifference& part : pair->parts)
            if (part.baselineNs != 0 || part.candidateNs != 0)
                parts.push_back({identifier(part.part), milliseconds(part.baselineNs), milliseconds(part.candidateNs)});
    answer["causes"] = std::move(causes);
    answer["details"] = comparison.answer.details;
    answer["parts_ms"] = {{"columns", {"part", "baseline", "candidate"}}, {"rows", std::move(parts)}};
    return answer;
}

Result<Json> answerRange(const Json& arguments, const FolderGate& gate) {
    const Result<TracePtr> opened = traceOf(arguments, gate);
    if (!opened) return fail(opened.error());
    const Trace& trace = **opened;
    const Result<std::optional<TimeRange>> wanted = rangeOf(arguments);
    if (!wanted) return fail(wanted.error());
    const TimeRange range = *wanted ? trace.range.intersected(**wanted) : trace.range;
    if (*wanted && range.isEmpty())
        return fail("{}: outside the trace. Use open for its range.", arguments.value("range", std::string()));
    const Result<IdleGaps> gaps = IdleGaps::of(trace);
    const Result<RunSummary> run = gaps ? summarizeRun(trace) : fail(gaps.error());
    if (!run) return fail(run.error());
    Json answer =
        begun(fmt::format("lanescope stats {} --range {}ns:{}ns", fileWord(arguments), range.startNs, range.endNs),
              warningsOf(*run), unknownsOf(trace, *run, isDetailed(arguments)), arguments,
              "detail: three times as many causes and names, remedies");
    const size_t most = isDetailed(arguments) ? maxNames : maxShortNames;
    answer["range_ms"] = milliseconds(range.durationNs());
    Json gpus = Json::array();
    for (size_t worker = 0; worker < gaps->workerCount(); ++worker) {
        std::vector<StepParts> sums(1);
        gaps->partsOf(worker).columns(range, 1, sums);
        Json waits = Json::array(), parts = Json::object();
        for (const StepPart part : allStepParts)
            if (sums.front()[part] >= 1000) parts[std::string(identifier(part))] = milliseconds(sums.front()[part]);
        for (const GapCause& cause : gaps->whyIdle(worker, range)) {
            if (waits.size() == most) break;
            waits.push_back({{"part", identifier(cause.part)},
                             {"for", cause.name.text()},
                             {"path", cause.path},
                             {"ms", milliseconds(cause.ns)}});
        }
        gpus.push_back({{"gpu", gaps->gpuOf(worker)},
                        {"process", trace.processes[gaps->processOf(worker)].pid},
                        {"parts_ms", std::move(parts)},
                        {"idle_for", std::move(waits)}});
    }
    answer["gpus"] = std::move(gpus);
    const SelectionStatistics statistics = selectionStatistics(trace, trace.sums, range);
    addTable(selectedNames(trace, statistics, most), 4 * most, answer["ran"]);
    addTable(selectedCopies(statistics), most, answer["copies"]);
    return answer;
}

Result<Json> answerStats(const Json& arguments, const FolderGate& gate) {
    const std::string name = arguments.value("report", std::string());
    if (name.empty()) {
        Json answer = begun("lanescope stats --help", Json::array(), {}, arguments, "detail: their descriptions");
        answer["reports"] = arrayOf(allReports(), [&](const Report* each) {
            const bool isLong = isDetailed(arguments);
            return std::string(each->info.name) + (isLong ? fmt::format(": {}", each->info.description) : "");
        });
        return answer;
    }
    const Result<TracePtr> opened = traceOf(arguments, gate);
    if (!opened) return fail(opened.error());
    const std::string wanted = arguments.value("range", std::string());
    const Result<std::optional<TimeRange>> range = rangeOf(arguments);
    if (!range) return fail(range.error());
    const Result<ReportTable> table = makeReport(**opened, name, *range);
    if (!table) return fail(table.error());
    const Result<RunSummary> run = summarizeRun(**opened);
    if (!run) return fail(run.error());
    Json answer =
        begun(fmt::format("lanescope stats {} -r {}{}", fileWord(arguments), shellQuoted(name),
                          wanted.empty() ? "" : " --range " + shellQuoted(wanted)),
              warningsOf(*run), unknownsOf(**opened, *run, isDetailed(arguments)), arguments, "detail: remedies");
    answer["notes"] = table->notes;
    addTable(*table, rowsAsked(arguments, defaultReportRows), answer);
    return answer;
}

Result<Json> answerSql(const Json& arguments, const FolderGate& gate) {
    const Result<std::filesystem::path> path = gate.find(arguments.value("file", std::string()));
    Result<TimedQuery> query = path ? TimedQuery::open(*path) : fail(path.error());
    if (!query) return fail(query.error());
    const std::string sql = arguments.value("query", std::string());
    const std::string doubt = query->doubt();
    const Json caveats = doubt.empty() ? Json::array() : Json::array({doubt});
    if (sql.empty()) {
        const auto quotedName = [](const std::string& name) {
            std::string quoted = "\"";
            for (const char each : name) quoted += each == '"' ? "\"\"" : std::string(1, each);
            return quoted + "\"";
        };
        Result<std::vector<QueryTable>> tables = query->tables();
        if (!tables) return fail(tables.error());
        Json answer = begun(fmt::format("lanescope sql {} \"SELECT name FROM sqlite_master\"", fileWord(arguments)),
                            caveats, {}, arguments, "detail: empty tables, columns");
        answer["tables"] = Json::array();
        for (const QueryTable& table : *tables) {
            std::string text = table.name + (isDetailed(arguments) ? ":" : "");
            const auto rows = query->run(fmt::format("SELECT 1 FROM {} LIMIT 1", quotedName(table.name)));
            if (!isDetailed(arguments) && rows && rows->table.rows.empty()) continue;
            for (const QueryTable::Column& column : table.columns)
                text += isDetailed(arguments) ? " " + column.name : "";
            answer["tables"].push_back(std::move(text));
        }
        return answer;
    }
    const auto most = static_cast<int64_t>(rowsAsked(arguments, defaultQueryRows));
    const QueryLimits limits{.rows = most, .resultBytes = int64_t{4} << 20};
    const auto result = query->run(sql, limits);
    if (!result) return fail({sentenceOf(result.error(), sql)});
    Json answer = begun(fmt::format("lanescope sql {} {}", fileWord(arguments), shellQuoted(sql)), caveats, {});
    addTable(result->table, static_cast<size_t>(most), answer);
    if (result->isCut) answer["allRows"] = fmt::format("more than {}", result->table.rows.size());
    return answer;
}

}  // namespace

Result<std::string> answerTool(const std::string& tool, const Json& arguments, const FolderGate& gate) {
    const std::map<std::string, Result<Json> (*)(const Json&, const FolderGate&)> tools{
        {"open", answerOpen},     {"explain", answerExplain}, {"compare", answerCompare},
        {rangeTool, answerRange}, {"stats", answerStats},     {"sql", answerSql}};
    try {
        const Result<Json> answer = tools.at(tool)(arguments, gate);
        if (!answer) return fail(answer.error());
        return limitedAnswer(*answer, arguments.value("max_tokens", defaultMaxTokens));
    } catch (const std::bad_alloc&) {
        return fail("Out of memory.");
    } catch (const std::exception& error) {
        return fail("Unexpected failure: {}.", error.what());
    }
}

}  // namespace lanescope::answers
