// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/viewer_scale/ViewerMeasurement.h"

#include <QCoreApplication>
#include <QEventLoop>
#include <QImage>
#include <QPainter>
#include <memory>
#include <random>

#include "app/viewer/LoadPage.h"
#include "model/assemble/TraceBuilder.h"
#include "model/index/openTrace.h"
#include "model/lod/SelectionStatistics.h"
#include "model/search/findEvents.h"
#include "tests/bench/viewer_scale/ProcessMemory.h"
#include "tests/bench/viewer_scale/Times.h"
#include "views/timeline/TimelineView.h"

namespace lanescope {

using namespace viewer;
using namespace views;

namespace {

constexpr QSize screen{1920, 1080};
/// Opening time without an index above which one round must be enough.
constexpr double longMs = 20'000;

class Measurement {
  public:
    Measurement(std::filesystem::path path, int rounds) : path_(std::move(path)), rounds_(rounds) {}

    Result<QJsonObject> run() {
        values_["name"] = QString::fromStdString(path_.filename().string());
        if (const auto opened = measureOpening(); !opened) return fail(opened.error());
        measureDisk();
        measureFloor();
        measureFrames();
        measureStatistics();
        measureSearch();
        return values_;
    }

  private:
    /// Returns the time from the request of the file to its picture; nullopt if it is unreadable.
    std::optional<double> open(QString& error) {
        auto view = std::make_unique<TimelineView>();
        view->resize(screen);
        view->state().tracks().setRowHeight(RowHeight::Compact);
        view->show();
        QCoreApplication::processEvents();
        TracePtr trace;
        TraceLoader loader({path_});
        QEventLoop loop;
        QObject::connect(&loader, &TraceLoader::loaded, &loop, [&](const TracePtr& loaded) {
            trace = loaded;
            loop.quit();
        });
        QObject::connect(&loader, &TraceLoader::failed, &loop, [&](const QString& sentence) {
            error = sentence;
            loop.quit();
        });
        double readMs = 0;
        const double cpuBefore = processCpuMs();
        const double ms = millisecondsOf([&] {
            readMs = millisecondsOf([&] {
                loader.start();
                loop.exec();
            });
            view->setTrace(trace);
            view->state().tracks().setAllFolded(false);
            view->repaint();
        });
        openCpu_.add(processCpuMs() - cpuBefore);
        openRead_.add(readMs);
        view_ = std::move(view);
        trace_ = std::move(trace);
        return trace_ ? std::optional(ms) : std::nullopt;
    }

    void measureEmptyWindow() {
        const ProcessMemory before = processMemory();
        TraceBuilder builder;
        builder.finish();
        auto view = std::make_unique<TimelineView>();
        view->resize(screen);
        view->state().tracks().setRowHeight(RowHeight::Compact);
        view->show();
        QCoreApplication::processEvents();
        view->setTrace(builder.take());
        view->state().tracks().setAllFolded(false);
        view->repaint();
        const ProcessMemory after = processMemory();
        values_["emptyBytes"] =
            double(after.anonymousBytes - before.anonymousBytes) + double(after.mappedBytes - before.mappedBytes);
    }

    Result<void> measureOpening() {
        const ProcessMemory before = processMemory();
        measureEmptyWindow();
        QString error;
        const std::optional<double> first = open(error);
        if (!first) return fail("{}", error.toStdString());
        const ProcessMemory after = processMemory();
        values_["openFirstMs"] = *first;
        values_["anonymousBytes"] = double(after.anonymousBytes - before.anonymousBytes);
        values_["mappedBytes"] = double(after.mappedBytes - before.mappedBytes);
        values_["residentBytes"] = values_["anonymousBytes"].toDouble() + values_["mappedBytes"].toDouble();
        values_["traceBytes"] = values_["residentBytes"].toDouble() - values_["emptyBytes"].toDouble();
        int64_t events = 0;
        for (const EventCount& count : trace_->counts) events += count.total;
        values_["events"] = double(events);
        Times times;
        for (int round = 0; round < rounds_ && (round == 0 || *first < longMs); ++round) {
            view_.reset();
            trace_.reset();
            if (const auto ms = open(error)) times.add(*ms);
        }
        values_["openMs"] = times.median();
        values_["openBestMs"] = times.shortest();
        values_["openReadMs"] = openRead_.median();
        values_["openCpuMs"] = openCpu_.median();
        return {};
    }

    void measureDisk() {
        std::error_code error;
        const auto fileBytes = double(std::filesystem::file_size(path_, error));
        double indexBytes = 0;
        for (const std::filesystem::path& index : indexPaths(path_))
            if (std::filesystem::exists(index, error)) indexBytes += double(std::filesystem::file_size(index, error));
        values_["fileBytes"] = fileBytes;
        values_["diskBytes"] = fileBytes + indexBytes;
    }

