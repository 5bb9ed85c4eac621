// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QColor>
#include <QFont>
#include <QRect>
#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "model/analysis/StepParts.h"
#include "model/trace/Track.h"

namespace lanescope::views {

/// Which hues tell slices apart.
enum class Palette : uint8_t {
    Standard,
    ColorBlindSafe,  ///< Hues of Okabe and Ito, families apart in lightness too.
};

/// The colours of the whole viewer as one value: hand it to `applyTheme` once and to each widget
/// that paints by itself. Two are built in; both keep text readable (contrast of at least 4.5) on
/// every fill.
struct Theme {
    static Theme light(Palette palette = Palette::Standard);
    static Theme dark(Palette palette = Palette::Standard);

    bool isDark = false;

    // Surfaces, from the back to the front.
    QColor window;     ///< Behind everything, and panels beside the timeline.
    QColor canvas;     ///< Behind the slices.
    QColor band;       ///< Behind the title row of a group of tracks; fainter the deeper the group.
    QColor panel;      ///< Track labels, ruler, table headers.
    QColor card;       ///< Floating cards such as the hover card.
    QColor separator;  ///< Hairlines between rows and panels.
    QColor grid;       ///< Time grid under the slices.

    QColor text;
    QColor mutedText;
    QColor accent;      ///< Selection edges, links, focus.
    QColor accentText;  ///< Text on `accent`.
    QColor selection;   ///< Fill over a selected range; translucent.
    QColor hover;       ///< Fill under the pointer; translucent.
    QColor searchHit;
    QColor flow;                         ///< Arrows from API calls to GPU work.
    QColor wait;                         ///< Arrows between streams that wait for each other.
    QColor busyGpu;                      ///< Activity of GPUs in the overview and in folded tracks.
    QColor busyCpu;                      ///< The same for processes and threads.
    QColor information, warning, error;  ///< Health notes, as text or icon.
    QColor faster, slower;               ///< Comparison: the candidate won or lost time.
    QColor baseline, candidate;          ///< The two sides of a comparison.

    std::array<QColor, sliceCategoryCount> categories;  ///< By `SliceCategory`.
    std::array<QColor, analysis::stepPartCount> parts;  ///< By `StepPart`, as in reports.
    std::vector<QColor> kernels;   ///< One is picked by the name of the kernel.
    std::vector<QColor> distinct;  ///< For streams and NCCL operations, by number.
    std::vector<QColor> ranges;    ///< For NVTX ranges that bring no colour of their own.

    /// The family colour: legends, and runs of slices too small to tell apart.
    QColor colorOf(SliceCategory category) const;
    /// Of a part of a step, wherever it is drawn.
    QColor colorOf(analysis::StepPart part) const;
    /// The colour of one slice. The same name gets the same colour in every trace and on every run.
    QColor colorOf(SliceCategory category, std::string_view name) const;
    /// One of several unrelated things, such as streams; the same number gets the same colour.
    QColor colorOfNumber(uint32_t number) const;
    /// Behind the title row of a group at this depth.
    QColor bandAt(int depth) const;
    /// Whichever of dark and light text reads better on `fill`.
    QColor textOn(const QColor& fill) const;
    /// `over` mixed into `under`, opaque; `share` in [0, 1] is how much of `over` shows.
    static QColor mix(const QColor& under, const QColor& over, double share);
    /// WCAG contrast, 1 to 21.
    static double contrast(const QColor& one, const QColor& other);
};

}  // namespace lanescope::views

class QPainter;

namespace lanescope::views {

/// The colour of a cell of a map of ranks and steps: from faint, which is never as nothing, to
/// `strong`; `share` in [0, 1].
QColor heatColor(const Theme& theme, const QColor& strong, double share);

/// What the colours of a map mean, as a bar from `low` by `middle`, if that is valid, to `high`.
void paintHeatBar(QPainter& painter, const QRect& bar, const QColor& low, const QColor& middle,
                  const QColor& high);

}  // namespace lanescope::views

class QCustomPlot;

namespace lanescope::views {

/// Axes, grid and background of a chart in the colours of the theme, with text in `font`.
void styleChart(QCustomPlot& plot, const Theme& theme, const QFont& font);

/// Shows whether the keyboard speaks to the chart.
void showFocus(QCustomPlot& plot, const Theme& theme, bool hasFocus);

/// Writes `sentence` in the middle of a chart that has nothing to show, and takes the axes away
/// until it is styled again.
void sayEmpty(QCustomPlot& plot, const Theme& theme, const QFont& font, const QString& sentence);

/// The unit in which a chart writes times up to `greatestNs`.
struct ChartUnit {
    double nsPerUnit = 1;
    const char* name = "ns";
};
ChartUnit chartUnit(double greatestNs);

}  // namespace lanescope::views

class QApplication;

namespace lanescope::views {

/// Gives every widget of the program the colours of `theme` (palette, Fusion style, tool tips,
/// hairline splitters). May be called again at any time; widgets repaint by themselves. GUI thread.
void applyTheme(QApplication& application, const Theme& theme);

}  // namespace lanescope::views
