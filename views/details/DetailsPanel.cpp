// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/details/DetailsPanel.h"

#include <QAbstractTextDocumentLayout>
#include <QEvent>
#include <QKeyEvent>
#include <QMimeData>
#include <QMouseEvent>
#include <QTextDocumentFragment>
#include <QTextTable>
#include <QUrl>
#include <QWheelEvent>
#include <algorithm>
#include <cmath>
#include <span>

#include "model/text/formatTable.h"
#include "model/trace/kinds/eventFacts.h"
#include "model/trace/kinds/flows.h"
#include "views/text/shownText.h"
#include "views/theme/layouts.h"

namespace lanescope::views {
namespace {

constexpr auto linkPrefix = "event:";
constexpr double labelGap = 8;

QTextCharFormat colored(const QColor& color) {
    QTextCharFormat format;
    format.setForeground(color);
    return format;
}

constexpr QChar mayBreak(0x200b);  // a space without width

/// Allows line breaks in long names of code after '_' ',' '<' '>' '(' and "::".
QString breakable(const QString& text) {
    constexpr int longEnough = 20;
    QString result;
    result.reserve(text.size() + text.size() / 8);
    int sinceBreak = 0;
    for (qsizetype i = 0; i < text.size(); ++i) {
        const QChar c = text[i];
        if (c == mayBreak) continue;
        result += c;
        ++sinceBreak;
        if (c.isSpace()) sinceBreak = 0;
        const bool isColons = c == ':' && i > 0 && text[i - 1] == ':';
        const bool isPlace = isColons || QStringView(u"_,<>(/").contains(c);
        if (!isPlace || text.size() < longEnough || sinceBreak < 4) continue;
        result += mayBreak;
        sinceBreak = 0;
    }
    return result;
}

/// A graph launch may start thousands of kernels; more links than this do not help.
constexpr size_t maxLinks = 20;

/// Keeps a number and its unit on one line.
QString unbroken(const std::string& value) { return toQString(value).replace(' ', QChar(QChar::Nbsp)); }

constexpr int gripWidth = 5;
constexpr int minWidthPx = 200;
constexpr int defaultWidthPx = 320;
constexpr int lettersPerLine = 34;
constexpr int minHeightPx = 80;

}  // namespace

FactSheet::FactSheet(QWidget* parent) : QTextBrowser(parent) {
    setOpenLinks(false);
    setUndoRedoEnabled(false);
    setFrameShape(QFrame::NoFrame);
    setWordWrapMode(QTextOption::WrapAtWordBoundaryOrAnywhere);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    document()->setDocumentMargin(10);
    connect(this, &QTextBrowser::anchorClicked, this, [this](const QUrl& url) {
        const QString text = url.toString();
        bool isNumber = false;
        const quint32 bits = text.mid(qstrlen(linkPrefix)).toUInt(&isNumber);
        if (text.startsWith(QLatin1String(linkPrefix)) && isNumber) emit eventActivated(EventRef::fromBits(bits));
    });
}

void FactSheet::clearSheet() {
    finishEdit();
    document()->clear();
    // Without an edit block every insertion lays out the whole sheet again.
    edit_ = QTextCursor(document());
    edit_.beginEditBlock();
}

void FactSheet::finishEdit() {
    if (!edit_.isNull()) edit_.endEditBlock();
    edit_ = QTextCursor();
}

QColor FactSheet::dimmed() const {
    QColor color = palette().color(QPalette::Text);
    color.setAlphaF(0.62f);
    return color;
}

QTextCursor FactSheet::newBlock(int topMargin, int bottomMargin) {
    QTextCursor cursor(document());
    cursor.movePosition(QTextCursor::End);
    QTextBlockFormat format;
    format.setTopMargin(topMargin);
    format.setBottomMargin(bottomMargin);
    if (document()->isEmpty()) {
        cursor.setBlockFormat(format);
    } else {
        cursor.insertBlock(format, QTextCharFormat());
    }
    return cursor;
}

void FactSheet::addTitle(const QString& text, const QColor& swatch) {
    QTextCursor cursor = newBlock(0, 4);
    QTextCharFormat format;
    format.setFontPointSize(font().pointSizeF() * 1.15);
    format.setFontWeight(QFont::DemiBold);
    if (swatch.isValid()) {
        QTextCharFormat mark = format;
        mark.setForeground(swatch);
        cursor.insertText(QStringLiteral("■ "), mark);
    }
    cursor.insertText(breakable(text), format);
}

void FactSheet::addCaption(const QString& text) { newBlock(0, 8).insertText(text, colored(dimmed())); }

void FactSheet::addHeading(const QString& text) {
    QTextCharFormat format = colored(dimmed());
    format.setFontWeight(QFont::DemiBold);
    newBlock(10, 3).insertText(text, format);
}

void FactSheet::addParagraph(const QString& text, const QColor& mark) {
    QTextCursor cursor = newBlock(0, 4);
    if (mark.isValid()) cursor.insertText(QStringLiteral("● "), colored(mark));
    cursor.insertText(text, QTextCharFormat());
}

void FactSheet::addFacts(const std::vector<Property>& facts) {
    if (facts.empty()) return;
    QTextCursor cursor(document());
    cursor.movePosition(QTextCursor::End);
    QTextTableFormat format;
    format.setBorder(0);
    format.setCellPadding(2);
    format.setCellSpacing(0);
    format.setWidth(QTextLength(QTextLength::PercentageLength, 100));
    format.setColumnWidthConstraints(
        {QTextLength(QTextLength::PercentageLength, 36), QTextLength(QTextLength::PercentageLength, 64)});
    QTextTable* table = cursor.insertTable(static_cast<int>(facts.size()), 2, format);
    for (int row = 0; row < table->rows(); ++row) {
        const Property& fact = facts[size_t(row)];
        QTextTableCellFormat label;
        label.setPadding(format.cellPadding());
        label.setRightPadding(labelGap);
        table->cellAt(row, 0).setFormat(label);
        table->cellAt(row, 0).firstCursorPosition().insertText(toQString(fact.name), colored(dimmed()));
        table->cellAt(row, 1).firstCursorPosition().insertText(breakable(toQString(fact.value)), QTextCharFormat());
    }
}

void FactSheet::addLink(const QString& text, quint32 bits, const QString& remark) {
    QTextCursor cursor = newBlock(0, 3);
    QTextCharFormat format = colored(palette().color(QPalette::Link));
    format.setAnchor(true);
    format.setAnchorHref(QLatin1String(linkPrefix) + QString::number(bits));
    cursor.insertText(breakable(text), format);
    if (!remark.isEmpty()) {
        cursor.insertText(QStringLiteral("  "), QTextCharFormat());
        cursor.insertText(remark, colored(dimmed()));
    }
}

QString FactSheet::text() const { return toPlainText().remove(mayBreak); }

QMimeData* FactSheet::createMimeDataFromSelection() const {
    // Copied names do not contain the extra break points.
    auto* mime = new QMimeData;
    mime->setText(textCursor().selection().toPlainText().remove(mayBreak));
    return mime;
}

void FactSheet::finish() {
    finishEdit();
    moveCursor(QTextCursor::Start);
}

DetailsPanel::DetailsPanel(QWidget* parent) : QWidget(parent), sheet_(new FactSheet(this)) {
    columnIn(this)->addWidget(sheet_);
    sheet_->setAccessibleName(tr("Details of the selected event"));
    connect(sheet_, &FactSheet::eventActivated, this, &DetailsPanel::eventActivated);
    refresh();
}

void DetailsPanel::setTrace(TracePtr trace) {
    trace_ = std::move(trace);
    event_ = {};
    refresh();
}

void DetailsPanel::setEvent(EventRef event) {
    event_ = event;
    refresh();
}

void DetailsPanel::changeEvent(QEvent* event) {
    QWidget::changeEvent(event);
    if (event->type() != QEvent::PaletteChange) return;
    // The text contains colours; the sheet has the new ones after this event.
    QMetaObject::invokeMethod(this, &DetailsPanel::refresh, Qt::QueuedConnection);
}

void DetailsPanel::refresh() {
    sheet_->clearSheet();
    if (!trace_ || !event_.isValid()) {
        sheet_->addHeading(tr("Nothing selected"));
        sheet_->addParagraph(tr("Click a slice to see what it is."));
        sheet_->addParagraph(
            tr("Drag along the ruler to select a range; the tables below then count that range only."));
        sheet_->finish();
        return;
    }
    const std::string name = trace_->nameOf(event_);
    std::vector<Property> facts = describe(*trace_, event_);
    sheet_->addTitle(toQString(name));
    // A fact that repeats the title contains the kind of thing.
    if (!facts.empty() && facts.front().value == name) {
        sheet_->addCaption(toQString(facts.front().name));
        facts.erase(facts.begin());
    }
    // The title and the link below have these already.
    const EventRef call = event_.kind() == EventKind::Api ? EventRef() : trace_->launchingCall(event_);
    const std::string caller = call.isValid() ? trace_->nameOf(call) : name;
    std::erase_if(facts, [&](const Property& fact) { return fact.value == name || fact.value == caller; });
    sheet_->addFacts(facts);
    addFlowLinks();
    sheet_->finish();
}

void DetailsPanel::addFlowLinks() {
    if (event_.kind() == EventKind::Api) {
        addLinks(tr("Launched on the GPU"), trace_->launchedWork(event_));
        return;
    }
    addLinks(tr("Forward operator"), forwardOf(*trace_, event_));
    addLinks(tr("Backward operator"), backwardOf(*trace_, event_));
    if (const EventRef call = trace_->launchingCall(event_); call.isValid()) addLinks(tr("Launched by"), {call});
    addLinks(tr("Waited for, in other streams"), awaitedWork(*trace_, event_));
    addLinks(tr("Blocked, in other streams"), waitingWork(*trace_, event_));
}

void DetailsPanel::addLinks(const QString& heading, const std::vector<EventRef>& events) {
    if (events.empty()) return;
    sheet_->addHeading(heading);
    const size_t shown = std::min(events.size(), maxLinks);
    for (const EventRef event : std::span(events).first(shown)) {
        const TimeRange range = trace_->rangeOf(event);
        const std::string name = trace_->nameOf(event);
        sheet_->addLink(
            toQString(name.empty() ? "(no name)" : name), event.bits(),
            tr("%1 at %2").arg(unbroken(formatDuration(range.durationNs())), unbroken(formatDuration(range.startNs))));
    }
    if (events.size() > shown) sheet_->addParagraph(tr("and %1 more").arg(events.size() - shown));
}

OverlayPanel::OverlayPanel(QWidget* parent) : QFrame(parent) {
    setObjectName(QStringLiteral("overlayPanel"));
    setFrameShape(QFrame::StyledPanel);
    setAutoFillBackground(true);
    setBackgroundRole(QPalette::Base);
    setMouseTracking(true);
    close_->setText(QChar(0x00d7));
    close_->setAutoRaise(true);
    close_->setToolTip(tr("Close the details (Esc)"));
    close_->setAccessibleName(tr("Close the details"));
    connect(close_, &QToolButton::clicked, this, &OverlayPanel::closed);
    auto* layout = columnIn(this, {gripWidth, 0, gripWidth, gripWidth});
    layout->addWidget(close_, 0, Qt::AlignRight);
    layout->addWidget(pages_, 1);
    hide();
}

void OverlayPanel::addPage(QWidget* page) {
    pages_->addWidget(page);
    if (auto* sheet = page->findChild<FactSheet*>())
        connect(sheet->document()->documentLayout(), &QAbstractTextDocumentLayout::documentSizeChanged, this,
                &OverlayPanel::fit);
}

void OverlayPanel::setPage(int index) {
    pages_->setCurrentIndex(index);
    fit();
}

void OverlayPanel::setArea(QRect area) {
    if (area == area_) return;
    area_ = area;
    fit();
}

void OverlayPanel::setChosenWidth(int width) {
    chosenWidth_ = width;
    fit();
}

QRect OverlayPanel::placeAt(bool isAtLeft) const {
    const int usual = std::max(defaultWidthPx, lettersPerLine * fontMetrics().averageCharWidth());
    const int width = std::min(std::max(minWidthPx, chosenWidth_ > 0 ? chosenWidth_ : usual), area_.width() / 2);
    return {isAtLeft ? area_.left() : area_.right() + 1 - width, area_.top(), width, area_.height()};
}

void OverlayPanel::showNextTo(std::optional<int> pointerX, std::optional<int> placeX) {
    const auto covers = [&](bool isAtLeft, std::optional<int> x) {
        const QRect place = placeAt(isAtLeft);
        return x && *x >= place.left() - gripWidth && *x <= place.right() + gripWidth;
    };
    const auto isWorse = [&](bool isAtLeft, std::optional<int> x) {
        return covers(isAtLeft, x) && !covers(!isAtLeft, x);
    };
    // Under the pointer it stays.
    const bool mayMove = isHidden() || !underMouse();
    if (mayMove && (isWorse(isAtLeft_, pointerX) || (!covers(!isAtLeft_, pointerX) && isWorse(isAtLeft_, placeX))))
        isAtLeft_ = !isAtLeft_;
    show();
    raise();
    fit();
}

void OverlayPanel::fit() {
    // The height of the text depends on the width.
    if (isFitting_ || isHidden() || area_.isEmpty()) return;
    isFitting_ = true;
    QRect place = placeAt(isAtLeft_);
    setGeometry(place);
    layout()->activate();
    if (const QWidget* page = pages_->currentWidget()) {
        if (const auto* sheet = page->findChild<FactSheet*>()) {
            const int around = place.height() - sheet->viewport()->height();
            const int text = static_cast<int>(std::ceil(sheet->document()->size().height()));
            place.setHeight(std::clamp(text + around, std::min(minHeightPx, area_.height()), area_.height()));
            setGeometry(place);
        }
    }
    isFitting_ = false;
    emit placed();
}

bool OverlayPanel::isOnGrip(QPoint position) const {
    return isAtLeft_ ? position.x() >= width() - gripWidth : position.x() < gripWidth;
}

void OverlayPanel::keyPressEvent(QKeyEvent* event) {
    if (event->key() == Qt::Key_Escape) return emit closed();
    QFrame::keyPressEvent(event);
}

void OverlayPanel::mousePressEvent(QMouseEvent* event) {
    event->accept();
    isResizing_ = event->button() == Qt::LeftButton && isOnGrip(event->pos());
}

void OverlayPanel::mouseReleaseEvent(QMouseEvent* event) {
    event->accept();
    isResizing_ = false;
}

void OverlayPanel::mouseMoveEvent(QMouseEvent* event) {
    if (isResizing_) {
        const int x = mapToParent(event->pos()).x();
        return setChosenWidth(std::max(minWidthPx, isAtLeft_ ? x - area_.left() : area_.right() - x));
    }
    setCursor(isOnGrip(event->pos()) ? Qt::SplitHCursor : Qt::ArrowCursor);
}

void OverlayPanel::wheelEvent(QWheelEvent* event) { event->accept(); }

void OverlayPanel::showEvent(QShowEvent* event) {
    QFrame::showEvent(event);
    fit();
}

void OverlayPanel::hideEvent(QHideEvent* event) {
    QFrame::hideEvent(event);
    emit placed();
}

}  // namespace lanescope::views
