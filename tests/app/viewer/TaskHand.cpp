// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/app/viewer/TaskHand.h"

#include <QApplication>
#include <QFile>
#include <QTabBar>
#include <QTest>

#include "app/viewer/DocumentTabs.h"
#include "app/viewer/RunGuide.h"
#include "app/viewer/TracePage.h"
#include "app/viewer/tracePanels.h"
#include "tests/support/SimulatedRanks.h"
#include "views/timeline/TimelineView.h"
#include "views/timeline/TrackCanvas.h"

namespace lanescope {

using namespace viewer;
using namespace views;

namespace {

constexpr int64_t us = 1'000, stepNs = 10'000 * us;

QString counted(int count, const QString& what) {
    if (count == 0) return {};
    return count == 1 ? "1 " + what : QString("%1 %2s").arg(count).arg(what);
}

/// Returns the current effort of a task in the table of app/viewer/README.md; null if the task has no row.
QString onThePage(const QString& task) {
    QFile page(LANESCOPE_SOURCE_DIR "/app/viewer/README.md");
    if (!page.open(QIODevice::ReadOnly)) return {};
    for (const QString& line : QString::fromUtf8(page.readAll()).split('\n')) {
        const QStringList cells = line.split('|');
        if (cells.size() > 4 && cells[1].trimmed() == task) return cells[3].trimmed();
    }
    return {};
}

}  // namespace

TracePtr withALateRank(int period) {
    SimulatedRanks job(2);
    for (int64_t step = 0; step < 24; ++step) {
        const int64_t at = step * stepNs;
        const bool isLate = period > 0 && step % period == 0;
        for (size_t rank = 0; rank < 2; ++rank) {
            const uint32_t thread = job.threads[rank], stream = job.streams[rank];
            const int64_t entryNs = at + (rank == 1 && isLate ? 5'010 : 2'010) * us;
            const int64_t endNs = at + (isLate ? 5'600 : 2'600) * us;
            job.builder.addNvtx(thread, "step " + std::to_string(step), at, at + 9'500 * us);
            job.builder.launch(thread, stream, "gemm", at + 50 * us, at + 100 * us, at + 2'000 * us);
            if (rank == 1 && isLate)
                job.builder.launch(thread, stream, "tokenizer_kernel", at + 60 * us, at + 2'000 * us, at + 5'000 * us);
            job.addCall(rank, "AllReduce", 1 << 20, at + 70 * us, TimeRange{entryNs, endNs}, {}, 0xabcdef);
            job.builder.launch(thread, stream, "adam", at + 7'000 * us, at + 7'010 * us, at + 9'000 * us + step * us);
        }
    }
    return job.builder.finish();
}

int64_t startOfAStep(TimeRange visible) { return (visible.startNs + visible.durationNs() / 2) / stepNs * stepNs; }

TaskHand::TaskHand() : ShownWindow(QSize(1500, 900)) { timer_.start(); }

TaskHand::TaskHand(TracePtr trace) : TaskHand() {
    if (!opened(std::move(trace))) qFatal("the window stays busy");
}

void TaskHand::touch() {
    if (!isTouched_) timer_.restart();
    isTouched_ = true;
}

void TaskHand::click(QWidget& widget, QPoint place, Qt::MouseButton button) {
    touch();
    ++clicks_;
    QTest::mouseClick(&widget, button, {}, place);
    QApplication::processEvents();
}

void TaskHand::key(QWidget& widget, Qt::Key pressed, Qt::KeyboardModifiers with) {
    touch();
    ++keys_;
    QTest::keyClick(&widget, pressed, with);
    QApplication::processEvents();
}

void TaskHand::type(const QString& word) {
    touch();
    ++words_;
    QTest::keyClicks(QApplication::focusWidget(), word);
    QApplication::processEvents();
}

void TaskHand::openTable(const QString& title) {
    QTabBar& bar = *page().tables().tabBar();
    for (int index = 0; index < bar.count(); ++index)
        if (bar.tabText(index) == title) return click(bar, bar.tabRect(index).center());
    qFatal("no table %s", qPrintable(title));
}

void TaskHand::drop(const QStringList& files) {
    touch();
    ShownWindow::drop(files);
}

RunGuide& TaskHand::guide() { return page().guide(); }

TrackCanvas& TaskHand::canvas() { return *timeline().findChild<TrackCanvas*>(); }

QPoint TaskHand::placeOn(uint32_t gpu, int64_t timeNs) {
    const Trace& trace = *page().trace();
    for (uint32_t track = 0; track < trace.tracks.size(); ++track)
        if (trace.tracks[track].kind == TrackKind::Stream && trace.streams[trace.tracks[track].subject].gpu == gpu)
            return canvas().mapFrom(&timeline(), QPoint(int(timeline().places().xOf(timeNs)),
                                                        timeline().places().trackArea(track).center().y()));
    return {};
}

QString TaskHand::effort() const {
    QStringList parts = {counted(clicks_, "click"), counted(keys_, "key"),
                         words_ == 1 ? QString("a word") : counted(words_, "word")};
    parts.removeAll(QString());
    return parts.isEmpty() ? QString("0") : parts.join(" and ");
}

QString TaskHand::said(const QString& task) const {
    qInfo("| %s | %s | %lld ms |", qPrintable(task), qPrintable(effort()), timer_.elapsed());
    const QString there = onThePage(task);
    return there == effort() ? QString() : QString("%1 took %2, the page says %3").arg(task, effort(), there);
}

}  // namespace lanescope
