// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/viewer/AppSettings.h"

#include <QCryptographicHash>
#include <QDir>
#include <QSettings>

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

AppSettings::AppSettings() : settings_(std::make_unique<QSettings>("lanescope", "viewer")) {}

AppSettings::AppSettings(const QString& path) : settings_(std::make_unique<QSettings>(path, QSettings::IniFormat)) {}

AppSettings::~AppSettings() = default;

ThemeChoice AppSettings::theme() const {
    const auto index = themeNames.indexOf(settings_->value("theme").toString());
    return index < 0 ? ThemeChoice::System : static_cast<ThemeChoice>(index);
}

void AppSettings::setTheme(ThemeChoice theme) {
    settings_->setValue("theme", themeNames.value(static_cast<int>(theme)));
}

Palette AppSettings::palette() const {
    return settings_->value("palette").toString() == colorBlindSafeName ? Palette::ColorBlindSafe : Palette::Standard;
}

void AppSettings::setPalette(Palette palette) {
    settings_->setValue("palette",
                        palette == Palette::ColorBlindSafe ? colorBlindSafeName : QStringLiteral("standard"));
}

ColorMode AppSettings::colorMode() const {
    const auto index = colorModeNames.indexOf(settings_->value("colours/mode").toString());
    return index < 0 ? ColorMode::Name : static_cast<ColorMode>(index);
}

void AppSettings::setColorMode(ColorMode mode) {
    settings_->setValue("colours/mode", colorModeNames.value(static_cast<int>(mode)));
}

bool AppSettings::isHighlighting() const { return settings_->value("colours/highlight", true).toBool(); }

void AppSettings::setHighlighting(bool isOn) { settings_->setValue("colours/highlight", isOn); }

bool AppSettings::isHidingEmpty() const { return settings_->value("tracks/leaveOutEmpty", true).toBool(); }

void AppSettings::setHidingEmpty(bool isOn) { settings_->setValue("tracks/leaveOutEmpty", isOn); }

bool AppSettings::isWheelScrolling() const { return settings_->value("tracks/wheelScrolls", false).toBool(); }

void AppSettings::setWheelScrolling(bool isOn) { settings_->setValue("tracks/wheelScrolls", isOn); }

QStringList AppSettings::recentFiles() const { return settings_->value("recentFiles").toStringList(); }

void AppSettings::setRecentFiles(const QStringList& paths) { settings_->setValue("recentFiles", paths); }

QVariantMap AppSettings::recentTools() const { return settings_->value("recentTools").toMap(); }

void AppSettings::setRecentTools(const QVariantMap& tools) { settings_->setValue("recentTools", tools); }

QString AppSettings::folder() const { return settings_->value("folder", QDir::homePath()).toString(); }

void AppSettings::setFolder(const QString& folder) { settings_->setValue("folder", folder); }

QByteArray AppSettings::windowGeometry() const { return settings_->value("window/geometry").toByteArray(); }

void AppSettings::setWindowGeometry(const QByteArray& geometry) { settings_->setValue("window/geometry", geometry); }

QByteArray AppSettings::splitterState(const QString& name) const {
    return settings_->value("splitters/" + name).toByteArray();
}

void AppSettings::setSplitterState(const QString& name, const QByteArray& state) {
    settings_->setValue("splitters/" + name, state);
}

QStringList AppSettings::queries() const { return settings_->value("queries").toStringList(); }

void AppSettings::setQueries(const QStringList& queries) { settings_->setValue("queries", queries); }

QStringList AppSettings::mutedRules() const { return settings_->value("mutedRules").toStringList(); }

void AppSettings::setMutedRules(const QStringList& rules) { settings_->setValue("mutedRules", rules); }

bool AppSettings::isPanelVisible(const QString& name) const {
    return settings_->value("panels/" + name, true).toBool();
}

void AppSettings::setPanelVisible(const QString& name, bool isVisible) {
    settings_->setValue("panels/" + name, isVisible);
}

QByteArray AppSettings::trackArrangement(const QString& document) const {
    return settings_->value(arrangementKey(document)).toByteArray();
}

void AppSettings::setTrackArrangement(const QString& document, const QByteArray& json) {
    const QString key = arrangementKey(document);
    QStringList kept = settings_->value("arrangedTraces").toStringList();
    kept.removeAll(key);
    if (json.isEmpty()) {
        settings_->remove(key);
    } else {
        kept.prepend(key);
        settings_->setValue(key, json);
    }
    while (kept.size() > maxArrangements) settings_->remove(kept.takeLast());
    settings_->setValue("arrangedTraces", kept);
}

}  // namespace lanescope::viewer
