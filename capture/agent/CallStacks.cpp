// SPDX-License-Identifier: Apache-2.0
#include "capture/agent/CallStacks.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

#include "capture/log/Records.h"
#include "model/format/factNames.h"

namespace lanescope::agent {

/// Entry header, followed by the names of the function and the file and the text of the module.
struct CallStacks::CodeEntry {
    Entry entry;
    uint32_t code, functionBytes, fileBytes, moduleBytes;
};

struct CallStacks::StackEntry {
    Entry entry;
    uint32_t stack, parent, code;
    int32_t line;
};

class CallStacks::RingSink final : public python::StackSink {
  public:
    explicit RingSink(EventRing& ring) : ring_(ring) {}

    bool addCode(uint32_t code, std::string_view function, std::string_view file, std::string_view module) override {
        void* const room = ring_.reserve(sizeof(CodeEntry) + function.size() + file.size() + module.size());
        if (!room) return false;
        const auto bytes = [](std::string_view text) { return static_cast<uint32_t>(text.size()); };
        auto* content = new (room) CodeEntry{Entry::Code, code, bytes(function), bytes(file), bytes(module)};
        auto* text = reinterpret_cast<char*>(content + 1);
        for (const std::string_view each : {function, file, module}) {
            if (!each.empty()) std::memcpy(text, each.data(), each.size());
            text += each.size();
        }
        ring_.commit();
        return true;
    }
    bool addStack(uint32_t stack, uint32_t parent, uint32_t code, int32_t line) override {
        void* const room = ring_.reserve(sizeof(StackEntry));
        if (!room) return false;
        new (room) StackEntry{Entry::Stack, stack, parent, code, line};
        ring_.commit();
        return true;
    }

  private:
    EventRing& ring_;
};

CallStacks::CallStacks(bool isWanted, const std::string& line)
    : isWanted_(isWanted), file_("/" + line.substr(0, line.rfind(':'))), line_(line.substr(line.rfind(':') + 1)) {
    if (!line.empty()) isOfLine_ = std::make_unique<std::atomic<bool>[]>(python::StackNumbers::maxStacks + size_t{1});
}

bool CallStacks::isOwnFrameAtLine(const Stack& stack) const {
    const std::string& file = stack.code < codes_.size() ? codes_[stack.code].file : std::string();
    if (isLibraryFile(file)) return isOfLine(stack.parent);
    return std::to_string(stack.line) == line_ && ("/" + file).ends_with(file_);
}

void CallStacks::search() {
    // Each search asks the loader for symbols that most programs do not have.
    constexpr uint32_t maxDoublings = 6;
    if (!isWanted_ || interpreter_.state() != python::Interpreter::State::Absent) return;
    if (isSearching_.exchange(true, std::memory_order_acquire)) return;
    if (searchesToSkip_ > 0) {
        --searchesToSkip_;
    } else {
        interpreter_.search();
        searchesToSkip_ = (uint32_t{1} << std::min(searches_++, maxDoublings)) - 1;
    }
    isSearching_.store(false, std::memory_order_release);
}

uint32_t CallStacks::number(OfThread& thread, EventRing& ring) {
    if (interpreter_.state() != python::Interpreter::State::Found) return 0;
    if (!thread.table) [[unlikely]] {
        if (thread.isWithoutMemory) return 0;
        thread.table = python::StackTable::make();
        thread.isWithoutMemory = thread.table == nullptr;
        if (!thread.table) return 0;
    }
    RingSink sink(ring);
    return thread.table->number(interpreter_, numbers_, sink);
}

void CallStacks::take(Entry entry, const void* content) {
    if (entry == Entry::Code) {
        const auto& code = *static_cast<const CodeEntry*>(content);
        if (code.code > python::StackNumbers::maxCodes) return;
        if (codes_.size() <= code.code) codes_.resize(code.code + size_t{1});
        const auto* const text = reinterpret_cast<const char*>(&code + 1);
        const char* const file = text + code.functionBytes;
        codes_[code.code] = {std::string(text, code.functionBytes), std::string(file, code.fileBytes),
                             std::string(file + code.fileBytes, code.moduleBytes)};
    } else if (entry == Entry::Stack) {
        const auto& stack = *static_cast<const StackEntry*>(content);
        if (stack.stack > python::StackNumbers::maxStacks) return;
        if (stacks_.size() <= stack.stack) stacks_.resize(stack.stack + size_t{1});
        stacks_[stack.stack] = {stack.parent, stack.code, stack.line, 0};
        if (isOfLine_) isOfLine_[stack.stack].store(isOwnFrameAtLine(stacks_[stack.stack]), std::memory_order_relaxed);
    }
}

uint32_t CallStacks::write(uint32_t stack, log::RecordWriter& writer) {
    const uint32_t here = writer.generation() + 1;
    const auto isKnown = [this](uint32_t number) {
        return number < stacks_.size() && stacks_[number].code != 0 && stacks_[number].code < codes_.size();
    };
    if (stack == 0 || !isKnown(stack)) return 0;
    chain_.clear();
    for (uint32_t at = stack; isKnown(at) && stacks_[at].writtenIn != here; at = stacks_[at].parent) {
        chain_.push_back(at);
        if (chain_.size() > python::StackTable::maxFrames + 1) return 0;
    }
    for (; !chain_.empty(); chain_.pop_back()) {
        Stack& written = stacks_[chain_.back()];
        log::StackRecord record{};
        record.stack = chain_.back();
        record.parent = written.parent;
        record.function = writer.string(codes_[written.code].function);
        record.file = writer.string(codes_[written.code].file);
        const std::string& module = codes_[written.code].module;
        record.module = module.empty() ? 0 : writer.string(module);
        record.line = static_cast<uint32_t>(written.line);
        writer.write(record);
        written.writtenIn = here;
    }
    return stack;
}

void CallStacks::report(log::RecordWriter& writer) {
    using Refusal = python::Interpreter::Refusal;
    const Refusal refusal = interpreter_.refusal();
    if (refusal != Refusal::None && !std::exchange(hasReported_, true)) {
        if (refusal == Refusal::UnknownVersion) {
            writer.note(Severity::Warning, HealthCode::PythonUnknown,
                        "How Python " + interpreter_.version() +
                            " has an unknown stack layout; calls were recorded without their lines. Supported "
                            "versions: 3.9 to 3.14.");
        } else {
            writer.note(
                Severity::Warning, HealthCode::PythonUnreadable,
                "Python " + interpreter_.version() +
                    " has an unexpected stack layout here; from now on calls were recorded without their lines.");
        }
    }
    if (numbers_.isFull() && !std::exchange(hasReportedMany_, true))
        writer.note(Severity::Warning, HealthCode::PythonStacksMany,
                    "The program has too many different Python stacks; later calls were recorded without their lines.");
}

}  // namespace lanescope::agent
