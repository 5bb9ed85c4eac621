// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/views/compare/ShownComparison.h"

#include <QApplication>
#include <QTableView>
#include <QTest>

#include "tests/support/SimulatedTrace.h"

namespace lanescope {

TracePtr numberedSteps(const std::vector<int64_t>& durationsNs, int64_t offsetNs, std::string title) {
    SimulatedTrace builder;
    const uint32_t gpu = builder.addGpu(), thread = builder.addThread(0, 4242, "python3");
    const uint32_t stream = builder.addStream(0, gpu, 7, true);
    int64_t nowNs = offsetNs;
    int number = 0;
    uint32_t correlation = 1;
    for (const int64_t durationNs : durationsNs) {
        builder.addNvtx(thread, "step " + std::to_string(number++), nowNs, nowNs + durationNs);
        builder.addApi(thread, "cudaLaunchKernel", nowNs + 1'000, nowNs + 5'000, correlation);
        builder.addKernel(stream, "gemm", nowNs + 10'000, nowNs + 10'000 + durationNs / 2, correlation++);
        nowNs += durationNs;
    }
    return builder.finish(std::move(title));
}

ShownComparison::ShownComparison(TracePtr baseline, std::vector<TracePtr> candidates) {
    view.setTraces(std::move(baseline), std::move(candidates));
    show();
}

ShownComparison::ShownComparison(TracePtr baseline, TracePtr candidate)
    : ShownComparison(std::move(baseline), std::vector<TracePtr>{std::move(candidate)}) {}

ShownComparison::ShownComparison(std::vector<TracePtr> baseline, std::vector<TracePtr> candidate) {
    view.setRuns(std::move(baseline), std::move(candidate));
    show();
}

void ShownComparison::show() {
    view.resize(1280, 900);
    view.setTheme(views::Theme::light());
    view.show();
    QApplication::setActiveWindow(&view);
    if (!wait()) qFatal("the runs are not compared in time");
}

bool ShownComparison::wait() {
    return QTest::qWaitFor([this] { return !view.isBusy() && view.runs(); }, patienceMs);
}

views::LazyTab& ShownComparison::showTab(const QString& title) {
    views::CompareTables& tables = view.tables();
    int index = 0;
    while (index < tables.count() && !tables.tabText(index).contains(title, Qt::CaseInsensitive)) ++index;
    if (index == tables.count()) qFatal("no tab %s", qPrintable(title));
    tables.setCurrentIndex(index);
    return *tables.currentTab();
}

bool ShownComparison::clickRow(const QString& title, const QString& text) {
    views::ReportView& report = table(title);
    showTab(title);
    QApplication::processEvents();
    for (int row = 0; row < report.filter().rowCount(); ++row) {
        for (int column = 0; column < report.filter().columnCount(); ++column) {
            const QModelIndex cell = report.filter().index(row, column);
            if (!cell.data().toString().contains(text)) continue;
            report.table().scrollTo(cell);
            QTest::mouseClick(report.table().viewport(), Qt::LeftButton, {}, report.table().visualRect(cell).center());
            return QTest::qWaitFor([this] { return !view.isBusy(); }, patienceMs);
        }
    }
    return false;
}

}  // namespace lanescope
