// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/tables/ReportView.h"

#include <QAbstractItemModel>
#include <QAction>
#include <QApplication>
#include <QClipboard>
#include <QEvent>
#include <QHeaderView>
#include <QLocale>
#include <QPainter>
#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "model/text/formatTable.h"
#include "views/theme/Theme.h"
#include "views/theme/layouts.h"

namespace lanescope::views {
namespace {

QVariant toVariant(const Cell& cell) {
    if (const auto* whole = std::get_if<int64_t>(&cell)) return QVariant::fromValue<qlonglong>(*whole);
    if (const auto* real = std::get_if<double>(&cell)) return *real;
    if (const auto* text = std::get_if<std::string>(&cell)) return toQString(*text);
    return {};
}

/// Returns the shortest text that is exactly the value.
QString exactText(const Cell& cell) {
    if (const auto* whole = std::get_if<int64_t>(&cell)) return QString::number(*whole);
    if (const auto* real = std::get_if<double>(&cell))
        return QString::number(*real, 'g', QLocale::FloatingPointShortest);
    return toVariant(cell).toString();
}

QString cleaned(QString cell) {
    for (const QChar breaking : {QLatin1Char('\t'), QLatin1Char('\n'), QLatin1Char('\r')})
        cell.replace(breaking, QLatin1Char(' '));
    return cell;
}

std::vector<int> rowNumbers(const QAbstractItemModel& model, const QModelIndexList& rows) {
    std::vector<int> numbers;
    for (const QModelIndex& index : rows) numbers.push_back(index.row());
    if (rows.isEmpty())
        for (int row = 0; row < model.rowCount(); ++row) numbers.push_back(row);
    std::sort(numbers.begin(), numbers.end());
    numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
    return numbers;
}

constexpr int minNameCharacters = 28;

bool sameColumns(const ReportTable& a, const ReportTable& b) {
    return std::equal(
        a.columns.begin(), a.columns.end(), b.columns.begin(), b.columns.end(),
        [](const ReportColumn& x, const ReportColumn& y) { return x.name == y.name && x.unit == y.unit; });
}

}  // namespace

void ReportModel::setTable(ReportTable table) {
    beginResetModel();
    table_ = std::move(table);
    endResetModel();
}

Unit ReportModel::unitOf(int column) const {
    return column >= 0 && column < columnCount() ? table_.columns[size_t(column)].unit : Unit::Text;
}

int ReportModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(table_.rows.size());
}

int ReportModel::columnCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(table_.columns.size());
}

const Cell* ReportModel::cellAt(int row, int column) const {
    if (row < 0 || row >= rowCount() || column < 0 || column >= columnCount()) return nullptr;
    const auto& cells = table_.rows[size_t(row)];
    return size_t(column) < cells.size() ? &cells[size_t(column)] : nullptr;
}

QVariant ReportModel::data(const QModelIndex& index, int role) const {
    const Cell* cell = cellAt(index.row(), index.column());
    if (!index.isValid() || !cell) return {};
    const Unit unit = unitOf(index.column());
    switch (role) {
        case Qt::DisplayRole:
            if (const auto number = numberIn(*cell); unit == Unit::Nanoseconds && number)
                return shortDuration(std::llround(*number));
            return toQString(formatCell(*cell, unit));
        case Qt::ToolTipRole: return toolTip(*cell, index.column());
        case Qt::TextAlignmentRole:
            return int((unit == Unit::Text ? Qt::AlignLeft : Qt::AlignRight) | Qt::AlignVCenter);
        case SortRole: return toVariant(*cell);
        case CopyRole: return exactText(*cell);
        case ShareRole:
            if (const auto number = numberIn(*cell); unit == Unit::Percent && number)
                return std::clamp(*number / 100.0, 0.0, 1.0);
            return {};
        default: return {};
    }
}

QVariant ReportModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation != Qt::Horizontal || section < 0 || section >= columnCount()) return {};
    const ReportColumn& column = table_.columns[size_t(section)];
    if (role == Qt::DisplayRole) return toQString(column.name);
    if (role == CopyRole) return toQString(headerOf(column));
    if (role == Qt::TextAlignmentRole)
        return int((column.unit == Unit::Text ? Qt::AlignLeft : Qt::AlignRight) | Qt::AlignVCenter);
    return {};
}

QString ReportModel::toolTip(const Cell& cell, int column) const {
    // Cells show rounded values; the tip has the exact value or the end of a long name.
    if (unitOf(column) == Unit::Text) return plainToolTip(toVariant(cell).toString());
    const auto* whole = std::get_if<int64_t>(&cell);
    if (!whole) return {};
    const QString number = QLocale(QLocale::English).toString(static_cast<qlonglong>(*whole));
    switch (unitOf(column)) {
        case Unit::Nanoseconds: return number + QStringLiteral(" ns");
        case Unit::Bytes: return number + QStringLiteral(" bytes");
        default: return {};
    }
}

ReportFilter::ReportFilter(QObject* parent) : QSortFilterProxyModel(parent) {
    setSortRole(ReportModel::SortRole);
    setSortCaseSensitivity(Qt::CaseInsensitive);
}

