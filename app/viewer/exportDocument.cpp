// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/viewer/exportDocument.h"

#include <QBuffer>
#include <QCoreApplication>
#include <QFileDialog>
#include <QMessageBox>
#include <QPixmap>
#include <QSaveFile>
#include <QSvgGenerator>
#include <memory>

#include "app/viewer/ComparePage.h"
#include "app/viewer/DocumentPage.h"
#include "app/viewer/RunGuide.h"
#include "app/viewer/TracePage.h"
#include "model/events/listEvents.h"
#include "model/explain/Explanation.h"
#include "model/pages/ComparisonReport.h"
#include "model/pages/ExplanationReport.h"
#include "model/pages/makeComparison.h"
#include "model/text/formatTable.h"
#include "views/compare/CompareView.h"
#include "views/compare/ComparisonJob.h"
#include "views/events/EventsPanel.h"
#include "views/explain/ExplainJob.h"
#include "views/explain/ExplanationPanel.h"
#include "views/flame/FlamePanel.h"
#include "views/jobs/LatestJob.h"
#include "views/text/shownText.h"
#include "views/timeline/TimelineView.h"
#include "views/timeline/exportPicture.h"

namespace lanescope::viewer {
namespace {

QByteArray pngOf(QWidget& widget) {
    QByteArray bytes;
    QBuffer buffer(&bytes);
    buffer.open(QIODevice::WriteOnly);
    widget.grab().save(&buffer, "PNG");
    return bytes;
}

QByteArray svgOf(QWidget& widget) {
    QByteArray bytes;
    QBuffer buffer(&bytes);
    buffer.open(QIODevice::WriteOnly);
    QSvgGenerator generator;
    generator.setOutputDevice(&buffer);
    generator.setSize(widget.size());
    generator.setViewBox(widget.rect());
    generator.setTitle(widget.windowTitle());
    widget.render(&generator);
    return bytes;
}

struct Translated {
    Q_DECLARE_TR_FUNCTIONS(PanelExport)
};

}  // namespace

Result<void> saveFile(const std::filesystem::path& path, const QByteArray& bytes) {
    QSaveFile file(QString::fromStdString(path.string()));
    if (!file.open(QIODevice::WriteOnly) || file.write(bytes) != bytes.size() || !file.commit()) {
        return fail("{} cannot be written: {}.", path.string(), file.errorString().toStdString());
    }
    return {};
}

Result<void> exportDocumentPicture(DocumentPage& page, const std::filesystem::path& path) {
    const std::vector<views::TimelineView*> timelines = page.timelines();
    if (timelines.size() == 1) return views::exportPicture(*timelines.front(), path);
    if (path.extension() == ".png") return saveFile(path, pngOf(page));
    if (path.extension() == ".svg") return saveFile(path, svgOf(page));
    return fail("{} is no picture that can be written; let its name end in .png or .svg.", path.string());
}

Result<std::string> reportOf(const DocumentPage& page) {
    if (const auto* trace = qobject_cast<const TracePage*>(&page)) {
        const views::ExplainedRunPtr& run = trace->guide().run();
        if (!run) return fail("The run is not explained yet.");
        return explanationAsHtml(
            report::ExplanationReport{run->summary, explain::explain(run->summary, trace->guide().card().muted())});
    }
    if (const auto* comparison = qobject_cast<const ComparePage*>(&page)) {
        const views::ComparedRunsPtr& runs = comparison->view().runs();
        if (!runs) return fail("The runs are not compared yet.");
        report::ComparisonReport report;
        report.baseline = runs->baseline.summary;
        for (size_t index = 0; index < runs->comparisons.size(); ++index)
            report.candidates.push_back({runs->candidates[index].summary, runs->comparisons[index], {}});
        report.top = defaultHtmlTop;
        return comparisonAsHtml(report);
    }
    return fail("A report of many ranks is exported by `lanescope fleet --html`.");
}

Result<void> exportTableTo(const ReportTable& table, const std::filesystem::path& path) {
    const auto format = path.extension() == ".json" ? TableFormat::Json : TableFormat::Csv;
    return saveFile(path, QByteArray::fromStdString(formatTable(table, format)));
}

Result<void> exportFlameTo(const views::FlamePanel& panel, const std::filesystem::path& path) {
    const std::string text = path.extension() == ".svg" ? panel.svg() : panel.folded();
    if (text.empty()) return fail("There is no flame graph to write.");
    return saveFile(path, QByteArray::fromStdString(text));
}

void askForFlame(views::FlamePanel& panel, bool isPicture) {
    const QString path = QFileDialog::getSaveFileName(
        &panel, isPicture ? Translated::tr("Save flame graph") : Translated::tr("Save folded text"),
        isPicture ? QStringLiteral("flame.svg") : QStringLiteral("flame.folded"),
        isPicture ? Translated::tr("Pictures (*.svg)") : Translated::tr("Folded text (*.folded *.txt)"));
    if (path.isEmpty()) return;
    const Result<void> written = exportFlameTo(panel, path.toStdString());
    panel.showMessage(written ? Translated::tr("Written: %1").arg(path) : views::toQString(written.error().sentence));
}

void askForEvents(views::EventsPanel& panel, const TracePtr& trace) {
    const QString path = QFileDialog::getSaveFileName(panel.window(), Translated::tr("Save events"),
                                                      views::toQString(trace->title) + QStringLiteral("-events.csv"),
                                                      Translated::tr("CSV (*.csv)"));
    if (path.isEmpty()) return;
    const auto warn = [&panel](const QString& sentence) {
        QMessageBox::warning(panel.window(), Translated::tr("Save events"), sentence);
    };
    auto* job = new views::LatestJob(&panel);
    QObject::connect(job, &views::LatestJob::finished, job, &QObject::deleteLater);
    QObject::connect(job, &views::LatestJob::ranOutOfMemory, &panel,
                     [warn] { warn(Translated::tr("There is not enough memory to save these events.")); });
    job->start([warn, trace, request = panel.request(), file = path.toStdString()]() -> views::LatestJob::Publish {
        auto saved = std::make_shared<Result<int64_t>>(saveEventsAsCsv(*trace, request, file));
        return [warn, saved] {
            if (!*saved) warn(views::toQString(saved->error().sentence));
        };
    });
}

}  // namespace lanescope::viewer
