// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QSize>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "model/format/Result.h"
#include "model/format/TimeRange.h"
#include "model/trace/EventRef.h"

namespace lanescope::viewer {

/// The part of a document to show.
struct ViewOptions {
    std::optional<TimeRange> select;   ///< Range to select on the first timeline.
    std::optional<TimeRange> visible;  ///< Time range to zoom to.
    std::string find;                  ///< Text to search for; the first hit is selected.
    std::string table;                 ///< Table under the timeline to show, by its title.
    std::string query;                 ///< SQL to run on the SQL page, which is then shown.
    /// Step to zoom to: of a trace, by its number; of two runs, among the compared ones, counted from 0.
    std::optional<int> step;
    std::string worker;               ///< Rank or GPU of the step, and of a comparison: "rank 2" or "rank 2, GPU 2".
    std::string unit;                 ///< Unit of the steps of a trace, as the table of steps offers it.
    EventRef event;                   ///< Event to select; invalid for none.
    std::string filter;               ///< Filter of the tracks.
    bool hasBaselineOverlay = false;  ///< Outline the baseline in the candidate's lanes.
    std::string align;                ///< NVTX range to align two compared runs at.
    bool operator==(const ViewOptions&) const = default;
};

/// A picture of the window to write instead of showing it.
struct RenderOptions {
    std::filesystem::path path;  ///< PNG.
    QSize size{1600, 1000};      ///< Window size in pixels.
    bool isDark = false;
    std::vector<std::string> commands;  ///< By their names in the menus, in this order.
    std::string typed;                  ///< Typed afterwards into the focused line.
};

/// The options on the command line of `lanescope-viewer`.
struct ViewerOptions {
    std::vector<std::filesystem::path> files = {};  ///< Each in a separate tab.
    bool isComparison = false;                      ///< `files` are the baseline and its candidates.
    ViewOptions view = {};
    std::optional<RenderOptions> render = {};
    /// In a comparison, the number of `files` that are runs of the baseline's program; the others
    /// are the candidate's. 0 if each is a separate program.
    size_t baselineRuns = 0;
    std::vector<std::string> ssh = {};  ///< `RemoteSource::ssh`.
};

/// Parses the command line. On `--help`, `--version` and errors, prints to stdout or stderr and
/// returns the exit status. Needs no QApplication.
Result<ViewerOptions, int> parseViewerOptions(int argc, const char* const* argv);

/// Parses "12.5ms:80ms", "1s:2s", "0.5:0.75" (seconds): a range in trace time. Units ns, us, ms, s.
Result<TimeRange> parseTimeRange(const std::string& text);

/// Parses "kernel:412": kind and row of an event. `eventText` returns such a text.
Result<EventRef> parseEvent(const std::string& text);
std::string eventText(EventRef event);

/// Parses "1600x1000", each side from 200 to 16384 pixels.
Result<QSize> parseSize(const std::string& text);

}  // namespace lanescope::viewer
