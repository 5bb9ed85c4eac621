// SPDX-License-Identifier: Apache-2.0
//
// For Python programs, by ctypes: the caller's stack as the agent would record it.

#include <chrono>
#include <cstdio>
#include <cstring>
#include <map>
#include <mutex>
#include <string>

#include "capture/python/StackTable.h"

#define EXPORT extern "C" __attribute__((visibility("default")))

using namespace lanescope::agent::python;

namespace {

/// Stack sink that stores everything, like the agent's writer.
class Kept final : public StackSink {
  public:
    bool addCode(uint32_t code, std::string_view function, std::string_view file, std::string_view module) override {
        const std::lock_guard lock(mutex_);
        codes_[code] = std::string(file) + "\t" + std::string(module.empty() ? function : module);
        return true;
    }
    bool addStack(uint32_t stack, uint32_t parent, uint32_t code, int32_t line) override {
        const std::lock_guard lock(mutex_);
        stacks_[stack] = {parent, code, line};
        return true;
    }
    /// Returns a line for each frame, the innermost first: file, function or called module, line.
    std::string text(uint32_t stack) {
        const std::lock_guard lock(mutex_);
        std::string text;
        for (; stack != 0; stack = stacks_[stack].parent) {
            const Stack& one = stacks_[stack];
            text += codes_[one.code] + "\t" + std::to_string(one.line) + "\n";
        }
        return text;
    }

  private:
    struct Stack {
        uint32_t parent, code;
        int32_t line;
    };
    std::mutex mutex_;
    std::map<uint32_t, std::string> codes_;
    std::map<uint32_t, Stack> stacks_;
};

Interpreter interpreter;
StackNumbers numbers;
Kept kept;
thread_local StackTable* table = nullptr;

uint32_t number() {
    interpreter.search();
    if (!table) table = StackTable::make();
    return table->number(interpreter, numbers, kept);
}

}  // namespace

/// Writes the caller's stack like `Kept::text`, at most `room` bytes; returns its full size in bytes.
EXPORT size_t stacksHere(char* into, size_t room) {
    const std::string text = kept.text(number());
    std::memcpy(into, text.data(), text.size() < room ? text.size() : room);
    return text.size();
}

EXPORT uint32_t stackNumber() { return number(); }

/// Measures nanoseconds of each of `count` samples of the caller's stack, with `coldBytes` of other
/// memory written in between.
EXPORT void stacksMeasure(int count, size_t coldBytes, double* ns) {
    static char* const other = new char[size_t{64} << 20]();
    number();
    for (int i = 0; i < count; ++i) {
        if (coldBytes > 0) std::memset(other, i, coldBytes);
        const auto begin = std::chrono::steady_clock::now();
        number();
        ns[i] = std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - begin).count();
    }
}

/// Returns nanoseconds of two clock readings with nothing between.
EXPORT double stacksMeasureClock() {
    const auto begin = std::chrono::steady_clock::now();
    return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - begin).count();
}

/// Returns nanoseconds per sample in a row of `count`, without clock readings in between.
EXPORT double stacksMeasureRow(int count) {
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < count; ++i) number();
    return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - begin).count() / count;
}

/// Writes the detected state, the reason of a refusal, the version, and the layout's numbers into `into`.
EXPORT void stacksInterpreter(char* into, size_t room) {
    interpreter.search();
    const FrameLayout& l = interpreter.layout();
    std::snprintf(into, room,
                  "state %d refusal %d version %s proven %d threadFrame %d/%d frame %d previous %d code %d "
                  "instruction %d owner %d copy %d codeObject %d firstLine %d file %d name %d lines %d "
                  "bytecode %d copies %d version %d text %d/%d %d/%d bytes %d/%d",
                  static_cast<int>(interpreter.state()), static_cast<int>(interpreter.refusal()),
                  interpreter.version().c_str(), interpreter.isProven() ? 1 : 0, l.threadFrame, l.frameOfThreadFrame,
                  l.frameBytes, l.previous, l.code, l.instruction, l.owner, l.bytecodeIndex, l.codeBytes, l.firstLine,
                  l.file, l.name, l.lineTable, l.bytecode, l.bytecodeCopies, l.version, l.textLength, l.textState,
                  l.asciiText, l.otherText, l.bytesLength, l.bytesData);
}
