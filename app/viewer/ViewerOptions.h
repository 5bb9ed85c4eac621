// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QSize>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "model/format/Result.h"
#include "model/format/TimeRange.h"

namespace lanescope::viewer {

/// A picture to make of the window instead of showing it.
struct RenderOptions {
    std::filesystem::path path;  ///< PNG.
    QSize size{1600, 1000};      ///< Of the window, in pixels.
    bool isDark = false;
    std::optional<TimeRange> select;   ///< Range to select on the first timeline.
    std::optional<TimeRange> visible;  ///< Stretch of time to zoom to.
    std::string find;                  ///< Text to search for; the first hit is selected.
    std::string table;                 ///< Table under the timeline to show, by its title.
    std::string query;                 ///< SQL to run on the SQL page, which is then shown.
    std::optional<int> step;           ///< Compared step of two runs to zoom to, counted from 0.
    bool hasGhost = false;             ///< Outline the baseline in the candidate's lanes.
    std::string align;  ///< NVTX range to lay two compared runs on top of each other.
    std::vector<std::string> commands;  ///< By their names in the menus, in this order.
    std::string typed;                  ///< Then, into the line that has the keyboard.
};

/// What the command line of `lanescope-viewer` asks for.
struct ViewerOptions {
    std::vector<std::filesystem::path> files;  ///< Each in a tab of its own.
    bool isComparison = false;                 ///< `files` are the baseline and its candidates.
    std::optional<RenderOptions> render;
    /// Of a comparison, so many of `files` are runs of the baseline's program and the others of the
    /// candidate's; 0 if each is a program of its own.
    size_t baselineRuns = 0;
};

/// Reads the command line. On `--help`, `--version` and mistakes it prints to stdout or stderr and
/// gives back the exit status to end with. Needs no QApplication.
Result<ViewerOptions, int> parseViewerOptions(int argc, const char* const* argv);

/// "12.5ms:80ms", "1s:2s", "0.5:0.75" (seconds): a range in the trace's own time. Units ns, us, ms,
/// s.
Result<TimeRange> parseTimeRange(const std::string& text);

/// "1600x1000", each side from 200 to 16384 pixels.
Result<QSize> parseSize(const std::string& text);

}  // namespace lanescope::viewer