void ReportFilter::setText(const QString& text) {
    filterWords_ = text.simplified().split(QLatin1Char(' '), Qt::SkipEmptyParts);
    invalidateFilter();
}

void ReportFilter::setGroups(const QStringList& groups) {
    groups_ = groups;
    invalidateFilter();
}

bool ReportFilter::filterAcceptsRow(int row, const QModelIndex& parent) const {
    if (!groups_.isEmpty()) {
        const QVariant group = sourceModel()->index(row, 0, parent).data(ReportModel::SortRole);
        if (!groups_.contains(group.toString())) return false;
    }
    if (filterWords_.isEmpty()) return true;
    QString text;
    for (int column = 0; column < sourceModel()->columnCount(parent); ++column) {
        const QVariant value = sourceModel()->index(row, column, parent).data(ReportModel::SortRole);
        if (value.typeId() == QMetaType::QString) text += value.toString() + QLatin1Char('\n');
    }
    return std::all_of(filterWords_.begin(), filterWords_.end(),
                       [&](const QString& word) { return text.contains(word, Qt::CaseInsensitive); });
}

bool ReportFilter::lessThan(const QModelIndex& left, const QModelIndex& right) const {
    const QVariant a = left.data(ReportModel::SortRole);
    const QVariant b = right.data(ReportModel::SortRole);
    // An empty cell is less than any number, so that a descending order shows the filled ones first.
    if (!a.isValid() || !b.isValid()) return !a.isValid() && b.isValid();
    return QSortFilterProxyModel::lessThan(left, right);
}

QString tabSeparated(const QAbstractItemModel& model, const QModelIndexList& rows, int role) {
    QStringList lines;
    QStringList cells;
    for (int column = 0; column < model.columnCount(); ++column)
        cells << cleaned(model.headerData(column, Qt::Horizontal, role).toString());
    lines << cells.join(QLatin1Char('\t'));
    for (const int row : rowNumbers(model, rows)) {
        cells.clear();
        for (int column = 0; column < model.columnCount(); ++column)
            cells << cleaned(model.index(row, column).data(role).toString());
        lines << cells.join(QLatin1Char('\t'));
    }
    return lines.join(QLatin1Char('\n')) + QLatin1Char('\n');
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

QRectF ShareBarDelegate::segmentsArea(const QRect& cell) {
    constexpr int height = 6, margin = 8;
    QRectF area = cell.adjusted(margin, 0, -margin, -1);
    area.setTop(area.bottom() - height);
    return area;
}

/// The text is above the bar.
void ShareBarDelegate::initStyleOption(QStyleOptionViewItem* option, const QModelIndex& index) const {
    QStyledItemDelegate::initStyleOption(option, index);
    if (index.data(ReportModel::SegmentsRole).isValid()) option->displayAlignment = Qt::AlignLeft | Qt::AlignTop;
}

void ShareBarDelegate::paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const {
    const QVariant segments = index.data(ReportModel::SegmentsRole);
    QStyledItemDelegate::paint(painter, option, index);
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
    painter->save();
    painter->setRenderHint(QPainter::Antialiasing);
    painter->setPen(Qt::NoPen);
    painter->setBrush(translucent(color, 36));
    painter->drawRoundedRect(groove, height / 2.0, height / 2.0);
    painter->setBrush(option.state & QStyle::State_Selected ? option.palette.color(QPalette::HighlightedText) : color);
    painter->drawRoundedRect(bar, height / 2.0, height / 2.0);
    painter->restore();
}

ReportView::ReportView(ReportModel* model, QWidget* parent) : QWidget(parent), model_(model) {
    model_->setParent(this);
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
    QAction* copy = table_->addAction(tr("Copy rows"), QKeySequence::Copy, this, &ReportView::copySelection);
    copy->setShortcutContext(Qt::WidgetWithChildrenShortcut);
    table_->setContextMenuPolicy(Qt::ActionsContextMenu);

    connect(filterEdit_, &QLineEdit::textChanged, filter_, &ReportFilter::setText);
    connect(filterEdit_, &QLineEdit::textChanged, this, &ReportView::updateCount);
    connect(model_, &QAbstractItemModel::modelReset, this, &ReportView::updateCount);
    connect(table_, &QTableView::activated, this, [this](const QModelIndex& index) {
        const int row = filter_->mapToSource(index).row();
        emit rowActivated(row);
        const std::vector<std::string>& searches = model_->table().searches;
        if (row < 0 || size_t(row) >= searches.size()) return;
        if (const std::string& name = searches[size_t(row)]; !name.empty()) emit nameActivated(toQString(name));
    });
    updateCount();
}

void ReportView::arrange() {
    bar_ = new QWidget(this);
    top_ = rowIn(bar_, {8, 5, 8, 5}, 10);
    addTo(top_, filterEdit_, countLabel_);
    top_->addStretch();
    top_->addWidget(remark_);
    addTo(columnIn(this), bar_, Filling{table_}, Filling{emptyLabel_});
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

void ReportView::setTotalShown(bool isShown) {
    isTotalShown_ = isShown;
    updateCount();
}

void ReportView::copySelection() const {
    QApplication::clipboard()->setText(
        tabSeparated(*filter_, table_->selectionModel()->selectedRows(), ReportModel::CopyRole));
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
