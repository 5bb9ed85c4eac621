// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/viewer/LoadPage.h"

#include <QPointer>
#include <QVBoxLayout>
#include <system_error>
#include <utility>

#include "model/analysis/storedSummary.h"
#include "model/index/openTrace.h"
#include "model/merge/mergeFiles.h"
#include "model/remote/RemoteTrace.h"
#include "model/text/formatValue.h"
#include "views/jobs/LazyTab.h"
#include "views/theme/layouts.h"
#include "views/theme/texts.h"

namespace lanescope::viewer {

namespace {

using Paths = std::vector<std::filesystem::path>;

Result<TracePtr> openOne(const Paths& paths, const TraceExcerpt& cut, const LoadProgress& progress,
                         Paths& skippedFiles) {
    constexpr double merging = 0.8;  // of the progress
    std::error_code error;
    if (paths.size() == 1 && cut.isWhole() && !std::filesystem::is_directory(paths.front(), error))
        return openTrace(paths.front(), {}, progress);
    std::vector<std::string> words;
    for (const std::filesystem::path& path : paths) words.push_back(path.string());
    const auto files = filesMeantBy(words, &skippedFiles);
    if (!files) return fail(files.error());
    if (files->size() == 1 && cut.isWhole()) return openTrace(files->front(), {}, progress);
    MergeOptions options{.cut = cut};
    // Loading a part of a trace must not write files next to it.
    options.mayWriteIndexes = cut.isWhole();
    const auto merged = openableMerge(*files, options, partOf(progress, 0, merging));
    if (!merged) return fail(merged.error());
    return openTrace(*merged, {}, partOf(progress, merging, 1));
}

QString fileName(const std::filesystem::path& path) { return QString::fromStdString(path.filename().string()); }

}  // namespace

Result<TraceLoader::Loaded> TraceLoader::open(const Paths& paths, const TraceExcerpt& cut,
                                              const std::vector<std::string>& ssh, const LoadProgress& progress,
                                              Paths& skippedFiles) {
    if (const std::string name = paths.front().string(); paths.size() == 1 && isRemoteAddress(name)) {
        auto address = RemoteAddress::parse(name);
        if (!address) return fail(address.error());
        Result<TracePtr> trace = openRemoteTrace({*address, ssh}, progress);
        if (!trace) return fail(trace.error());
        return Loaded{views::freedInBackground(std::move(*trace)), nullptr};
    }
    if (paths.size() == 1 && fleet::isFleetReport(paths.front())) {
        auto report = fleet::readFleetReport(paths.front(), progress);
        if (!report) return fail(report.error());
        return Loaded{nullptr, views::freedInBackground(std::move(*report))};
    }
    Result<TracePtr> trace = openOne(paths, cut, progress, skippedFiles);
    if (!trace) return fail(trace.error());
    // A cancelled trace is also freed here instead of on the GUI thread.
    return Loaded{views::freedInBackground(std::move(*trace)), nullptr};
}

TraceLoader::TraceLoader(std::vector<std::filesystem::path> paths, QObject* parent, TraceExcerpt cut,
                         std::vector<std::string> ssh)
    : QObject(parent),
      paths_(std::move(paths)),
      cut_(std::move(cut)),
      ssh_(std::move(ssh)),
      isCancelled_(std::make_shared<std::atomic<bool>>(false)) {}

TraceLoader::~TraceLoader() { cancel(); }

void TraceLoader::start() {
    isRunning_ = true;
    // The worker must not touch `this`, which may be gone by then; the guard is checked on the GUI thread.
    const QPointer<TraceLoader> guard(this);
    // Allocated before, so that any failure can be reported.
    struct Answer {
        Result<Loaded> result;
        Paths skippedFiles;
    };
    auto answer = std::make_shared<Answer>(fail("There is not enough memory to open {}.", paths_.front().string()));
    views::runInThread(
        [guard, answer, paths = paths_, cut = cut_, ssh = ssh_, isCancelled = isCancelled_] {
            const LoadProgress progress = [&](double fraction, std::string_view what) {
                if (isCancelled->load()) return false;
                views::postToGui([guard, fraction, text = views::toQString(what)] {
                    if (guard && guard->isRunning_) emit guard->progressed(fraction, text);
                });
                return true;
            };
            answer->result = open(paths, cut, ssh, progress, answer->skippedFiles);
        },
        [guard, answer] {
            if (!guard) return;
            guard->skipped_ = answer->skippedFiles;
            guard->finish(answer->result);
        });
}

void TraceLoader::cancel() {
    isCancelled_->store(true);
    isRunning_ = false;
}

void TraceLoader::finish(const Result<Loaded>& result) {
    if (!isRunning_) return;
    isRunning_ = false;
    if (result && result->report) {
        emit reportLoaded(result->report);
    } else if (result) {
        emit loaded(result->trace);
    } else {
        emit failed(views::toQString(result.error().sentence));
    }
}

LoadPage::LoadPage(std::vector<std::filesystem::path> paths, SeveralFiles several, QWidget* parent)
    : QWidget(parent), paths_(std::move(paths)), several_(several) {
    heading_->setFont(views::resized(heading_->font(), 1.4));
    heading_->setTextFormat(Qt::PlainText);
    heading_->setText(title());
    text_->setTextInteractionFlags(Qt::TextSelectableByMouse);
    text_->setMinimumHeight(3 * fontMetrics().lineSpacing());
    text_->setAlignment(Qt::AlignLeft | Qt::AlignTop);
    bar_->setRange(0, 1000);
    bar_->setTextVisible(false);
    bar_->setFixedHeight(8);
    bar_->setAccessibleName(tr("Progress of reading"));
    // The preview has a bar and a button of its own.
    bar_->setObjectName("reading");
    button_->setObjectName("leave");
    preview_->hide();

    auto* column = new QWidget(this);
    column->setFixedWidth(520);
    auto* layout = new QVBoxLayout(column);
    layout->setSpacing(10);
    views::addTo(layout, heading_, bar_, text_);
    layout->addWidget(button_, 0, Qt::AlignLeft);
    auto* content = new QWidget(this);
    auto* outer = views::columnIn(content, {}, -1);
    outer->addWidget(preview_);
    outer->addStretch(2);
    outer->addWidget(column, 0, Qt::AlignHCenter);
    outer->addStretch(3);
    views::columnIn(this)->addWidget(new views::PageArea(content, this));
    connect(button_, &QPushButton::clicked, this, &LoadPage::closeRequested);
}

QString LoadPage::title() const {
    if (paths_.empty()) return {};
    const QString first = fileName(paths_.front());
    if (several_.baselineRuns > 0 && paths_.size() > 2)
        return tr("%1 against %2 runs").arg(paths_.size() - several_.baselineRuns).arg(several_.baselineRuns);
    if (!several_.cut.isWhole()) return views::toQString(describe(several_.cut));
    if (paths_.size() > 1 && several_.areOneTrace) return tr("%1 traces as one").arg(paths_.size());
    if (paths_.size() > 2) return tr("%1 runs against %2").arg(paths_.size() - 1).arg(first);
    return paths_.size() < 2 ? first : tr("%1 against %2").arg(fileName(paths_.back()), first);
}

QString LoadPage::skippedText() const {
    constexpr size_t maxNamed = 3;
    if (skipped_.empty()) return {};
    QStringList names;
    for (const std::filesystem::path& file : skipped_) names << views::toQString(printable(file.filename().string()));
    if (names.size() == 1)
        return tr("%1 is skipped: the folder has it unpacked, too. Open it by itself to see it.").arg(names.front());
    if (skipped_.size() > maxNamed) names = names.mid(0, qsizetype{maxNamed}) << QStringLiteral("…");
    return tr("%1 packed files are skipped, as the folder has them unpacked, too: %2. Open one by itself to see it.")
        .arg(skipped_.size())
        .arg(names.join(QStringLiteral(", ")));
}

void LoadPage::start() {
    isLoading_ = true;
    startPreview();
    loadNext();
}

void LoadPage::startPreview() {
    if (several_.areOneTrace) return;
    if (paths_.size() < 2) {
        previewJob_->start([this, path = paths_.front()]() -> views::LatestJob::Publish {
            auto summary = analysis::readRunSummary(path);
            if (!summary) return {};
            auto run = std::make_shared<const views::ExplainedRun>(std::move(*summary));
            return [this, run] { storedRun_ = run; };
        });
        return;
    }
    // The summaries of two of many runs are not the answer.
    if (several_.baselineRuns > 0 && paths_.size() > 2) return;
    previewJob_->start([this, baseline = paths_[0], candidate = paths_[1]]() -> views::LatestJob::Publish {
        compare::StoredComparisonPtr stored = compare::compareStoredRuns(baseline, candidate);
        if (!stored) return {};
        // Published only while the job exists, which belongs to this page.
        return [this, stored] {
            stored_ = stored;
            preview_->setComparison(*stored, paths_.size() - 1);
            preview_->show();
            emit answered();
        };
    });
}

void LoadPage::cancel() {
    isLoading_ = false;
    previewJob_->cancel();
    if (loader_) loader_->cancel();
}

void LoadPage::loadNext() {
    const size_t index = traces_.size();
    loader_ = new TraceLoader(several_.areOneTrace ? paths_ : Paths{paths_[index]}, this, several_.cut, several_.ssh);
    connect(loader_, &TraceLoader::reportLoaded, this, [this](const fleet::FleetReportPtr& report) {
        if (traceCount() > 1)
            return showError(
                tr("%1 is a report of many ranks and no trace: open it by itself.").arg(fileName(report->path)));
        cancel();
        emit reportLoaded(report);
    });
    connect(loader_, &TraceLoader::progressed, this, [this, index](double fraction, const QString& what) {
        bar_->setValue(int(1000.0 * (double(index) + fraction) / double(traceCount())));
        text_->setText(what);
    });
    connect(loader_, &TraceLoader::failed, this, &LoadPage::showError);
    connect(loader_, &TraceLoader::loaded, this, [this](const TracePtr& trace) {
        traces_.push_back(trace);
        skipped_.insert(skipped_.end(), loader_->skippedFiles().begin(), loader_->skippedFiles().end());
        if (traces_.size() < traceCount()) {
            loadNext();
            return;
        }
        cancel();
        emit loaded(traces_);
    });
    loader_->start();
}

void LoadPage::showError(const QString& sentence) {
    cancel();
    preview_->hide();
    stored_.reset();
    heading_->setText(tr("%1 cannot be shown").arg(title()));
    bar_->hide();
    text_->setText(sentence);
    button_->setText(tr("Close"));
    emit failed(sentence);
}

}  // namespace lanescope::viewer
