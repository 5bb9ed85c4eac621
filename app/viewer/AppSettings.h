// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QByteArray>
#include <QString>
#include <QStringList>
#include <QVariantMap>
#include <cstdint>
#include <memory>

#include "views/theme/Theme.h"

class QSettings;

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
    ~AppSettings();

    ThemeChoice theme() const;
    void setTheme(ThemeChoice theme);
    views::Palette palette() const;
    void setPalette(views::Palette palette);
    /// Returns the meaning of the slice colours.
    views::ColorMode colorMode() const;
    void setColorMode(views::ColorMode mode);
    /// Returns true if slices of one name stand out.
    bool isHighlighting() const;
    void setHighlighting(bool isOn);
    /// Returns true if tracks without visible events are hidden.
    bool isHidingEmpty() const;
    void setHidingEmpty(bool isOn);
    /// Returns true if the wheel scrolls the tracks and zooms with Ctrl; else it zooms.
    bool isWheelScrolling() const;
    void setWheelScrolling(bool isOn);
    /// Returns the recent files, most recent first; a comparison is one entry with one file per
    /// line. Deleted files stay until opening one fails.
    QStringList recentFiles() const;
    void setRecentFiles(const QStringList& paths);
    /// Returns the tools that wrote the recent files, as text by path.
    QVariantMap recentTools() const;
    void setRecentTools(const QVariantMap& tools);
    /// Returns the folder in which file dialogs start.
    QString folder() const;
    void setFolder(const QString& folder);
    QByteArray windowGeometry() const;
    void setWindowGeometry(const QByteArray& geometry);
    QByteArray splitterState(const QString& name) const;
    void setSplitterState(const QString& name, const QByteArray& state);
    /// Returns the queries of the SQL page, the latest first.
    QStringList queries() const;
    void setQueries(const QStringList& queries);
    /// Returns the identifiers of hidden rules of explanations.
    QStringList mutedRules() const;
    void setMutedRules(const QStringList& rules);
    bool isPanelVisible(const QString& name) const;
    void setPanelVisible(const QString& name, bool isVisible);
    /// Returns the arrangement of a document's tracks as JSON (see `TrackArrangement`); empty if there is none. A
    /// document is identified by the paths of its traces. Stored for the 100 documents arranged last.
    QByteArray trackArrangement(const QString& document) const;
    void setTrackArrangement(const QString& document, const QByteArray& json);

  private:
    std::unique_ptr<QSettings> settings_;
};

}  // namespace lanescope::viewer
