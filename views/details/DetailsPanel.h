// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QTextBrowser>
#include <QTextCursor>
#include <QWidget>
#include <vector>

#include "model/trace/Trace.h"

namespace lanescope::views {

/// A read-only page of headings, facts and links. Long names wrap where a reader would break them,
/// everything can be selected and copied, and all text is taken literally: names come from
/// untrusted files.
class FactSheet : public QTextBrowser {
    Q_OBJECT
  public:
    explicit FactSheet(QWidget* parent = nullptr);

    /// Begins a new page; what is added shows with `finish`.
    void clearSheet();
    void addTitle(const QString& text, const QColor& swatch = {});
    /// What kind of thing the title names.
    void addCaption(const QString& text);
    void addHeading(const QString& text);
    void addParagraph(const QString& text, const QColor& mark = {});
    /// Two columns, names dimmed.
    void addFacts(const std::vector<Property>& facts);
    /// One line that emits `linkActivated(bits)` when clicked, with dimmed text behind it.
    void addLink(const QString& text, quint32 bits, const QString& remark = {});
    /// Call after the last addition: back to the top of the page.
    void finish();

    /// What stands on the page, as it would be copied.
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

    QTextCursor edit_;  ///< Holds the page together while it is being written; null otherwise.
};

class FactSheet;

/// What is known about the selected event, with links along its flow: from GPU work to the call
/// that launched it, from a call to what it launched, and between streams that wait for each other.
class DetailsPanel : public QWidget {
    Q_OBJECT
  public:
    explicit DetailsPanel(QWidget* parent = nullptr);

    void setTrace(TracePtr trace);
    /// An invalid reference shows a hint instead.
    void setEvent(EventRef event);
    EventRef event() const { return event_; }
    FactSheet& sheet() const { return *sheet_; }

  signals:
    /// The user follows a link to another event.
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
