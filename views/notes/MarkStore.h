// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>
#include <QUndoStack>

#include "model/notes/NotesFile.h"

namespace lanescope::views {

/// The marks of one trace as shown. Changes by the user can be undone; external changes are merged. GUI thread.
class MarkStore : public QObject {
    Q_OBJECT
  public:
    explicit MarkStore(QObject* parent = nullptr);

    const std::vector<Mark>& marks() const { return notes_.marks; }
    const Notes& notes() const { return notes_; }
    /// Returns null if the mark does not exist. O(marks).
    const Mark* find(const std::string& id) const;
    /// Replaces the marks by those of a file. Not an edit; earlier edits can still be undone.
    void setNotes(Notes notes);

    // Adds a mark. This and the next functions are edits that can be undone; they emit `edited` and `changed`.
    void add(const Mark& mark);
    void change(const Mark& mark);
    void remove(const std::string& id);
    QUndoStack& undoStack() const { return *undo_; }

    /// Returns the mark that key commands apply to; empty for none.
    const std::string& selected() const { return selected_; }
    void select(const std::string& id);
    /// Returns the first mark after `timeNs`, or the last before it; null if none.
    const Mark* next(int64_t timeNs, bool isForward) const;

  signals:
    void changed();
    /// Emitted when the user changed something that must be saved.
    void edited();
    void selectionChanged();

  private:
    friend class MarkEdit;
    /// Replaces the mark with this id by `mark`, or removes it.
    void put(const std::string& id, const Mark* mark);

    Notes notes_;
    std::string selected_;
    QUndoStack* undo_;
};

/// Six colours distinguishable by colour-blind people, as 0xRRGGBB.
inline constexpr uint32_t markColors[] = {0xe69f00, 0x56b4e9, 0x009e73, 0xd55e00, 0xcc79a7, 0x0072b2};

}  // namespace lanescope::views
