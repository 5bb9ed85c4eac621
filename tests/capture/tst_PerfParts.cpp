// SPDX-License-Identifier: Apache-2.0
#include <elf.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cerrno>

#include "capture/perf/LibDw.h"
#include "capture/perf/PerfEvents.h"
#include "capture/perf/PerfLog.h"
#include "capture/perf/PerfStacks.h"
#include "tests/capture/PerfBytes.h"
#include "tests/support/CpuTimer.h"
#include "tests/support/files.h"
#include "tests/support/runTest.h"

using namespace lanescope;
using namespace lanescope::capture;
using namespace std::chrono_literals;

using lanescope::test::PerfBytes;

namespace {

/// The read records as text.
class Reported : public PerfVisitor {
  public:
    void visit(const PerfSample& sample) override {
        add("sample", sample.place);
        said.back() += " " + std::to_string(sample.registers.size() / 8) + " registers, " +
                       std::to_string(sample.stack.size()) + " bytes" + (sample.isInKernel ? " in the kernel" : "");
    }
    void visit(const PerfSwitch& change) override {
        add(change.isIn ? "in" : change.isPreempted ? "preempted" : "out", change.place);
    }
    void visit(const PerfMapping& mapping) override { add("map " + std::string(mapping.file), mapping.place); }
    void visit(const PerfName& name) override {
        add((name.isExec ? "exec " : "name ") + std::string(name.name), name.place);
    }
    void visit(const PerfFork& fork) override { add("fork of " + std::to_string(fork.parentProcess), fork.place); }
    void lost(uint64_t count) override { said.push_back("lost " + std::to_string(count)); }

    std::vector<std::string> said;

  private:
    void add(std::string what, const PerfPlace& place) {
        said.push_back(std::move(what) + " " + std::to_string(place.process) + "/" + std::to_string(place.thread) +
                       " at " + std::to_string(place.timeNs));
    }
};
using Texts = std::vector<std::string>;

PerfBytes everything() {
    PerfBytes made;
    made.name(7, 7, 10, "train", true).mapping(7, 11, 0x1000, 0x2000, 0, "/lib/a.so");
    made.change(7, 8, 20, true).change(7, 8, 30, false).change(7, 8, 40, false, true);
    made.fork(9, 7, 50).lost(3);
    const uint64_t stack[] = {1, 2, 3};
    made.sample(7, 8, 60, 0x1234, 0x7000, 0, stack).sample(7, 8, 70, 0x1234, 0x7000, 0, {}, true);
    return made;
}

PerfMapping mapped(uint32_t process, int64_t timeNs, uint64_t from, uint64_t until, const char* file,
                   uint64_t offset = 0) {
    return {{process, process, 0, timeNs}, from, until - from, offset, file};
}

/// A child that waits to be ended.
class Child {
  public:
    Child() : pid_(::fork()) {
        while (pid_ == 0) ::pause();
    }
    ~Child() {
        ::kill(pid_, SIGKILL);
        ::waitpid(pid_, nullptr, 0);
    }
    pid_t pid() const { return pid_; }

  private:
    pid_t pid_;
};

}  // namespace

class tst_PerfParts : public QObject {
    Q_OBJECT

  private slots:
    void initTestCase() { ::signal(SIGPIPE, SIG_IGN); }

    void recordsAreRead() {
        const PerfBytes made = everything();
        Reported read;
        QCOMPARE(readPerfRecords(made.all, perfRegisterCount, read), size_t{0});
        const std::string registers = std::to_string(perfRegisterCount) + " registers, ";
        QCOMPARE(read.said, (Texts{"exec train 7/7 at 10", "map /lib/a.so 7/7 at 11", "in 7/8 at 20", "out 7/8 at 30",
                                   "preempted 7/8 at 40", "fork of 7 9/9 at 50", "lost 3",
                                   "sample 7/8 at 60 " + registers + "24 bytes",
                                   "sample 7/8 at 70 " + registers + "0 bytes in the kernel"}));
    }

