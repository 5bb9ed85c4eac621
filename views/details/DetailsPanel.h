// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QFrame>
#include <QRect>
#include <QStackedWidget>
#include <QTextBrowser>
#include <QTextCursor>
#include <QToolButton>
#include <QWidget>
#include <optional>
#include <vector>

#include "model/trace/Trace.h"

namespace lanescope::views {

/// A read-only page of headings, facts and links. Long names wrap at useful places, and everything
/// can be selected and copied. All text is plain: names come from untrusted files.
class FactSheet : public QTextBrowser {
    Q_OBJECT
  public:
    explicit FactSheet(QWidget* parent = nullptr);

    /// Begins a new page; `finish` shows the additions.
    void clearSheet();
    void addTitle(const QString& text, const QColor& swatch = {});
    /// Adds the kind of thing that the title names.
    void addCaption(const QString& text);
    void addHeading(const QString& text);
    void addParagraph(const QString& text, const QColor& mark = {});
    /// Adds two columns, names dimmed.
    void addFacts(const std::vector<Property>& facts);
    /// Adds a line that emits `eventActivated` when clicked, with dimmed text after it.
    void addLink(const QString& text, quint32 bits, const QString& remark = {});
    /// Ends the page and scrolls to its top. Call after the last addition.
    void finish();

    /// Returns the text of the page as it would be copied.
    QString text() const;
    QSize sizeHint() const override { return {320, 400}; }

  signals:
    void eventActivated(lanescope::EventRef event);

  protected:
    QMimeData* createMimeDataFromSelection() const override;

  private:
    QTextCursor newBlock(int topMargin, int bottomMargin);
    QColor dimmed() const;
    void finishEdit();

    QTextCursor edit_;  ///< The edit block of the page being written; null otherwise.
};

/// The facts of the selected event, with links along its flow: from GPU work to the launching call,
/// from a call to its work, and between streams that wait for each other.
class DetailsPanel : public QWidget {
    Q_OBJECT
  public:
    explicit DetailsPanel(QWidget* parent = nullptr);

    void setTrace(TracePtr trace);
    /// Shows the event; a hint if the reference is invalid.
    void setEvent(EventRef event);
    EventRef event() const { return event_; }

  signals:
    /// Emitted when the user follows a link to another event.
    void eventActivated(EventRef event);

  protected:
    using QWidget::event;
    void changeEvent(QEvent* event) override;

  private:
    void refresh();
    void addFlowLinks();
    void addLinks(const QString& heading, const std::vector<EventRef>& events);

    TracePtr trace_;
    EventRef event_;
    FactSheet* sheet_;
};

/// A panel over one edge of an area of its parent, for details of a selection. It covers content instead of moving it,
/// is as high as its text and as wide as the user drags it. GUI thread.
class OverlayPanel : public QFrame {
    Q_OBJECT
  public:
    explicit OverlayPanel(QWidget* parent);

    /// Adds a page with a `FactSheet`. Takes ownership.
    void addPage(QWidget* page);
    void setPage(int index);
    /// Sets the area that the panel may cover, in coordinates of the parent.
    void setArea(QRect area);
    /// Shows the panel at the edge where it covers neither place, in pixels from the left of the parent. The pointer
    /// has precedence over the selected place. Without a need it stays at its edge.
    void showNextTo(std::optional<int> pointerX, std::optional<int> placeX);

    bool isAtLeft() const { return isAtLeft_; }
    /// Returns the width chosen by the user, else 0.
    int chosenWidth() const { return chosenWidth_; }
    void setChosenWidth(int width);

  signals:
    void closed();
    /// Emitted after it was shown, hidden, moved or resized.
    void placed();

  protected:
    void keyPressEvent(QKeyEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void showEvent(QShowEvent* event) override;
    void hideEvent(QHideEvent* event) override;
    void wheelEvent(QWheelEvent* event) override;

  private:
    QRect placeAt(bool isAtLeft) const;
    bool isOnGrip(QPoint position) const;
    void fit();

    QStackedWidget* pages_ = new QStackedWidget(this);
    QToolButton* close_ = new QToolButton(this);
    QRect area_;
    int chosenWidth_ = 0;
    bool isAtLeft_ = false;
    bool isFitting_ = false;
    bool isResizing_ = false;
};

}  // namespace lanescope::views
