// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/compare/CompareTables.h"

#include <QSignalBlocker>
#include <QTableView>
#include <algorithm>
#include <cstdlib>

#include "views/text/shownText.h"
#include "views/theme/layouts.h"

namespace lanescope::views {

DifferenceModel::DifferenceModel(QObject* parent) : ReportModel(parent) {}

void DifferenceModel::setComparison(compare::ComparisonTable table) {
    comparison_ = std::move(table);
    maxLossNs_.assign(comparison_.columns.size(), 0);
    for (size_t column = 0; column < comparison_.columns.size(); ++column) {
        if (!comparison_.isLoss(column)) continue;
        for (const std::vector<Cell>& row : comparison_.rows)
            if (const auto* lost = std::get_if<int64_t>(&row[column]))
                maxLossNs_[column] = std::max<int64_t>({maxLossNs_[column], std::abs(*lost), 1});
    }
}

void DifferenceModel::setTheme(const Theme& theme) {
    theme_ = theme;
    if (rowCount() > 0)
        emit dataChanged(index(0, 0), index(rowCount() - 1, columnCount() - 1), {Qt::ForegroundRole, BarColorRole});
}

bool DifferenceModel::isLostColumn(int column) const {
    return column >= 0 && column < std::ssize(comparison_.columns) && comparison_.isLoss(size_t(column));
}

int DifferenceModel::lostColumn() const {
    for (int column = 0; column < columnCount(); ++column)
        if (isLostColumn(column)) return column;
    return -1;
}

int64_t DifferenceModel::lostNsAt(int row, int column) const {
    const Cell* cell = cellAt(row, column);
    const auto* lost = cell ? std::get_if<int64_t>(cell) : nullptr;
    return lost ? *lost : 0;
}

QVariant DifferenceModel::data(const QModelIndex& index, int role) const {
    const bool isLost = index.isValid() && isLostColumn(index.column());
    const int64_t lostNs = isLost ? lostNsAt(index.row(), index.column()) : 0;
    switch (role) {
        case Qt::DisplayRole:
            if (!cellAt(index.row(), index.column()) || index.row() >= std::ssize(comparison_.rows)) return {};
            return toQString(comparison_.text(size_t(index.row()), size_t(index.column())));
        case Qt::ForegroundRole:
        case BarColorRole: return lostNs != 0 ? QVariant(lostNs > 0 ? theme_.slower : theme_.faster) : QVariant();
        case ShareRole:
            if (!isLost) return ReportModel::data(index, role);
            if (lostNs == 0) return {};
            return double(std::abs(lostNs)) / double(maxLossNs_[size_t(index.column())]);
        default: return ReportModel::data(index, role);
    }
}

using namespace analysis;
using namespace compare;

namespace {

enum PageNumber : size_t {
    PartsPage,
    ContributorsPage,
    KernelsPage,
    CollectivesPage,
    CopiesPage,
    CountersPage,
    RangesPage,
    PathPage,
    UnmatchedPage,
    StepsPage,
    OutliersPage,
    WorkersPage,
    JudgedPage,
};

void add(Layout& layout, std::initializer_list<Field> fields) {
    for (const Field field : fields) layout.push_back({field});
}

Layout layoutOf(std::initializer_list<Field> fields) {
    Layout layout;
    add(layout, fields);
    return layout;
}

/// Returns the columns for contributors; rates only for those that move bytes.
Layout contributorColumns(bool hasRates) {
    Layout layout = layoutOf({Field::Part, Field::Name, Field::Range, Field::Lost, Field::Baseline, Field::Candidate});
    if (hasRates) add(layout, {Field::BaselineSize, Field::CandidateSize, Field::BaselineRate, Field::CandidateRate});
    add(layout, {Field::BaselineCount, Field::CandidateCount, Field::Match, Field::OtherLost});
    return layout;
}

}  // namespace

CompareTables::CompareTables(QWidget* parent) : QTabWidget(parent), partBox_(new DropDown(this)) {
    setDocumentMode(true);
    setAccessibleName(tr("Tables of the comparison"));
    addPage(tr("Parts"), tr("Parts of the time of a step, mean per step"));
    addPage(tr("Contributors"), tr("Contributors of each part of the step"));
    addPage(tr("Kernels"), tr("Kernels but NCCL's, by the time of the step that is theirs"));
    addPage(tr("Collectives"), tr("NCCL's kernels, with the bus bandwidth of nccl-tests"));
    addPage(tr("Copies"), tr("Memcpys and memsets, with their bandwidth"));
    addPage(tr("Counters"), tr("Counters, such as memory in use and traffic, during the compared steps"));
    addPage(tr("Ranges"), tr("NVTX ranges: where in the program the time was lost"));
    addPage(tr("Critical Path"), tr("Parts that determine the time of a step"));
    addPage(tr("Unmatched"), tr("Work of only one of the runs"));
    addPage(tr("Steps"), tr("Every compared step"));
    addPage(tr("Outliers"), tr("Steps that took much longer than the others of their run"));
    addPage(tr("Ranks"), tr("Every process on a GPU against its counterpart"));
    addPage(tr("Certain"), tr("Certain differences of the programs, with the run as the unit"));
    fillPartBox();
    connect(partBox_, &QComboBox::currentIndexChanged, this, [this] {
        applyPart();
        const QVariant part = partBox_->currentData();
        emit partChosen(part.isValid() ? std::optional(static_cast<StepPart>(part.toInt())) : std::nullopt);
    });
    connect(this, &QTabWidget::currentChanged, this, &CompareTables::fillVisible);
    clearTables();
}

void CompareTables::fillPartBox() {
    partBox_->setAccessibleName(tr("Part of the step"));
    partBox_->addItem(tr("All parts"));
    for (size_t part = 0; part < stepPartCount; ++part)
        partBox_->addItem(toQString(name(static_cast<StepPart>(part))), int(part));
    // Hidden until a table needs it.
    partBox_->hide();
}

void CompareTables::addPage(const QString& title, const QString& toolTip) {
    const size_t number = pages_.size();
    auto* tab =
        new PanelTab<ReportView>([this, number] { return makeView(number); }, [](ReportView& view) { return &view; },
                                 [this, number](ReportView& view) { fill(number, view); });
    setTabToolTip(addTab(tab, title), toolTip);
    pages_.push_back({title, tab, {}, {}, false});
}

ReportView* CompareTables::makeView(size_t number) {
    auto* model = new DifferenceModel;
    auto* view = new ReportView(model, nullptr);
    model->setTheme(theme_);
    view->setEmptyText(tr("Nothing to compare here."));
    view->table().setAccessibleName(pages_[number].title);
    const auto choose = [this, number](int row) {
        if (row >= 0 && size_t(row) < pages_[number].leads.size()) emit rowChosen(pages_[number].leads[size_t(row)]);
    };
    connect(&view->table(), &QTableView::clicked, this,
            [view, choose](const QModelIndex& clicked) { choose(view->filter().mapToSource(clicked).row()); });
    connect(view, &ReportView::rowActivated, this, choose);
    if (number == ContributorsPage) {
        view->addControl(partBox_);
        partBox_->show();
        filterByPart(*view);
    }
    return view;
}

void CompareTables::fill(size_t number, ReportView& view) {
    Page& page = pages_[number];
    if (!page.pending) return;
    const bool hasRows = !page.pending->rows.empty();
    auto& model = static_cast<DifferenceModel&>(view.model());
    ReportTable report = page.pending->asReport();
    model.setComparison(std::move(*page.pending));
    view.setTable(std::move(report));
    page.pending.reset();
    if (page.isFitted || !hasRows) return;
    page.isFitted = true;
    const int column = model.lostColumn();
    const bool keepsOrder = number == StepsPage || column < 0;
    view.fitAndSort(keepsOrder ? -1 : column, Qt::DescendingOrder);
}

void CompareTables::fillVisible() {
    for (size_t number = 0; number < pages_.size(); ++number) {
        const auto* tab = pages_[number].tab;
        if (tab->panel() && tab->isVisible()) fill(number, *tab->panel());
    }
}

void CompareTables::showEvent(QShowEvent* event) {
    QTabWidget::showEvent(event);
    fillVisible();
}

void CompareTables::setPage(size_t number, ComparisonTable table) {
    Page& page = pages_[number];
    const bool hasRows = !table.rows.empty();
    page.leads = table.leads;
    page.pending = std::move(table);
    setTabVisible(indexOf(page.tab), hasRows);
}

void CompareTables::setPair(const ComparedPair& shown) {
    const ComparisonView view = shown.view();
    const RunComparison& comparison = shown.runs.comparisons[shown.candidate];
    const auto setRows = [&](size_t page, const std::vector<ComparisonRow>& rows, const Layout& layout) {
        setPage(page, tableOf(view, rows, layout, Wording::Wide));
    };
    setRows(PartsPage, partRows(view),
            layoutOf({Field::Part, Field::Baseline, Field::Candidate, Field::Lost, Field::BaselineShare,
                      Field::CandidateShare, Field::OtherLost}));
    // Rows that belong only to another candidate are not part of this comparison.
    const auto isOther = [](const ComparisonRow& row) { return !row.candidates.front().lostNs; };
    const auto contributors = [&](std::optional<PartGroup> group) {
        std::vector<ComparisonRow> rows = contributorRows(view, group);
        std::erase_if(rows, isOther);
        return rows;
    };
    setRows(ContributorsPage, contributors(std::nullopt), contributorColumns(false));
    for (const auto& [page, group] :
         {std::pair(KernelsPage, PartGroup::Kernels), std::pair(CollectivesPage, PartGroup::Collectives),
          std::pair(CopiesPage, PartGroup::Copies)})
        setRows(page, contributors(group), contributorColumns(hasBandwidth(group)));
    setPage(CountersPage, counterTable(shown.runs.counters[shown.candidate]));
    setRows(RangesPage, rangeRows(view, true),
            layoutOf({Field::Range, Field::Part, Field::Baseline, Field::Candidate, Field::Lost, Field::OtherLost}));
    setPage(PathPage, pathTable(shown.workers()));
    std::vector<ComparisonRow> unmatched = unmatchedRows(view, true);
    const std::vector<ComparisonRow> added = unmatchedRows(view, false);
    unmatched.insert(unmatched.end(), added.begin(), added.end());
    std::erase_if(unmatched, isOther);
    setRows(UnmatchedPage, unmatched,
            layoutOf({Field::Match, Field::Part, Field::Kind, Field::Name, Field::Range, Field::OnlyCount,
                      Field::OnlyTotal, Field::Lost}));
    setPage(StepsPage, stepTable(shown.baselineWorker(), shown.candidateWorker()));
    setPage(OutliersPage, outlierTable(comparison, Wording::Wide, &shown.baselineWorker(), &shown.candidateWorker()));
    setPage(WorkersPage, workerTable(comparison));
    setPage(JudgedPage, judgedTable(shown.workers()));
    fillVisible();
}

void CompareTables::clearTables() {
    for (size_t page = 0; page < pages_.size(); ++page) setPage(page, {});
    setTabVisible(0, true);
    fillVisible();
}

void CompareTables::setTheme(const Theme& theme) {
    theme_ = theme;
    for (const Page& page : pages_)
        if (const ReportView* view = page.tab->panel()) static_cast<DifferenceModel&>(view->model()).setTheme(theme);
}

void CompareTables::setPart(std::optional<StepPart> part) {
    {
        const QSignalBlocker blocker(partBox_);
        partBox_->setCurrentIndex(part ? partBox_->findData(int(*part)) : 0);
    }
    applyPart();
    const int contributors = indexOf(pages_[ContributorsPage].tab);
    if (part && isTabVisible(contributors)) setCurrentIndex(contributors);
}

void CompareTables::applyPart() {
    if (ReportView* view = pages_[ContributorsPage].tab->panel()) filterByPart(*view);
}

void CompareTables::filterByPart(ReportView& view) const {
    const bool isAll = !partBox_->currentData().isValid();
    view.filter().setGroups(isAll ? QStringList() : QStringList(partBox_->currentText()));
}

ReportView* CompareTables::find(const QString& title) {
    for (size_t number = 0; number < pages_.size(); ++number) {
        if (!pages_[number].title.contains(title, Qt::CaseInsensitive)) continue;
        ReportView& view = pages_[number].tab->demandPanel();
        fill(number, view);
        return &view;
    }
    return nullptr;
}

}  // namespace lanescope::views
