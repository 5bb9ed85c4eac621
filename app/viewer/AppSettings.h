// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QByteArray>
#include <QDir>
#include <QSettings>
#include <QString>
#include <QStringList>
#include <QVariant>
#include <QVariantMap>
#include <cstdint>

#include "views/theme/Theme.h"

namespace lanescope::views {
enum class ColorMode : uint8_t;
}

namespace lanescope::viewer {

enum class ThemeChoice { System, Light, Dark };

/// The stored settings of the viewer. The only reader and writer of settings.
class AppSettings {
  public:
    /// Opens the user's own settings.
    AppSettings();
    /// Uses an INI file, for tests and for pictures that must not depend on the user.
    explicit AppSettings(const QString& path);

    ThemeChoice theme() const;
    void setTheme(ThemeChoice theme);
    views::Palette palette() const;
    void setPalette(views::Palette palette);
    /// Returns the meaning of the slice colours.
    views::ColorMode colorMode() const;
    void setColorMode(views::ColorMode mode);
    /// Returns true if slices of one name stand out.
    bool isHighlighting() const { return settings_.value("colours/highlight", true).toBool(); }
    void setHighlighting(bool isOn) { settings_.setValue("colours/highlight", isOn); }
    /// Returns true if tracks without visible events are hidden.
    bool isHidingEmpty() const { return settings_.value("tracks/leaveOutEmpty", true).toBool(); }
    void setHidingEmpty(bool isOn) { settings_.setValue("tracks/leaveOutEmpty", isOn); }
    /// Returns true if the wheel scrolls the tracks and zooms with Ctrl; else it zooms.
    bool isWheelScrolling() const { return settings_.value("tracks/wheelScrolls", false).toBool(); }
    void setWheelScrolling(bool isOn) { settings_.setValue("tracks/wheelScrolls", isOn); }
    /// Returns the recent files, most recent first; a comparison is one entry with one file per
    /// line. Deleted files stay until opening one fails.
    QStringList recentFiles() const { return settings_.value("recentFiles").toStringList(); }
    void setRecentFiles(const QStringList& paths) { settings_.setValue("recentFiles", paths); }
    /// Returns the tools that wrote the recent files, as text by path.
    QVariantMap recentTools() const { return settings_.value("recentTools").toMap(); }
    void setRecentTools(const QVariantMap& tools) { settings_.setValue("recentTools", tools); }
    /// Returns the folder in which file dialogs start.
    QString folder() const { return settings_.value("folder", QDir::homePath()).toString(); }
    void setFolder(const QString& folder) { settings_.setValue("folder", folder); }
    QByteArray windowGeometry() const { return settings_.value("window/geometry").toByteArray(); }
    void setWindowGeometry(const QByteArray& geometry) { settings_.setValue("window/geometry", geometry); }
    QByteArray splitterState(const QString& name) const { return settings_.value("splitters/" + name).toByteArray(); }
    void setSplitterState(const QString& name, const QByteArray& state) {
        settings_.setValue("splitters/" + name, state);
    }
    /// Returns the queries of the SQL page, the latest first.
    QStringList queries() const { return settings_.value("queries").toStringList(); }
    void setQueries(const QStringList& queries) { settings_.setValue("queries", queries); }
    /// Returns the identifiers of hidden rules of explanations.
    QStringList mutedRules() const { return settings_.value("mutedRules").toStringList(); }
    void setMutedRules(const QStringList& rules) { settings_.setValue("mutedRules", rules); }
    bool isPanelVisible(const QString& name) const { return settings_.value("panels/" + name, true).toBool(); }
    void setPanelVisible(const QString& name, bool isVisible) { settings_.setValue("panels/" + name, isVisible); }
    /// Returns the arrangement of a document's tracks as JSON (see `TrackArrangement`); empty if there is none. A
    /// document is identified by the paths of its traces. Stored for the 100 documents arranged last.
    QByteArray trackArrangement(const QString& document) const;
    void setTrackArrangement(const QString& document, const QByteArray& json);

  private:
    QSettings settings_;
};

}  // namespace lanescope::viewer
