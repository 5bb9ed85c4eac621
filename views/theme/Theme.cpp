// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/theme/Theme.h"

#include <qcustomplot.h>

#include <QApplication>
#include <QLinearGradient>
#include <QPainter>
#include <QPalette>
#include <QStyleFactory>
#include <QToolTip>
#include <algorithm>
#include <cmath>

namespace lanescope::views {
namespace {

// Copies have warm colours, kernels cool ones, NCCL the only purple: the three questions about a training timeline are
// visible from afar. Within a family, neighbours differ in lightness as well as in hue, for colour-blind users.
constexpr QRgb htodColor = 0xffe39b3b;
constexpr QRgb dtohColor = 0xffbb5034;
constexpr QRgb dtodColor = 0xffe3cb5c;
constexpr QRgb ptopColor = 0xff86ab45;

std::array<QColor, sliceCategoryCount> categoryColors(const Theme& theme) {
    std::array<QColor, sliceCategoryCount> colors;
    const auto set = [&](SliceCategory category, QRgb color) {
        colors[static_cast<size_t>(category)] = QColor::fromRgb(color);
    };
    set(SliceCategory::Kernel, 0xff4f8fc9);
    set(SliceCategory::NcclKernel, 0xff9d5bb5);
    set(SliceCategory::NcclWait, theme.isDark ? 0xff564161 : 0xffe2d0ea);
    set(SliceCategory::MemcpyHtoD, htodColor);
    set(SliceCategory::MemcpyDtoH, dtohColor);
    set(SliceCategory::MemcpyDtoD, dtodColor);
    set(SliceCategory::MemcpyPtoP, ptopColor);
    set(SliceCategory::MemcpyOther, 0xffb09a7c);
    set(SliceCategory::Memset, 0xff9c8878);
    set(SliceCategory::ApiLaunch, theme.isDark ? 0xff557599 : 0xff8aa9c9);
    set(SliceCategory::ApiMemory, theme.isDark ? 0xff9e7c4f : 0xffd4b286);
    set(SliceCategory::ApiSync, theme.isDark ? 0xff5e4448 : 0xffeed6d2);
    set(SliceCategory::ApiOther, theme.isDark ? 0xff5d6672 : 0xffb4bcc6);
    set(SliceCategory::Nvtx, theme.isDark ? 0xff47756d : 0xff8fbdb2);
    set(SliceCategory::NcclCall, theme.isDark ? 0xff8a61a3 : 0xffb996cb);
    set(SliceCategory::Projection, theme.isDark ? 0xff3d665f : 0xffa5cbc2);
    set(SliceCategory::Graph, 0xff3fa39a);
    set(SliceCategory::ManagedMemory, 0xffd76b8a);
    set(SliceCategory::CpuRunning, theme.isDark ? 0xff539460 : 0xff86bd8c);
    set(SliceCategory::CpuRunnable, 0xffcf5b4a);
    set(SliceCategory::CpuGil, 0xffd9a441);
    set(SliceCategory::CpuLock, theme.isDark ? 0xff9a8458 : 0xffd9c596);
    set(SliceCategory::CpuInput, theme.isDark ? 0xff4f6f8f : 0xffa3bfdb);
    set(SliceCategory::CpuSleep, theme.isDark ? 0xff3d4248 : 0xffdfe2e6);
    set(SliceCategory::CpuMixed, theme.isDark ? 0xff76845c : 0xffb0c191);
    set(SliceCategory::CpuFrame, theme.isDark ? 0xff6b6a8f : 0xffb3b2d6);
    set(SliceCategory::Counter, theme.isDark ? 0xff7f9bbd : 0xff7d9cc0);
    colors[static_cast<size_t>(SliceCategory::Busy)] = theme.busyGpu;
    return colors;
}

std::array<QColor, analysis::stepPartCount> partColors(const Theme& theme) {
    std::array<QColor, analysis::stepPartCount> colors;
    for (size_t part = 0; part < colors.size(); ++part) {
        const analysis::PartColor color = analysis::colorOf(static_cast<analysis::StepPart>(part));
        colors[part] = QColor::fromRgb(theme.isDark ? color.dark : color.light);
    }
    return colors;
}

std::vector<QColor> colorsFrom(std::initializer_list<QRgb> values) {
    std::vector<QColor> colors;
    for (const QRgb value : values) colors.push_back(QColor::fromRgb(value));
    return colors;
}

/// Applies the colour-blind-safe palette. The eight hues are those of Okabe and Ito, some darker or
/// lighter so that each family differs from the others in lightness as well.
void makeColorBlindSafe(Theme& theme) {
    const auto set = [&](SliceCategory category, QRgb color) {
        theme.categories[static_cast<size_t>(category)] = QColor::fromRgb(color);
    };
    set(SliceCategory::Kernel, 0xff56b4e9);
    set(SliceCategory::NcclKernel, 0xff5c2450);
    set(SliceCategory::NcclWait, theme.isDark ? 0xff4a3a46 : 0xffe6d7e2);
    set(SliceCategory::MemcpyHtoD, 0xffdd9300);
    set(SliceCategory::MemcpyDtoH, 0xffb34700);
    set(SliceCategory::MemcpyDtoD, 0xfff7ee75);
    set(SliceCategory::MemcpyPtoP, 0xff00805f);
    set(SliceCategory::MemcpyOther, 0xffb5aa98);
    set(SliceCategory::Memset, 0xff8c8c8c);
    set(SliceCategory::NcclCall, theme.isDark ? 0xff9c5f8a : 0xffdfa6c6);
    set(SliceCategory::Graph, 0xff0072b2);
    set(SliceCategory::ManagedMemory, 0xffcc79a7);
    set(SliceCategory::CpuRunning, 0xff00805f);
    set(SliceCategory::CpuRunnable, 0xffb34700);
    set(SliceCategory::CpuGil, 0xffe69f00);
    set(SliceCategory::CpuMixed, theme.isDark ? 0xff4d9480 : 0xff80bfaf);
    theme.kernels =
        colorsFrom({0xff56b4e9, 0xff0072b2, 0xff9ad3f2, 0xff2a7aab, 0xff78c3ec, 0xff035d91, 0xffb9dff5, 0xff4a9cc9});
    theme.distinct =
        colorsFrom({0xff56b4e9, 0xffe69f00, 0xff00765a, 0xfff0e442, 0xff0072b2, 0xffb34700, 0xffcc79a7, 0xff8c8c8c});
    using analysis::StepPart;
    for (const auto& [part, category] : {std::pair(StepPart::Compute, SliceCategory::Kernel),
                                         std::pair(StepPart::ExposedCommunication, SliceCategory::NcclKernel),
                                         std::pair(StepPart::ExposedPtoP, SliceCategory::MemcpyPtoP),
                                         std::pair(StepPart::ExposedHtoD, SliceCategory::MemcpyHtoD),
                                         std::pair(StepPart::ExposedDtoH, SliceCategory::MemcpyDtoH),
                                         std::pair(StepPart::ExposedDtoD, SliceCategory::MemcpyDtoD),
                                         std::pair(StepPart::ExposedOtherCopy, SliceCategory::MemcpyOther),
                                         std::pair(StepPart::Memset, SliceCategory::Memset)})
        theme.parts[static_cast<size_t>(part)] = theme.colorOf(category);
    theme.wait = theme.isDark ? 0xffe69f00 : 0xff9c4a00;
    theme.faster = theme.isDark ? 0xff6fbdf0 : 0xff005f96;
    theme.slower = theme.isDark ? 0xffffa35c : 0xffa84300;
    theme.searchHit = theme.isDark ? 0xfff08cc4 : 0xffb0005a;
}

// FNV-1a: the same on every machine and in every release, unlike std::hash and qHash.
uint32_t stableHash(std::string_view text, bool skipsDigits = false) {
    uint32_t hash = 2166136261u;
    for (const char character : text) {
        if (skipsDigits && character >= '0' && character <= '9') continue;
        hash ^= static_cast<unsigned char>(character);
        hash *= 16777619u;
    }
    return hash ^ (hash >> 15);
}

double luminance(const QColor& color) {
    const auto linear = [](double value) {
        return value <= 0.04045 ? value / 12.92 : std::pow((value + 0.055) / 1.055, 2.4);
    };
    return 0.2126 * linear(color.redF()) + 0.7152 * linear(color.greenF()) + 0.0722 * linear(color.blueF());
}

QPalette paletteFor(const Theme& theme) {
    QPalette palette;
    palette.setColor(QPalette::Window, theme.window);
    palette.setColor(QPalette::WindowText, theme.text);
    palette.setColor(QPalette::Base, theme.canvas);
    palette.setColor(QPalette::AlternateBase, theme.panel);
    palette.setColor(QPalette::Text, theme.text);
    palette.setColor(QPalette::PlaceholderText, theme.mutedText);
    palette.setColor(QPalette::Button, theme.panel);
    palette.setColor(QPalette::ButtonText, theme.text);
    palette.setColor(QPalette::BrightText, theme.error);
    palette.setColor(QPalette::ToolTipBase, theme.card);
    palette.setColor(QPalette::ToolTipText, theme.text);
    palette.setColor(QPalette::Highlight, theme.accent);
    palette.setColor(QPalette::HighlightedText, theme.accentText);
    palette.setColor(QPalette::Link, theme.accent);
    palette.setColor(QPalette::LinkVisited, theme.accent);
    palette.setColor(QPalette::Light, Theme::mix(theme.panel, theme.text, theme.isDark ? 0.12 : 0.0));
    palette.setColor(QPalette::Midlight, Theme::mix(theme.panel, theme.text, 0.06));
    palette.setColor(QPalette::Mid, theme.separator);
    palette.setColor(QPalette::Dark, Theme::mix(theme.separator, theme.text, 0.15));
    palette.setColor(QPalette::Shadow, Theme::mix(theme.window, QColor(Qt::black), 0.5));

    const QColor disabled = Theme::mix(theme.window, theme.mutedText, 0.6);
    for (const auto role : {QPalette::WindowText, QPalette::Text, QPalette::ButtonText, QPalette::HighlightedText})
        palette.setColor(QPalette::Disabled, role, disabled);
    palette.setColor(QPalette::Disabled, QPalette::Highlight, theme.separator);
    return palette;
}

/// Returns a theme; of two colours the first is that of the light one.
Theme themeOf(bool isDark, Palette palette) {
    const auto either = [isDark](const QColor& light, const QColor& dark) { return isDark ? dark : light; };
    Theme theme;
    theme.isDark = isDark;
    theme.window = either(0xfff3f5f8, 0xff15181d);
    theme.canvas = either(0xffffffff, 0xff181b21);
    theme.band = either(0xffe9edf3, 0xff252a33);
    theme.panel = either(0xfff8f9fb, 0xff1d2128);
    theme.card = either(0xffffffff, 0xff2a2f39);
    theme.separator = either(0xffdfe3ea, 0xff30363f);
    theme.grid = either(0xffebeef3, 0xff242932);
    theme.text = either(0xff1d2430, 0xffe4e8ee);
    theme.mutedText = either(0xff667080, 0xff97a1b0);
    theme.accent = either(0xff1b66c9, 0xff5aa7ff);
    theme.accentText = either(0xffffffff, 0xff0c1622);
    theme.selection = either(QColor(27, 102, 201, 28), QColor(90, 167, 255, 30));
    theme.hover = either(QColor(29, 36, 48, 26), QColor(255, 255, 255, 30));
    theme.searchHit = either(0xffd6006e, 0xffff5fb0);
    theme.flow = either(0xff2a3444, 0xfff2f5f9);
    theme.wait = either(0xff8a3fb0, 0xffd9a5f0);
    theme.busyGpu = either(0xff6f9fd0, 0xff4376ab);
    theme.busyCpu = either(0xff6f8a86, 0xff7d9995);
    theme.information = either(0xff1b66c9, 0xff5aa7ff);
    theme.warning = either(0xff9a6200, 0xffe6b450);
    theme.error = either(0xffb3261e, 0xffff8a80);
    theme.faster = either(0xff1b7a4b, 0xff5cc98f);
    theme.slower = either(0xffb3402a, 0xffff8f73);
    theme.baseline = either(0xff5b6b80, 0xff9fb0c6);
    theme.candidate = either(0xff1b66c9, 0xff5aa7ff);
    theme.kernels = isDark ? colorsFrom({0xff4f8fc9, 0xff7fb2dc, 0xff34689c, 0xff4a9f9f, 0xff84c2bb, 0xff7a8fcf,
                                         0xffa3b2e0, 0xff7d93ab, 0xff4d6f92, 0xff5fa9c4})
                           : colorsFrom({0xff5b9bd5, 0xff8fc1e8, 0xff3873aa, 0xff5fb3b3, 0xff9cd3cd, 0xff8c9fd9,
                                         0xffb5c2ea, 0xff93a8bf, 0xff6c8fb0, 0xff7cc0d8});
    theme.distinct =
        colorsFrom({0xff4f8fc9, 0xffe39b3b, 0xff3fa39a, 0xff9d5bb5, 0xffe3cb5c, 0xffbb5034, 0xff86ab45, 0xffd76b8a});
    theme.ranges = isDark ? colorsFrom({0xff47756d, 0xff5b7852, 0xff4c6f8a, 0xff77754a, 0xff7d6150})
                          : colorsFrom({0xff8fbdb2, 0xffb3d1a8, 0xffa9c4d6, 0xffc9cfa6, 0xffe2bfa6});
    theme.categories = categoryColors(theme);
    theme.parts = partColors(theme);
    if (palette == Palette::ColorBlindSafe) makeColorBlindSafe(theme);
    return theme;
}

}  // namespace

Theme Theme::light(Palette palette) { return themeOf(false, palette); }
Theme Theme::dark(Palette palette) { return themeOf(true, palette); }

QColor Theme::colorOf(SliceCategory category) const {
    const auto index = static_cast<size_t>(category);
    return index < categories.size() ? categories[index] : mutedText;
}

QColor Theme::colorOf(SliceCategory category, std::string_view name) const {
    if (category == SliceCategory::Kernel && !kernels.empty()) return kernels[stableHash(name) % kernels.size()];
    const bool isRange = category == SliceCategory::Nvtx || category == SliceCategory::Projection;
    // "step 1" and "step 2" are the same kind of range and get the same colour.
    if (isRange && !ranges.empty()) return ranges[stableHash(name, true) % ranges.size()];
    return colorOf(category);
}

QColor Theme::colorOf(analysis::StepPart part) const { return parts[static_cast<size_t>(part)]; }

QColor Theme::colorOfNumber(uint32_t number) const {
    return distinct.empty() ? mutedText : distinct[number % distinct.size()];
}

QColor Theme::textOn(const QColor& fill) const {
    const QColor darkInk(0x10, 0x16, 0x1f);
    const QColor lightInk(0xff, 0xff, 0xff);
    return contrast(fill, darkInk) >= contrast(fill, lightInk) ? darkInk : lightInk;
}

QColor Theme::mix(const QColor& under, const QColor& over, double share) {
    const double kept = 1.0 - std::clamp(share, 0.0, 1.0);
    const auto channel = [&](int below, int above) {
        return static_cast<int>(std::lround(below * kept + above * (1.0 - kept)));
    };
    return QColor(channel(under.red(), over.red()), channel(under.green(), over.green()),
                  channel(under.blue(), over.blue()));
}

double Theme::contrast(const QColor& one, const QColor& other) {
    const double a = luminance(one);
    const double b = luminance(other);
    return (std::max(a, b) + 0.05) / (std::min(a, b) + 0.05);
}

QColor heatColor(const Theme& theme, const QColor& strong, double share) {
    constexpr double minHeatShare = 0.06;
    return Theme::mix(theme.canvas, strong, minHeatShare + (1 - minHeatShare) * share);
}

void paintHeatBar(QPainter& painter, const QRect& bar, const QColor& low, const QColor& middle, const QColor& high) {
    QLinearGradient colors(bar.topLeft(), bar.topRight());
    colors.setColorAt(0, low);
    if (middle.isValid()) colors.setColorAt(0.5, middle);
    colors.setColorAt(1, high);
    painter.fillRect(bar, colors);
}

void paintFocusFrame(QPainter& painter, const QRect& area, const Theme& theme) {
    painter.setPen(QPen(theme.accent, 2));
    painter.setBrush(Qt::NoBrush);
    painter.drawRect(area.adjusted(1, 1, -1, -1));
}

void styleChart(QCustomPlot& plot, const Theme& theme, const QFont& font) {
    plot.setBackground(theme.canvas);
    for (QCPAxis* axis : {plot.xAxis, plot.yAxis}) {
        axis->setBasePen(QPen(theme.separator));
        axis->setTickPen(Qt::NoPen);
        axis->setSubTickPen(Qt::NoPen);
        axis->setTickLabelColor(theme.mutedText);
        axis->setLabelColor(theme.mutedText);
        axis->setTickLabelFont(font);
        axis->setLabelFont(font);
        axis->grid()->setPen(QPen(theme.grid));
        axis->grid()->setZeroLinePen(QPen(theme.grid));
    }
    plot.xAxis->grid()->setVisible(false);
    plot.xAxis->setVisible(true);
    plot.yAxis->setVisible(true);
}

void showFocus(QCustomPlot& plot, const Theme& theme, bool hasFocus) {
    plot.axisRect()->setBackground(hasFocus ? QBrush(Theme::mix(theme.canvas, theme.accent, 0.05))
                                            : QBrush(Qt::NoBrush));
    plot.replot(QCustomPlot::rpQueuedReplot);
}

void showEmpty(QCustomPlot& plot, const Theme& theme, const QFont& font, const QString& sentence) {
    plot.xAxis->setVisible(false);
    plot.yAxis->setVisible(false);
    auto* text = new QCPItemText(&plot);
    text->position->setType(QCPItemPosition::ptAxisRectRatio);
    text->position->setCoords(0.5, 0.5);
    text->setPositionAlignment(Qt::AlignCenter);
    text->setText(sentence);
    text->setColor(theme.mutedText);
    text->setFont(font);
}

ChartUnit chartUnit(double maxNs) {
    if (maxNs >= 2e9) return {1e9, "s"};
    if (maxNs >= 2e6) return {1e6, "ms"};
    if (maxNs >= 2e3) return {1e3, "\u00b5s"};
    return {};
}

void applyTheme(QApplication& application, const Theme& theme) {
    // Fusion uses only the palette, so that both themes look the same on every desktop.
    application.setStyle(QStyleFactory::create(QStringLiteral("Fusion")));
    const QPalette palette = paletteFor(theme);
    application.setPalette(palette);
    QToolTip::setPalette(palette);
    application.setStyleSheet(
        QStringLiteral(
            "QToolTip { color: %1; background: %2; border: 1px solid %3; padding: 4px; }QSplitter::handle { "
            "background: %3; }QSplitter::handle:horizontal { width: 1px; }QSplitter::handle:vertical { height: 1px; }")
            .arg(theme.text.name(), theme.card.name(), theme.separator.name()));
}

}  // namespace lanescope::views
