// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QFrame>
#include <QObject>
#include <QPointer>
#include <QWidget>

#include "model/notes/Mark.h"
#include "views/notes/MarkStore.h"

class QAbstractButton;
class QLineEdit;

namespace lanescope::views {

struct Theme;

/// A small window over the timeline in which one writes the text of a mark and picks its colour.
/// Enter keeps, Escape gives up; leaving it keeps, too.
class MarkEditor : public QFrame {
    Q_OBJECT

  public:
    explicit MarkEditor(QWidget* parent);
    /// Gives up what is being written.
    ~MarkEditor() override;

    /// Begins with `mark`. A `isNew` one that is given up is reported as such.
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

/// Lies over the tracks and draws the marks through them: a line, or the edges of a range, stronger
/// in the track that a mark is about. Takes no part in input.
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
/// double click edits; a double click beside them asks for a new mark.
class MarkStrip : public QWidget {
    Q_OBJECT

  public:
    static constexpr int stripHeight = 22;

    MarkStrip(MarkStore& store, TimelineView& timeline);

    /// Where the flag of a mark stands; empty while it is out of sight.
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
    bool event(QEvent* event) override;

  private:
    struct Flag {
        const Mark* mark;
        QRect area;
        TimeRange range;  ///< As drawn: while it is dragged not yet the mark's.
    };
    /// Those in sight, from left to right. O(n log n) in the marks, without their texts.
    std::vector<Flag> flags() const;
    int widthOf(const Mark& mark, int room) const;
    const Mark* markAt(QPoint position) const;
    TimeRange shownRange(const Mark& mark) const;
    double toX(int64_t timeNs) const;
    void paintStretch(QPainter& painter, const Flag& flag) const;
    void paintFlag(QPainter& painter, const Flag& flag) const;

    MarkStore& store_;
    TimelineView& timeline_;
    std::string pressed_, hovered_;
    int pressedX_ = 0;
    bool isDragging_ = false;
    int64_t draggedNs_ = 0;
};

}  // namespace lanescope::views

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
