// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/viewer/WatchPage.h"

#include <qcustomplot.h>

#include <QDateTime>
#include <QDir>
#include <QFile>
#include <QJsonDocument>
#include <QJsonObject>
#include <QSplitter>
#include <QTimer>
#include <algorithm>
#include <chrono>
#include <utility>

#include "model/numbers/Statistics.h"
#include "views/theme/layouts.h"
#include "views/theme/texts.h"

namespace lanescope::viewer {

using namespace views;

namespace {

constexpr qint64 maxFirstBytes = 4 << 20;  // A long file is read from there to its end.
constexpr qint64 maxReportBytes = 1 << 20;
constexpr size_t maxSteps = 20'000, maxMedians = 60;
constexpr size_t minStepsPerMedian = 16;
constexpr qint64 maxSilenceSeconds = 15;  // metrics are written each 5 s
constexpr std::chrono::milliseconds refreshPeriod{1000};

std::optional<WatchChart::Step> stepIn(const QByteArray& line) {
    const QJsonObject object = QJsonDocument::fromJson(line).object();
    if (!object["ms"].isDouble()) return std::nullopt;
    WatchChart::Step step{object["time"].toDouble(), object["ms"].toDouble(), object["slow"].toBool(), {}};
    step.text = WatchPage::tr("%1, number %2%3: %4")
                    .arg(object["name"].toString())
                    .arg(object["step"].toInteger())
                    .arg(object["rank"].isDouble() ? WatchPage::tr(", rank %1").arg(object["rank"].toInt()) : QString(),
                         shortDuration(std::llround(step.milliseconds * 1e6)));
    return step;
}

}  // namespace

WatchChart::WatchChart(QWidget* parent) : PlotWidget(parent) {
    setAccessibleName(tr("Duration of each step"));
    rebuild();
}

void WatchChart::add(std::vector<Step> steps) {
    steps_.insert(steps_.end(), std::make_move_iterator(steps.begin()), std::make_move_iterator(steps.end()));
    if (steps_.size() > maxSteps) steps_.erase(steps_.begin(), steps_.end() - maxSteps);
    std::ranges::stable_sort(steps_, {}, &Step::timeSeconds);
    rebuild();
}

void WatchChart::draw() {
    const auto addGraph = [this](QCPScatterStyle::ScatterShape shape, const QColor& color, double size) {
        QCPGraph* const graph = plot_->addGraph();
        graph->setScatterStyle({shape, QPen(color), QBrush(color), size});
        graph->setLineStyle(shape == QCPScatterStyle::ssNone ? QCPGraph::lsLine : QCPGraph::lsNone);
        graph->setPen(QPen(color, 2));
        return graph;
    };
    QCPGraph* const plain = addGraph(QCPScatterStyle::ssDisc, Theme::mix(theme_.canvas, theme_.busyGpu, 0.45), 4);
    QCPGraph* const line = addGraph(QCPScatterStyle::ssNone, theme_.accent, 0);
    QCPGraph* const slow = addGraph(QCPScatterStyle::ssTriangle, theme_.slower, 9);
    double highest = 0;
    for (const Step& each : steps_) {
        (each.isSlow ? slow : plain)->addData(each.timeSeconds, each.milliseconds);
        highest = std::max(highest, each.milliseconds);
    }
    const size_t group = std::max(minStepsPerMedian, steps_.size() / maxMedians + 1);
    for (size_t begin = 0; begin < steps_.size(); begin += group) {
        std::vector<double> values;
        const size_t end = std::min(begin + group, steps_.size());
        for (size_t at = begin; at < end; ++at) values.push_back(steps_[at].milliseconds);
        median_ = medianOf(std::span(values));
        line->addData((steps_[begin].timeSeconds + steps_[end - 1].timeSeconds) / 2, median_);
    }
    plot_->xAxis->setTicker(QSharedPointer<QCPAxisTickerDateTime>::create());
    plot_->yAxis->setLabel(tr("ms per step"));
    if (steps_.empty())
        showEmpty(*plot_, theme_, font(), tr("No steps yet"));
    else
        plot_->xAxis->setRange(steps_.front().timeSeconds,
                               std::max(steps_.back().timeSeconds, steps_.front().timeSeconds + 1));
    plot_->yAxis->setRange(0, std::max(highest * 1.08, 1.0));
}

bool WatchChart::plotEvent(QEvent* event) {
    if (event->type() != QEvent::ToolTip) return false;
    constexpr double aim = 8;  // pixels
    const auto* help = static_cast<QHelpEvent*>(event);
    const auto distance = [&](const Step& each) {
        return std::hypot(plot_->xAxis->coordToPixel(each.timeSeconds) - help->pos().x(),
                          plot_->yAxis->coordToPixel(each.milliseconds) - help->pos().y());
    };
    const auto nearest = std::ranges::min_element(steps_, {}, distance);
    if (nearest != steps_.end() && distance(*nearest) <= aim)
        QToolTip::showText(help->globalPos(), plainToolTip(nearest->text), plot_);
    return true;
}

bool isWatchFolder(const std::filesystem::path& path) {
    std::error_code error;
    return std::filesystem::is_regular_file(path / "metrics.prom", error);
}

WatchPage::WatchPage(std::filesystem::path folder) : folder_(std::move(folder)) {
    state_->setFont(strong(font()));
    state_->setMargin(10);
    auto* parts = new QSplitter(Qt::Vertical, this);
    split(parts, {{chart_, 500, 3}, {files_, 200, 1}, {report_, 300, 2}});
    report_->setReadOnly(true);
    report_->setFont(QFontDatabase::systemFont(QFontDatabase::FixedFont));
    report_->hide();
    addTo(columnIn(this), state_, Filling{parts});
    setFocusProxy(&files_->table());
    files_->setEmptyText(tr("No trace and no report of a hang yet"));
    connect(files_, &ReportView::rowActivated, this, &WatchPage::openFile);
    auto* timer = new QTimer(this);
    connect(timer, &QTimer::timeout, this, &WatchPage::refresh);
    timer->start(refreshPeriod);
}

void WatchPage::refresh() {
    readSteps();
    listFiles();
    QFile file(QDir(folder_).filePath("metrics.prom"));
    QHash<QByteArray, QByteArray> metrics;  // values by name and labels
    if (file.open(QIODevice::ReadOnly))
        for (const QByteArray& line : file.read(maxReportBytes).split('\n'))
            metrics.insert(line.left(line.lastIndexOf(' ')), line.mid(line.lastIndexOf(' ') + 1));
    const QDateTime written = QFileInfo(file).lastModified();
    const bool isRunning = written.secsTo(QDateTime::currentDateTime()) <= maxSilenceSeconds;
    QStringList state{isRunning ? tr("Watching")
                                : tr("Ended %1").arg(QLocale().toString(written, QLocale::ShortFormat))};
    for (const char* level : {"asleep", "steps", "kernels", "all"})
        if (metrics.value(QByteArray("lanescope_recording_level{level=\"") + level + "\"}") == "1")
            state << tr("level %1").arg(QLatin1String(level));
    if (!chart_->steps().empty())
        state << tr("%1 steps").arg(chart_->steps().size())
              << tr("median %1").arg(shortDuration(std::llround(chart_->medianMilliseconds() * 1e6)));
    if (metrics.value("lanescope_hang") == "1") state << tr("no progress");
    state_->setText(state.join(QStringLiteral(" · ")));
}

void WatchPage::readSteps() {
    QFile file(QDir(folder_).filePath("steps.jsonl"));
    if (!file.open(QIODevice::ReadOnly) || file.size() == readBytes_) return;
    if (file.size() < readBytes_) readBytes_ = 0;  // The former file is full.
    const bool isFirst = std::exchange(readBytes_, std::max(readBytes_, qint64{0})) < 0;
    if (isFirst && file.size() > maxFirstBytes) readBytes_ = file.size() - maxFirstBytes;
    const bool isInLine = isFirst && readBytes_ > 0;
    file.seek(readBytes_);
    const QByteArray text = file.read(maxFirstBytes);
    const qsizetype end = text.lastIndexOf('\n') + 1;
    std::vector<WatchChart::Step> steps;
    for (const QByteArray& line : text.left(end).split('\n').mid(isInLine ? 1 : 0))
        if (auto step = stepIn(line)) steps.push_back(*std::move(step));
    readBytes_ += end;
    if (!steps.empty()) chart_->add(std::move(steps));
}

void WatchPage::listFiles() {
    ReportTable table{.name = "watch_files",
                      .title = "Traces and reports",
                      .columns = {{"Name"}, {"Kind"}, {"Written"}, {"Size", Unit::Bytes}},
                      .rows = {}};
    QDir folder(folder_);
    for (const QFileInfo& file : folder.entryInfoList({"*.sqlite", "hang-*.txt"}, QDir::Files, QDir::Time))
        table.rows.push_back(
            {file.fileName().toStdString(), (file.suffix() == "txt" ? tr("hang report") : tr("trace")).toStdString(),
             QLocale().toString(file.lastModified(), QLocale::ShortFormat).toStdString(), int64_t{file.size()}});
    const bool isFirst = files_->model().table().rows.empty();
    if (table.rows != files_->model().table().rows) files_->setTable(std::move(table));
    if (isFirst) files_->fitAndSort(-1, Qt::AscendingOrder);
}

void WatchPage::openFile(int row) {
    const auto& rows = files_->model().table().rows;
    if (row < 0 || static_cast<size_t>(row) >= rows.size()) return;
    const std::filesystem::path path = folder_ / std::get<std::string>(rows[static_cast<size_t>(row)].front());
    if (path.extension() != ".txt") return emit openRequested(path);
    QFile file(path);
    if (!file.open(QIODevice::ReadOnly)) return showMessage(tr("%1 cannot be read.").arg(file.fileName()));
    report_->setPlainText(QString::fromUtf8(file.read(maxReportBytes)));
    report_->show();
}

}  // namespace lanescope::viewer
