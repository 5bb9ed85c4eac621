// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/fleet/FindingList.h"

#include <QAbstractListModel>
#include <QClipboard>
#include <QGuiApplication>
#include <QKeyEvent>
#include <QPainter>
#include <QStyledItemDelegate>
#include <utility>

#include "model/values/formatValue.h"
#include "views/text/plainToolTip.h"
#include "views/text/toQString.h"

namespace lanescope::views {

using namespace fleet;

namespace {

constexpr int margin = 9;

QString costText(const ReportFinding& finding) {
    return finding.lostNs > 0
               ? FindingList::tr("%1 lost").arg(toQString(formatDuration(finding.lostNs)))
               : QString();
}

QString whereText(const ReportFinding& finding) {
    QString text = finding.ranks.size() == 1
                       ? FindingList::tr("rank %1").arg(finding.ranks.front())
                       : FindingList::tr("%1 ranks").arg(finding.ranks.size());
    if (finding.steps)
        text += finding.steps->first == finding.steps->last
                    ? FindingList::tr(", step %1").arg(finding.steps->first)
                    : FindingList::tr(", most in steps %1–%2")
                          .arg(finding.steps->first)
                          .arg(finding.steps->last);
    return text;
}

class Findings : public QAbstractListModel {
  public:
    Findings(FleetReportPtr report, QObject* parent)
        : QAbstractListModel(parent), report_(std::move(report)) {}

    int rowCount(const QModelIndex& parent = {}) const override {
        return parent.isValid() || !report_ ? 0 : static_cast<int>(report_->findings.size());
    }
    QVariant data(const QModelIndex& index, int role) const override {
        if (!index.isValid() || index.row() >= rowCount()) return {};
        const ReportFinding& each = finding(index.row());
        if (role == Qt::DisplayRole || role == Qt::AccessibleTextRole)
            return QStringList({toQString(each.sentence), costText(each), whereText(each)})
                .join(QStringLiteral(" "));
        if (role == Qt::ToolTipRole && !each.command.empty())
            return plainToolTip(toQString(each.command));
        return {};
    }
    const ReportFinding& finding(int row) const {
        return report_->findings[static_cast<size_t>(row)];
    }

  private:
    FleetReportPtr report_;
};

class FindingDelegate : public QStyledItemDelegate {
  public:
    FindingDelegate(const Theme& theme, QObject* parent)
        : QStyledItemDelegate(parent), theme_(theme) {}

    QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const override {
        const auto* list = qobject_cast<const QListView*>(option.widget);
        const int wide = (list ? list->viewport()->width() : option.rect.width()) - 2 * margin;
        return {wide, sentenceBox(option.fontMetrics, wide, index).height() +
                          option.fontMetrics.height() + 2 * margin + 2};
    }

    void paint(QPainter* painter, const QStyleOptionViewItem& option,
               const QModelIndex& index) const override {
        const auto& finding = static_cast<const Findings*>(index.model())->finding(index.row());
        const bool isChosen = option.state & QStyle::State_Selected;
        painter->save();
        const QRect box = option.rect.adjusted(1, 1, -1, -1);
        painter->fillRect(box, isChosen ? Theme::mix(theme_.card, theme_.accent, 0.14)
                               : option.state & QStyle::State_MouseOver
                                   ? Theme::mix(theme_.card, theme_.accent, 0.06)
                                   : theme_.card);
        painter->fillRect(QRect(box.left(), box.top(), 3, box.height()),
                          finding.lostNs > 0 ? theme_.slower : theme_.warning);
        if (isChosen && (option.state & QStyle::State_HasFocus)) {
            painter->setPen(QPen(theme_.accent, 1));
            painter->drawRect(box.adjusted(0, 0, -1, -1));
        }
        const QRect inside = option.rect.adjusted(margin + 2, margin, -margin, -margin);
        const QRect sentence =
            sentenceBox(option.fontMetrics, inside.width(), index).translated(inside.topLeft());
        painter->setPen(theme_.text);
        painter->drawText(sentence, Qt::TextWordWrap, toQString(finding.sentence));
        QRect line(inside.left(), sentence.bottom() + 3, inside.width(),
                   option.fontMetrics.height());
        if (const QString cost = costText(finding); !cost.isEmpty()) {
            QFont bold = option.font;
            bold.setBold(true);
            painter->setFont(bold);
            painter->setPen(theme_.slower);
            painter->drawText(line, Qt::AlignLeft | Qt::AlignVCenter, cost);
            line.setLeft(line.left() + QFontMetrics(bold).horizontalAdvance(cost) + 10);
            painter->setFont(option.font);
        }
        painter->setPen(theme_.mutedText);
        painter->drawText(
            line, Qt::AlignLeft | Qt::AlignVCenter,
            option.fontMetrics.elidedText(whereText(finding), Qt::ElideRight, line.width()));
        painter->restore();
    }

  private:
    static QRect sentenceBox(const QFontMetrics& metrics, int wide, const QModelIndex& index) {
        const auto& finding = static_cast<const Findings*>(index.model())->finding(index.row());
        return metrics.boundingRect(QRect(0, 0, std::max(40, wide), 10'000), Qt::TextWordWrap,
                                    toQString(finding.sentence));
    }

    const Theme& theme_;
};

}  // namespace

FindingList::FindingList(QWidget* parent) : QListView(parent) {
    setAccessibleName(tr("What costs time"));
    setItemDelegate(new FindingDelegate(theme_, this));
    setMouseTracking(true);
    setVerticalScrollMode(ScrollPerPixel);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    setResizeMode(Adjust);
    setSpacing(2);
    connect(this, &QListView::doubleClicked, this, &FindingList::openWanted);
}

void FindingList::setReport(FleetReportPtr report) {
    report_ = std::move(report);
    QAbstractItemModel* const before = model();
    setModel(new Findings(report_, this));
    delete before;
}

void FindingList::setTheme(const Theme& theme) {
    theme_ = theme;
    viewport()->update();
}

const ReportFinding* FindingList::current() const {
    if (!report_ || !currentIndex().isValid()) return nullptr;
    return &report_->findings[static_cast<size_t>(currentIndex().row())];
}

void FindingList::copyCommand() const {
    if (const ReportFinding* finding = current(); finding && !finding->command.empty())
        QGuiApplication::clipboard()->setText(toQString(finding->command));
}

void FindingList::currentChanged(const QModelIndex& current, const QModelIndex& previous) {
    QListView::currentChanged(current, previous);
    if (current.isValid()) emit chosen();
}

void FindingList::mousePressEvent(QMouseEvent* event) {
    const QModelIndex before = currentIndex();
    QListView::mousePressEvent(event);
    // What was marked in the map meanwhile comes back.
    if (before.isValid() && before == currentIndex()) emit chosen();
}

void FindingList::keyPressEvent(QKeyEvent* event) {
    if (event->matches(QKeySequence::Copy)) return copyCommand();
    if (event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter) {
        if (current()) emit openWanted();
        return;
    }
    QListView::keyPressEvent(event);
}

void FindingList::resizeEvent(QResizeEvent* event) {
    QListView::resizeEvent(event);
    scheduleDelayedItemsLayout();
}

}  // namespace lanescope::views
