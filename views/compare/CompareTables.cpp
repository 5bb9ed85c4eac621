#include "views/compare/CompareTables.h"

#include <QComboBox>
#include <QSignalBlocker>
#include <QTableView>

#include "views/compare/DifferenceModel.h"
#include "views/summary/ReportFilter.h"
#include "views/summary/ReportView.h"
#include "views/text/toQString.h"

namespace lanescope {
namespace {

enum PageNumber : size_t {
    PartsPage,
    ContributorsPage,
    KernelsPage,
    CollectivesPage,
    CopiesPage,
    CountersPage,
    RangesPage,
    UnmatchedPage,
    StepsPage,
    OutliersPage,
    WorkersPage,
};

}  // namespace

CompareTables::CompareTables(QWidget* parent) : QTabWidget(parent), partBox_(new QComboBox(this)) {
    setDocumentMode(true);
    setAccessibleName(tr("Tables of the comparison"));
    addPage(tr("Parts"), tr("Into what the time of a step is split, mean per step"));
    addPage(tr("Contributors"), tr("What each part of the step is made of"));
    addPage(tr("Kernels"), tr("Kernels but NCCL's, by the time of the step that is theirs"));
    addPage(tr("Collectives"), tr("NCCL's kernels, with the bus bandwidth of nccl-tests"));
    addPage(tr("Copies"), tr("Memcpys and memsets, with their bandwidth"));
    addPage(tr("Counters"), tr("Memory in use, traffic and the like during the compared steps"));
    addPage(tr("Ranges"), tr("NVTX ranges: where in the program the time was lost"));
    addPage(tr("Unmatched"), tr("What only one of the runs did"));
    addPage(tr("Steps"), tr("Every compared step"));
    addPage(tr("Outliers"), tr("Steps that took much longer than the others of their run"));
    addPage(tr("Workers"), tr("Every process on a GPU against its counterpart"));
    fillPartBox();
    connect(partBox_, &QComboBox::currentIndexChanged, this, [this] {
        applyPart();
        const QVariant part = partBox_->currentData();
        emit partChosen(part.isValid() ? std::optional(static_cast<StepPart>(part.toInt()))
                                       : std::nullopt);
    });
    clearTables();
}

void CompareTables::fillPartBox() {
    partBox_->setAccessibleName(tr("Part of the step"));
    partBox_->addItem(tr("All parts"));
    for (size_t part = 0; part < stepPartCount; ++part)
        partBox_->addItem(toQString(name(static_cast<StepPart>(part))), int(part));
    pages_[ContributorsPage].view->addControl(partBox_);
}

void CompareTables::addPage(const QString& title, const QString& toolTip) {
    Page page;
    page.title = title;
    page.model = new DifferenceModel;
    page.view = new ReportView(page.model, this);
    page.view->setEmptyText(tr("Nothing to compare here."));
    page.view->table().setAccessibleName(title);
    const int index = addTab(page.view, title);
    setTabToolTip(index, toolTip);
    const size_t number = pages_.size();
    const auto choose = [this, number](int row) {
        if (row >= 0 && size_t(row) < pages_[number].rows.size())
            emit rowChosen(pages_[number].rows[size_t(row)]);
    };
    connect(&page.view->table(), &QTableView::clicked, this,
            [view = page.view, choose](const QModelIndex& clicked) {
                choose(view->filter().mapToSource(clicked).row());
            });
    connect(page.view, &ReportView::rowActivated, this, choose);
    pages_.push_back(std::move(page));
}

void CompareTables::setPage(size_t number, CompareTable table) {
    Page& page = pages_[number];
    const bool hasRows = !table.table.rows.empty();
    page.rows = std::move(table.rows);
    page.view->setTable(std::move(table.table));
    if (!page.isFitted && hasRows) {
        page.isFitted = true;
        const int column = page.model->lostColumn();
        const bool keepsOrder = number == StepsPage || column < 0;
        page.view->fitAndSort(keepsOrder ? -1 : column, Qt::DescendingOrder);
    }
    setTabVisible(indexOf(page.view), hasRows);
}

void CompareTables::setPair(const ComparedPair& shown) {
    setPage(PartsPage, partRows(shown));
    setPage(ContributorsPage, contributorRows(shown, {}));
    setPage(KernelsPage, contributorRows(shown, {ContributorKind::Kernel}));
    setPage(CollectivesPage, contributorRows(shown, {ContributorKind::Collective}));
    setPage(CopiesPage, contributorRows(shown, {ContributorKind::Copy, ContributorKind::Memset}));
    setPage(CountersPage, counterRows(shown));
    setPage(RangesPage, rangeRows(shown));
    setPage(UnmatchedPage, unmatchedRows(shown));
    setPage(StepsPage, stepRows(shown));
    setPage(OutliersPage, outlierRows(shown));
    setPage(WorkersPage, workerRows(shown));
    applyPart();
}

void CompareTables::clearTables() {
    for (size_t page = 0; page < pages_.size(); ++page) setPage(page, {});
    setTabVisible(0, true);
}

void CompareTables::setTheme(const Theme& theme) {
    for (const Page& page : pages_) page.model->setTheme(theme);
}

void CompareTables::setPart(std::optional<StepPart> part) {
    {
        const QSignalBlocker blocker(partBox_);
        partBox_->setCurrentIndex(part ? partBox_->findData(int(*part)) : 0);
    }
    applyPart();
    const int contributors = indexOf(pages_[ContributorsPage].view);
    if (part && isTabVisible(contributors)) setCurrentIndex(contributors);
}

void CompareTables::applyPart() {
    const bool isAll = !partBox_->currentData().isValid();
    pages_[ContributorsPage].view->filter().setGroups(isAll ? QStringList()
                                                            : QStringList(partBox_->currentText()));
}

ReportView& CompareTables::current() const {
    return *static_cast<ReportView*>(currentWidget());
}

ReportView* CompareTables::find(const QString& title) const {
    for (const Page& page : pages_)
        if (page.title.contains(title, Qt::CaseInsensitive)) return page.view;
    return nullptr;
}

}  // namespace lanescope
