#include "views/summary/ReportView.h"

#include <QAction>
#include <QApplication>
#include <QClipboard>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QTableView>
#include <QVBoxLayout>
#include <algorithm>

#include "views/summary/ReportFilter.h"
#include "views/summary/ReportModel.h"
#include "views/summary/ShareBarDelegate.h"
#include "views/summary/searchText.h"
#include "views/summary/tabSeparated.h"

namespace lanescope {
namespace {

bool sameColumns(const ReportTable& a, const ReportTable& b) {
    return std::equal(a.columns.begin(), a.columns.end(), b.columns.begin(), b.columns.end(),
                      [](const ReportColumn& x, const ReportColumn& y) {
                          return x.name == y.name && x.unit == y.unit;
                      });
}

}  // namespace

ReportView::ReportView(QWidget* parent) : ReportView(new ReportModel, parent) {}

ReportView::ReportView(ReportModel* model, QWidget* parent)
    : QWidget(parent),
      model_(model),
      filter_(new ReportFilter(this)),
      delegate_(new ShareBarDelegate(this)),
      filterEdit_(new QLineEdit(this)),
      countLabel_(new QLabel(this)),
      table_(new QTableView(this)),
      emptyLabel_(new QLabel(this)) {
    model_->setParent(this);
    build();
    updateCount();
}

void ReportView::build() {
    filter_->setSourceModel(model_);
    filterEdit_->setPlaceholderText(tr("Filter rows"));
    filterEdit_->setClearButtonEnabled(true);
    filterEdit_->setMaximumWidth(360);
    countLabel_->setEnabled(false);

    table_->setModel(filter_);
    table_->setItemDelegate(delegate_);
    table_->setSortingEnabled(true);
    table_->sortByColumn(-1, Qt::DescendingOrder);  // the order of the report, until a header is clicked
    table_->setSelectionBehavior(QAbstractItemView::SelectRows);
    table_->setAlternatingRowColors(true);
    table_->setShowGrid(false);
    table_->setWordWrap(false);
    table_->setTextElideMode(Qt::ElideMiddle);
    table_->setHorizontalScrollMode(QAbstractItemView::ScrollPerPixel);
    table_->setFrameShape(QFrame::NoFrame);
    table_->verticalHeader()->hide();
    table_->verticalHeader()->setDefaultSectionSize(fontMetrics().height() + 9);
    table_->horizontalHeader()->setHighlightSections(false);
    table_->horizontalHeader()->setStretchLastSection(true);
    emptyLabel_->setAlignment(Qt::AlignCenter);
    emptyLabel_->setWordWrap(true);
    emptyLabel_->setEnabled(false);
    emptyLabel_->setText(tr("Nothing of this kind was recorded."));

    auto* copy = new QAction(tr("Copy rows"), table_);
    copy->setShortcut(QKeySequence::Copy);
    copy->setShortcutContext(Qt::WidgetWithChildrenShortcut);
    table_->addAction(copy);
    table_->setContextMenuPolicy(Qt::ActionsContextMenu);

    auto* top = new QHBoxLayout;
    top->setContentsMargins(8, 6, 8, 4);
    top->addWidget(filterEdit_);
    top->addWidget(countLabel_);
    top->addStretch();
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    layout->addLayout(top);
    layout->addWidget(table_, 1);
    layout->addWidget(emptyLabel_, 1);

    connect(filterEdit_, &QLineEdit::textChanged, filter_, &ReportFilter::setText);
    connect(filterEdit_, &QLineEdit::textChanged, this, &ReportView::updateCount);
    connect(copy, &QAction::triggered, this, &ReportView::copySelection);
    connect(model_, &QAbstractItemModel::modelReset, this, &ReportView::updateCount);
    connect(table_, &QTableView::activated, this, [this](const QModelIndex& index) {
        const int row = filter_->mapToSource(index).row();
        emit rowActivated(row);
        const QString text = searchText(model_->table(), row);
        if (!text.isEmpty()) emit nameActivated(text);
    });
}

void ReportView::setTable(ReportTable table) {
    const bool isSameShape = sameColumns(model_->table(), table);
    model_->setTable(std::move(table));
    if (!isSameShape) fitColumns();
}

void ReportView::setEmptyText(const QString& text) { emptyLabel_->setText(text); }

void ReportView::setFilterVisible(bool isVisible) {
    filterEdit_->setVisible(isVisible);
    countLabel_->setVisible(isVisible);
}

void ReportView::copySelection() const {
    QApplication::clipboard()->setText(
        tabSeparated(*filter_, table_->selectionModel()->selectedRows()));
}

void ReportView::fitColumns() {
    // Widths from the first rows only: a report may have tens of thousands.
    table_->horizontalHeader()->setResizeContentsPrecision(100);
    table_->resizeColumnsToContents();
    const int widest = 60 * fontMetrics().averageCharWidth();
    for (int column = 0; column + 1 < model_->columnCount(); ++column) {
        const int padding = model_->unitOf(column) == Unit::Text ? 12 : 8;
        table_->setColumnWidth(column, std::min(table_->columnWidth(column) + padding, widest));
    }
}

void ReportView::updateCount() {
    const int shown = filter_->rowCount();
    const int all = model_->rowCount();
    countLabel_->setText(shown == all ? tr("%n row(s)", nullptr, all)
                                      : tr("%1 of %2 rows").arg(shown).arg(all));
    table_->setVisible(all > 0);
    emptyLabel_->setVisible(all == 0);
}

}  // namespace lanescope