    void truncatedOrInvalidRecordsAreSkipped() {
        const PerfBytes made = everything();
        for (size_t bytes = 0; bytes < made.all.size(); ++bytes) {
            Reported read;
            readPerfRecords(std::span(made.all).first(bytes), perfRegisterCount, read);
            QVERIFY(read.said.size() < 9);
        }
        // Every byte changed; random bytes.
        std::mt19937 random(1);
        for (int round = 0; round < 20'000; ++round) {
            std::vector<std::byte> damaged = made.all;
            for (int each = 0; each < 3; ++each) damaged[random() % damaged.size()] = static_cast<std::byte>(random());
            Reported read;
            QVERIFY(readPerfRecords(damaged, perfRegisterCount, read) <= damaged.size());
        }
        // A stack that claims to be longer than its record.
        PerfBytes longer;
        const uint64_t stack[] = {1, 2};
        longer.sample(1, 1, 1, 1, 1, 1, stack);
        const uint64_t tooMuch = UINT64_MAX - 7;
        std::memcpy(longer.all.data() + longer.all.size() - 32, &tooMuch, 8);
        Reported read;
        QCOMPARE(readPerfRecords(longer.all, perfRegisterCount, read), longer.all.size());
        QVERIFY(read.said.empty());
    }

    void paddingAfterStacksIsSkipped() {
        const uint64_t stack[] = {1, 2, 3, 4, 5, 6};
        PerfBytes made;
        made.change(7, 8, 20, true).sample(7, 8, 60, 0x1234, 0x7000, 0, stack);
        const uint64_t used = 13;
        std::memcpy(made.all.data() + made.all.size() - 8, &used, 8);
        made.sample(7, 8, 61, 0x1234, 0x7000, 0, stack);
        const uint64_t none = 0;
        std::memcpy(made.all.data() + made.all.size() - 8, &none, 8);
        made.sample(7, 8, 62, 0x1234, 0x7000, 0, stack).lost(3);
        Reported before, after;
        QCOMPARE(readPerfRecords(made.all, perfRegisterCount, before), size_t{0});
        std::vector<std::byte> dropped = made.all;
        dropped.resize(dropEmptyStacks(dropped, perfRegisterCount));
        QCOMPARE(dropped.size(), made.all.size() - 32 - 56);
        QCOMPARE(readPerfRecords(dropped, perfRegisterCount, after), size_t{0});
        // The used size is rounded to words of 8 bytes.
        before.said[1].replace(before.said[1].find(" 13 bytes"), 9, " 16 bytes");
        QCOMPARE(after.said, before.said);
        QCOMPARE(dropEmptyStacks(dropped, perfRegisterCount), dropped.size());
        std::mt19937 random(5);
        for (int round = 0; round < 20'000; ++round) {
            std::vector<std::byte> damaged = made.all;
            for (int each = 0; each < 3; ++each) damaged[random() % damaged.size()] = static_cast<std::byte>(random());
            QVERIFY(dropEmptyStacks(damaged, perfRegisterCount) <= damaged.size());
        }
    }

    void ringIsReadAcrossItsEnd() {
        perf_event_mmap_page page{};
        std::vector<std::byte> data(64);
        for (size_t at = 0; at < data.size(); ++at) data[at] = static_cast<std::byte>(at);
        PerfRing ring(&page, data.data(), data.size());
        std::vector<int> read;
        const auto take = [&](auto first, auto rest) {
            for (const std::byte each : first) read.push_back(static_cast<int>(each));
            for (const std::byte each : rest) read.push_back(static_cast<int>(each));
        };
        ring.drain(take);
        QVERIFY(read.empty());
        page.data_tail = 64 * 5 + 56;
        page.data_head = 64 * 6 + 8;
        ring.drain(take);
        QCOMPARE(read, (std::vector<int>{56, 57, 58, 59, 60, 61, 62, 63, 0, 1, 2, 3, 4, 5, 6, 7}));
        QCOMPARE(page.data_tail, page.data_head);
        read.clear();
        ring.drain(take);
        QVERIFY(read.empty());
        // A value that no kernel writes.
        page.data_head = page.data_tail + 1'000'000;
        ring.drain(take);
        QCOMPARE(read.size(), size_t{64});
    }

