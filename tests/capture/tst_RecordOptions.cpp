// SPDX-License-Identifier: Apache-2.0
#include <signal.h>
#include <sys/wait.h>

#include "capture/collector/LogImporter.h"
#include "capture/collector/symbolNames.h"
#include "capture/log/launcherRank.h"
#include "capture/log/maskSecrets.h"
#include "capture/record/ChildProcess.h"
#include "capture/record/RunFolder.h"
#include "tests/capture/TestLog.h"
#include "tests/support/runProgram.h"
#include "tests/support/runTest.h"

using namespace lanescope;
using namespace lanescope::capture;
using namespace lanescope::log;

using lanescope::test::Ended;

namespace {

constexpr int waitMs = 60'000;

void clearLauncherVariables() {
    for (const char* name : {"RANK", "LOCAL_RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE", "OMPI_COMM_WORLD_RANK",
                             "OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE",
                             "PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", "MPI_LOCALNRANKS", "PMIX_RANK", "SLURM_PROCID",
                             "SLURM_LOCALID", "SLURM_NTASKS", "SLURM_STEP_NUM_TASKS", "SLURM_JOB_ID", "SLURM_STEP_ID"})
        qunsetenv(name);
}

}  // namespace

/// Tests of the agent options that `record` sets, of trace names, and of errors on wrong options and names.
/// Tests of the command line stored in a trace. The secrets here are invented.
class tst_RecordOptions : public QObject {
    Q_OBJECT

    std::unique_ptr<QTemporaryDir> folder_;

    Ended lanescope(const QStringList& arguments) const { return test::runLanescope(arguments, folder_->path()); }
    /// Agent environment that `record` sets with these options.
    QByteArray optionsOf(const QStringList& words) const {
        return lanescope(QStringList{"record", "--agent", "agent.so"} + words +
                         QStringList{"--", "sh", "-c", "echo $LANESCOPE_AGENT_OPTIONS"})
            .out.trimmed();
    }

    static QStringList masked(const QStringList& words) {
        std::vector<std::string> given;
        for (const QString& word : words) given.push_back(word.toStdString());
        QStringList result;
        for (const std::string& word : maskSecrets(given)) result.append(QString::fromStdString(word));
        return result;
    }

  private slots:
    void init() {
        clearLauncherVariables();
        folder_ = std::make_unique<QTemporaryDir>();
        test::TestLog::write(folder_->filePath("agent.so").toStdString(), test::fakeAgent());
    }

    void cleanup() { clearLauncherVariables(); }

    void optionsSelectEventsForTheAgent() {
        QCOMPARE(test::listed(optionsOf({}), optionsOf({"--no-memsets"})), "cuda=1,nvtx=1 | cuda=1,nvtx=1,memset=0");
        QCOMPARE(optionsOf({"--no-python"}), QByteArray("cuda=1,nvtx=1,python=0"));
        QCOMPARE(optionsOf({"--api", "none", "--graphs", "whole", "--memory", "--unified-memory", "--yield", "--only",
                            "python*", "--only", "a b", "--max-size", "2GB"}),
                 QByteArray("cuda=1,nvtx=1,api=none,graphs=whole,memory=1,um=1,yield=1,"
                            "only=python*:a%20b,max-log-mb=2048"));
    }

    void optionsSelectTimesForTheAgent() {
        QCOMPARE(optionsOf({"--capture-range", "cudaProfilerApi"}), QByteArray("cuda=1,nvtx=1,range=cudaProfilerApi"));
        QCOMPARE(optionsOf({"--capture-range", "nvtx:a,b:c@my domain", "--ranges", "0"}),
                 QByteArray("cuda=1,nvtx=1,range=nvtx:a%2Cb%3Ac@my%20domain,repeat=0"));
        QCOMPARE(optionsOf({"--steps", "10-12", "--step-range", "step*"}),
                 QByteArray("cuda=1,nvtx=1,steps=10-12,step-range=step*"));
        QCOMPARE(optionsOf({"--steps", "7"}), QByteArray("cuda=1,nvtx=1,steps=7-7"));
        const QRegularExpression timed("^cuda=1,nvtx=1,delay-ms=1500,duration-ms=250,base-ns=(\\d{19})$");
        QVERIFY(timed.match(optionsOf({"--delay", "1.5", "--duration", ".25"})).hasMatch());
        QVERIFY(timed.match(optionsOf({"--delay", "1500ms", "--duration", "250 ms"})).hasMatch());
    }

