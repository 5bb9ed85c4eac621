// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/notes/MarkStore.h"

#include <algorithm>
#include <optional>

namespace lanescope::views {

/// One edit: a mark before and after; nullopt where it did not or does not exist.
class MarkEdit : public QUndoCommand {
  public:
    MarkEdit(MarkStore& store, const QString& text, std::optional<Mark> before, std::optional<Mark> after)
        : QUndoCommand(text),
          store_(store),
          before_(std::move(before)),
          after_(std::move(after)),
          id_(before_ ? before_->id : after_->id) {}

    void undo() override { apply(before_); }
    void redo() override { apply(after_); }

  private:
    void apply(std::optional<Mark>& mark) {
        // The later of two changes in two viewers wins, and this one is now.
        if (mark) mark->changedUtcNs = utcNow();
        store_.put(id_, mark ? &*mark : nullptr);
    }

    MarkStore& store_;
    std::optional<Mark> before_, after_;
    std::string id_;
};

MarkStore::MarkStore(QObject* parent) : QObject(parent), undo_(new QUndoStack(this)) { undo_->setUndoLimit(500); }

const Mark* MarkStore::find(const std::string& id) const {
    const auto found = std::ranges::find(notes_.marks, id, &Mark::id);
    return found != notes_.marks.end() ? &*found : nullptr;
}

void MarkStore::setNotes(Notes notes) {
    if (notes == notes_) return;
    notes_ = std::move(notes);
    if (!find(selected_)) select({});
    emit changed();
}

void MarkStore::add(const Mark& mark) { undo_->push(new MarkEdit(*this, tr("mark"), std::nullopt, mark)); }

void MarkStore::change(const Mark& mark) {
    const Mark* before = find(mark.id);
    if (!before || *before == mark) return;
    undo_->push(new MarkEdit(*this, tr("change of a mark"), *before, mark));
}

void MarkStore::remove(const std::string& id) {
    const Mark* before = find(id);
    if (before) undo_->push(new MarkEdit(*this, tr("removal of a mark"), *before, std::nullopt));
}

void MarkStore::select(const std::string& id) {
    if (id == selected_) return;
    selected_ = id;
    emit selectionChanged();
}

const Mark* MarkStore::next(int64_t timeNs, bool isForward) const {
    const auto& marks = notes_.marks;
    // Marks at the same time are visited one by one, starting with the selected one.
    const auto selected = std::ranges::find(marks, selected_, &Mark::id);
    if (selected != marks.end() && selected->range.startNs == timeNs) {
        if (isForward) return selected + 1 != marks.end() ? &*(selected + 1) : nullptr;
        return selected != marks.begin() ? &*(selected - 1) : nullptr;
    }
    const Mark* before = nullptr;
    for (const Mark& mark : marks) {
        if (isForward && mark.range.startNs > timeNs) return &mark;
        if (!isForward && mark.range.startNs < timeNs) before = &mark;
    }
    return before;
}

void MarkStore::put(const std::string& id, const Mark* mark) {
    std::erase_if(notes_.marks, [&](const Mark& each) { return each.id == id; });
    if (mark) notes_.marks.push_back(*mark);
    sortMarks(notes_.marks);
    if (!mark && selected_ == id) select({});
    emit changed();
    emit edited();
}

}  // namespace lanescope::views
