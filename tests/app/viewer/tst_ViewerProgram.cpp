// SPDX-License-Identifier: GPL-3.0-or-later
#include <QImage>

#include "app/viewer/ViewerOptions.h"
#include "model/export/traceFile.h"
#include "model/format/version.h"
#include "model/index/openTrace.h"
#include "tests/support/fileBytes.h"
#include "tests/support/files.h"
#include "tests/support/runTest.h"
#include "tests/support/simulatedTraining.h"

using namespace lanescope;
using namespace lanescope::viewer;

namespace {

struct Outcome {
    int status = -1;
    QString output;
    QString errors;
};

Outcome runViewer(const QStringList& arguments, const QString& display = {}) {
    QProcess process;
    QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
    environment.remove("QT_QPA_PLATFORM");  // it must detect by itself that it needs no display
    environment.remove("DISPLAY");
    if (!display.isEmpty()) environment.insert("DISPLAY", display);
    environment.remove("WAYLAND_DISPLAY");
    process.setProcessEnvironment(environment);
    process.start(LANESCOPE_BINARY_DIR "/bin/lanescope-viewer", arguments);
    if (!process.waitForFinished(60'000)) return {};
    return {process.exitStatus() == QProcess::NormalExit ? process.exitCode() : -1, process.readAllStandardOutput(),
            process.readAllStandardError()};
}

/// Number of colours of a picture, up to a limit: a picture with content has many.
int colorCount(const QImage& image) {
    QSet<QRgb> colors;
    for (int y = 0; y < image.height(); y += 3) {
        for (int x = 0; x < image.width(); x += 3) colors.insert(image.pixel(x, y));
    }
    return int(colors.size());
}

Result<ViewerOptions, int> parse(std::initializer_list<const char*> arguments) {
    std::vector<const char*> all{"lanescope-viewer"};
    all.insert(all.end(), arguments);
    return parseViewerOptions(int(all.size()), all.data());
}

}  // namespace

class tst_ViewerProgram : public QObject {
    Q_OBJECT

    TemporaryFolder folder_;
    QString baseline_, candidate_, picture_;

  private slots:
    void initTestCase() {
        baseline_ = QString::fromStdString((folder_ / "baseline.lanescope").string());
        candidate_ = QString::fromStdString((folder_ / "candidate.lanescope").string());
        picture_ = QString::fromStdString((folder_ / "picture.png").string());
        QVERIFY(writeTraceFile(*simulatedTraining({.steps = 3}), baseline_.toStdString()).has_value());
        QVERIFY(
            writeTraceFile(*simulatedTraining({.steps = 3, .kernelScale = 1.4}), candidate_.toStdString()).has_value());
    }

    void printsItsVersionWithoutADisplay() {
        const Outcome outcome = runViewer({"--version"});
        QCOMPARE(outcome.status, 0);
        const QStringList lines = outcome.output.trimmed().split('\n');
        QCOMPARE(lines.size(), 3);
        QCOMPARE(lines[0], QString("lanescope-viewer ") + productVersion());
        QVERIFY(lines[1].startsWith("commit "));
        QCOMPARE(lines[2], QString("Qt ") + qVersion() + ", compiled with " QT_VERSION_STR);
    }

    void remotePictureEqualsTheLocalOne() {
        const QString ssh = QString::fromStdString((folder_ / "ssh").string());
        put(ssh.toStdString(), "#!/bin/sh\nwhile [ \"$1\" != -- ]; do shift; done\nPATH=" LANESCOPE_BINARY_DIR
                               "/bin:$PATH exec sh -c \"$3\"\n");
        std::filesystem::permissions(ssh.toStdString(), std::filesystem::perms::owner_all);
        const auto picture = [&](const QString& file) {
            const Outcome outcome =
                runViewer({file, "--ssh-command", ssh, "--render", picture_, "--visible", "2ms:5ms"});
            if (outcome.status != 0) qWarning("%s", qPrintable(outcome.errors));
            const std::string content = contentOf(picture_.toStdString());
            QFile::remove(picture_);
            return content;
        };
        const std::string local = picture(baseline_);
        QVERIFY(!local.empty());
        QVERIFY(picture("ssh://host" + baseline_) == local);
    }

    void missingDisplayIsASentenceAndAStatus() {
        const Outcome outcome = runViewer({baseline_});
        QCOMPARE(outcome.status, 1);
        QVERIFY(outcome.errors.startsWith("lanescope-viewer: There is no display here"));
        QCOMPARE(outcome.errors.count('\n'), 1);
    }

    void unreachableDisplayIsASentenceAndAStatus() {
        const Outcome outcome = runViewer({baseline_}, ":4711");
        QCOMPARE(outcome.status, 1);
        QVERIFY2(outcome.errors.startsWith("lanescope-viewer: The display \":4711\" cannot be"),
                 qPrintable(outcome.errors));
        QCOMPARE(outcome.errors.count('\n'), 1);
    }

    void rendersATraceInTheRequestedSize() {
        const Outcome outcome =
            runViewer({baseline_, "--render", picture_, "--size", "1200x800", "--select", "1ms:5ms"});
        QVERIFY2(outcome.status == 0, qPrintable(outcome.errors));
        QCOMPARE(outcome.errors, QString());
        const QImage image(picture_);
        QCOMPARE(image.size(), QSize(1200, 800));
        QVERIFY(colorCount(image) > 50);
    }

    void unshowableTraceIsASentenceAndAStatus_data() {
        const test::Rows<QStringList, QString> row;
        row("no hit", {"--find", "zzzqq"}, "--find: nothing has");
        row("no SQL", {"--query", "selec nonsense"}, "--query: ");
        row("writing", {"--query", "delete from NVTX_EVENTS"}, "only be read");
        row("outside", {"--visible", "100:200"}, "goes from 0.0");
        row("full disk", {"--render", "/dev/full"}, "No space left");
    }
    void unshowableTraceIsASentenceAndAStatus() {
        const auto [asked, mentions] = test::row<QStringList, QString>();
        QStringList arguments{baseline_};
        if (!asked.contains("--render")) arguments << "--render" << picture_;
        const Outcome outcome = runViewer(arguments + asked);
        QCOMPARE(outcome.status, 1);
        QVERIFY2(outcome.errors.contains(mentions), qPrintable(outcome.errors));
        QCOMPARE(outcome.errors.count('\n'), 1);
    }

    void namesAreEscapedForTheTerminal() {
        const QString name = QString::fromUtf8("no\x1b[31m\n\xc2\x9b\xe2\x80\xaesuch");
        for (const QStringList& asked : {QStringList{name, "--render", picture_},
                                         {baseline_, "--render", picture_, "--size", name},
                                         {baseline_, "--render", name + "/x.png"}}) {
            const Outcome outcome = runViewer(asked);
            QVERIFY(outcome.status != 0);
            const QString said = outcome.errors.section('\n', 0, 0);
            QVERIFY2(said.startsWith("lanescope-viewer: ") && said.contains("such"), qPrintable(outcome.errors));
            for (const QChar letter : said)
                QVERIFY2(letter.isPrint(), qPrintable(QString::number(letter.unicode(), 16)));
        }
    }

    void rendersAComparisonInTheDarkTheme() {
        const Outcome outcome =
            runViewer({"--compare", baseline_, candidate_, "--render", picture_, "--theme", "dark"});
        QVERIFY2(outcome.status == 0, qPrintable(outcome.errors));
        const QImage image(picture_);
        QCOMPARE(image.size(), QSize(1600, 1000));
        QVERIFY(image.pixelColor(3, 3).lightness() < 100);
    }

    void rendersOneStepOfAComparisonWithTheBaselineOverlay() {
        const Outcome plain = runViewer({"--compare", baseline_, candidate_, "--render", picture_, "--step", "1"});
        QVERIFY2(plain.status == 0, qPrintable(plain.errors));
        const QImage without(picture_);
        const Outcome overlay = runViewer(
            {"--compare", baseline_, candidate_, "--render", picture_, "--step", "1", "--ghost", "--table", "kernels"});
        QVERIFY2(overlay.status == 0, qPrintable(overlay.errors));
        QVERIFY(QImage(picture_) != without);
        const Outcome missing = runViewer({"--compare", baseline_, candidate_, "--render", picture_, "--step", "99"});
        QCOMPARE(missing.status, 1);
        QVERIFY(missing.errors.contains("99"));
        QCOMPARE(runViewer({baseline_, "--render", picture_, "--ghost"}).status, 1);
    }

    void unreadableFileIsASentenceAndAStatus() {
        const QString bad = QString::fromStdString((folder_ / "bad.sqlite").string());
        std::ofstream(bad.toStdString()) << "no database";
        const Outcome outcome = runViewer({bad, "--render", picture_});
        QCOMPARE(outcome.status, 1);
        QVERIFY(outcome.errors.startsWith("lanescope-viewer: ") && outcome.errors.contains("bad.sqlite"));
        QCOMPARE(outcome.errors.count('\n'), 1);
    }

    void impossiblePictureIsAUsageError_data() {
        const test::Rows<QString, QString> row;
        row("no name", "", "name of the picture is empty");
        row("a line break", QString::fromStdString((folder_ / "a\nb.SVG").string()), "end in .png");
        row("JPEG", QString::fromStdString((folder_ / "v.jpg").string()), "end in .png");
    }
    void impossiblePictureIsAUsageError() {
        const auto [name, mentions] = test::row<QString, QString>();
        const Outcome outcome = runViewer({baseline_, "--render", name});
        QCOMPARE(outcome.status, 2);
        QVERIFY(outcome.errors.startsWith("lanescope-viewer: "));
        QVERIFY2(outcome.errors.contains(mentions), qPrintable(outcome.errors));
        QVERIFY(name.isEmpty() || !name.contains('\n') || !outcome.errors.contains(name));
        QVERIFY(name.isEmpty() || !QFile::exists(name));
    }

    void rangeOutsideTheTraceIsASentenceAndAStatus() {
        for (const char* option : {"--select", "--visible"}) {
            const Outcome outcome = runViewer({baseline_, "--render", picture_, option, "5000s:5001s"});
            QCOMPARE(outcome.status, 1);
            QVERIFY(outcome.errors.contains(option));
            QCOMPARE(outcome.errors.count('\n'), 1);
        }
    }

    void rendersTheResultOfACommand() {
        QCOMPARE(runViewer({baseline_, "--render", picture_}).status, 0);
        const QImage plain(picture_);
        for (const char* command : {"By kind", "Keyboard and mouse", "Colour"}) {
            const Outcome outcome = runViewer({baseline_, "--render", picture_, "--do", command});
            QVERIFY2(outcome.status == 0, qPrintable(outcome.errors));
            QVERIFY2(QImage(picture_) != plain, command);
        }
        const Outcome typed = runViewer(
            {baseline_, "--render", picture_, "--do", "By kind", "--do", "Command or track", "--type", "stream"});
        QVERIFY2(typed.status == 0, qPrintable(typed.errors));
        const Outcome unknown = runViewer({baseline_, "--render", picture_, "--do", "Fly"});
        QCOMPARE(unknown.status, 1);
        QVERIFY(unknown.errors.contains("\"Fly\""));
        const Outcome impossible = runViewer({"--render", picture_, "--do", "Zoom in"});
        QCOMPARE(test::listed(impossible.status, impossible.errors.count('\n')), "1 | 1");
    }

    void unknownTableListsTheExistingOnes() {
        const Outcome outcome = runViewer({baseline_, "--render", picture_, "--table", "nosuch"});
        QCOMPARE(outcome.status, 1);
        QVERIFY(outcome.errors.contains("Kernels, Memcpy bandwidth"));
    }

    void unwritablePathIsASentenceAndAStatus() {
        const Outcome outcome = runViewer({baseline_, "--render", "/no/such/folder/picture.png"});
        QCOMPARE(outcome.status, 1);
        QVERIFY(outcome.errors.contains("/no/such/folder/picture.png"));
        // Before reading or drawing.
        for (const char* place : {"/no/such/folder/picture.png", "/"}) {
            const Outcome early = runViewer({"/no/such/trace.sqlite", "--render", place});
            QCOMPARE(early.status, 1);
            QVERIFY2(early.errors.contains(QString(" %1: ").arg(place)) && early.errors.contains("cannot write"),
                     qPrintable(early.errors));
            QCOMPARE(early.errors.count('\n'), 1);
        }
        // A failed picture removes nothing.
        const std::filesystem::path former = folder_ / "former.png";
        std::ofstream(former) << "former";
        QCOMPARE(runViewer({baseline_, "--render", QString::fromStdString(former.string()), "--do", "Fly"}).status, 1);
        QCOMPARE(std::filesystem::file_size(former), uintmax_t{6});
    }

    void picturesNeverReplaceATrace() {
        const QString other = baseline_ + ".other";
        QVERIFY(QFile::copy(candidate_, other));
        for (const QString& trace : {other, baseline_}) {
            const auto bytes = [&trace] { return test::fileBytes(trace); };
            const QByteArray before = bytes();
            const Outcome outcome = runViewer({baseline_, "--render", trace});
            QVERIFY2(outcome.status != 0, qPrintable(outcome.errors));
            QVERIFY2(outcome.errors.contains(trace + ": a trace or another database, will not"),
                     qPrintable(outcome.errors));
            // The result of an unset script variable.
            const Outcome unset = runViewer({"--render=", trace});
            QCOMPARE(unset.status, 2);
            QVERIFY2(unset.errors.contains("--render= has no value"), qPrintable(unset.errors));
            QVERIFY(bytes() == before && !before.isEmpty());
        }
    }

    void pictureIsPrivate() {
        QFile::remove(picture_);
        QCOMPARE(runViewer({baseline_, "--render", picture_}).status, 0);
        QVERIFY(!(QFile::permissions(picture_) & (QFileDevice::ReadGroup | QFileDevice::ReadOther)));
    }

    void pictureHasExactlyTheRequestedName() {
        const std::filesystem::path name = folder_ / "\xff.png";
        // Qt arguments are valid UTF-8 only, so the shell builds the name.
        QProcess shell;
        shell.start("sh", {"-c", "exec \"$0\" --render \"$(printf '%s/\\377.png' \"$1\")\" \"$2\"",
                           LANESCOPE_BINARY_DIR "/bin/lanescope-viewer",
                           QString::fromStdString(folder_.path().string()), baseline_});
        QVERIFY(shell.waitForFinished(60'000));
        QCOMPARE(shell.exitCode(), 0);
        QVERIFY(std::filesystem::exists(name));
        std::ifstream file(name, std::ios::binary);
        const std::string bytes{std::istreambuf_iterator<char>(file), {}};
        QVERIFY(!QImage::fromData(QByteArray::fromStdString(bytes)).isNull());
    }

    void traceProblemsAreReportedWithItsPicture() {
        const std::filesystem::path trace = folder_ / "broken.sqlite";
        QVERIFY(writeSealedTraceFile(*simulatedTraining({.steps = 100}), trace).has_value());
        const QString name = QString::fromStdString(trace.string());
        QCOMPARE(runViewer({name, "--render", picture_}).errors, QString());
        const std::filesystem::path index = indexPaths(trace).front();
        QVERIFY(std::filesystem::exists(index));
        const auto change = [](const std::filesystem::path& path, std::streamoff at, char by) {
            std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
            file.seekg(at);
            const char was = static_cast<char>(file.get());
            file.seekp(at);
            file.put(static_cast<char>(was ^ by));
        };
        // One byte after the other: a picture does not read everything.
        Outcome damaged;
        const auto bytes = static_cast<std::streamoff>(std::filesystem::file_size(index));
        for (int part = 1; part < 16 && damaged.status != 1; ++part) {
            change(index, bytes * part / 16, 1);
            QFile::remove(picture_);
            damaged = runViewer({name, "--render", picture_});
            QVERIFY2(damaged.status == 1 || damaged.errors.isEmpty(), qPrintable(damaged.errors));
            if (damaged.status != 1) change(index, bytes * part / 16, 1);
        }
        QCOMPARE(damaged.status, 1);
        QVERIFY2(damaged.errors.contains(name + ": the index was corrupt"), qPrintable(damaged.errors));
        QCOMPARE(damaged.errors.count('\n'), 1);
        QVERIFY(!QFile::exists(picture_) && !std::filesystem::exists(index));
        const Outcome again = runViewer({name, "--render", picture_});
        QCOMPARE(test::listed(again.status, again.errors), test::listed(0, QString()));
        // The trace itself: it is shown, with the message of `stats`.
        change(trace, static_cast<std::streamoff>(std::filesystem::file_size(trace) / 2), 1);
        const Outcome broken = runViewer({name, "--render", picture_});
        QCOMPARE(broken.status, 0);
        QVERIFY2(broken.errors.contains("lanescope-viewer: warning: broken.sqlite: The file is "
                                        "corrupt: 1 of the pages"),
                 qPrintable(broken.errors));
    }

    void filesOpenInTheirOrder() {
        const auto options = test::orFail(parse({"a.lanescope", "b.sqlite"}));
        QCOMPARE(options.files.size(), size_t(2));
        QCOMPARE(options.files[1].string(), std::string("b.sqlite"));
        QVERIFY(!options.isComparison && !options.render);
    }

    void compareTakesBaselineAndCandidate() {
        const auto options = test::orFail(parse({"--compare", "a", "b"}));
        QVERIFY(options.isComparison);
        QCOMPARE(options.files[0].string(), std::string("a"));
        QCOMPARE(parse({"--compare", "a"}).error(), 2);
    }

    void severalRunsPerSideAreTwoPrograms() {
        const auto options = test::orFail(parse({"--baseline", "a1", "a2", "--candidate", "b1", "b2", "b3"}));
        QVERIFY(options.isComparison);
        QCOMPARE(test::listed(options.baselineRuns, options.files.size()), test::listed(size_t(2), size_t(5)));
        QCOMPARE(options.files[2].string(), std::string("b1"));
        QCOMPARE(parse({"--compare", "a", "b"})->baselineRuns, size_t(0));
        QCOMPARE(parse({"--baseline", "a1", "a2"}).error(), 2);
        QCOMPARE(parse({"--candidate", "b1"}).error(), 2);
        QCOMPARE(parse({"--compare", "a", "b", "--baseline", "c", "--candidate", "d"}).error(), 2);
    }

    void renderAcceptsSizeThemeAndSelection() {
        const auto options = test::orFail(parse({"a", "--render", "p.png", "--size", "800x600", "--theme", "dark",
                                                 "--select", "10ms:25.5ms", "--find", "gemm"}));
        QVERIFY(options.render.has_value());
        QCOMPARE(options.render->size, QSize(800, 600));
        QVERIFY(options.render->isDark);
        QCOMPARE(options.view.select, std::optional(TimeRange{10'000'000, 25'500'000}));
        QCOMPARE(options.view.find, std::string("gemm"));
    }

    void viewNeedsNoPicture() {
        const auto options = test::orFail(parse({"a", "--visible=-5ms:25.5ms", "--event", "kernel:412", "--step", "3",
                                                 "--filter", "stream 7", "--table", "bandwidth"}));
        QVERIFY(!options.render);
        QCOMPARE(options.view.visible, std::optional(TimeRange{-5'000'000, 25'500'000}));
        QCOMPARE(options.view.event, EventRef(EventKind::Kernel, 412));
        QCOMPARE(test::listed(options.view.step, options.view.filter), test::listed(std::optional(3), "stream 7"));
        QCOMPARE(eventText(options.view.event), std::string("kernel:412"));
        for (const char* wrong : {"kernel", "kernel:", "cat:1", ":1", "kernel:-1", "kernel:999999999999"})
            QCOMPARE(parse({"a", "--event", wrong}).error(), 2);
    }

    void usageErrorsEndWithStatusTwo() {
        QCOMPARE(parse({"--no-such-option"}).error(), 2);
        QCOMPARE(parse({"a", "--render", "p.png", "--size", "huge"}).error(), 2);
        QCOMPARE(test::listed(parse({"a", "--size", "800x600"}).error(), parse({"--version"}).error()), "2 | 0");
        QCOMPARE(parse({"--help"}).error(), 0);
    }

    void rangesAcceptUnits_data() {
        const test::Rows<QString, qlonglong, qlonglong> row;
        row("milliseconds", "1.5ms:2ms", 1'500'000ll, 2'000'000ll);
        row("seconds by default", "0.5:1", 500'000'000ll, 1'000'000'000ll);
        row("mixed", "10ns:1us", 10ll, 1'000ll);
    }
    void rangesAcceptUnits() {
        const auto [text, start, end] = test::row<QString, qlonglong, qlonglong>();
        QCOMPARE(test::orFail(parseTimeRange(text.toStdString())), (TimeRange{start, end}));
    }

    void nonsenseIsNoRangeAndNoSize() {
        for (const char* text :
             {"", ":", "1s", "2s:1s", "1s:1s", "a:b", "1d:2d", "nan:inf", "1e300:1e301", "0s:1s:2s"}) {
            QVERIFY2(!parseTimeRange(text).has_value(), text);
        }
        for (const char* text : {"", "x", "100x", "800x600x2", "10x10", "99999x600", "-800x600"}) {
            QVERIFY2(!parseSize(text).has_value(), text);
        }
    }
};

LANESCOPE_TEST(tst_ViewerProgram, QCoreApplication)
#include "tst_ViewerProgram.moc"
