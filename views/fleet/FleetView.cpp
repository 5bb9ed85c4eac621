// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/fleet/FleetView.h"

#include <QAbstractListModel>
#include <QClipboard>
#include <QGuiApplication>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QPainter>
#include <QStyledItemDelegate>
#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "model/text/formatValue.h"

namespace lanescope::views {

using namespace fleet;

namespace {

constexpr int margin = 9;

QString costText(const ReportFinding& finding) {
    return finding.lostNs > 0 ? FindingList::tr("%1 lost").arg(shortDuration(finding.lostNs)) : QString();
}

QString whereText(const ReportFinding& finding) {
    QString text = finding.ranks.size() == 1 ? FindingList::tr("rank %1").arg(finding.ranks.front())
                                             : FindingList::tr("%1 ranks").arg(finding.ranks.size());
    if (finding.steps)
        text += finding.steps->first == finding.steps->last
                    ? FindingList::tr(", step %1").arg(finding.steps->first)
                    : FindingList::tr(", most in steps %1–%2").arg(finding.steps->first).arg(finding.steps->last);
    return text;
}

class Findings : public QAbstractListModel {
  public:
    Findings(FleetReportPtr report, QObject* parent) : QAbstractListModel(parent), report_(std::move(report)) {}

    int rowCount(const QModelIndex& parent = {}) const override {
        return parent.isValid() || !report_ ? 0 : static_cast<int>(report_->findings.size());
    }
    QVariant data(const QModelIndex& index, int role) const override {
        if (!index.isValid() || index.row() >= rowCount()) return {};
        const ReportFinding& each = finding(index.row());
        if (role == Qt::DisplayRole || role == Qt::AccessibleTextRole)
            return QStringList({toQString(each.sentence), costText(each), whereText(each)}).join(QStringLiteral(" "));
        if (role == Qt::ToolTipRole && !each.command.empty()) return plainToolTip(toQString(each.command));
        return {};
    }
    const ReportFinding& finding(int row) const { return report_->findings[static_cast<size_t>(row)]; }

  private:
    FleetReportPtr report_;
};

class FindingDelegate : public QStyledItemDelegate {
  public:
    FindingDelegate(const Theme& theme, QObject* parent) : QStyledItemDelegate(parent), theme_(theme) {}

    QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const override {
        const auto* list = qobject_cast<const QListView*>(option.widget);
        const int wide = (list ? list->viewport()->width() : option.rect.width()) - 2 * margin;
        return {wide,
                sentenceBox(option.fontMetrics, wide, index).height() + option.fontMetrics.height() + 2 * margin + 2};
    }

