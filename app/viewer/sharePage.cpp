// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/viewer/sharePage.h"

#include <QCheckBox>
#include <QCoreApplication>
#include <QDialog>
#include <QDialogButtonBox>
#include <QFileDialog>
#include <QFormLayout>
#include <QLabel>
#include <QPushButton>
#include <memory>

#include "app/viewer/TracePage.h"
#include "app/viewer/exportDocument.h"
#include "model/pages/TimelineData.h"
#include "views/jobs/LatestJob.h"
#include "views/text/shownText.h"
#include "views/theme/DropDown.h"
#include "views/timeline/TimelineView.h"

namespace lanescope::viewer {
namespace {

struct Words {
    Q_DECLARE_TR_FUNCTIONS(SharePage)
};

/// The part of a page that is shown in full, and the names that it keeps.
class ShareDialog : public QDialog {
  public:
    ShareDialog(const TracePage& page, QWidget* parent) : QDialog(parent) {
        setWindowTitle(Words::tr("Share page"));
        const auto add = [this](const QString& text, std::optional<TimeRange> range) {
            parts_->addItem(range ? text.arg(views::shortDuration(range->durationNs())) : text);
            ranges_.push_back(range);
        };
        const views::TimelineView& timeline = page.timeline();
        add(Words::tr("Visible range, %1"), timeline.state().range().visible());
        if (const auto selected = timeline.state().selection().range()) add(Words::tr("Selected range, %1"), selected);
        add(Words::tr("Three steps around the largest finding"), std::nullopt);
        auto* buttons = new QDialogButtonBox(QDialogButtonBox::Cancel);
        buttons->addButton(Words::tr("&Write…"), QDialogButtonBox::AcceptRole)->setDefault(true);
        connect(buttons, &QDialogButtonBox::accepted, this, &QDialog::accept);
        connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
        auto* layout = new QFormLayout(this);
        layout->addRow(
            new QLabel(Words::tr("Writes one HTML file that any browser opens: the whole run coarsely, and\nthe chosen "
                                 "part with every slice.")));
        layout->addRow(Words::tr("In &full:"), parts_);
        layout->addRow(anonymous_);
        layout->addRow(buttons);
    }

    report::TimelineRequest request() const {
        report::TimelineRequest request;
        request.time = ranges_[static_cast<size_t>(std::max(0, parts_->currentIndex()))];
        request.isAnonymous = anonymous_->isChecked();
        return request;
    }

  private:
    views::DropDown* const parts_ = new views::DropDown(this);
    QCheckBox* const anonymous_ = new QCheckBox(Words::tr("&Omit folders, and names of hosts and users"), this);
    std::vector<std::optional<TimeRange>> ranges_;
};

}  // namespace

void sharePage(TracePage& page, const QString& folder, const std::function<void(const QString&)>& report) {
    const TracePtr trace = page.timeline().state().trace();
    if (!trace) return;
    ShareDialog dialog(page, page.window());
    if (dialog.exec() != QDialog::Accepted) return;
    const QString path = QFileDialog::getSaveFileName(page.window(), Words::tr("Share page"), folder + "/page.html",
                                                      Words::tr("Pages (*.html)"));
    if (path.isEmpty()) return;
    auto* job = new views::LatestJob(&page);
    QObject::connect(job, &views::LatestJob::finished, job, &QObject::deleteLater);
    QObject::connect(job, &views::LatestJob::ranOutOfMemory, &page,
                     [report] { report(Words::tr("There is not enough memory to write this page.")); });
    job->start([trace, path, report, request = dialog.request()]() -> views::LatestJob::Publish {
        const Result<std::string> text = report::tracePage(*trace, request);
        const Result<void> written =
            text ? saveFile(path.toStdString(), QByteArray::fromStdString(*text)) : fail(text.error());
        const QString sentence =
            written ? Words::tr("Written: %1").arg(path) : views::toQString(written.error().sentence);
        return [report, sentence] { report(sentence); };
    });
}

}  // namespace lanescope::viewer
