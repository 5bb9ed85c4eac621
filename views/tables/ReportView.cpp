// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/tables/ReportView.h"

#include <QAbstractItemModel>
#include <QAction>
#include <QApplication>
#include <QClipboard>
#include <QEvent>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QPainter>
#include <QStringList>
#include <QTableView>
#include <algorithm>
#include <string>
#include <vector>

#include "views/tables/ReportModel.h"
#include "views/text/shownText.h"
#include "views/theme/layouts.h"

namespace lanescope::views {
namespace {

QString cleaned(QString cell) {
    for (const QChar breaking : {QLatin1Char('\t'), QLatin1Char('\n'), QLatin1Char('\r')}) {
        cell.replace(breaking, QLatin1Char(' '));
    }
    return cell;
}

std::vector<int> rowNumbers(const QAbstractItemModel& model, const QModelIndexList& rows) {
    std::vector<int> numbers;
    for (const QModelIndex& index : rows) numbers.push_back(index.row());
    if (rows.isEmpty()) {
        for (int row = 0; row < model.rowCount(); ++row) numbers.push_back(row);
    }
    std::sort(numbers.begin(), numbers.end());
    numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
    return numbers;
}

/// Returns the rows as `tabSeparated` does, with the texts of a role.
QString separated(const QAbstractItemModel& model, const QModelIndexList& rows, int role) {
    QStringList lines;
    QStringList cells;
    for (int column = 0; column < model.columnCount(); ++column) {
        cells << cleaned(model.headerData(column, Qt::Horizontal, role).toString());
    }
    lines << cells.join(QLatin1Char('\t'));
    for (const int row : rowNumbers(model, rows)) {
        cells.clear();
        for (int column = 0; column < model.columnCount(); ++column) {
            cells << cleaned(model.index(row, column).data(role).toString());
        }
        lines << cells.join(QLatin1Char('\t'));
    }
    return lines.join(QLatin1Char('\n')) + QLatin1Char('\n');
}

constexpr int minNameCharacters = 28;

bool sameColumns(const ReportTable& a, const ReportTable& b) {
    return std::equal(
        a.columns.begin(), a.columns.end(), b.columns.begin(), b.columns.end(),
        [](const ReportColumn& x, const ReportColumn& y) { return x.name == y.name && x.unit == y.unit; });
}

}  // namespace

QString tabSeparated(const QAbstractItemModel& model, const QModelIndexList& rows) {
    return separated(model, rows, Qt::DisplayRole);
}

void styleTable(QTableView& table) {
    table.setSelectionBehavior(QAbstractItemView::SelectRows);
    table.setAlternatingRowColors(true);
    table.setShowGrid(false);
    table.setWordWrap(false);
    table.setFrameShape(QFrame::NoFrame);
    // Tab moves to the next part of the window; arrows move between cells.
    table.setTabKeyNavigation(false);
    table.verticalHeader()->hide();
    table.verticalHeader()->setDefaultSectionSize(table.parentWidget()->fontMetrics().height() + 9);
    table.horizontalHeader()->setHighlightSections(false);
}

ShareBarDelegate::ShareBarDelegate(QObject* parent) : QStyledItemDelegate(parent) {}

QRectF ShareBarDelegate::segmentsArea(const QRect& cell) {
    constexpr int height = 6, margin = 8;
    QRectF area = cell.adjusted(margin, 0, -margin, -1);
    area.setTop(area.bottom() - height);
    return area;
}

void ShareBarDelegate::paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const {
    const QVariant segments = index.data(ReportModel::SegmentsRole);
    QStyleOptionViewItem cell = option;
    // The text is above the bar.
    if (segments.isValid()) cell.displayAlignment = Qt::AlignLeft | Qt::AlignTop;
    QStyledItemDelegate::paint(painter, cell, index);
    if (segments.isValid()) {
        const QRectF area = segmentsArea(option.rect);
        double left = area.left();
        for (const BarSegment& each : segments.value<QList<BarSegment>>()) {
            const double width = area.width() * each.share;
            painter->fillRect(QRectF(left, area.top(), width, area.height()), each.color);
            left += width;
        }
        return;
    }
    const QVariant share = index.data(ReportModel::ShareRole);
    if (!share.isValid()) return;

    constexpr int height = 3;
    constexpr int margin = 4;
    QRectF groove = option.rect.adjusted(margin, 0, -margin, 0);
    groove.setTop(groove.bottom() - height);
    QRectF bar = groove;
    bar.setWidth(groove.width() * share.toDouble());

    const QVariant own = index.data(ReportModel::BarColorRole);
    const QColor color = own.isValid() ? own.value<QColor>() : option.palette.color(QPalette::Highlight);
    QColor faint = color;
    faint.setAlpha(36);
    painter->save();
    painter->setRenderHint(QPainter::Antialiasing);
    painter->setPen(Qt::NoPen);
    painter->setBrush(faint);
    painter->drawRoundedRect(groove, height / 2.0, height / 2.0);
    painter->setBrush(option.state & QStyle::State_Selected ? option.palette.color(QPalette::HighlightedText) : color);
    painter->drawRoundedRect(bar, height / 2.0, height / 2.0);
    painter->restore();
}

ReportView::ReportView(QWidget* parent) : ReportView(new ReportModel, parent) {}

ReportView::ReportView(ReportModel* model, QWidget* parent)
    : QWidget(parent),
      model_(model),
      filter_(new ReportFilter(this)),
      delegate_(new ShareBarDelegate(this)),
      filterEdit_(new QLineEdit(this)),
      countLabel_(new QLabel(this)),
      remark_(new QLabel(this)),
      table_(new QTableView(this)),
      emptyLabel_(new WrappedLabel(this)) {
    model_->setParent(this);
    build();
    updateCount();
}

void ReportView::build() {
    filter_->setSourceModel(model_);
    filterEdit_->setPlaceholderText(tr("Filter rows"));
    filterEdit_->setAccessibleName(tr("Filter rows"));
    table_->setAccessibleName(tr("Report"));
    filterEdit_->setClearButtonEnabled(true);
    filterEdit_->setMaximumWidth(360);
    countLabel_->setForegroundRole(QPalette::PlaceholderText);
    remark_->setForegroundRole(QPalette::Link);
    remark_->setTextFormat(Qt::PlainText);

    table_->viewport()->installEventFilter(this);
    table_->setModel(filter_);
    table_->setItemDelegate(delegate_);
    table_->setSortingEnabled(true);
    // In the order of the report, until a header is clicked.
    table_->sortByColumn(-1, Qt::AscendingOrder);
    styleTable(*table_);
    table_->setTextElideMode(Qt::ElideMiddle);
    table_->setHorizontalScrollMode(QAbstractItemView::ScrollPerPixel);
    table_->horizontalHeader()->setMinimumSectionSize(48);
    table_->setEditTriggers(QAbstractItemView::NoEditTriggers);
    emptyLabel_->setAlignment(Qt::AlignCenter);
    emptyLabel_->setEnabled(false);
    emptyLabel_->setText(tr("Not recorded in this trace."));

    arrange();
    auto* copy = new QAction(tr("Copy rows"), table_);
    copy->setShortcut(QKeySequence::Copy);
    copy->setShortcutContext(Qt::WidgetWithChildrenShortcut);
    table_->addAction(copy);
    table_->setContextMenuPolicy(Qt::ActionsContextMenu);

    connect(filterEdit_, &QLineEdit::textChanged, filter_, &ReportFilter::setText);
    connect(filterEdit_, &QLineEdit::textChanged, this, &ReportView::updateCount);
    connect(copy, &QAction::triggered, this, &ReportView::copySelection);
    connect(model_, &QAbstractItemModel::modelReset, this, &ReportView::updateCount);
    connect(table_, &QTableView::activated, this, [this](const QModelIndex& index) {
        const int row = filter_->mapToSource(index).row();
        emit rowActivated(row);
        const std::vector<std::string>& searches = model_->table().searches;
        if (row < 0 || size_t(row) >= searches.size()) return;
        if (const std::string& name = searches[size_t(row)]; !name.empty()) emit nameActivated(toQString(name));
    });
}

void ReportView::arrange() {
    bar_ = new QWidget(this);
    top_ = rowIn(bar_, {8, 5, 8, 5}, 10);
    top_->addWidget(filterEdit_);
    top_->addWidget(countLabel_);
    top_->addStretch();
    top_->addWidget(remark_);
    auto* layout = columnIn(this);
    layout->addWidget(bar_);
    layout->addWidget(table_, 1);
    layout->addWidget(emptyLabel_, 1);
}

void ReportView::setTable(ReportTable table) {
    const bool isSameShape = sameColumns(model_->table(), table);
    model_->setTable(std::move(table));
    if (!isSameShape) fitColumns();
}

void ReportView::fitAndSort(int column, Qt::SortOrder order) {
    fitColumns();
    // Qt 6.8 reverses the rows if asked for no column in descending order.
    table_->sortByColumn(column, column < 0 ? Qt::AscendingOrder : order);
}

void ReportView::setEmptyText(const QString& text) { emptyLabel_->setText(text); }

void ReportView::setFilterVisible(bool isVisible) { bar_->setVisible(isVisible); }

void ReportView::setTotalShown(bool isShown) {
    isTotalShown_ = isShown;
    updateCount();
}

void ReportView::setRemark(const QString& text) { remark_->setText(text); }

QString ReportView::remark() const { return remark_->text(); }

void ReportView::addControl(QWidget* control) { top_->insertWidget(1, control); }

void ReportView::copySelection() const {
    QApplication::clipboard()->setText(
        separated(*filter_, table_->selectionModel()->selectedRows(), ReportModel::CopyRole));
}

void ReportView::fitColumns() {
    // Widths from the first rows only: a report may have tens of thousands.
    table_->horizontalHeader()->setResizeContentsPrecision(100);
    table_->resizeColumnsToContents();
    const int widest = 60 * fontMetrics().averageCharWidth();
    const int stretched = stretchedColumn();
    for (int column = 0; column < model_->columnCount(); ++column) {
        table_->horizontalHeader()->setSectionResizeMode(column, QHeaderView::Interactive);
        // Room for values wider than those of the first rows.
        const int width = table_->columnWidth(column) + 2 * fontMetrics().averageCharWidth();
        if (column != stretched) table_->setColumnWidth(column, std::min(width, widest));
    }
    intervalName();
}

void ReportView::intervalName() {
    const int stretched = stretchedColumn();
    if (stretched < 0 || stretched >= model_->columnCount()) return;
    QHeaderView* header = table_->horizontalHeader();
    const int room = table_->viewport()->width() - (header->length() - header->sectionSize(stretched));
    const int minWidth = minNameCharacters * fontMetrics().averageCharWidth();
    // A name of three letters is unreadable; scrolling is better.
    header->setSectionResizeMode(stretched, room < minWidth ? QHeaderView::Interactive : QHeaderView::Stretch);
    if (room < minWidth) header->resizeSection(stretched, minWidth);
}

bool ReportView::eventFilter(QObject* watched, QEvent* event) {
    if (watched == table_->viewport() && event->type() == QEvent::Resize) intervalName();
    return QWidget::eventFilter(watched, event);
}

int ReportView::stretchedColumn() const {
    const auto& columns = model_->table().columns;
    for (size_t column = 0; column < columns.size(); ++column) {
        const std::string& name = columns[column].name;
        if (name == "Name" || name == "Range") return static_cast<int>(column);
    }
    return -1;
}

void ReportView::updateCount() {
    const int shown = filter_->rowCount();
    const int all = model_->rowCount();
    countLabel_->setText(shown < all      ? tr("%1 of %2 rows").arg(shown).arg(all)
                         : !isTotalShown_ ? QString()
                         : all == 1       ? tr("1 row")
                                          : tr("%1 rows").arg(all));
    table_->setVisible(all > 0);
    emptyLabel_->setVisible(all == 0);
}

}  // namespace lanescope::views