    void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override {
        const auto& finding = static_cast<const Findings*>(index.model())->finding(index.row());
        const bool isChosen = option.state & QStyle::State_Selected;
        painter->save();
        const QRect box = option.rect.adjusted(1, 1, -1, -1);
        painter->fillRect(box, isChosen                                 ? Theme::mix(theme_.card, theme_.accent, 0.14)
                               : option.state & QStyle::State_MouseOver ? Theme::mix(theme_.card, theme_.accent, 0.06)
                                                                        : theme_.card);
        painter->fillRect(QRect(box.left(), box.top(), 3, box.height()),
                          finding.lostNs > 0 ? theme_.slower : theme_.warning);
        if (isChosen && (option.state & QStyle::State_HasFocus)) {
            painter->setPen(QPen(theme_.accent, 1));
            painter->drawRect(box.adjusted(0, 0, -1, -1));
        }
        const QRect inside = option.rect.adjusted(margin + 2, margin, -margin, -margin);
        const QRect sentence = sentenceBox(option.fontMetrics, inside.width(), index).translated(inside.topLeft());
        painter->setPen(theme_.text);
        painter->drawText(sentence, Qt::TextWordWrap, toQString(finding.sentence));
        QRect line(inside.left(), sentence.bottom() + 3, inside.width(), option.fontMetrics.height());
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
        painter->drawText(line, Qt::AlignLeft | Qt::AlignVCenter,
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

QString countText(size_t count, const char* one, const char* many) {
    return toQString(formatCount(static_cast<int64_t>(count))) + QLatin1Char(' ') +
           (count == 1 ? FleetView::tr(one) : FleetView::tr(many));
}

}  // namespace

FindingList::FindingList(QWidget* parent) : QListView(parent) {
    setAccessibleName(tr("Findings"));
    setItemDelegate(new FindingDelegate(theme_, this));
    setMouseTracking(true);
    setVerticalScrollMode(ScrollPerPixel);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    setResizeMode(Adjust);
    setSpacing(2);
    connect(this, &QListView::doubleClicked, this, &FindingList::openRequested);
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
    // The marks in the map may have changed since; this restores them.
    if (before.isValid() && before == currentIndex()) emit chosen();
}

void FindingList::keyPressEvent(QKeyEvent* event) {
    if (event->matches(QKeySequence::Copy)) return copyCommand();
    if (event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter) {
        if (current()) emit openRequested();
        return;
    }
    QListView::keyPressEvent(event);
}

void FindingList::resizeEvent(QResizeEvent* event) {
    QListView::resizeEvent(event);
    scheduleDelayedItemsLayout();
}

FleetView::FleetView(QWidget* parent) : QWidget(parent) {
    for (size_t each = 0; each < measureCount; ++each) measure_->addItem(toQString(name(static_cast<Measure>(each))));
    for (const QString& each : {tr("by machine"), tr("by role"), tr("by time lost"), tr("by rank")})
        order_->addItem(each);
    measure_->setObjectName("measure");
    openMarked_->setObjectName("openMarked");
    openFindings_->setObjectName("openFindings");
    measure_->setAccessibleName(tr("Measure of the map"));
    order_->setAccessibleName(tr("Order of the ranks"));
    build();
    connect(measure_, &QComboBox::currentIndexChanged, this,
            [this](int index) { map_->setMeasure(static_cast<Measure>(index)); });
    connect(order_, &QComboBox::currentIndexChanged, this,
            [this](int index) { map_->setOrder(static_cast<RowOrder>(index)); });
    connect(map_, &FleetMap::pointed, pointed_, &QLabel::setText);
    connect(map_, &FleetMap::selectionChanged, this, &FleetView::showMarked);
    connect(map_, &FleetMap::openRequested, this, &FleetView::openSelection);
    connect(openMarked_, &QPushButton::clicked, this, &FleetView::openSelection);
    connect(openFindings_, &QPushButton::clicked, this, &FleetView::openFindings);
    connect(copy_, &QPushButton::clicked, findings_, &FindingList::copyCommand);
    connect(findings_, &FindingList::chosen, this, &FleetView::showFinding);
    connect(findings_, &FindingList::openRequested, this, &FleetView::openFinding);
}

void FleetView::build() {
    QFont large = headline_->font();
    large.setPointSizeF(large.pointSizeF() * 1.25);
    large.setBold(true);
    headline_->setFont(large);
    QFont bold = heading_->font();
    bold.setBold(true);
    heading_->setFont(bold);
    pointed_->setMinimumHeight(3 * fontMetrics().lineSpacing() + 2);
    pointed_->setAlignment(Qt::AlignLeft | Qt::AlignTop);

    auto* controls = new QHBoxLayout;
    controls->addWidget(new QLabel(tr("Show"), this));
    controls->addWidget(measure_);
    controls->addSpacing(12);
    controls->addWidget(new QLabel(tr("Ranks"), this));
    controls->addWidget(order_);
    controls->addStretch(1);
    controls->addWidget(openMarked_);

    auto* left = new QWidget(splitter_);
    addTo(columnIn(left, {}, -1), controls, Filling{map_}, pointed_);

    auto* buttons = new QHBoxLayout;
    addTo(buttons, Filling{openFindings_}, copy_);
    auto* right = new QWidget(splitter_);
    addTo(columnIn(right, {8, 0, 0, 0}, -1), heading_, Filling{findings_}, notes_, buttons);
    splitter_->addWidget(left);
    splitter_->addWidget(right);
    splitter_->setStretchFactor(0, 3);
    splitter_->setStretchFactor(1, 1);
    splitter_->setChildrenCollapsible(false);

    addTo(columnIn(this, {12, 8, 12, 8}, 4), headline_, shape_, Filling{splitter_});
    setTabOrder(map_, findings_);
}

void FleetView::setReport(FleetReportPtr report) {
    report_ = std::move(report);
    std::set<std::string> machines;
    for (const ReportRank& rank : report_->ranks) machines.insert(rank.machine);
    shape_->setText(tr("%1 on %2, %3 of %4")
                        .arg(countText(report_->ranks.size(), "rank", "ranks"),
                             countText(machines.size(), "machine", "machines"),
                             countText(report_->steps.size(), "step", "steps"),
                             shortDuration(std::llround(report_->medianStepNs()))));
    headline_->setText(report_->findings.empty()
                           ? tr("No rank, link or host differs by more than equal ranks usually do, and no rank is "
                                "missing. 'explain' names the rank that waits least.")
                           : toQString(report_->findings.front().sentence));
    heading_->setText(report_->findings.empty() ? tr("No findings")
                                                : tr("Findings (%1)").arg(report_->findings.size()));
    const QStringList notes = toQStrings(report_->notes);
    notes_->setVisible(!notes.isEmpty());
    notes_->setText(notes.size() > 2 ? tr("%1\nand %2 more notes").arg(notes[0]).arg(notes.size() - 1)
                                     : notes.join(QLatin1Char('\n')));
    notes_->setToolTip(plainToolTip(notes.mid(0, 40).join(QLatin1Char('\n'))));
    map_->setReport(report_);
    findings_->setReport(report_);
    measure_->setCurrentIndex(report_->findings.empty() ? 0 : static_cast<int>(measureOf(report_->findings.front())));
    openFindings_->setEnabled(tellingPart(*report_).has_value());
    copy_->setEnabled(!report_->findings.empty());
    showMarked();
}

void FleetView::setTheme(const Theme& theme) {
    map_->setTheme(theme);
    findings_->setTheme(theme);
    for (QLabel* label : {shape_, pointed_, notes_}) {
        QPalette palette = label->palette();
        palette.setColor(QPalette::WindowText, theme.mutedText);
        label->setPalette(palette);
    }
}

void FleetView::restoreState(const QByteArray& state) {
    if (state.isEmpty() || !splitter_->restoreState(state)) splitter_->setSizes({1000, 340});
}

void FleetView::showMarked() {
    const FleetSelection& marked = map_->selection();
    openMarked_->setEnabled(!marked.isEmpty());
    if (marked.isEmpty()) {
        openMarked_->setText(tr("Open marked ranks"));
        if (report_) pointed_->setText(tr("Draw a box around ranks and steps to open them as one trace."));
        return;
    }
    const size_t steps = marked.lastColumn - marked.firstColumn + 1;
    openMarked_->setText(
        tr("Open %1 in %2").arg(countText(marked.rows.size(), "rank", "ranks"), countText(steps, "step", "steps")));
}

void FleetView::showFinding() {
    const ReportFinding* finding = findings_->current();
    if (!finding) return;
    FleetSelection made;
    for (const int64_t rank : finding->ranks)
        if (const auto row = report_->rowOf(rank)) made.rows.push_back(*row);
    const auto [first, end] =
        finding->steps ? report_->columnsOf(*finding->steps) : std::pair(size_t{0}, report_->steps.size());
    made.firstColumn = first;
    made.lastColumn = std::max(end, first + 1) - 1;
    measure_->setCurrentIndex(static_cast<int>(measureOf(*finding)));
    map_->select(std::move(made));
}

void FleetView::open(const TellingPart& part) {
    std::vector<size_t> rows;
    for (const int64_t rank : part.ranks)
        if (const auto row = report_->rowOf(rank)) rows.push_back(*row);
    if (!rows.empty()) emit openRequested(rows, part.steps);
}

void FleetView::openFinding() {
    if (const ReportFinding* finding = findings_->current()) open(tellingPart(*finding));
}

void FleetView::openFindings() {
    if (!report_) return;
    if (const auto part = tellingPart(*report_)) open(*part);
}

void FleetView::openSelection() {
    const FleetSelection& marked = map_->selection();
    if (marked.isEmpty()) return;
    emit openRequested(marked.rows, StepRange{report_->steps[marked.firstColumn], report_->steps[marked.lastColumn]});
}

}  // namespace lanescope::views
