// SPDX-License-Identifier: Apache-2.0
#include "capture/log/maskSecrets.h"
#include "tests/support/runTest.h"

using namespace lanescope::log;

/// Tests of the command line stored in a trace. The secrets here are invented.
class tst_maskSecrets : public QObject {
    Q_OBJECT

    static QStringList masked(const QStringList& words) {
        std::vector<std::string> given;
        for (const QString& word : words) given.push_back(word.toStdString());
        QStringList result;
        for (const std::string& word : maskSecrets(given)) result.append(QString::fromStdString(word));
        return result;
    }

  private slots:
    void secretsAreMasked_data() {
        QTest::addColumn<QStringList>("words");
        QTest::addColumn<QStringList>("expected");
        const auto row = [](const char* name, const QStringList& words, const QStringList& expected) {
            QTest::newRow(name) << words << expected;
        };
        row("option and value", {"train", "--api-key", "abc", "--lr", "1"}, {"train", "--api-key", "***", "--lr", "1"});
        row("option with sign", {"--hf-token=abc"}, {"--hf-token=***"});
        row("capitals inside", {"--hfToken=abc", "--wandbApiKey", "abc"}, {"--hfToken=***", "--wandbApiKey", "***"});
        row("setting of the environment", {"env", "WANDB_API_KEY=abc", "python"},
            {"env", "WANDB_API_KEY=***", "python"});
        row("dotted", {"logger.password=abc"}, {"logger.password=***"});
        row("password of an address", {"postgres://me:abc@host/base"}, {"postgres://me:***@host/base"});
        row("query of an address", {"https://host/?a=1&token=abc&b=2"}, {"https://host/?a=1&token=***&b=2"});
        row("header", {"-H", "Authorization: Bearer abc.def"}, {"-H", "Authorization: Bearer ***"});
        row("script", {"sh", "-c", "export HF_TOKEN='a b'; python train.py --token abc --lr 1"},
            {"sh", "-c", "export HF_TOKEN='***'; python train.py --token *** --lr 1"});
        row("JSON", {R"({"secret": "abc", "lr": 1})"}, {R"({"secret": "***", "lr": 1})"});
        row("known beginnings", {"hf_abcdefghijklmnopqrstuvwx", "ghp_0123456789abcdefghijklmn"}, {"***", "***"});
        row("empty value", {"--token="}, {"--token="});
    }
    void secretsAreMasked() {
        QFETCH(QStringList, words);
        QFETCH(QStringList, expected);
        QCOMPARE(masked(words), expected);
    }

    void otherWordsAreKept() {
        const QStringList words{"python",
                                "train.py",
                                "--tokenizer",
                                "gpt2",
                                "--max-tokens=100",
                                "--tokenizer-path=/a/b",
                                "--num-key-value-heads",
                                "8",
                                "--keyframes=3",
                                "--author",
                                "somebody",
                                "http://host:80/a@b",
                                "--token",
                                "--verbose",
                                "tokens.txt",
                                "skate-park",
                                "hf_short",
                                ""};
        QCOMPARE(masked(words), words);
    }

    void everyTruncationIsSafe() {
        const QString word = "a=b --token 'x y' https://u:p@h/?key=\"v\"&auth: Bearer z; {\"pwd\":";
        for (int from = 0; from <= word.size(); ++from)
            for (int length = 0; from + length <= word.size(); ++length)
                QCOMPARE(masked({word.mid(from, length)}).size(), 1);
    }
};

LANESCOPE_TEST(tst_maskSecrets, NoApplication)
#include "tst_maskSecrets.moc"
