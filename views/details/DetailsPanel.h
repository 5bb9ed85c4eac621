// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QTextBrowser>
#include <QTextCursor>
#include <QWidget>
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
    /// Adds a line that emits `linkActivated(bits)` when clicked, with dimmed text after it.
    void addLink(const QString& text, quint32 bits, const QString& remark = {});
    /// Ends the page and scrolls to its top. Call after the last addition.
    void finish();

    /// Returns the text of the page as it would be copied.
    QString text() const;
    QSize sizeHint() const override { return {320, 400}; }

  signals:
    void linkActivated(quint32 bits);

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
    void addLinkTo(EventRef event);

    TracePtr trace_;
    EventRef event_;
    FactSheet* sheet_;
};

}  // namespace lanescope::views
