// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QFrame>
#include <QLabel>
#include <QLineEdit>
#include <QObject>
#include <QPointer>
#include <QWidget>
#include <optional>

#include "model/notes/NotesFile.h"
#include "views/notes/MarkStore.h"
#include "views/theme/PaintedWidget.h"

class QAbstractButton;

namespace lanescope::views {

/// A small window over the timeline to edit the text and colour of a mark. Enter and focus loss save, Escape cancels.
class MarkEditor : public QFrame {
    Q_OBJECT
  public:
    explicit MarkEditor(QWidget* parent);
    /// Cancels the edit.
    ~MarkEditor() override;

    /// Starts to edit `mark`. A cancelled edit of an `isNew` mark is reported as such.
    void edit(const Mark& mark, bool isNew);
    const Mark& mark() const { return mark_; }
    QLineEdit& text() const { return *text_; }
    const std::vector<QAbstractButton*>& colors() const { return colors_; }
    void setTheme(const Theme& theme);

  signals:
    void accepted(const lanescope::Mark& mark, bool isNew);
    void rejected(const lanescope::Mark& mark, bool isNew);

  protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

  private:
    void finish(bool isKept);
    void pick(uint32_t color);

    Mark mark_;
    bool isNew_ = false;
    bool isOpen_ = false;
    QLineEdit* text_;
    std::vector<QAbstractButton*> colors_;
};

class TimelineView;

/// An overlay that draws the marks on all tracks: a line for a time, both edges for a range. A mark of one track is
/// opaque on this track and faint on the others. Ignores input.
class MarkLines : public QWidget {
    Q_OBJECT
  public:
    MarkLines(MarkStore& store, TimelineView& timeline);

  protected:
    void paintEvent(QPaintEvent* event) override;

  private:
    void follow();
    void paintMark(QPainter& painter, const Mark& mark) const;

    MarkStore& store_;
    TimelineView& timeline_;
};

/// The flags of the marks, on a strip between the ruler and the tracks. Click selects, drag moves,
/// double click edits; a double click elsewhere requests a new mark.
class MarkStrip : public TippedWidget {
    Q_OBJECT
  public:
    static constexpr int stripHeight = 22;

    MarkStrip(MarkStore& store, TimelineView& timeline);

    /// Returns the rectangle of a mark's flag; empty while it is not visible.
    QRect flagOf(const std::string& id) const;

  signals:
    void editRequested(const std::string& id);
    void newMarkRequested(qint64 timeNs);

  protected:
    void paintEvent(QPaintEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void mouseDoubleClickEvent(QMouseEvent* event) override;
    void leaveEvent(QEvent* event) override;
    std::optional<QString> toolTipAt(QPoint position) const override;

  private:
    struct Flag {
        const Mark* mark;
        QRect area;
        TimeRange range;  ///< As drawn; differs from the mark during a drag.
    };
    /// Returns the visible flags, from left to right. O(n log n) in the marks, excluding their texts.
    std::vector<Flag> flags() const;
    int widthOf(const Mark& mark, int room) const;
    const Mark* markAt(QPoint position) const;
    double toX(int64_t timeNs) const;
    void paintRange(QPainter& painter, const Flag& flag) const;
    void paintFlag(QPainter& painter, const Flag& flag) const;

    MarkStore& store_;
    TimelineView& timeline_;
    std::string pressed_, hovered_;
    int pressedX_ = 0;
    bool isDragging_ = false;
    int64_t draggedNs_ = 0;
};

/// The marks of one timeline: flags under the ruler, lines through the tracks, the editor over
/// them, and the commands about marks. The flags take no room without marks.
class TimelineMarks : public QObject {
    Q_OBJECT
  public:
    /// `store` and `timeline` outlive this object.
    TimelineMarks(MarkStore& store, TimelineView& timeline, QObject* parent = nullptr);

    MarkStrip& strip() const { return *strip_; }
    MarkEditor& editor() const { return *editor_; }
    void setTheme(const Theme& theme);

  public slots:
    /// Creates a mark at the selected range, else the selected event, else under the pointer, else
    /// in the middle of the visible range.
    void addMark();
    void editMark();
    void removeMark() { store_.remove(store_.selected()); }
    /// Goes to the next mark, else to the previous one.
    void step(bool isForward);
    /// Selects the mark and makes it visible.
    void show(const std::string& id);

  private:
    Mark markHere() const;
    void begin(const Mark& mark, bool isNew);
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