    /// Measures the baseline: filling small rectangles only.
    void measureFloor() {
        std::mt19937 random(1);
        QImage image(screen, QImage::Format_ARGB32_Premultiplied);
        Times times;
        for (int round = 0; round < 9; ++round) {
            QPainter painter(&image);
            times.add(cpuMillisecondsOf([&] {
                for (int i = 0; i < 100'000; ++i)
                    painter.fillRect(QRect(int(random() % uint32_t(screen.width())),
                                           int(random() % uint32_t(screen.height())), 1, 1),
                                     QColor::fromRgb(random()));
            }));
        }
        values_["floorMs"] = times.median();
    }

    /// Moves the view and paints it completely.
    template <class Move>
    void paintFrame(Move move) {
        const double before = processCpuMs();
        frameWall_.add(millisecondsOf([&] {
            move();
            view_->repaint();
        }));
        frameCpu_.add(processCpuMs() - before);
    }

    /// Three times in and out again, at other places, and along the trace in between.
    void measureFrames() {
        constexpr int zoomSteps = 80, panSteps = 40;
        constexpr double factor = 1.2;
        view_->commands().fit();
        view_->repaint();
        VisibleRange& visible = view_->state().range().axis();
        const TimeRange whole = visible.range();
        const auto show = [&](TimeRange range) { paintFrame([&] { visible.setRange(range); }); };
        for (const double place : {0.1, 0.5, 0.83}) {
            const auto centerNs = whole.startNs + static_cast<int64_t>(place * double(whole.durationNs()));
            for (int step = 0; step < zoomSteps; ++step) {
                paintFrame([&] { visible.zoomAt(centerNs, factor); });
                if (step % 16 != 8) continue;
                for (int pan = 0; pan < panSteps; ++pan) {
                    const int64_t byNs = visible.range().durationNs() / 20;
                    show(visible.range().shifted(pan < panSteps / 2 ? byNs : -byNs));
                }
            }
            for (int step = 0; step < zoomSteps; ++step) paintFrame([&] { visible.zoomAt(centerNs, 1 / factor); });
        }
        values_["frameP50Ms"] = frameCpu_.quantile(0.5);
        values_["frameP95Ms"] = frameCpu_.quantile(0.95);
        values_["frameP99Ms"] = frameCpu_.quantile(0.99);
        values_["frameMaxMs"] = frameCpu_.longest();
        values_["frameWallMaxMs"] = frameWall_.longest();
        values_["histogram"] = frameCpu_.histogram();
    }

    void measureStatistics() {
        std::mt19937_64 random(1);
        const TimeRange whole = trace_->range;
        const auto somewhere = [&] {
            return whole.startNs + static_cast<int64_t>(random() % static_cast<uint64_t>(whole.durationNs()));
        };
        Times times;
        for (int round = 0; round < 200; ++round) {
            const int64_t a = somewhere(), b = somewhere();
            times.add(cpuMillisecondsOf([&] {
                selectionStatistics(*trace_, trace_->sums, {std::min(a, b), std::max(a, b)});
            }));
        }
        values_["selectMedianMs"] = times.median();
        values_["selectMaxMs"] = times.longest();
    }

    /// From a quarter of the trace on, as in typical use.
    void measureSearch() {
        const int64_t fromNs = trace_->range.startNs + trace_->range.durationNs() / 4;
        Times first, all;
        for (const auto& [text, kind] : {std::pair("gemm", PatternKind::Substring),
                                         {"layer 7", PatternKind::Substring},
                                         {"e", PatternKind::Substring},
                                         {"no such name", PatternKind::Substring},
                                         {"^(nccl|flash).*_1[0-9]*$", PatternKind::Expression},
                                         {".", PatternKind::Expression}}) {
            const auto pattern = NamePattern::compile(text, kind);
            if (!pattern) continue;
            std::vector<EventRef> behind, before;
            double firstMs = 0;
            const double allMs = cpuMillisecondsOf([&] {
                const double startMs = threadCpuMs();
                findEvents(*trace_, *pattern, {fromNs, INT64_MAX}, [&](std::span<const EventRef> hits) {
                    if (behind.empty() && !hits.empty()) firstMs = threadCpuMs() - startMs;
                    behind.insert(behind.end(), hits.begin(), hits.end());
                    return true;
                });
                findEvents(*trace_, *pattern, {INT64_MIN, fromNs}, [&](std::span<const EventRef> hits) {
                    before.insert(before.end(), hits.begin(), hits.end());
                    return true;
                });
                before.insert(before.end(), behind.begin(), behind.end());
                SearchHits::of(*trace_, std::move(before));
            });
            first.add(firstMs);
            all.add(allMs);
        }
        values_["searchFirstMs"] = first.longest();
        values_["searchAllMs"] = all.longest();
    }

    const std::filesystem::path path_;
    const int rounds_;
    QJsonObject values_;
    Times openRead_, openCpu_;    ///< Per opening.
    Times frameCpu_, frameWall_;  ///< Per frame; the CPU time is that of all threads.
    TracePtr trace_;
    std::unique_ptr<TimelineView> view_;
};

}  // namespace

Result<QJsonObject> measureViewer(const std::filesystem::path& path, int rounds) {
    return Measurement(path, rounds).run();
}

}  // namespace lanescope
