// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/sql/SqlPanel.h"

#include <QDateTime>
#include <QFontDatabase>
#include <QKeyEvent>
#include <QMenu>
#include <algorithm>
#include <atomic>
#include <mutex>
#include <optional>

#include "model/live/LiveTrace.h"
#include "model/text/formatValue.h"
#include "views/theme/Theme.h"
#include "views/theme/layouts.h"

namespace lanescope::views {
namespace {

constexpr int maxRememberedQueries = 50;
constexpr int clockMs = 200;

QString firstLine(const QString& query) {
    QString line = query.simplified();
    return line.size() > 90 ? line.left(89) + QStringLiteral("…") : line;
}

/// Returns the name in SQL: plain if possible, else in quotes.
QString quoted(const QString& name) {
    const bool isPlain = !name.isEmpty() && std::all_of(name.begin(), name.end(), [](QChar letter) {
        return letter == QLatin1Char('_') || (letter < QChar(128) && letter.isLetterOrNumber());
    });
    // A column with the name of a keyword.
    const bool isKeyword = name.compare(QLatin1String("end"), Qt::CaseInsensitive) == 0 ||
                           name.compare(QLatin1String("index"), Qt::CaseInsensitive) == 0;
    if (isPlain && !isKeyword && !name.front().isDigit()) return name;
    return QLatin1Char('"') + QString(name).replace('"', QLatin1String("\"\"")) + QLatin1Char('"');
}

std::optional<int64_t> timeIn(const ReportTable& table, int row, std::initializer_list<std::string_view> names) {
    for (const std::string_view name : names) {
        for (size_t column = 0; column < table.columns.size(); ++column) {
            if (table.columns[column].name != name) continue;
            const auto* time = std::get_if<int64_t>(&table.rows[size_t(row)][column]);
            if (time) return *time;
        }
    }
    return std::nullopt;
}

}  // namespace

/// A file that is opened on its first query. Used by worker threads, one at a time; stopped from any thread.
struct SqlPanel::Source {
    Source(std::filesystem::path path, std::shared_ptr<const RemoteIndex> remote)
        : path_(std::move(path)), isBeingWritten_(path_.extension() == ".partial"), remote_(std::move(remote)) {}

    Result<std::vector<QueryTable>> tables() {
        const std::lock_guard lock(mutex_);
        if (remote_) return remote_->tables();
        if (auto opened = open(); !opened) return fail(opened.error());
        auto found = query_->tables();
        letGo();
        return found;
    }
    Result<QueryResult, QueryError> run(const std::string& sql, const QueryLimits& limits) {
        const std::lock_guard lock(mutex_);
        if (remote_) return remote_->query(sql, limits, [this] { return !isStopped_.load(); });
        if (auto opened = open(); !opened) return tl::unexpected(QueryError{opened.error().sentence, std::nullopt});
        auto result = query_->run(sql, limits, [this](std::chrono::milliseconds) { return !isStopped_.load(); });
        letGo();
        return result;
    }
    /// Interrupts the running query and rejects all further ones until `goOn`.
    void stop() { isStopped_ = true; }
    void goOn() { isStopped_ = false; }

  private:
    Result<void> open() {
        if (query_) return {};
        auto opened = TimedQuery::open(path_, [this](double, std::string_view) { return !isStopped_.load(); });
        if (!opened) return fail(opened.error());
        query_.emplace(std::move(*opened));
        return {};
    }
    /// Closes a file that is still being written, so that its writer is not blocked.
    void letGo() {
        if (isBeingWritten_) query_.reset();
    }

