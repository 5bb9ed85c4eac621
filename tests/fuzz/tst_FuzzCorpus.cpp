// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/targets/targets.h"
#include "tests/support/files.h"
#include "tests/support/runTest.h"

using namespace lanescope;

namespace {

const std::filesystem::path corpus = LANESCOPE_SOURCE_DIR "/tests/fuzz/corpus";
/// Limit per input; a sanitizer takes ten times as long.
constexpr qint64 maxInputMs = 10'000;

struct Input {
    std::filesystem::path file;
    std::string before;  ///< Bytes before it.
};

void addFolder(const std::filesystem::path& folder, const std::string& before, std::vector<Input>& inputs) {
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(folder, error))
        inputs.push_back({entry.path(), before});
}

/// A line of `uses.txt`.
struct Use {
    std::string reader, target;
    std::string before;
};

std::vector<Use> uses() {
    std::vector<Use> all;
    std::ifstream file(LANESCOPE_SOURCE_DIR "/tests/fuzz/uses.txt");
    for (std::string line; std::getline(file, line);) {
        if (line.starts_with("#")) continue;
        std::istringstream words(line);
        Use use;
        std::string byte;
        words >> use.reader >> use.target >> byte;
        if (byte != "-") use.before = std::string(1, static_cast<char>(std::stoi(byte)));
        all.push_back(std::move(use));
    }
    return all;
}

/// Inputs of its own folder and, for a target that uses the inputs of others, of theirs.
std::vector<Input> inputsOf(const std::string& target) {
    std::vector<Input> inputs;
    addFolder(corpus / target, "", inputs);
    for (const Use& use : uses())
        if (use.target == target) addFolder(corpus / use.reader, use.before, inputs);
    std::ranges::sort(inputs, {}, &Input::file);
    return inputs;
}

}  // namespace

/// Tests that interesting fuzzer inputs, including all earlier failures, are read without harm.
class tst_FuzzCorpus : public QObject {
    Q_OBJECT

  private slots:
    void corpusIsReadWithoutHarm_data() {
        QTest::addColumn<int>("number");
        const auto all = fuzz::targets();
        for (size_t number = 0; number < all.size(); ++number)
            QTest::newRow(all[number].name) << static_cast<int>(number);
    }
    void corpusIsReadWithoutHarm() {
        QFETCH(int, number);
        const fuzz::Target& target = fuzz::targets()[static_cast<size_t>(number)];
        const auto inputs = inputsOf(target.name);
        QVERIFY2(!inputs.empty(), "a target without a corpus");
        // The first and the last, and every fourth between them, unless all are asked for.
        const size_t step = qEnvironmentVariable("LANESCOPE_CORPUS") == "whole" ? 1 : 4;
        for (size_t at = 0; at < inputs.size(); ++at) {
            if (at % step != 0 && at + 1 != inputs.size()) continue;
            const Input& input = inputs[at];
            const std::string bytes = input.before + contentOf(input.file);
            QElapsedTimer timer;
            timer.start();
            target.run({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()});
            QVERIFY2(timer.elapsed() < maxInputMs, input.file.c_str());
        }
    }

    void everyFolderHasATarget() {
        const auto all = fuzz::targets();
        for (const auto& folder : std::filesystem::directory_iterator(corpus)) {
            const std::string name = folder.path().filename().string();
            const bool isKnown =
                std::any_of(all.begin(), all.end(), [&](const fuzz::Target& each) { return each.name == name; });
#ifdef LANESCOPE_HAS_CAPTURE
            QVERIFY2(isKnown, name.c_str());
#else
            if (!isKnown) qInfo("%s is of what is not built", name.c_str());
#endif
        }
    }

    void usesFileNamesOnlyTargets() {
        const auto isTarget = [](const std::string& name) {
            return std::ranges::any_of(fuzz::targets(), [&](const fuzz::Target& each) { return each.name == name; });
        };
        const std::vector<Use> all = uses();
        QVERIFY(!all.empty());
        for (const Use& use : all) {
            QVERIFY2(std::filesystem::is_directory(corpus / use.reader), use.reader.c_str());
#ifdef LANESCOPE_HAS_CAPTURE
            QVERIFY2(isTarget(use.reader) && isTarget(use.target), use.reader.c_str());
#else
            if (!isTarget(use.target)) qInfo("%s is of what is not built", use.target.c_str());
#endif
        }
    }
};

LANESCOPE_TEST(tst_FuzzCorpus, NoApplication)
#include "tst_FuzzCorpus.moc"