    void addressSpacesFollowForksAndPrograms() {
        AddressSpaces spaces;
        // Reported out of order.
        spaces.add(mapped(7, 30, 0x3000, 0x4000, "/late"));
        spaces.add(mapped(7, 10, 0x1000, 0x3000, "/early", 0x100));
        spaces.add(PerfFork{{8, 8, 0, 20}, 7, 7});
        spaces.add(PerfFork{{7, 70, 0, 20}, 7, 7});  // a thread
        spaces.add(PerfName{{8, 8, 0, 40}, true, "other"});
        spaces.add(mapped(8, 50, 0x1000, 0x2000, "/other"));
        spaces.seal();
        QCOMPARE(spaces.count(), size_t{2});
        const auto fileAt = [&](uint32_t process, int64_t timeNs, uint64_t address) {
            const uint32_t space = spaces.of(process, timeNs);
            if (space == AddressSpaces::none) return std::string("none");
            const Mapping* const found = spaces.space(space).find(address);
            return found == nullptr ? std::string("nothing") : spaces.file(found->file);
        };
        QCOMPARE(test::listed(fileAt(7, 60, 0x1000), fileAt(7, 60, 0x3fff)), "/early | /late");
        QCOMPARE(test::listed(fileAt(7, 60, 0x4000), fileAt(8, 30, 0x1000)), "nothing | /early");
        QCOMPARE(test::listed(fileAt(8, 60, 0x1000), fileAt(8, 60, 0x2000)), "/other | nothing");
        QCOMPARE(fileAt(9, 60, 0x2000), std::string("none"));
    }

    void laterMappingCounts() {
        AddressSpace space;
        space.add({0x1000, 0x5000, 0, 1});
        space.add({0x2000, 0x3000, 0x9000, 2});
        QCOMPARE(test::listed(space.find(0x1fff)->file, space.find(0x2000)->file), "1 | 2");
        QCOMPARE(space.find(0x3000)->file, 1u);
        QCOMPARE(space.find(0x3000)->fileOffset, uint64_t{0x2000});
        space.add({0x1000, 0x6000, 0, 3});
        QCOMPARE(space.all().size(), size_t{1});
        space.add({5, 5, 0, 4});
        QCOMPARE(space.all().size(), size_t{1});
    }

    void framePointersAreFollowedUpwardsOnly() {
        PerfRegisters registers{.programCounter = 100, .stackPointer = 0x7000, .framePointer = 0x7010};
        const auto walk = [&](std::vector<uint64_t> stack) {
            return walkFramePointers(registers, std::as_bytes(std::span(stack)));
        };
        using Addresses = std::vector<uint64_t>;
        QCOMPARE(walk({0, 0, 0x7020, 201, 0, 301}), (Addresses{100, 200, 300}));
        QCOMPARE(walk({0, 0, 0x7010, 201}), (Addresses{100, 200}));        // to itself
        QCOMPARE(walk({0, 0, 0x6000, 201}), (Addresses{100, 200}));        // downwards
        QCOMPARE(walk({0, 0, 0x7019, 201, 0, 0}), (Addresses{100, 200}));  // no frame at that place
        QCOMPARE(walk({0, 0, 0x7020}), (Addresses{100}));                  // truncated
        QCOMPARE(walk({}), (Addresses{100}));
    }

    void symbolsComeFromTheFile() {
        auto own = test::orFail(ElfFile::open("/proc/self/exe"));
        QVERIFY(own.entry() != 0);
        // The mapping gives the file offset of a function of this program.
        const auto address = reinterpret_cast<uintptr_t>(&readPerfRecords);
        std::ifstream maps("/proc/self/maps");
        std::string line;
        bool wasFound = false;
        while (std::getline(maps, line)) {
            unsigned long from = 0, until = 0, offset = 0;
            if (std::sscanf(line.c_str(), "%lx-%lx %*s %lx", &from, &until, &offset) != 3 || address < from ||
                address >= until)
                continue;
            const auto bias = test::orFail(own.bias(from, offset));
            QVERIFY(own.nameAt(address + 1 - bias).find("readPerfRecords") != std::string_view::npos);
            wasFound = true;
        }
        QVERIFY(wasFound);
        QVERIFY(own.nameAt(1).empty());
    }

