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

class QApplication;
class QCustomPlot;
class QPainter;

namespace lanescope::views {

/// The hues that distinguish slices.
enum class Palette : uint8_t {
    Standard,
    ColorBlindSafe,  ///< Hues of Okabe and Ito; families differ in lightness too.
};

/// The colours of the whole viewer as one value: pass it to `applyTheme` once and to each widget that paints itself.
/// Two are built in; both keep text readable (contrast of at least 4.5) on every fill.
struct Theme {
    static Theme light(Palette palette = Palette::Standard);
    static Theme dark(Palette palette = Palette::Standard);

    bool isDark = false;

    // Surfaces, from the back to the front.
    QColor window;     ///< Behind everything, and panels next to the timeline.
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
    QColor busyGpu;                      ///< GPU activity in the overview and in folded tracks.
    QColor busyCpu;                      ///< Activity of processes and threads.
    QColor information, warning, error;  ///< Health notes, as text or icon.
    QColor faster, slower;               ///< Comparison: the candidate gained or lost time.
    QColor baseline, candidate;          ///< The two sides of a comparison.

    std::array<QColor, sliceCategoryCount> categories;  ///< By `SliceCategory`.
    std::array<QColor, analysis::stepPartCount> parts;  ///< By `StepPart`, as in reports.
    std::vector<QColor> kernels;                        ///< Picked by kernel name.
    std::vector<QColor> distinct;                       ///< For streams and NCCL operations, by number.
    std::vector<QColor> ranges;                         ///< For NVTX ranges without a colour of their own.

    /// Returns the family colour: for legends, and for runs of slices too small to distinguish.
    QColor colorOf(SliceCategory category) const;
    QColor colorOf(analysis::StepPart part) const;
    /// Returns the colour of one slice. The same name has the same colour in every trace and every run.
    QColor colorOf(SliceCategory category, std::string_view name) const;
    /// Returns one of several unrelated colours, such as for streams; the same number has the same colour.
    QColor colorOfNumber(uint32_t number) const;
    /// Returns the colour behind the title row of a group at this depth.
    QColor bandAt(int depth) const { return depth == 0 ? band : mix(canvas, band, 0.45); }
    /// Returns the dark or light text colour that is more readable on `fill`.
    QColor textOn(const QColor& fill) const;
    /// Mixes `over` into `under`, opaque; `share` in [0, 1] is the weight of `over`.
    static QColor mix(const QColor& under, const QColor& over, double share);
    /// Returns the WCAG contrast, 1 to 21.
    static double contrast(const QColor& one, const QColor& other);
};

/// Returns the colour with this opacity, 0 to 255.
inline QColor translucent(QColor color, int alpha) {
    color.setAlpha(alpha);
    return color;
}

/// Returns the colour of a cell of a map of ranks and steps: from faint, but never invisible, to
/// `strong`; `share` in [0, 1].
QColor heatColor(const Theme& theme, const QColor& strong, double share);

/// Paints the legend of a map's colours as a bar from `low` to `high`, through `middle` if that is valid.
void paintHeatBar(QPainter& painter, const QRect& bar, const QColor& low, const QColor& middle, const QColor& high);

/// Paints the frame of the keyboard focus just within `area`.
void paintFocusFrame(QPainter& painter, const QRect& area, const Theme& theme);

/// Styles axes, grid and background of a chart by the theme, with text in `font`.
void styleChart(QCustomPlot& plot, const Theme& theme, const QFont& font);

void showFocus(QCustomPlot& plot, const Theme& theme, bool hasFocus);

/// Writes `sentence` in the middle of an empty chart and hides the axes until it is styled again.
void showEmpty(QCustomPlot& plot, const Theme& theme, const QFont& font, const QString& sentence);

/// The unit of a chart's times up to `maxNs`.
struct ChartUnit {
    double nsPerUnit = 1;
    const char* name = "ns";
};
ChartUnit chartUnit(double maxNs);

/// Sets the colours of `theme` for every widget of the program (palette, Fusion style, tool tips,
/// hairline splitters). May be called again at any time; widgets repaint. GUI thread.
void applyTheme(QApplication& application, const Theme& theme);

}  // namespace lanescope::views
