#include "views/timeline/LabelCache.h"

namespace lanescope {
namespace {

// No label is longer on any screen, and a name in a damaged file may be megabytes long.
constexpr size_t mostCharacters = 512;

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
    const auto text = [&] { return QString::fromUtf8(bytes.data(), qsizetype(bytes.size())).simplified(); };

    auto full = fullWidth_.find(name);
    if (full == fullWidth_.end()) full = fullWidth_.insert(name, metrics_.horizontalAdvance(text()));
    const bool fits = *full <= width;
    const auto bucket = fits ? 0u : static_cast<quint32>(width) / stepPixels + 1;
    const quint64 key = quint64{name} << 32 | bucket;
    auto found = fitted_.find(key);
    if (found == fitted_.end()) {
        QString label = text();
        if (!fits) label = metrics_.elidedText(label, Qt::ElideRight, (bucket - 1) * stepPixels);
        if (label == QStringLiteral("\u2026")) label.clear();
        found = fitted_.insert(key, label);
    }
    return *found;
}

}  // namespace lanescope
