// SPDX-License-Identifier: Apache-2.0
//
// Target for the kernel's thread events next to the logs, and for the programs and libraries in
// stacks.

#include <cstring>
#include <string>

#include "capture/perf/PerfLog.h"
#include "capture/perf/PerfStacks.h"
#include "tests/fuzz/targets/Scratch.h"
#include "tests/fuzz/targets/targets.h"
#include "tests/support/files.h"

namespace lanescope::fuzz {

namespace {

using namespace lanescope::capture;

class First : public PerfVisitor {
  public:
    void visit(const PerfMapping& mapping) override { spaces.add(mapping); }
    void visit(const PerfName& name) override { spaces.add(name); }
    void visit(const PerfFork& fork) override { spaces.add(fork); }
    AddressSpaces spaces;
};

class Second : public PerfVisitor {
  public:
    explicit Second(PerfStacks& stacks) : stacks_(stacks) {}
    void visit(const PerfSample& sample) override {
        const NativeStack stack = stacks_.of(sample);
        require(stack.functions.size() <= maxNativeFrames + 1, "A stack has no end.");
        for (const uint32_t function : stack.functions)
            require(!stacks_.function(function).file.empty() || !stack.isWhole, "A function lies in no file.");
    }

  private:
    PerfStacks& stacks_;
};

/// Records with a valid header and frame around them.
std::string sealed(std::string_view records) {
    PerfLogHead head{};
    std::memcpy(head.magic, perfLogMagic, sizeof head.magic);
    head.headBytes = sizeof head;
    head.registerCount = static_cast<uint32_t>(perfRegisterCount);
    head.machine = perfMachine;
    const PerfPiece piece{perfPieceMagic, PerfPieceKind::Records, 0, static_cast<uint32_t>(records.size())};
    std::string file(reinterpret_cast<const char*>(&head), sizeof head);
    file.append(reinterpret_cast<const char*>(&piece), sizeof piece);
    return file.append(records);
}

}  // namespace

/// The first byte selects a file of samples unchanged (0), its records (1), or a program (2).
void readPerf(Bytes bytes) {
    static const Scratch scratch;
    if (bytes.empty()) return;
    const std::string_view rest = textOf(bytes.subspan(1));
    if (bytes[0] % 3 == 2) {
        auto program = ElfFile::at(std::as_bytes(std::span(rest)));
        if (!program) return;
        for (const uint64_t address : {program->entry(), program->firstAddress(), UINT64_MAX}) {
            static_cast<void>(program->bias(address, address / 2));
            require(program->nameAt(address).size() <= rest.size(), "A name has no end.");
        }
        return;
    }
    const auto path = scratch.write("box.-.1.perf", bytes[0] % 3 == 0 ? std::string(rest) : sealed(rest));
    auto file = PerfLogFile::open(folderOf(path), nameOf(path));
    if (!file) return require(!file.error().sentence.empty(), "It failed without a word.");
    First first;
    require(file->read(first) <= rest.size(), "More made no sense than there is.");
    first.spaces.seal();
    PerfStacks stacks(first.spaces, false, 0);
    Second second(stacks);
    static_cast<void>(file->read(second));
    std::string dropped(rest);
    const size_t left = dropEmptyStacks(std::as_writable_bytes(std::span(dropped)), perfRegisterCount);
    require(left <= dropped.size(), "Omitting adds something.");
}

}  // namespace lanescope::fuzz