    std::filesystem::path path_;
    bool isBeingWritten_;
    std::shared_ptr<const RemoteIndex> remote_;  ///< Null for a file on this machine.
    std::atomic<bool> isStopped_ = false;
    std::mutex mutex_;
    std::optional<TimedQuery> query_;
};

SqlPanel::SqlPanel(QWidget* parent) : Panel(parent) {
    connect(tablesJob_, &LatestJob::ranOutOfMemory, this, [this] {
        isReading_ = false;
        setStatus(tr("There is not enough memory to list the tables."), true);
    });
    connect(job_, &LatestJob::ranOutOfMemory, this, [this] {
        setRunning(false);
        setStatus(tr("There is not enough memory for the answer."), true);
    });
    limits_.rows = 50'000;
    build();
    arrange();
    fillSamples();
    fillHistory();
    connect(run_, &QPushButton::clicked, this, &SqlPanel::run);
    connect(stop_, &QPushButton::clicked, this, &SqlPanel::stop);
    connect(answer_, &ReportView::rowActivated, this, &SqlPanel::activateRow);
    connect(tables_, &QTreeWidget::itemDoubleClicked, this, [this](QTreeWidgetItem* item) {
        editor_->insertPlainText(quoted(item->text(0)));
        editor_->setFocus();
    });
    connect(clock_, &QTimer::timeout, this, [this] {
        const auto seconds = double(QDateTime::currentMSecsSinceEpoch() - begunMs_) / 1000;
        setStatus(tr("Running, %1 s of at most %2 s").arg(seconds, 0, 'f', 1).arg(double(limits_.time.count()) / 1000),
                  false);
    });
    clock_->setInterval(clockMs);
    setRunning(false);
    setStatus(tr("Ctrl+Enter runs the query. A trace is only read, never changed."), false);
}

SqlPanel::~SqlPanel() { stop(); }

void SqlPanel::build() {
    editor_->setFont(QFontDatabase::systemFont(QFontDatabase::FixedFont));
    editor_->setPlaceholderText(tr("SELECT … FROM …"));
    editor_->setAccessibleName(tr("SQL query"));
    editor_->setTabChangesFocus(true);
    editor_->setFrameShape(QFrame::NoFrame);
    editor_->installEventFilter(this);
    run_->setObjectName("run");
    samples_->setObjectName("samples");
    tables_->setHeaderHidden(true);
    tables_->setAccessibleName(tr("Tables of the trace"));
    tables_->setFrameShape(QFrame::NoFrame);
    tables_->setToolTip(tr("Double click puts a name into the query"));
    tables_->setExpandsOnDoubleClick(false);
    run_->setToolTip(tr("Run the query, or the selected part of it (Ctrl+Enter)"));
    run_->setDefault(false);
    stop_->setToolTip(tr("Stop the query (Esc)"));
    samples_->setText(tr("Samples"));
    earlier_->setText(tr("History"));
    for (QPushButton* button : {samples_, earlier_}) {
        button->setMenu(new QMenu(button));
        button->menu()->setToolTipsVisible(true);
    }
    status_->setTextInteractionFlags(Qt::TextSelectableByMouse);
    answer_->setTotalShown(false);  // the status has it, with the time
    answer_->setEmptyText(tr("Results. Double-click a row with a \"start\" column to go there."));
}

void SqlPanel::setTrace(TracePtr trace) {
    const auto live = liveTraceAt(trace->path);
    const std::filesystem::path& file = live ? live->partial : trace->path;
    const auto remote = remoteOf(*trace);
    if (file != file_ || remote) setFile(file, remote);
}

void SqlPanel::setFile(const std::filesystem::path& path, std::shared_ptr<const RemoteIndex> remote) {
    stop();
    file_ = path;
    source_ = std::make_shared<Source>(path, std::move(remote));
    isRead_ = false;
    tables_->clear();
    if (isVisible()) readTables();
}

void SqlPanel::setTheme(const Theme& theme) {
    editor_->setStyleSheet(
        QStringLiteral("QPlainTextEdit { background: %1; color: %2; }").arg(theme.canvas.name(), theme.text.name()));
}

void SqlPanel::showEvent(QShowEvent* event) {
    QWidget::showEvent(event);
    if (source_ && !isRead_) readTables();
}

bool SqlPanel::eventFilter(QObject* watched, QEvent* event) {
    const bool isPressed = event->type() == QEvent::KeyPress;
    if (watched == editor_ && (isPressed || event->type() == QEvent::ShortcutOverride)) {
        const auto* key = static_cast<QKeyEvent*>(event);
        const bool isEnter = key->key() == Qt::Key_Return || key->key() == Qt::Key_Enter;
        if (isEnter && key->modifiers().testFlag(Qt::ControlModifier)) {
            // The window also uses Ctrl+Enter, for the timeline.
            isPressed ? run() : event->accept();
            return true;
        }
        if (isPressed && key->key() == Qt::Key_Escape && isRunning_) {
            stop();
            return true;
        }
    }
    return QWidget::eventFilter(watched, event);
}

void SqlPanel::readTables() {
    isRead_ = true;
    isReading_ = true;
    tablesJob_->start([this, source = source_]() -> LatestJob::Publish {
        auto tables = std::make_shared<Result<std::vector<QueryTable>>>(source->tables());
        return [this, tables] {
            isReading_ = false;
            if (*tables)
                showTables(**tables);
            else
                setStatus(toQString(tables->error().sentence), true);
        };
    });
}

void SqlPanel::showTables(const std::vector<QueryTable>& tables) {
    tables_->clear();
    QList<QTreeWidgetItem*> items;
    for (const QueryTable& table : tables) {
        auto* item = new QTreeWidgetItem({toQString(printable(table.name))});
        for (const QueryTable::Column& column : table.columns) {
            auto* child = new QTreeWidgetItem(item, {toQString(printable(column.name))});
            child->setToolTip(0, plainToolTip(toQString(printable(column.type))));
        }
        items << item;
    }
    tables_->addTopLevelItems(items);
}

void SqlPanel::run() {
    if (!source_ || isRunning_) return;
    const QTextCursor cursor = editor_->textCursor();
    QString query = cursor.hasSelection() ? cursor.selectedText() : editor_->toPlainText();
    query.replace(QChar::ParagraphSeparator, QLatin1Char('\n'));
    if (query.trimmed().isEmpty()) return;
    remember(query);
    setRunning(true);
    source_->goOn();
    job_->start([this, source = source_, sql = query.toStdString(), limits = limits_]() -> LatestJob::Publish {
        auto result = std::make_shared<Result<QueryResult, QueryError>>(source->run(sql, limits));
        return [this, result, sql] { finish(*result, sql); };
    });
}

void SqlPanel::ask(const QString& query) {
    editor_->setPlainText(query);
    run();
}

void SqlPanel::stop() {
    if (source_) source_->stop();
}

void SqlPanel::finish(const Result<QueryResult, QueryError>& result, const std::string& sql) {
    setRunning(false);
    if (!result) {
        setStatus(toQString(sentenceOf(result.error(), sql)), true);
        return;
    }
    const auto rows = static_cast<int64_t>(result->table.rows.size());
    QString text = rows == 1 ? tr("1 row") : tr("%1 rows").arg(toQString(formatCount(rows)));
    const int64_t tookMs = result->took.count();
    text += tookMs < 1 ? tr(" in less than 1 ms") : tr(" in %1").arg(toQString(formatDuration(tookMs * 1'000'000)));
    if (result->isCut) text += tr(". The query has more rows; only these are shown.");
    setStatus(text, false);
    answer_->setEmptyText(tr("No rows."));
    ReportTable table = result->table;
    for (std::vector<Cell>& row : table.rows)
        for (Cell& cell : row)
            if (auto* const shown = std::get_if<std::string>(&cell)) *shown = printable(*shown);
    answer_->setTable(std::move(table));
}

void SqlPanel::setRunning(bool isRunning) {
    isRunning_ = isRunning;
    run_->setEnabled(!isRunning);
    stop_->setEnabled(isRunning);
    begunMs_ = QDateTime::currentMSecsSinceEpoch();
    isRunning ? clock_->start() : clock_->stop();
}

void SqlPanel::setStatus(const QString& text, bool isError) {
    hasFailed_ = isError;
    status_->setText(text);
    status_->setForegroundRole(isError ? QPalette::WindowText : QPalette::PlaceholderText);
    QFont font = status_->font();
    font.setBold(isError);
    status_->setFont(font);
}

void SqlPanel::remember(const QString& query) {
    const QString kept = query.trimmed();
    history_.removeAll(kept);
    history_.prepend(kept);
    while (history_.size() > maxRememberedQueries) history_.removeLast();
    fillHistory();
}

void SqlPanel::setHistory(const QStringList& queries) {
    history_ = queries.mid(0, maxRememberedQueries);
    fillHistory();
}

void SqlPanel::fillSamples() {
    for (const SampleQuery& sample : sampleQueries()) {
        QAction* action = samples_->menu()->addAction(QString::fromUtf8(sample.title));
        action->setToolTip(plainToolTip(QString::fromUtf8(sample.sql)));
        connect(action, &QAction::triggered, this, [this, sample] {
            setQuery(QString::fromUtf8(sample.sql));
            run();
        });
    }
}

void SqlPanel::fillHistory() {
    earlier_->menu()->clear();
    earlier_->setEnabled(!history_.isEmpty());
    for (const QString& query : history_) {
        // Menus would interpret an ampersand as the mark of a shortcut.
        QAction* action = earlier_->menu()->addAction(firstLine(query).replace(QLatin1Char('&'), QLatin1String("&&")));
        action->setToolTip(plainToolTip(query));
        connect(action, &QAction::triggered, this, [this, query] { setQuery(query); });
    }
}

void SqlPanel::setQuery(const QString& query) {
    // Not setPlainText, so that Ctrl+Z restores the previous text.
    editor_->selectAll();
    editor_->insertPlainText(query);
    editor_->setFocus();
}

void SqlPanel::activateRow(int row) {
    const ReportTable& table = answer_->model().table();
    if (row < 0 || static_cast<size_t>(row) >= table.rows.size()) return;
    const auto start = timeIn(table, row, {"start", "startNs", "timestamp"});
    if (!start) return;
    const auto end = timeIn(table, row, {"end", "endNs"});
    emit placeActivated({*start, std::max(*start, end.value_or(*start))});
}

void SqlPanel::arrange() {
    auto* buttons = rowIn(nullptr, {8, 5, 8, 5}, 8);
    addTo(buttons, run_, stop_, samples_, earlier_);
    buttons->addStretch();
    status_->setContentsMargins(8, 2, 8, 4);

    auto* question = new QWidget(this);
    addTo(columnIn(question), buttons, Filling{editor_}, status_);

    parts_ = new QSplitter(Qt::Vertical, this);
    split(parts_, {{question, 130}, {answer_, 220, 1}});
    split_ = new QSplitter(Qt::Horizontal, this);
    split(split_, {{tables_, 280}, {parts_, 1000, 1}});
    columnIn(this)->addWidget(split_);
}

/// In a low panel the query is next to its result, which otherwise has room for two rows.
void SqlPanel::resizeEvent(QResizeEvent* event) {
    Panel::resizeEvent(event);
    const int lowest = 18 * fontMetrics().height();
    const Qt::Orientation wanted = height() < lowest && width() > 2 * height() ? Qt::Horizontal : Qt::Vertical;
    if (parts_->orientation() == wanted) return;
    parts_->setOrientation(wanted);
    parts_->setSizes(wanted == Qt::Horizontal ? QList<int>{400, 600} : QList<int>{130, 220});
}

}  // namespace lanescope::views
