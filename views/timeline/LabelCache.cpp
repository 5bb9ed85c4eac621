#include "views/timeline/LabelCache.h"

#include <algorithm>

namespace lanescope {
namespace {

// No label is longer on any screen, and a name in a damaged file may be megabytes long.
constexpr size_t mostCharacters = 512;
constexpr qsizetype leastCharacters = 3;
// An ellipsis costs about as much as two letters; short pieces read better without.
constexpr qsizetype leastBeforeEllipsis = 6;

}  // namespace

void LabelCache::reset(const StringTable* strings, const QFont& font) {
    strings_ = strings;
    metrics_ = QFontMetricsF(font);
    fullWidth_.clear();
    fitted_.clear();
}

const QString& LabelCache::fitted(StringIndex name, double width) {
    static const QString nothing;
    if (!strings_) return nothing;
    if (fitted_.size() > mostEntries) fitted_.clear();
    const std::string_view bytes = strings_->at(name).substr(0, mostCharacters);
    const auto text = [&] {
        return QString::fromUtf8(bytes.data(), qsizetype(bytes.size())).simplified();
    };

    auto full = fullWidth_.find(name);
    if (full == fullWidth_.end())
        full = fullWidth_.insert(name, metrics_.horizontalAdvance(text()));
    const bool fits = *full <= width;
    const auto bucket = fits ? 0u : static_cast<quint32>(width) / stepPixels + 1;
    const quint64 key = quint64{name} << 32 | bucket;
    auto found = fitted_.find(key);
    if (found == fitted_.end()) {
        found = fitted_.insert(key, fits ? text() : cut(text(), (bucket - 1) * stepPixels));
    }
    return *found;
}

QString LabelCache::cut(const QString& text, double width) const {
    const QString elided = metrics_.elidedText(text, Qt::ElideRight, width);
    if (elided.size() > leastBeforeEllipsis) return elided;
    qsizetype count = std::max<qsizetype>(0, elided.size() - 1);
    while (count < text.size() && metrics_.horizontalAdvance(text.left(count + 1)) <= width)
        ++count;
    const qsizetype space = text.lastIndexOf(QChar(' '), count);
    if (space >= leastCharacters) return text.left(space);
    return count >= leastCharacters ? text.left(count) : QString();
}

}  // namespace lanescope
