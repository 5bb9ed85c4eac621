// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>
#include <QPointer>

#include "views/notes/MarkEditor.h"
#include "views/notes/MarkLines.h"
#include "views/notes/MarkStore.h"
#include "views/notes/MarkStrip.h"

class QLabel;

namespace lanescope::views {

class TimelineView;
struct Theme;

/// Marks on one timeline: flags under the ruler, lines through the tracks, the editor over them,
/// and what the commands about marks do. The flags take no room while there are none.
class TimelineMarks : public QObject {
    Q_OBJECT

  public:
    /// Both outlive this.
    TimelineMarks(MarkStore& store, TimelineView& timeline, QObject* parent = nullptr);

    MarkStrip& strip() const { return *strip_; }
    MarkEditor& editor() const { return *editor_; }
    void setTheme(const Theme& theme);

  public slots:
    /// Begins a mark at the selected range, else the selected event, else under the pointer, else
    /// in the middle of what is visible.
    void addMark();
    /// The selected mark.
    void editMark();
    void removeMark();
    void goToNext();
    void goToPrevious();
    /// Selects the mark and brings it into sight.
    void show(const std::string& id);

  private:
    Mark markHere() const;
    void begin(const Mark& mark, bool isNew);
    void step(bool isForward);
    void updateStrip();
    void placeEditor();

    MarkStore& store_;
    TimelineView& timeline_;
    QPointer<QLabel> label_;
    QPointer<MarkStrip> strip_;
    QPointer<MarkLines> lines_;
    QPointer<MarkEditor> editor_;
    bool isWriting_ = false;
    uint32_t lastColor_ = markColors[0];
};

}  // namespace lanescope::views
