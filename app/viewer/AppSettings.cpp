// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/viewer/AppSettings.h"

#include <QCryptographicHash>

#include "views/timeline/SliceColors.h"

namespace lanescope::viewer {

using namespace views;

namespace {

const QStringList themeNames = {"system", "light", "dark"};
const QStringList colorModeNames = {"name", "kind", "stream", "nccl-operation", "python-line", "python-function"};
const QString colorBlindSafeName = QStringLiteral("colour-blind-safe");

constexpr qsizetype maxArrangements = 100;

/// Paths contain slashes, which settings interpret as groups.
QString arrangementKey(const QString& document) {
    const QByteArray hash = QCryptographicHash::hash(document.toUtf8(), QCryptographicHash::Sha1).toHex();
    return "tracks/" + QString::fromLatin1(hash);
}

}  // namespace

AppSettings::AppSettings() : settings_("lanescope", "viewer") {}

AppSettings::AppSettings(const QString& path) : settings_(path, QSettings::IniFormat) {}

ThemeChoice AppSettings::theme() const {
    const auto index = themeNames.indexOf(settings_.value("theme").toString());
    return index < 0 ? ThemeChoice::System : static_cast<ThemeChoice>(index);
}

void AppSettings::setTheme(ThemeChoice theme) {
    settings_.setValue("theme", themeNames.value(static_cast<int>(theme)));
}

Palette AppSettings::palette() const {
    return settings_.value("palette").toString() == colorBlindSafeName ? Palette::ColorBlindSafe : Palette::Standard;
}

void AppSettings::setPalette(Palette palette) {
    settings_.setValue("palette", palette == Palette::ColorBlindSafe ? colorBlindSafeName : QStringLiteral("standard"));
}

ColorMode AppSettings::colorMode() const {
    const auto index = colorModeNames.indexOf(settings_.value("colours/mode").toString());
    return index < 0 ? ColorMode::Name : static_cast<ColorMode>(index);
}

void AppSettings::setColorMode(ColorMode mode) {
    settings_.setValue("colours/mode", colorModeNames.value(static_cast<int>(mode)));
}

QByteArray AppSettings::trackArrangement(const QString& document) const {
    return settings_.value(arrangementKey(document)).toByteArray();
}

void AppSettings::setTrackArrangement(const QString& document, const QByteArray& json) {
    const QString key = arrangementKey(document);
    QStringList kept = settings_.value("arrangedTraces").toStringList();
    kept.removeAll(key);
    if (json.isEmpty()) {
        settings_.remove(key);
    } else {
        kept.prepend(key);
        settings_.setValue(key, json);
    }
    while (kept.size() > maxArrangements) settings_.remove(kept.takeLast());
    settings_.setValue("arrangedTraces", kept);
}

}  // namespace lanescope::viewer