    void randomFileIsNoneOrHarmless() {
        for (const char* part : {"/dev/null", "/nowhere", "/etc/hostname"}) QVERIFY2(!ElfFile::open(part), part);
        std::ifstream file("/proc/self/exe", std::ios::binary);
        std::string head(8192, '\0');
        file.read(head.data(), static_cast<std::streamsize>(head.size()));
        std::mt19937 random(2);
        for (int round = 0; round < 5'000; ++round) {
            std::string damaged = head.substr(0, random() % head.size());
            for (int each = 0; each < 4 && damaged.size() > 600; ++each)
                damaged[random() % 600] = static_cast<char>(random());
            auto elf = ElfFile::at(std::as_bytes(std::span(damaged)));
            if (!elf) continue;
            static_cast<void>(elf->bias(random(), random() % 8192));
            static_cast<void>(elf->nameAt(random() % 100'000));
        }
    }

    /// The maximum number of tables with the maximum number of symbols, none of them a function,
    /// and a name without end.
    void parsingTimeOfAFileIsBounded() {
        constexpr size_t sections = 65'000, bytes = size_t{32} << 20;
        std::vector<std::byte> made(bytes, std::byte{'x'});
        const auto put = [&](size_t at, const auto& what) { std::memcpy(made.data() + at, &what, sizeof(what)); };
        Elf64_Ehdr head{};
        std::memcpy(head.e_ident, ELFMAG, SELFMAG);
        head.e_ident[EI_CLASS] = ELFCLASS64;
        head.e_machine = perfMachine;
        head.e_phoff = sizeof(head);
        head.e_phentsize = sizeof(Elf64_Phdr);
        head.e_phnum = 1;
        head.e_shoff = 4096;
        head.e_shentsize = sizeof(Elf64_Shdr);
        head.e_shnum = sections;
        put(sizeof(head), Elf64_Phdr{.p_type = PT_LOAD, .p_flags = PF_X, .p_filesz = bytes});
        Elf64_Shdr table{};
        table.sh_type = SHT_SYMTAB;
        table.sh_offset = bytes / 2;
        table.sh_size = bytes / 2;
        for (size_t each = 0; each < sections; ++each) put(4096 + each * sizeof(table), table);
        put(0, head);
        std::fill(made.begin() + bytes / 2, made.end(), std::byte{0});
        test::CpuTimer timer;
        auto none = test::orFail(ElfFile::at(made));
        QVERIFY(none.nameAt(5).empty());
        QVERIFY2(timer.elapsed() < 20'000, qPrintable(QString::number(timer.elapsed())));

        std::fill(made.begin() + bytes / 2, made.end(), std::byte{'x'});
        table.sh_size = sizeof(Elf64_Sym);
        table.sh_link = 1;
        put(4096, table);
        table.sh_offset = 0;
        table.sh_size = bytes;
        put(4096 + sizeof(table), table);
        Elf64_Sym symbol{};
        symbol.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC);
        symbol.st_shndx = 1;
        symbol.st_value = 0x1000;
        symbol.st_size = 0x1000;
        symbol.st_name = bytes / 2 + 100;
        put(bytes / 2, symbol);
        auto one = test::orFail(ElfFile::at(made));
        QCOMPARE(one.nameAt(0x1800).size(), size_t{65'536});
    }

    void truncatedLogIsReadToItsEnd() {
        const QTemporaryDir folder;
        const std::filesystem::path path = folder.filePath("box.-.1.perf").toStdString();
        const PerfBytes made = everything();
        {
            auto log = test::orFail(PerfLog::create(folderOf(path), nameOf(path), {}, 1 << 20));
            QVERIFY(!PerfLog::create(folderOf(path), nameOf(path), {}, 1 << 20));
            log.add(0, made.all);
            log.add(1, made.all);
            log.end(100, 5);
        }
        Reported read;
        {
            auto file = test::orFail(PerfLogFile::open(folderOf(path), nameOf(path)));
            QVERIFY(!file.end());
            QCOMPARE(file.read(read), uint64_t{0});
            QVERIFY(file.end());
            QCOMPARE(test::listed(file.end()->cpuNs, file.end()->bytesNotKept), "5 | 0");
        }
        QCOMPARE(read.said.size(), size_t{18});
        const auto whole = static_cast<size_t>(std::filesystem::file_size(path));
        for (size_t bytes = whole - 1; bytes > 0; bytes -= std::min<size_t>(bytes, 41)) {
            std::filesystem::resize_file(path, bytes);
            auto file = PerfLogFile::open(folderOf(path), nameOf(path));
            if (!file) {
                QVERIFY(bytes < sizeof(PerfLogHead));
                continue;
            }
            Reported part;
            static_cast<void>(file->read(part));
            QVERIFY(part.said.size() <= read.said.size());
            QVERIFY(!file->end());
        }
    }

    void fullLogCountsItsLosses() {
        const QTemporaryDir folder;
        const std::filesystem::path path = folder.filePath("box.-.1.perf").toStdString();
        const PerfBytes made = everything();
        auto log = test::orFail(PerfLog::create(folderOf(path), nameOf(path), {}, 4096 + 40 + 16 + made.all.size()));
        log.add(0, made.all);
        log.add(0, made.all);
        log.end(100, 5);
        auto file = test::orFail(PerfLogFile::open(folderOf(path), nameOf(path)));
        Reported read;
        QCOMPARE(file.read(read), uint64_t{0});
        QCOMPARE(read.said.size(), size_t{9});
        QCOMPARE(file.end()->bytesNotKept, uint64_t{made.all.size()});
    }

    /// A stack that ended at its first frame was not followed to its start.
    void innermostFrameIsNoStackStart() {
        std::ifstream maps("/proc/self/maps");
        std::string line;
        AddressSpaces spaces;
        uint64_t within = 0;
        while (std::getline(maps, line)) {
            unsigned long from = 0, until = 0, offset = 0;
            char rights[5] = {}, name[400] = {};
            if (std::sscanf(line.c_str(), "%lx-%lx %4s %lx %*s %*s %399s", &from, &until, rights, &offset, name) != 5 ||
                rights[2] != 'x' || std::strstr(name, "/libc.so") == nullptr)
                continue;
            spaces.add(mapped(7, 1, from, until, name, offset));
            within = from;
        }
        if (within == 0) QSKIP("The C library is not one file that is called libc.so here.");
        spaces.seal();
        PerfStacks stacks(spaces, false, 0);
        struct Follow : PerfVisitor {
            void visit(const PerfSample& sample) override { stack = stacks->of(sample); }
            PerfStacks* stacks = nullptr;
            NativeStack stack;
        } follow;
        follow.stacks = &stacks;
        // The start of its code has no name: it calls the functions of others.
        const auto followed = [&](uint64_t frame, std::span<const uint64_t> words) {
            PerfBytes made;
            made.sample(7, 7, 5, within + 1, 0x7000, frame, words);
            readPerfRecords(made.all, perfRegisterCount, follow);
            return follow.stack;
        };
        const NativeStack alone = followed(0, {});
        QCOMPARE(alone.functions.size(), size_t{1});
        QVERIFY(!stacks.function(alone.functions[0]).isNamed);
        QVERIFY(!alone.isWhole);
        const uint64_t words[] = {0, within + 3};
        const NativeStack called = followed(0x7000, words);
        QCOMPARE(called.functions.size(), size_t{2});
        QVERIFY(called.isWhole);
    }

    void randomStacksAreHarmless() {
        AddressSpaces spaces;
        spaces.add(mapped(7, 1, 0x400000, 0x500000, "/proc/self/exe"));
        spaces.add(mapped(7, 1, 0x7f0000, 0x800000, "[vdso]"));
        spaces.add(mapped(7, 1, 0x900000, 0xa00000, "//anon"));
        spaces.seal();
        std::mt19937_64 random(3);
        for (const bool usesLibDw : {true, false}) {
            PerfStacks stacks(spaces, usesLibDw, INT64_MAX);
            for (int round = 0; round < 2'000; ++round) {
                std::vector<uint64_t> words(random() % 64);
                for (uint64_t& word : words) word = random() % 3 == 0 ? random() : random() % 0xb00000;
                PerfBytes made;
                made.sample(7, 7, 5, random() % 0xb00000, 0x7000, 0x7000 + random() % 512, words);
                struct Follow : PerfVisitor {
                    explicit Follow(PerfStacks& all) : stacks(all) {}
                    void visit(const PerfSample& sample) override {
                        const NativeStack stack = stacks.of(sample);
                        QVERIFY(!stack.functions.empty() && stack.functions.size() <= maxNativeFrames + 1);
                    }
                    PerfStacks& stacks;
                } follow(stacks);
                readPerfRecords(made.all, perfRegisterCount, follow);
            }
        }
    }

    void refusalNamesTheRequiredSetting() {
        const auto says = [](const std::string& text, const char* word) {
            return text.find(word) != std::string::npos;
        };
        QVERIFY(says(perfRefusal(EACCES, "4", false), "kernel.perf_event_paranoid is 4"));
        QVERIFY(says(perfRefusal(EACCES, "4", false), "sysctl kernel.perf_event_paranoid=2"));
        QVERIFY(says(perfRefusal(EPERM, "4", true), "--cap-add PERFMON"));
        QVERIFY(says(perfRefusal(EPERM, "2", true), "seccomp"));
        QVERIFY(says(perfRefusal(EACCES, "3", true), "paranoid is 3"));
        QVERIFY(says(perfRefusal(ENOSYS, "", false), "has no perf events"));
        QVERIFY(says(perfRefusal(EMFILE, "2", false), "Too many open files"));
        for (const int error : {EACCES, EPERM, ENOSYS, EMFILE})
            for (const bool isFiltered : {true, false}) QVERIFY(perfRefusal(error, "2", isFiltered).ends_with("."));
    }

    /// A pipe without a reader simulates a disk that does not respond.
    void doesNotWaitForADiskForever() {
        if (const auto allowed = tryPerfEvents(); !allowed) QSKIP(allowed.error().sentence.c_str());
        std::array<int, 2> pipe{};
        QCOMPARE(::pipe2(pipe.data(), O_CLOEXEC), 0);
        auto log = test::orFail(PerfLog::into(pipe[1], {}, 1 << 20));
        // Full.
        QCOMPARE(::fcntl(pipe[1], F_SETFL, O_NONBLOCK), 0);
        const std::array<char, 4096> some{};
        while (::write(pipe[1], some.data(), some.size()) > 0) {
        }
        QCOMPARE(::fcntl(pipe[1], F_SETFL, 0), 0);
        const Child child;
        auto events = test::orFail(PerfEvents::open(child.pid(), {}));
        PerfDrain drain(std::move(events), std::move(log));
        QVERIFY(drain.start());
        QElapsedTimer clock;
        clock.start();
        QVERIFY(!drain.end(100ms));
        QVERIFY(clock.elapsed() < 5'000);
        QVERIFY(drain.end(100ms));  // nothing more to wait for
        // The thread ends when it can.
        ::close(pipe[0]);
    }

    void endsAtOnceOtherwise() {
        if (const auto allowed = tryPerfEvents(); !allowed) QSKIP(allowed.error().sentence.c_str());
        const Child child;
        auto events = test::orFail(PerfEvents::open(child.pid(), {}));
        auto log = test::orFail(PerfLog::into(::open("/dev/null", O_WRONLY | O_CLOEXEC), {}, 1 << 20));
        PerfDrain drain(std::move(events), std::move(log));
        QVERIFY(drain.start() && drain.end());
    }
};

LANESCOPE_TEST(tst_PerfParts, NoApplication)
#include "tst_PerfParts.moc"