    void wrongOptionsAreRefused_data() {
        const test::Rows<QStringList, QString> row;
        row("samples", {"--cpu-samples-hz", "200"}, "needs --cpu-samples perf");
        row("api", {"--api", "some"}, "\"some\"; choose from: filtered");
        row("delay", {"--delay", "soon"}, "\"soon\" is not a time");
        row("negative delay", {"--delay=-1"}, "\"-1\" is not a time");
        row("no duration", {"--duration", "0"}, "\"0\" is not a time");
        row("endless", {"--duration", "inf"}, "\"inf\" is not a time");
        row("steps", {"--steps", "3-2"}, "\"3-2\" is not a range of steps");
        row("words as steps", {"--steps", "a-b"}, "\"a-b\" is not a range of steps");
        row("step range alone", {"--step-range", "s"}, "Choose the recorded steps with --steps");
        row("range", {"--capture-range", "foo"}, "\"foo\" is not a range");
        row("nameless range", {"--capture-range", "nvtx:@d"}, "\"nvtx:@d\" is not a range");
        row("range and steps", {"--capture-range", "nvtx:a", "--steps", "1"}, "exclude each other");
        row("number of ranges alone", {"--ranges", "2"}, "--ranges: counts ranges");
        row("no repeat", {"--repeat", "0"}, "0 is out of range (1 to");
        row("size", {"--max-size", "10"}, "at least 1MB");
        row("size in words", {"--max-size", "much"}, "--max-size");
        row("kill without end", {"--kill", "sigterm"}, "--kill sigterm: needs an end");
        row("kill with delay", {"--kill", "sigterm", "--delay", "1"}, "needs an end");
        row("nothing", {"--no-cuda", "--no-nvtx"}, "nothing is left to record");
        row("range without CUDA", {"--no-cuda", "--capture-range", "cudaProfilerApi"}, "needs CUDA");
        row("steps without NVTX", {"--no-nvtx", "--steps", "1"}, "--steps: needs NVTX");
    }
    void wrongOptionsAreRefused() {
        const auto [words, sentence] = test::row<QStringList, QString>();
        const Ended run = lanescope(QStringList{"record"} + words + QStringList{"--", "touch", "x"});
        QCOMPARE(run.status, 2);
        QVERIFY2(run.err.contains(sentence.toUtf8()), run.err);
        QCOMPARE(run.err.count('\n'), 1);
        QVERIFY(!QFile::exists(folder_->filePath("x")));
    }

    void leavesNcclToAnotherPlugin() {
        qputenv("NCCL_PROFILER_PLUGIN", "inspector");
        const Ended run = lanescope({"record", "--agent", "agent.so", "--nccl", "plugin", "true"});
        const Ended spared = lanescope({"record", "--agent", "agent.so", "true"});
        qunsetenv("NCCL_PROFILER_PLUGIN");
        QCOMPARE(run.status, 1);
        QVERIFY2(run.err.contains("NCCL_PROFILER_PLUGIN: another tool would be loaded into the program (inspector)"),
                 run.err);
        QVERIFY2(run.err.contains("--nccl nvtx"), run.err);
        QCOMPARE(spared.status, 0);
    }

