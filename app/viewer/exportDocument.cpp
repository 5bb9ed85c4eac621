// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/viewer/exportDocument.h"

#include <QBuffer>
#include <QCheckBox>
#include <QCoreApplication>
#include <QDialog>
#include <QDialogButtonBox>
#include <QFileDialog>
#include <QFormLayout>
#include <QLabel>
#include <QMessageBox>
#include <QPixmap>
#include <QPushButton>
#include <QSaveFile>
#include <QSvgGenerator>
#include <memory>

#include "app/viewer/ComparePage.h"
#include "app/viewer/DocumentTabs.h"
#include "app/viewer/RunGuide.h"
#include "app/viewer/TracePage.h"
#include "model/events/listEvents.h"
#include "model/explain/Explanation.h"
#include "model/pages/ComparisonReport.h"
#include "model/pages/ExplanationReport.h"
#include "model/pages/TimelineData.h"
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
#include "views/theme/layouts.h"
#include "views/timeline/TimelineView.h"
#include "views/timeline/exportPicture.h"

namespace lanescope::viewer {
namespace {

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
    Q_DECLARE_TR_FUNCTIONS(Export)
};

/// The part of a page that is shown in full, and the names that it keeps.
class ShareDialog : public QDialog {
  public:
    ShareDialog(const TracePage& page, QWidget* parent) : QDialog(parent) {
        setWindowTitle(Translated::tr("Share page"));
        const auto add = [this](const QString& text, std::optional<TimeRange> range) {
            parts_->addItem(range ? text.arg(views::shortDuration(range->durationNs())) : text);
            ranges_.push_back(range);
        };
        const views::TimelineView& timeline = page.timeline();
        add(Translated::tr("Visible range, %1"), timeline.state().range().visible());
        if (const auto selected = timeline.state().selection().range())
            add(Translated::tr("Selected range, %1"), selected);
        add(Translated::tr("Three steps around the largest finding"), std::nullopt);
        auto* buttons = new QDialogButtonBox(QDialogButtonBox::Cancel);
        buttons->addButton(Translated::tr("&Write…"), QDialogButtonBox::AcceptRole)->setDefault(true);
        connect(buttons, &QDialogButtonBox::accepted, this, &QDialog::accept);
        connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
        auto* layout = new QFormLayout(this);
        layout->addRow(new QLabel(
            Translated::tr("Writes one HTML file that any browser opens: the whole run coarsely, and\nthe chosen "
                           "part with every slice.")));
        layout->addRow(Translated::tr("In &full:"), parts_);
        layout->addRow(anonymous_);
        layout->addRow(buttons);
    }

    report::TimelineRequest request() const {
        return report::TimelineRequest{.time = ranges_[static_cast<size_t>(std::max(0, parts_->currentIndex()))],
                                       .isAnonymous = anonymous_->isChecked()};
    }

  private:
    views::DropDown* const parts_ = new views::DropDown(this);
    QCheckBox* const anonymous_ = new QCheckBox(Translated::tr("&Omit folders, and names of hosts and users"), this);
    std::vector<std::optional<TimeRange>> ranges_;
};

}  // namespace

Result<void> saveFile(const std::filesystem::path& path, const QByteArray& bytes) {
    QSaveFile file(QString::fromStdString(path.string()));
    if (!file.open(QIODevice::WriteOnly) || file.write(bytes) != bytes.size() || !file.commit())
        return fail("{} cannot be written: {}.", path.string(), file.errorString().toStdString());
    return {};
}

Result<void> exportDocumentPicture(DocumentPage& page, const std::filesystem::path& path) {
    const std::vector<views::TimelineView*> timelines = page.timelines();
    if (timelines.size() == 1) return views::exportPicture(*timelines.front(), path);
    if (path.extension() == ".png") return saveFile(path, views::pngOf(page.grab().toImage()));
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
        report::ComparisonReport report{.baseline = runs->baseline.summary};
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

void sharePage(TracePage& page, const QString& folder, const std::function<void(const QString&)>& report) {
    const TracePtr trace = page.timeline().state().trace();
    if (!trace) return;
    ShareDialog dialog(page, page.window());
    if (dialog.exec() != QDialog::Accepted) return;
    const QString path = QFileDialog::getSaveFileName(page.window(), Translated::tr("Share page"),
                                                      folder + "/page.html", Translated::tr("Pages (*.html)"));
    if (path.isEmpty()) return;
    auto* job = new views::LatestJob(&page);
    QObject::connect(job, &views::LatestJob::finished, job, &QObject::deleteLater);
    QObject::connect(job, &views::LatestJob::ranOutOfMemory, &page,
                     [report] { report(Translated::tr("There is not enough memory to write this page.")); });
    job->start([trace, path, report, request = dialog.request()]() -> views::LatestJob::Publish {
        const Result<std::string> text = report::tracePage(*trace, request);
        const Result<void> written =
            text ? saveFile(path.toStdString(), QByteArray::fromStdString(*text)) : fail(text.error());
        const QString sentence =
            written ? Translated::tr("Written: %1").arg(path) : views::toQString(written.error().sentence);
        return [report, sentence] { report(sentence); };
    });
}

}  // namespace lanescope::viewer
