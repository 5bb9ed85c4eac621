// SPDX-License-Identifier: Apache-2.0
#include <QtTest>
#include <algorithm>
#include <filesystem>
#include <fstream>

#include "tests/fuzz/targets/targets.h"
#include "tests/support/runTest.h"

using namespace lanescope;

namespace {

const std::filesystem::path corpus = LANESCOPE_SOURCE_DIR "/tests/fuzz/corpus";
/// Of one input; a sanitizer takes ten times as long.
constexpr qint64 longestMs = 10'000;

std::vector<std::filesystem::path> inputsOf(const fuzz::Target& target) {
    std::vector<std::filesystem::path> inputs;
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(corpus / target.name, error))
        inputs.push_back(entry.path());
    std::sort(inputs.begin(), inputs.end());
    return inputs;
}

}  // namespace

/// What fuzzers found to be of interest, also all that once went wrong, is read without harm.
class tst_FuzzCorpus : public QObject {
    Q_OBJECT

  private slots:
    void isRead_data() {
        QTest::addColumn<int>("number");
        const auto all = fuzz::targets();
        for (size_t number = 0; number < all.size(); ++number)
            QTest::newRow(all[number].name) << static_cast<int>(number);
    }
    void isRead() {
        QFETCH(int, number);
        const fuzz::Target& target = fuzz::targets()[static_cast<size_t>(number)];
        const auto inputs = inputsOf(target);
        QVERIFY2(!inputs.empty(), "a target without a corpus");
        for (const std::filesystem::path& input : inputs) {
            std::ifstream file(input, std::ios::binary);
            const std::string bytes{std::istreambuf_iterator<char>(file),
                                    std::istreambuf_iterator<char>()};
            QElapsedTimer timer;
            timer.start();
            target.run({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()});
            QVERIFY2(timer.elapsed() < longestMs, input.c_str());
            // What a reader gives away half made is finished, too.
            if (target.inUse < 0) continue;
            const std::string used = std::string(1, static_cast<char>(target.inUse)) + bytes;
            timer.start();
            fuzz::useLoadedTrace({reinterpret_cast<const uint8_t*>(used.data()), used.size()});
            QVERIFY2(timer.elapsed() < longestMs, input.c_str());
        }
    }

    void everyFolderHasATarget() {
        const auto all = fuzz::targets();
        for (const auto& folder : std::filesystem::directory_iterator(corpus)) {
            const std::string name = folder.path().filename().string();
            const bool isKnown = std::any_of(all.begin(), all.end(), [&](const fuzz::Target& each) {
                return each.name == name;
            });
#ifdef LANESCOPE_HAS_CAPTURE
            QVERIFY2(isKnown, name.c_str());
#else
            if (!isKnown) qInfo("%s is of what is not built", name.c_str());
#endif
        }
    }
};

LANESCOPE_TEST(tst_FuzzCorpus, NoApplication)
#include "tst_FuzzCorpus.moc"