    void tracesAreNamed() {
        qputenv("WHO", "me");
        const auto name = [](const char* pattern) { return expandOutputPattern(pattern, {42, 7}).value_or("refused"); };
        QCOMPARE(test::listed(name("a-%p-%n-%q{WHO}-%%"), name("%h")), test::listed("a-42-7-me-%", hostName()));
        for (const char* bad : {"%z", "%", "%q", "%qWHO", "%q{WHO", "%q{NOT_SET_HERE}", ""})
            QCOMPARE(name(bad), std::string("refused"));
        QVERIFY(isNumbered("a%%%n") && !isNumbered("a%%n") && !isNumbered("%q{%n}"));
        QCOMPARE(expandOutputPattern(defaultOutputPattern("/bin/50%n"), {1, 2}).value_or(""),
                 std::string("lanescope-50%n-2.sqlite"));
        qunsetenv("WHO");
    }

    void launcherVariablesAreRead_data() {
        const test::Rows<QString, QString> row;
        row("none", "", "///");
        row("torchrun", "RANK=3 LOCAL_RANK=1 WORLD_SIZE=4 LOCAL_WORLD_SIZE=2", "3/1/4/2");
        row("Open MPI",
            "OMPI_COMM_WORLD_RANK=3 OMPI_COMM_WORLD_LOCAL_RANK=1 OMPI_COMM_WORLD_SIZE=4 "
            "OMPI_COMM_WORLD_LOCAL_SIZE=2 PMIX_RANK=3",
            "3/1/4/2");
        row("Hydra", "PMI_RANK=3 PMI_SIZE=4 MPI_LOCALRANKID=1 MPI_LOCALNRANKS=2", "3/1/4/2");
        row("srun",
            "SLURM_JOB_ID=9 SLURM_STEP_ID=0 SLURM_PROCID=3 SLURM_LOCALID=1 SLURM_STEP_NUM_TASKS=4 SLURM_NTASKS=8",
            "3/1/4/");
        row("srun, in part", "SLURM_PROCID=3 SLURM_LOCALID=1 SLURM_NTASKS=4", "3/1/4/");
        row("a batch script", "SLURM_JOB_ID=9 SLURM_PROCID=0 SLURM_LOCALID=0 SLURM_NTASKS=4", "///");
        row("torchrun under srun",
            "SLURM_JOB_ID=9 SLURM_STEP_ID=0 SLURM_PROCID=1 SLURM_LOCALID=0 "
            "SLURM_STEP_NUM_TASKS=2 RANK=9 LOCAL_RANK=1 WORLD_SIZE=16 LOCAL_WORLD_SIZE=8",
            "9/1/16/8");
        row("a rank without a size", "PMIX_RANK=2", "2///");
        row("the complete one", "RANK=0 OMPI_COMM_WORLD_RANK=3 OMPI_COMM_WORLD_SIZE=4", "3//4/");
        row("no numbers", "RANK=first WORLD_SIZE=-2", "///");
    }
    void launcherVariablesAreRead() {
        const auto [variables, expected] = test::row<QString, QString>();
        for (const QString& each : variables.split(' ', Qt::SkipEmptyParts)) {
            const QStringList parts = each.split('=');
            qputenv(parts[0].toUtf8(), parts[1].toUtf8());
        }
        const LauncherRank place = launcherRank();
        QCOMPARE(QString::fromStdString(place.rank + "/" + place.localRank + "/" + place.worldSize + "/" +
                                        place.localWorldSize),
                 expected);
    }

    void oneNameForAllRanksIsRefused() {
        QVERIFY(checkNameOfRank("run.sqlite"));
        qputenv("OMPI_COMM_WORLD_RANK", "0");
        qputenv("OMPI_COMM_WORLD_SIZE", "4");
        for (const char* good : {"run.%q{OMPI_COMM_WORLD_RANK}", "run.%p", "%n", "run.%q{MINE}"})
            QVERIFY2(checkNameOfRank(good), good);
        for (const char* bad : {"run.sqlite", "%h", "%%p", "%q{OMPI_COMM_WORLD_SIZE}"}) {
            const auto problem = checkNameOfRank(bad);
            QVERIFY2(!problem, bad);
            QVERIFY(problem.error().sentence.find("%q{OMPI_COMM_WORLD_RANK}") != std::string::npos);
        }
        qputenv("OMPI_COMM_WORLD_LOCAL_SIZE", "1");
        QVERIFY(checkNameOfRank("%h"));
        qputenv("OMPI_COMM_WORLD_SIZE", "1");
        QVERIFY(checkNameOfRank("run.sqlite"));
    }

