// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QStringList>
#include <QWidget>
#include <atomic>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>

#include "model/format/TimeRange.h"
#include "model/query/QueryProcess.h"
#include "model/query/TraceQuery.h"

class QLabel;
class QPlainTextEdit;
class QPushButton;
class QSplitter;
class QTimer;
class QTreeWidget;

namespace lanescope::views {

class LatestJob;
class ReportView;
struct Theme;

/// Asks a trace file in SQL: an editor, the tables of the file beside it, and the answer below.
/// Only reads. Queries run off the GUI thread, can be stopped, and are stopped after half a minute.
/// A row with a column `start` leads to that place on the timeline.
class SqlPanel : public QWidget {
    Q_OBJECT

  public:
    explicit SqlPanel(QWidget* parent = nullptr);
    ~SqlPanel() override;

    /// The file to ask; opened when the panel is first shown.
    void setFile(const std::filesystem::path& path);
    const std::filesystem::path& file() const { return file_; }
    void setTheme(const Theme& theme);
    void setLimits(const QueryLimits& limits) { limits_ = limits; }
    /// What was asked before, the latest first.
    void setHistory(const QStringList& queries);
    const QStringList& history() const { return history_; }

    QPlainTextEdit& editor() const { return *editor_; }
    QTreeWidget& tables() const { return *tables_; }
    ReportView& answer() const { return *answer_; }
    QPushButton& runButton() const { return *run_; }
    QPushButton& samplesButton() const { return *samples_; }
    /// What stands under the editor: rows and time, progress, or why there is no answer.
    QString status() const;
    /// That says why there is no answer.
    bool hasFailed() const { return hasFailed_; }
    bool isRunning() const { return isRunning_; }
    /// A query runs or the tables are still being read.
    bool isStale() const;

  public slots:
    /// Runs what is in the editor, or the selected part of it.
    void run();
    void stop();

  signals:
    /// The user wants to see this place; both ends are equal for a moment.
    void rangeActivated(lanescope::TimeRange range);
    void historyChanged(const QStringList& queries);

  protected:
    void showEvent(QShowEvent* event) override;
    bool eventFilter(QObject* watched, QEvent* event) override;

  private:
    /// The open file, shared with the thread that works on it.
    struct Source;

    void build();
    void arrange();
    void readTables();
    void showTables(const std::vector<QueryTable>& tables);
    void finish(const Result<QueryResult, QueryError>& result, const std::string& sql);
    void setRunning(bool isRunning);
    void setStatus(const QString& text, bool isError);
    void remember(const QString& query);
    void fillSamples();
    void fillHistory();
    void insertName(const QString& name);
    void activateRow(int row);
    void setQuery(const QString& query);

    std::filesystem::path file_;
    std::shared_ptr<Source> source_;
    QueryLimits limits_;
    QStringList history_;
    bool isRunning_ = false;
    bool isRead_ = false;
    bool isReading_ = false;
    bool hasFailed_ = false;
    LatestJob* job_;
    LatestJob* tablesJob_;
    QTimer* clock_;
    qint64 begunMs_ = 0;
    QPlainTextEdit* editor_;
    QTreeWidget* tables_;
    QPushButton* run_;
    QPushButton* stop_;
    QPushButton* samples_;
    QPushButton* earlier_;
    QLabel* status_;
    ReportView* answer_;
    QSplitter* split_;
};

/// Opens its file when it is first asked. Asked from worker threads, one at a time; stopped from
/// any thread.
struct SqlPanel::Source {
  public:
    explicit Source(std::filesystem::path path)
        : path_(std::move(path)), isBeingWritten_(path_.extension() == ".partial") {}

    Result<std::vector<QueryTable>> tables();
    Result<QueryResult, QueryError> run(const std::string& sql, const QueryLimits& limits);
    /// Ends what runs now, and everything that is asked until `goOn`.
    void stop() { isStopped_ = true; }
    void goOn() { isStopped_ = false; }

  private:
    Result<void> open();
    /// Closes a file that somebody is writing, who may want it for himself.
    void letGo() {
        if (isBeingWritten_) query_.reset();
    }

    std::filesystem::path path_;
    bool isBeingWritten_;
    std::atomic<bool> isStopped_ = false;
    std::mutex mutex_;
    std::optional<QueryProcess> query_;
};

}  // namespace lanescope::views
