// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QFontMetrics>
#include <QLabel>
#include <QString>
#include <QStringList>
#include <string_view>

namespace lanescope::views {

/// Text of the model, which is UTF-8, for a widget. Bytes that are no UTF-8 show as replacement
/// characters: names come from untrusted files.
inline QString toQString(std::string_view text) {
    return QString::fromUtf8(text.data(), static_cast<qsizetype>(text.size()));
}

/// `text` as a tool tip that is shown as it is, with its lines. Qt takes tool tips that look like
/// markup for markup, and names from a trace file must not be able to load pictures or change how
/// they look.
inline QString plainToolTip(const QString& text) {
    if (text.isEmpty()) return {};
    return QStringLiteral("<qt>%1</qt>")
        .arg(text.toHtmlEscaped().replace(QLatin1Char('\n'), QLatin1String("<br>")));
}

/// A rate in GB/s with three digits, from 1000 on without a fraction: "45.3", "4814".
inline QString shortRate(double gigabytesPerSecond) {
    const bool isLarge = gigabytesPerSecond >= 1000;
    return QString::number(gigabytesPerSecond, isLarge ? 'f' : 'g', isLarge ? 0 : 3);
}

/// How lines are broken. Lengths in pixels.
struct LineRoom {
    int width = 0;
    int firstIndent = 0;  ///< So much of the first line is taken.
    qsizetype mostLines = 1;
};

/// `text` broken between words into lines that fit; the first is empty where its first word has no
/// room beside what stands there. A word may be of any length and lines may be few, so what has no
/// room ends in "…".
QStringList wrapWords(QString text, const QFontMetrics& metrics, const LineRoom& room);

/// Plain text on as many lines as it needs. Splitters and docks ask a wrapped QLabel for its
/// minimum size only, which knows nothing of its width, and press it below the height of its text;
/// this one asks for that height.
class WrappedLabel : public QLabel {
  public:
    explicit WrappedLabel(QWidget* parent = nullptr);

    QSize minimumSizeHint() const override;

  protected:
    void resizeEvent(QResizeEvent* event) override;
};

}  // namespace lanescope::views
