// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QByteArray>
#include <QString>
#include <QStringList>
#include <cstdint>
#include <memory>

#include "views/theme/Theme.h"

class QSettings;

namespace lanescope::views {
enum class ColorMode : uint8_t;
}

namespace lanescope::viewer {

enum class ThemeChoice { System, Light, Dark };

/// What the viewer remembers from run to run. The only reader and writer of settings.
class AppSettings {
  public:
    /// The user's own settings.
    AppSettings();
    /// Kept in an INI file, for tests and for pictures that must not depend on the user.
    explicit AppSettings(const QString& path);
    ~AppSettings();

    ThemeChoice theme() const;
    void setTheme(ThemeChoice theme);
    views::Palette palette() const;
    void setPalette(views::Palette palette);
    /// What the colours of slices tell.
    views::ColorMode colorMode() const;
    void setColorMode(views::ColorMode mode);
    /// Whether slices of one name stand out.
    bool isHighlighting() const;
    void setHighlighting(bool isOn);
    /// Whether tracks are left out while they have nothing in view.
    bool isLeavingOutEmpty() const;
    void setLeavingOutEmpty(bool isOn);
    /// Whether the wheel scrolls the tracks, and zooms with Ctrl; else it zooms.
    bool isWheelScrolling() const;
    void setWheelScrolling(bool isOn);
    /// Most recent first, a comparison as its files line by line; files that are gone stay until
    /// they are opened in vain.
    QStringList recentFiles() const;
    void setRecentFiles(const QStringList& paths);
    /// Where file dialogs start.
    QString folder() const;
    void setFolder(const QString& folder);
    QByteArray windowGeometry() const;
    void setWindowGeometry(const QByteArray& geometry);
    QByteArray splitterState(const QString& name) const;
    void setSplitterState(const QString& name, const QByteArray& state);
    /// Asked on the SQL page, the latest first.
    QStringList queries() const;
    void setQueries(const QStringList& queries);
    /// Rules of explanations that are not to be told of, by their identifiers.
    QStringList mutedRules() const;
    void setMutedRules(const QStringList& rules);
    bool isPanelVisible(const QString& name) const;
    void setPanelVisible(const QString& name, bool isVisible);
    /// How the tracks of a document were arranged, as JSON (see `TrackArrangement`); empty if
    /// never. A document is known by the path of its trace or its traces. Of those opened last
    /// only.
    QByteArray trackArrangement(const QString& document) const;
    void setTrackArrangement(const QString& document, const QByteArray& json);

  private:
    std::unique_ptr<QSettings> settings_;
};

}  // namespace lanescope::viewer