    void concurrentRecordsUseDifferentNumbers() {
        std::vector<std::unique_ptr<QProcess>> records;
        for (int each = 0; each < 8; ++each) {
            auto& process = *records.emplace_back(std::make_unique<QProcess>());
            process.setWorkingDirectory(folder_->path());
            process.start(LANESCOPE_BINARY_DIR "/bin/lanescope",
                          {"record", "--agent", "agent.so", "--", "sleep", "0.3"});
        }
        for (const auto& process : records) {
            QVERIFY(process->waitForFinished(waitMs));
            QVERIFY2(process->exitCode() == 0, process->readAllStandardError().constData());
        }
        const QDir folder(folder_->path());
        QCOMPARE(folder.entryList({"lanescope-sleep-?.sqlite"}).size(), 8);
        QCOMPARE(folder.entryList({".*.run"}, QDir::AllEntries | QDir::Hidden).size(), 0);
    }

    void missingRanksAreListed() {
        const auto sentence = [](std::vector<RankFacts> present) {
            return QString::fromStdString(missingRanksSentence(present).value_or(""));
        };
        QCOMPARE(sentence({}), QString());
        QCOMPARE(sentence({{0, 2, {}, "a"}, {1, 2, {}, "a"}, {1, 2, {}, "a"}}), QString());
        QVERIFY(sentence({{0, 4, 4, "a"}, {1, 4, 4, "a"}}).startsWith("Ranks 2, 3 of 4 left no"));
        QVERIFY(sentence({{0, 2, {}, "a"}}).startsWith("Rank 1 of 2 left no record: it used"));
        QVERIFY(sentence({{0, 9, {}, "a"}, {5, 9, {}, "a"}}).startsWith("Ranks 1 to 4, 6 to 8 of"));
        // Two hosts with two ranks each, of which one was recorded.
        QCOMPARE(sentence({{2, 4, 2, "b"}, {3, 4, 2, "b"}}), QString());
        QVERIFY(sentence({{2, 4, 2, "b"}}).startsWith("Only 1 of the 2 ranks on this host"));
        QVERIFY(sentence({{0, 4, 2, "a"}, {2, 4, 2, "b"}, {3, 4, 2, "b"}}).startsWith("Rank 1 of 4 left no record"));
        // Inconsistent values give no sentence.
        QCOMPARE(sentence({{7, 4, {}, "a"}, {0, -1, {}, "a"}, {0, 1, {}, "a"}}), QString());
        QVERIFY(sentence({{5, 1'000'000, {}, "a"}}).size() < 300);
    }

    /// Its status is that of the signal, as for a started program.
    void signalMayComeBeforeTheProgram() {
        ::signal(SIGPIPE, SIG_IGN);
        for (const int signal : {SIGUSR1, SIGKILL}) {
            auto child = test::orFail(ChildProcess::fork("/bin/true", {"true"}, {}));
            ::kill(child.pid(), signal);
            // Its end of the gate closes when it exits.
            siginfo_t info{};
            ::waitid(P_PID, static_cast<id_t>(child.pid()), &info, WEXITED | WNOWAIT);
            const Result<void, StartProblem> begun = child.begin({"A=b"});
            QVERIFY(!begun);
            QCOMPARE(begun.error().signal, signal);
            QVERIFY(child.hasEnded());
        }
        ::signal(SIGPIPE, SIG_DFL);
    }

    /// A simultaneous second recording is refused and names the first, and no earlier recording.
    void simultaneousRecordsDetectEachOther() {
        const QTemporaryDir folder;
        const std::filesystem::path path = folder.filePath(".at-once.run").toStdString();
        for (int round = 0; round < 100; ++round) {
            std::optional<Result<RunFolder>> made[2];
            std::atomic<int> ready{0}, done{0};
            const auto make = [&](int number) {
                ++ready;
                while (ready < 2) {
                }
                made[number].emplace(RunFolder::create(path, RunInfo{}));
                ++done;
            };
            std::thread other([&] { make(1); });
            make(0);
            other.join();
            QVERIFY(made[0]->has_value() != made[1]->has_value());
            const int winner = made[0]->has_value() ? 0 : 1;
            const std::string& sentence = made[1 - winner]->error().sentence;
            HAS(sentence, "being recorded by another");
            (*made[winner])->remove();
        }
        QVERIFY(!std::filesystem::exists(path));
    }

