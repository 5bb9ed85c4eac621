// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QFontMetrics>
#include <QLabel>
#include <QString>
#include <QStringList>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace lanescope::views {

/// Returns a duration with three significant digits: "12.3 ms", "1.23 µs", "47 ns". Exact values are in tool tips and
/// copied text.
QString shortDuration(int64_t ns);

/// Returns the same with its sign: "+12.3 ms", "−12.3 ms".
QString signedDuration(int64_t ns);

/// Returns `name` within a width in pixels. If it must be shortened, the part in which it differs from `other` remains:
/// "…no-p2p.sqlite" and "…nvlink.sqlite".
QString distinctName(const QString& name, const QString& other, const QFontMetrics& metrics, int width);

/// Converts UTF-8 text of the model for a widget. Invalid bytes become replacement characters:
/// names come from untrusted files.
inline QString toQString(std::string_view text) {
    return QString::fromUtf8(text.data(), static_cast<qsizetype>(text.size()));
}

QStringList toQStrings(const std::vector<std::string>& texts);

/// Returns `text` as a tool tip that is shown literally, with its lines. Qt interprets tool tips
/// that look like markup, and names from a trace file must not load pictures or change their style.
inline QString plainToolTip(const QString& text) {
    if (text.isEmpty()) return {};
    return QStringLiteral("<qt>%1</qt>").arg(text.toHtmlEscaped().replace(QLatin1Char('\n'), QLatin1String("<br>")));
}

/// Returns a rate in GB/s with three digits, from 1000 on without a fraction: "45.3", "4814".
inline QString shortRate(double gigabytesPerSecond) {
    const bool isLarge = gigabytesPerSecond >= 1000;
    return QString::number(gigabytesPerSecond, isLarge ? 'f' : 'g', isLarge ? 0 : 3);
}

/// The room for wrapped lines. Lengths in pixels.
struct LineRoom {
    int width = 0;
    int firstIndent = 0;  ///< The occupied part of the first line.
    qsizetype maxLines = 1;
};

/// Returns `text` wrapped between words. The first line is empty if its first word does not fit.
/// Words may be long and lines few; text that does not fit ends in "…".
QStringList wrapWords(QString text, const QFontMetrics& metrics, const LineRoom& room);

/// A label whose text is shown literally, never as markup, and wraps.
class PlainLabel : public QLabel {
  public:
    explicit PlainLabel(QWidget* parent = nullptr) : QLabel(parent) {
        setTextFormat(Qt::PlainText);
        setWordWrap(true);
    }
};

/// A label of plain text with as many lines as it needs. Splitters and docks use only the minimum size of a wrapped
/// QLabel, which ignores its width, and clip its text; this label requests the full height.
class WrappedLabel : public PlainLabel {
  public:
    using PlainLabel::PlainLabel;

    QSize minimumSizeHint() const override;

  protected:
    void resizeEvent(QResizeEvent* event) override;
};

}  // namespace lanescope::views
