// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QFontMetricsF>
#include <QHash>
#include <QString>

#include "model/trace/StringTable.h"

namespace lanescope::views {

/// Names cut to fit. Measuring and cutting text costs more than drawing it, and the same name is
/// cut to the same few widths again and again.
class LabelCache {
  public:
    void reset(const StringTable* strings, const QFont& font);
    /// The name in at most `width` pixels: whole, or cut with an ellipsis; a number at its end
    /// stays. Empty if nothing readable is left.
    const QString& fitted(StringIndex name, double width);

  private:
    QString cut(const QString& text, double width) const;
    double widthOf(const QString& text) const;

    static constexpr qsizetype mostEntries = 20'000;
    static constexpr int stepPixels = 6;  // cut widths are rounded down to this

    const StringTable* strings_ = nullptr;
    QFontMetricsF metrics_{QFont()};
    QFontMetricsF unhinted_{QFont()};
    QHash<StringIndex, double> fullWidth_;
    QHash<quint64, QString> fitted_;
};

}  // namespace lanescope::views