    void secretsAreMasked_data() {
        const test::Rows<QStringList, QStringList> row;
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
        const auto [words, expected] = test::row<QStringList, QStringList>();
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
                                "ada",
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

    void demanglesNames() {
        QCOMPARE(demangled("_ZN2at6native4fillIfEEvi"), "void at::native::fill<float>(int)");
        QCOMPARE(demangled("triton_poi_fused_add_0"), "triton_poi_fused_add_0");
        QCOMPARE(test::listed(demangled("_Znonsense"), demangled("")), "_Znonsense | ");
    }

    /// Each back reference may double the length; names that may exceed 1 MiB are not demangled.
    void namesWithManyBackReferencesStayMangled() {
        std::string name = "_Z1fN1a1bE";
        for (int parameter = 0; parameter < 30; ++parameter) name += "S0_";
        QCOMPARE(demangled(name), name);
    }

    /// Each template argument is the previous one, twice: 24 of them are a gigabyte, 40 never end.
    void hugeExpansionStaysMangled_data() { test::numberRows<int>("depth", {14, 24, 40}); }
    void hugeExpansionStaysMangled() {
        QFETCH(int, depth);
        // f(a<b, b>, a<S, S>, a<S1, S1>, ...), with substitutions for earlier parts.
        const auto reference = [](int number) {
            static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
            std::string text;
            for (int rest = number - 1; number > 0; rest = rest / 36 - 1) {
                text.insert(text.begin(), digits[rest % 36]);
                if (rest < 36) break;
            }
            return "S" + text + "_";
        };
        std::string name = "_Z1f1aI1bS0_E";  // candidates: a, b, a<b, b>
        for (int level = 1; level < depth; ++level)
            name += reference(0) + "I" + reference(level + 1) + reference(level + 1) + "E";
        QCOMPARE(demangled(name), name);
    }

    void shortensNames_data() {
        const test::Rows<QString, QString> row;
        row("plain", "gemm", "gemm");
        row("parameters", "saxpy(int, float*)", "saxpy");
        row("template", "void at::native::fill<4, std::array<char*, 1ul> >(int)", "fill");
        row("anonymous", "void (anonymous namespace)::kernel<float>(float)", "kernel");
        row("inner anonymous", "void at::native::(anonymous namespace)::softmax<8>(int, (anonymous namespace)::T)",
            "softmax");
        row("call operator", "void Functor::operator()<int>(int) const", "operator()");
        row("shift operator", "Stream& operator<<<int>(Stream&, int)", "operator<<");
        row("clone", "foo(int) [clone .kd]", "foo");
        row("scoped template", "Outer<a::B>::run<c::D>(e::F)", "run");
        row("empty", "", "");
        row("unbalanced", "foo<bar(", "foo");
    }
    void shortensNames() {
        const auto [full, brief] = test::row<QString, QString>();
        QCOMPARE(QString::fromStdString(std::string(shortFunctionName(full.toStdString()))), brief);
    }

    void everyTruncationOfANameIsSafe() {
        const std::string name =
            "void at::(anonymous namespace)::f<4, x>::operator()<int>(int)::{lambda(a<b>)#1}::run(c)";
        for (size_t from = 0; from <= name.size(); ++from)
            for (size_t length = 0; from + length <= name.size(); ++length) {
                const std::string part = name.substr(from, length);
                QVERIFY(shortFunctionName(part).size() <= part.size());
            }
    }
};

LANESCOPE_TEST(tst_RecordOptions, QCoreApplication)
#include "tst_RecordOptions.moc"
