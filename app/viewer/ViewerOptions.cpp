// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/viewer/ViewerOptions.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <QtGlobal>
#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <sstream>
#include <string_view>

#include "app/completion/completions.h"
#include "app/help/HelpFormatter.h"
#include "model/format/optionValues.h"
#include "model/format/parseNumber.h"
#include "model/format/version.h"
#include "model/importers/TraceFormat.h"
#include "model/text/formatValue.h"

namespace lanescope::viewer {
namespace {

constexpr int maxCompared = 9;
constexpr int maxRuns = 100;

struct RawOptions {
    std::vector<std::string> files, compare, baselineRuns, candidateRuns;
    std::string render, theme = "light", ssh;
    ViewOptions view;
    RenderOptions picture;
};

/// Returns the version first, then the details that distinguish builds of one version, one per line.
std::string versionText() {
    const std::string_view commit = productCommit();
    return fmt::format("lanescope-viewer {}\ncommit {}\nQt {}, compiled with {}", productVersion(),
                       commit.empty() ? "unknown" : commit, qVersion(), QT_VERSION_STR);
}

void declare(CLI::App& app, RawOptions& raw) {
    app.set_version_flag("--version", versionText());
    app.add_option("FILE", raw.files,
                   "Traces to open, each in a tab of its own; ssh://[user@]host[:port]/path on another machine");
    app.add_option("--ssh-command", raw.ssh, "Words instead of ssh, such as 'ssh -F FILE'")->type_name("WORDS");
    app.add_option("--compare", raw.compare, "Two traces or more on one time axis: the baseline, then its candidates")
        ->expected(2, maxCompared)
        ->type_name("BASELINE CANDIDATE...")
        ->excludes("FILE");
    auto* baseline = app.add_option("--baseline", raw.baselineRuns,
                                    "Several runs of the program to compare against; needs --candidate")
                         ->expected(1, maxRuns)
                         ->type_name("TRACE")
                         ->excludes("FILE")
                         ->excludes("--compare");
    auto* candidate =
        app.add_option("--candidate", raw.candidateRuns, "Several runs of the program to check; needs --baseline")
            ->expected(1, maxRuns)
            ->type_name("TRACE")
            ->needs(baseline);
    baseline->needs(candidate);
    auto* render =
        app.add_option("--render", raw.render, "Write a PNG of the window to this file and end; needs no display");
    render->type_name("FILE")->check(CLI::Validator(
        [](const std::string& text) {
            if (text.empty()) return std::string("the name of the picture is empty");
            const std::string ending = lowerCase(std::filesystem::path(text).extension().string());
            constexpr std::array<std::string_view, 10> others{".jpg", ".jpeg", ".svg", ".pdf",  ".webp",
                                                              ".gif", ".bmp",  ".tif", ".tiff", ".ppm"};
            return std::find(others.begin(), others.end(), ending) == others.end()
                       ? std::string()
                       : fmt::format("a picture is written as PNG; let \"{}\" end in .png", printable(text));
        },
        ""));
    app.option_defaults()->group("Pictures, with --render");
    help::addParsed(app, "--size", "WxH", parseSize, raw.picture.size, "Size of the picture in pixels")
        ->default_str("1600x1000")
        ->needs(render);
    help::acceptOneOf(app.add_option("--theme", raw.theme, "Colours of the picture"), {"light", "dark"})->needs(render);
    app.add_option("--do", raw.picture.commands, "Run this command, as it is called in the menus; repeatable")
        ->type_name("COMMAND")
        ->needs(render)
        ->allow_extra_args(false);
    app.add_option("--type", raw.picture.typed, "Type this into the focused line, after all commands")
        ->type_name("TEXT")
        ->needs(render);
    app.option_defaults()->group("View");
    ViewOptions& view = raw.view;
    help::addParsed(app, "--visible", "START:END", parseTimeRange, view.visible,
                    "Zoom to this range, such as 6.1s:6.2s");
    help::addParsed(app, "--select", "START:END", parseTimeRange, view.select, "Select this range");
    help::addParsed(app, "--event", "KIND:ROW", parseEvent, view.event,
                    "Select this event: kind and row, such as kernel:412");
    help::acceptNumber(
        app.add_option("--step", view.step,
                       "Zoom to the step of this number; of two runs, to this compared step, counted from 0"),
        "N", 0, std::numeric_limits<int>::max());
    app.add_option("--worker", view.worker, "Rank or GPU of the step or comparison, such as 'rank 2'")
        ->type_name("NAME");
    app.add_option("--unit", view.unit, "Intervals that count as steps, such as 'layer #'")->type_name("NAME");
    app.add_option("--filter", view.filter, "Show only tracks with this text")->type_name("TEXT");
    app.add_option("--find", view.find, "Search for this text")->type_name("TEXT");
    app.add_option("--table", view.table, "Show the table of this title, such as bandwidth")->type_name("TITLE");
    app.add_option("--query", view.query, "Run this SQL query and show its result")->type_name("SQL");
    app.add_flag("--ghost", view.hasBaselineOverlay, "Outline the baseline in the lanes of the candidate");
    app.add_option("--align", view.align, "Align two compared runs at this NVTX range")->type_name("RANGE");
}

ViewerOptions toOptions(const RawOptions& raw) {
    ViewerOptions options{.isComparison = !raw.compare.empty() || !raw.baselineRuns.empty(),
                          .baselineRuns = raw.baselineRuns.size()};
    for (const auto* names : {&raw.files, &raw.compare, &raw.baselineRuns, &raw.candidateRuns})
        options.files.insert(options.files.end(), names->begin(), names->end());
    std::istringstream words(raw.ssh);
    for (std::string word; words >> word;) options.ssh.push_back(word);
    options.view = raw.view;
    if (raw.render.empty()) return options;
    options.render = raw.picture;
    options.render->path = raw.render;
    options.render->isDark = raw.theme == "dark";
    return options;
}

/// By `EventKind`.
constexpr std::array<std::string_view, 12> eventKinds{"",      "kernel",    "memcpy", "memset", "call",   "sync",
                                                      "range", "gpu-range", "graph",  "fault",  "sample", "state"};

}  // namespace

Result<TimeRange> parseTimeRange(const std::string& text) {
    const size_t colon = text.find(':');
    if (colon == std::string::npos) return fail("\"{}\" is no range of time; write START:END, as in 6.1s:6.2s.", text);
    const auto start = parseDuration(std::string_view(text).substr(0, colon));
    const auto end = parseDuration(std::string_view(text).substr(colon + 1));
    if (!start || !end) return fail("\"{}\" is no range of time; its two ends are numbers with ns, us, ms or s.", text);
    if (*end <= *start) return fail("The range \"{}\" ends before it starts.", text);
    return TimeRange{*start, *end};
}

Result<EventRef> parseEvent(const std::string& text) {
    const size_t colon = text.find(':');
    const auto kind = std::ranges::find(eventKinds, std::string_view(text).substr(0, colon));
    const auto row = parseNumber<uint32_t>(colon == std::string::npos ? "" : std::string_view(text).substr(colon + 1));
    if (kind == eventKinds.end() || kind == eventKinds.begin() || !row || *row > EventRef::maxRow)
        return fail("\"{}\" is no event; write KIND:ROW, such as kernel:412.", text);
    return EventRef(static_cast<EventKind>(kind - eventKinds.begin()), *row);
}

std::string eventText(EventRef event) {
    const auto kind = static_cast<size_t>(event.kind());
    return kind > 0 && kind < eventKinds.size() ? fmt::format("{}:{}", eventKinds[kind], event.row()) : std::string();
}

Result<QSize> parseSize(const std::string& text) {
    constexpr int minSide = 200;
    constexpr int maxSide = 16384;
    int width = 0;
    int height = 0;
    const char* const end = text.data() + text.size();
    const auto first = std::from_chars(text.data(), end, width);
    const bool hasCross = first.ec == std::errc() && first.ptr != end && *first.ptr == 'x';
    const auto second = hasCross ? std::from_chars(first.ptr + 1, end, height) : first;
    if (!hasCross || second.ec != std::errc() || second.ptr != end)
        return fail("\"{}\" is no size; write WIDTHxHEIGHT in pixels, as in 1600x1000.", text);
    if (std::min(width, height) < minSide || std::max(width, height) > maxSide) {
        return fail("A picture of {} is too small or too large; its sides may be {} to {} pixels.", text, minSide,
                    maxSide);
    }
    return QSize(width, height);
}

Result<ViewerOptions, int> parseViewerOptions(int argc, const char* const* argv) {
    CLI::App app("Shows what a GPU training process did on a timeline, and compares two runs.", "lanescope-viewer");
    app.failure_message([](const CLI::App*, const CLI::Error& error) {
        return fmt::format("lanescope-viewer: {}\nRun with --help for more information.\n", printable(error.what()));
    });
    app.formatter(std::make_shared<help::HelpFormatter>());
    RawOptions raw;
    declare(app, raw);
    if (argc > 1 && argv[1] == completion::completionRequest) {
        const std::vector<std::string> words(argv + 2, argv + argc);
        const auto none = [](std::string_view) { return std::vector<completion::Candidate>(); };
        std::fputs(completion::completions(app, words, formatPatterns(), none).c_str(), stdout);
        return tl::unexpected<int>(0);
    }
    const std::string problem = help::emptyValueProblem(std::vector<std::string>(argv, argv + argc));
    if (!problem.empty()) {
        std::fputs(fmt::format("lanescope-viewer: {}.\n", printable(problem)).c_str(), stderr);
        return tl::unexpected<int>(2);
    }
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        // CLI11 reports errors by exceptions; they end here.
        const int status = app.exit(error);
        return tl::unexpected<int>(status == 0 ? 0 : 2);
    }
    return toOptions(raw);
}

}  // namespace lanescope::viewer
