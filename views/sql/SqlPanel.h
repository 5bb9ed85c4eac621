// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QLabel>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QSplitter>
#include <QStringList>
#include <QTimer>
#include <QTreeWidget>
#include <QWidget>
#include <filesystem>
#include <memory>

#include "model/format/TimeRange.h"
#include "model/query/TraceQuery.h"
#include "model/remote/RemoteTrace.h"
#include "views/jobs/LatestJob.h"
#include "views/tables/Panel.h"
#include "views/tables/ReportView.h"
#include "views/text/shownText.h"

namespace lanescope::views {

struct Theme;

/// SQL queries on a trace file: an editor, the tables of the file next to it, and the answer below.
/// Read-only. Queries run off the GUI thread, can be stopped, and time out after 30 s. A row with a
/// column `start` leads to its place on the timeline.
class SqlPanel : public Panel {
    Q_OBJECT
  public:
    explicit SqlPanel(QWidget* parent = nullptr);
    ~SqlPanel() override;

    /// Sets the file of the trace, which has another name while being recorded.
    void setTrace(TracePtr trace) override;
    /// Sets the file; opened when the panel is first shown.
    void setFile(const std::filesystem::path& path, std::shared_ptr<const RemoteIndex> remote = {});
    const std::filesystem::path& file() const { return file_; }
    void setTheme(const Theme& theme) override;
    void setLimits(const QueryLimits& limits) { limits_ = limits; }
    /// Sets earlier queries, the latest first.
    void setHistory(const QStringList& queries);
    const QStringList& history() const { return history_; }

    QPlainTextEdit& editor() const { return *editor_; }
    /// Returns the text under the editor: rows and time, progress, or an error.
    QString status() const { return status_->text(); }
    /// Returns true if the status is an error.
    bool hasFailed() const { return hasFailed_; }
    bool isRunning() const { return isRunning_; }
    ReportView* table() const override { return answer_; }
    bool isStale() const override { return isRunning_ || isReading_; }

    /// Replaces the text of the editor and runs it.
    void ask(const QString& query);

  public slots:
    /// Runs the text of the editor, or its selected part.
    void run();
    void stop();

  signals:
    /// Emitted when the user asks to see this range; both ends are equal for a single time.
    void placeActivated(lanescope::TimeRange range);

  protected:
    void showEvent(QShowEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    bool eventFilter(QObject* watched, QEvent* event) override;

  private:
    /// The open file, shared with the worker thread.
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
    LatestJob* job_ = new LatestJob(this);
    LatestJob* tablesJob_ = new LatestJob(this);
    QTimer* clock_ = new QTimer(this);
    qint64 begunMs_ = 0;
    QPlainTextEdit* editor_ = new QPlainTextEdit(this);
    QTreeWidget* tables_ = new QTreeWidget(this);
    QPushButton* run_ = new QPushButton(tr("Run"), this);
    QPushButton* stop_ = new QPushButton(tr("Stop"), this);
    QPushButton* samples_ = new QPushButton(this);
    QPushButton* earlier_ = new QPushButton(this);
    QLabel* status_ = new WrappedLabel(this);
    ReportView* answer_ = new ReportView(this);
    QSplitter* parts_ = nullptr;  ///< Query and result.
    QSplitter* split_;
};

}  // namespace lanescope::views
