// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>
#include <QString>

#include "model/notes/Mark.h"

class QUndoStack;

namespace lanescope::views {

/// The marks of one trace as they are on the screen: what the user does to them can be undone, what
/// comes from elsewhere is taken in beside. GUI thread.
class MarkStore : public QObject {
    Q_OBJECT

  public:
    explicit MarkStore(QObject* parent = nullptr);

    const std::vector<Mark>& marks() const { return notes_.marks; }
    const Notes& notes() const { return notes_; }
    /// Null if there is no such mark. O(marks).
    const Mark* find(const std::string& id) const;
    /// Takes over what a file holds. Not an edit; what was done before can still be undone.
    void setNotes(Notes notes);

    // Edits, each of which can be undone. They say `edited` beside `changed`.
    void add(const Mark& mark);
    void change(const Mark& mark);
    void remove(const std::string& id);
    QUndoStack& undoStack() const { return *undo_; }

    /// The mark that keys are about; empty for none.
    const std::string& selected() const { return selected_; }
    void select(const std::string& id);
    /// The first mark after `timeNs`, or the last before it; null without one.
    const Mark* next(int64_t timeNs, bool isForward) const;

  signals:
    void changed();
    /// The user changed something, so there is something to keep.
    void edited();
    void selectionChanged();

  private:
    friend class MarkEdit;
    /// Puts `mark` in the place of the one with its id, or takes that away.
    void put(const std::string& id, const Mark* mark);

    Notes notes_;
    std::string selected_;
    QUndoStack* undo_;
};

/// Six colours that colour-blind people can tell apart, as 0xRRGGBB.
inline constexpr uint32_t markColors[] = {0xe69f00, 0x56b4e9, 0x009e73,
                                          0xd55e00, 0xcc79a7, 0x0072b2};

}  // namespace lanescope::views
