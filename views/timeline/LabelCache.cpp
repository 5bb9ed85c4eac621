// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/timeline/LabelCache.h"

#include <QRegularExpression>

#include <algorithm>
#include <string>

#include "model/values/knownRangeName.h"

namespace lanescope::views {
namespace {

// No label is longer on any screen, and a name in a damaged file may be megabytes long.
constexpr size_t mostCharacters = 512;
constexpr qsizetype leastBeforeEllipsis = 2;  // fewer letters say nothing
const QString ellipsis(QChar(0x2026));

}  // namespace

void LabelCache::reset(const StringTable* strings, const QFont& font) {
    strings_ = strings;
    metrics_ = QFontMetricsF(font);
    QFont unhinted = font;
    unhinted.setHintingPreference(QFont::PreferNoHinting);
    unhinted_ = QFontMetricsF(unhinted);
    fullWidth_.clear();
    fitted_.clear();
}

const QString& LabelCache::fitted(StringIndex name, double width) {
    static const QString nothing;
    if (!strings_) return nothing;
    if (fitted_.size() > mostEntries) fitted_.clear();
    const auto text = [&] {
        const std::string_view whole = strings_->at(name).substr(0, mostCharacters);
        const std::string known = knownRangeName(whole);
        const std::string_view bytes = known.empty() ? whole : std::string_view(known);
        return QString::fromUtf8(bytes.data(), qsizetype(bytes.size())).simplified();
    };

    auto full = fullWidth_.find(name);
    if (full == fullWidth_.end()) full = fullWidth_.insert(name, widthOf(text()));
    const bool fits = *full <= width;
    const auto bucket = fits ? 0u : static_cast<quint32>(width) / stepPixels + 1;
    const quint64 key = quint64{name} << 32 | bucket;
    auto found = fitted_.find(key);
    if (found == fitted_.end()) {
        found = fitted_.insert(key, fits ? text() : cut(text(), (bucket - 1) * stepPixels));
    }
    return *found;
}

double LabelCache::widthOf(const QString& text) const {
    // On screens scaled by a fraction letters are not hinted, and so not of the width measured.
    return std::max(metrics_.horizontalAdvance(text), unhinted_.horizontalAdvance(text));
}

QString LabelCache::cut(const QString& text, double width) const {
    // "step 10" and "step 11" must not both become "step": a number at the end stays.
    static const QRegularExpression numberAtEnd(QStringLiteral("[ _#:=./-]\\d{1,6}$"));
    if (const qsizetype separator = text.lastIndexOf(numberAtEnd); separator >= 0) {
        const QString ending = ellipsis + text.mid(separator + 1);
        const double room = width - widthOf(ending);
        if (room < 0) return {};
        qsizetype count = 0;
        while (count < separator && widthOf(text.left(count + 1)) <= room) ++count;
        return text.left(count) + ending;
    }
    // In proportion, as if the wider of the two ways to draw were the one measured here.
    const double share = metrics_.horizontalAdvance(text) / std::max(1.0, widthOf(text));
    const QString elided = metrics_.elidedText(text, Qt::ElideRight, width * share);
    return elided.size() > leastBeforeEllipsis ? elided : QString();
}

}  // namespace lanescope::views
