// SPDX-License-Identifier: Apache-2.0
#include "capture/threads/PythonProcess.h"

#include <elf.h>
#include <fmt/format.h>
#include <sys/uio.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>

#include "capture/python/StackTable.h"
#include "capture/python/frameWalk.h"
#include "capture/sample/ProcessCounters.h"
#include "model/format/text.h"
#include "model/format/threadStates.h"

namespace lanescope::capture {

using namespace agent::python;

namespace {

// Offsets of the lock: wait interval in us; last holder; held flag; switch count; then two pairs of
// condition and mutex, on which threads sleep.
constexpr uint64_t intervalAt = 0, holderAt = 8, heldAt = 16, sleepersAt = 32;
/// Maximum size on any machine; the structure may be somewhat shorter.
constexpr uint64_t maxLockBytes = sleepersAt + 2 * (48 + 48);
constexpr uint64_t maxIntervalUs = 10'000'000;

constexpr uint16_t maxProgramHeaders = 64;
constexpr uint64_t maxDynamicEntries = 256;
constexpr uint32_t maxChainLength = 4'096;
constexpr uint64_t pageMask = ~uint64_t{4'095};

uint32_t hashOf(std::string_view name) {
    uint32_t hash = 5'381;
    for (const char character : name) hash = hash * 33 + static_cast<unsigned char>(character);
    return hash;
}

constexpr size_t maxThreads = 4'096;
constexpr size_t maxKnownStacks = 1u << 14, maxKnownCodes = 1u << 14;
constexpr size_t maxKnownLines = 1u << 16;
/// Maximum age of cached code facts.
constexpr int64_t maxCodeAgeNs = 2'000'000'000;
/// Maximum tries per sample; a running thread keeps its frames for some microseconds.
constexpr int maxTries = 3;

uint64_t mixed(uint64_t before, uint64_t value) {
    const uint64_t product = (before ^ value) * 0x9e3779b97f4a7c15;
    return product ^ product >> 29;
}

/// Reads the version of "libpython3.10.so.1.0" or "python3.10".
bool versionInName(std::string_view file, int& major, int& minor) {
    const size_t at = file.rfind("python");
    if (at == std::string_view::npos) return false;
    return readVersion(file.substr(at + 6), major, minor);
}

/// Parts of an interpreter in an image; its layout may be missing.
struct FoundPython {
    PythonImage image;
    bool isReadable = false;
};

std::optional<FoundPython> pythonIn(const Memory& memory, uint64_t address, std::string_view file) {
    const auto image = LoadedImage::at(memory, address);
    if (!image) return std::nullopt;
    const auto runtime = image->find("_PyRuntime"), code = image->find("PyCode_Type"),
               text = image->find("PyUnicode_Type"), bytes = image->find("PyBytes_Type");
    if (!runtime || !code || !text || !bytes) return std::nullopt;
    int major = 0, minor = 0;
    uint64_t number = 0;
    // From 3.11 on a constant contains it: 0x030b07f0.
    if (const auto version = image->find("Py_Version"); version && memory.get(version->address, number)) {
        major = static_cast<int>(number >> 24 & 0xff);
        minor = static_cast<int>(number >> 16 & 0xff);
    } else if (!versionInName(file, major, minor)) {
        return std::nullopt;
    }
    std::optional<FrameLayout> layout = layoutOf(major, minor);
    if (std::array<std::byte, runtimeBytes> told{}; !layout && memory.read(runtime->address, told.data(), told.size()))
        layout = layoutOfRuntime(told, major, minor);
    return FoundPython{{runtime->address,
                        {code->address, text->address, bytes->address},
                        layout.value_or(FrameLayout{}),
                        fmt::format("{}.{}", major, minor)},
                       layout.has_value()};
}

}  // namespace

void RemoteMemory::forget() {
    if (trail_) trail_->count_ = 0;
    if (++round_ != 0) return;
    blocks_.clear();
    round_ = 1;
}

void RemoteMemory::begin(Trail& trail) {
    const Trail before = trail;
    trail_ = &trail;
    forget();
    if (before.count_ < 2) return;
    if (blocks_.empty()) blocks_.resize(blockCount);
    std::array<iovec, Trail::maxPages> local{}, remote{};
    std::array<Block*, Trail::maxPages> wanted{};
    size_t count = 0;
    for (size_t i = 0; i < before.count_; ++i) {
        Block& block = blocks_[before.pages_[i] % blockCount];
        const auto* const end = wanted.begin() + count;
        if (std::find(wanted.cbegin(), end, &block) != end) continue;
        block.number = before.pages_[i];
        block.round = 0;
        block.isUsed = false;
        local[count] = {block.bytes.data(), blockBytes};
        remote[count] = {reinterpret_cast<void*>(block.number * blockBytes), blockBytes};
        wanted[count++] = &block;
    }
    const ssize_t got = ::process_vm_readv(pid_, local.data(), count, remote.data(), count, 0);
    // The read ends at the first missing block; the others are read on demand.
    const size_t whole = got > 0 ? static_cast<size_t>(got) / blockBytes : 0;
    for (size_t i = 0; i < std::min(whole, count); ++i) wanted[i]->round = round_;
}

const RemoteMemory::Block* RemoteMemory::used(Block& block) const {
    if (!block.isUsed && trail_ && trail_->count_ < Trail::maxPages) trail_->pages_[trail_->count_++] = block.number;
    block.isUsed = true;
    return &block;
}

const RemoteMemory::Block* RemoteMemory::block(uint64_t number) const {
    if (blocks_.empty()) blocks_.resize(blockCount);
    Block& block = blocks_[number % blockCount];
    if (block.round == round_ && block.number == number) return used(block);
    iovec local{block.bytes.data(), blockBytes};
    iovec remote{reinterpret_cast<void*>(number * blockBytes), blockBytes};
    block.round = 0;
    const ssize_t got = ::process_vm_readv(pid_, &local, 1, &remote, 1, 0);
    if (got < 0) isRefused_ = errno == EPERM || errno == ENOSYS || errno == EACCES;
    if (got != static_cast<ssize_t>(blockBytes)) return nullptr;
    isRefused_ = false;
    block.number = number;
    block.round = round_;
    block.isUsed = false;
    return used(block);
}

bool RemoteMemory::read(uint64_t address, void* into, size_t bytes) const {
    constexpr uint64_t firstPage = 4'096;
    if (address < firstPage || address >= agent::python::endOfMemory || bytes > agent::python::endOfMemory - address)
        return false;
    auto* next = static_cast<unsigned char*>(into);
    while (bytes > 0) {
        const uint64_t within = address % blockBytes;
        const size_t count = std::min<size_t>(bytes, blockBytes - within);
        const Block* const from = block(address / blockBytes);
        if (!from) return false;
        std::memcpy(next, from->bytes.data() + within, count);
        next += count;
        address += count;
        bytes -= count;
    }
    return true;
}

bool GilWatch::isAt(const agent::python::Memory& memory, uint64_t address, std::span<const uint64_t> states) const {
    uint64_t interval = 0, holder = 0;
    int32_t held = 0;
    return memory.get(address + intervalAt, interval) && memory.get(address + holderAt, holder) &&
           memory.get(address + heldAt, held) && interval > 0 && interval <= maxIntervalUs &&
           (held == 0 || held == 1) && std::ranges::find(states, holder) != states.end();
}

void GilWatch::setAddress(const agent::python::Memory& memory, uint64_t address, std::span<const uint64_t> states) {
    if (isAt(memory, address, states)) address_ = address;
}

bool GilWatch::isWaitedFor(const agent::python::Memory& memory, uint64_t address, std::span<const uint64_t> states) {
    if (address_ != 0) return address >= address_ + sleepersAt && address < address_ + maxLockBytes;
    constexpr uint64_t aligned = 8;
    const uint64_t last = address / aligned * aligned;
    for (uint64_t back = sleepersAt; back < maxLockBytes && back < last; back += aligned) {
        if (!isAt(memory, last - back, states)) continue;
        address_ = last - back;
        return true;
    }
    return false;
}

std::optional<uint64_t> GilWatch::holder(const agent::python::Memory& memory) const {
    uint64_t holder = 0;
    int32_t held = 0;
    if (address_ == 0 || !memory.get(address_ + holderAt, holder) || !memory.get(address_ + heldAt, held) || held != 1)
        return std::nullopt;
    return holder;
}

std::optional<LoadedImage> LoadedImage::at(const agent::python::Memory& memory, uint64_t address) {
    Elf64_Ehdr header{};
    if (!memory.get(address, header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
        header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_phentsize != sizeof(Elf64_Phdr))
        return std::nullopt;
    LoadedImage image(memory);
    bool hasBase = false;
    Elf64_Phdr dynamic{};
    const uint16_t count = std::min(header.e_phnum, maxProgramHeaders);
    for (uint16_t i = 0; i < count; ++i) {
        Elf64_Phdr segment{};
        if (!memory.get(address + header.e_phoff + i * sizeof segment, segment)) return std::nullopt;
        if (segment.p_type == PT_LOAD && segment.p_offset == 0 && !hasBase) {
            image.base_ = address - (segment.p_vaddr & pageMask);
            hasBase = true;
        }
        if (segment.p_type == PT_DYNAMIC) dynamic = segment;
    }
    if (!hasBase || dynamic.p_memsz == 0 || !image.readDynamic(image.base_ + dynamic.p_vaddr, dynamic.p_memsz))
        return std::nullopt;
    return image;
}

bool LoadedImage::readDynamic(uint64_t address, uint64_t bytes) {
    const uint64_t count = std::min<uint64_t>(bytes / sizeof(Elf64_Dyn), maxDynamicEntries);
    for (uint64_t i = 0; i < count; ++i) {
        Elf64_Dyn entry{};
        if (!memory_->get(address + i * sizeof entry, entry)) return false;
        if (entry.d_tag == DT_NULL) break;
        // glibc stores addresses of this process there, other loaders keep those of the file.
        const uint64_t value = entry.d_un.d_ptr < base_ ? entry.d_un.d_ptr + base_ : entry.d_un.d_ptr;
        if (entry.d_tag == DT_SYMTAB) symbols_ = value;
        if (entry.d_tag == DT_STRTAB) names_ = value;
        if (entry.d_tag == DT_GNU_HASH) hashes_ = value;
    }
    return symbols_ != 0 && names_ != 0 && hashes_ != 0;
}

bool LoadedImage::isNamed(uint64_t text, std::string_view name) const {
    std::array<char, 64> found{};
    if (name.size() >= found.size() || !memory_->read(text, found.data(), name.size() + 1)) return false;
    return found[name.size()] == '\0' && std::string_view(found.data(), name.size()) == name;
}

std::optional<LoadedImage::Symbol> LoadedImage::find(std::string_view name) const {
    // The table begins with its sizes, followed by a filter of words, buckets and chains.
    std::array<uint32_t, 4> sizes{};
    if (!memory_->get(hashes_, sizes)) return std::nullopt;
    const auto [buckets, firstSymbol, filterWords, shift] = sizes;
    if (buckets == 0) return std::nullopt;
    const uint32_t hash = hashOf(name);
    const uint64_t bucketsAt = hashes_ + sizeof sizes + uint64_t{filterWords} * 8;
    const uint64_t chainsAt = bucketsAt + uint64_t{buckets} * 4;
    uint32_t symbol = 0;
    if (!memory_->get(bucketsAt + uint64_t{hash % buckets} * 4, symbol) || symbol < firstSymbol) return std::nullopt;
    for (uint32_t step = 0; step < maxChainLength; ++step, ++symbol) {
        uint32_t chained = 0;
        if (!memory_->get(chainsAt + uint64_t{symbol - firstSymbol} * 4, chained)) return std::nullopt;
        if ((chained | 1) == (hash | 1)) {
            Elf64_Sym found{};
            if (!memory_->get(symbols_ + uint64_t{symbol} * sizeof found, found)) return std::nullopt;
            if (found.st_shndx != SHN_UNDEF && isNamed(names_ + found.st_name, name))
                return Symbol{base_ + found.st_value, found.st_size};
        }
        if ((chained & 1) != 0) return std::nullopt;
    }
    return std::nullopt;
}

ImagesOfProcess readImages(pid_t pid, const RemoteMemory& memory) {
    ImagesOfProcess found;
    const ProcFile maps(fmt::format("/proc/{}/maps", pid));
    std::vector<char> buffer;
    std::string_view text = maps.read(buffer);
    bool isProgram = true;
    while (!text.empty()) {
        // "55d0c0a00000-55d0c0a2b000 r--p 00000000 fe:00 1234    /usr/bin/python3.11"
        std::string_view line = takeUntil(text, '\n');
        std::string_view addresses = takeWord(line);
        takeWord(line);
        const std::string_view offset = takeWord(line);
        takeWord(line);
        takeWord(line);
        const std::string_view path = takeWord(line);
        if (path.empty() || path.front() != '/' || offset.find_first_not_of('0') != std::string_view::npos) continue;
        const std::string_view file = path.substr(path.rfind('/') + 1);
        found.usesCuda |= file.starts_with("libcuda.so") || file.starts_with("liblanescope-agent");
        const bool mayBePython = isProgram || file.starts_with("libpython3") || file.starts_with("python");
        isProgram = false;
        if (found.python || !mayBePython) continue;
        uint64_t address = 0;
        const std::string_view first = takeUntil(addresses, '-');
        std::from_chars(first.data(), first.data() + first.size(), address, 16);
        auto python = pythonIn(memory, address, file);
        int major = 0, minor = 0;
        found.isHidden |= memory.isRefused() && versionInName(file, major, minor);
        if (!python) continue;
        if (python->isReadable)
            found.python = std::make_shared<const PythonImage>(std::move(python->image));
        else
            found.unknownVersion = python->image.version;
    }
    return found;
}

PythonProcess::PythonProcess(std::shared_ptr<const PythonImage> image, RemoteMemory& memory, SampleLog& log,
                             StackReading& reading)
    : PythonProcess(std::move(image), memory,
                    StackStore{std::bind_front(&SampleLog::code, &log), std::bind_front(&SampleLog::stack, &log)},
                    reading) {}

PythonProcess::PythonProcess(std::shared_ptr<const PythonImage> image, RemoteMemory& memory, StackStore store,
                             StackReading& reading)
    : image_(std::move(image)),
      memory_(memory),
      store_(std::move(store)),
      reading_(reading),
      frames_(StackTable::maxFrames) {}

/// Returns the kernel's number of a thread. glibc keeps it after the word that `pthread_self`
/// returns; from 3.11 on Python has it as well. Returns 0 if unknown.
pid_t PythonProcess::threadOf(uint64_t state) const {
    const FrameLayout& layout = image_->layout;
    if (layout.kernelThread != FrameLayout::none) {
        uint64_t number = 0;
        return memory_.get(state + layout.kernelThread, number) ? static_cast<pid_t>(number) : 0;
    }
#ifdef __x86_64__
    constexpr uint64_t numberAt = 0x2d0;
#else
    constexpr uint64_t numberAt = 0xd0;
#endif
    uint64_t self = 0;
    int32_t number = 0;
    return memory_.get(state + layout.threadId, self) && isPlausible(self) && memory_.get(self + numberAt, number)
               ? static_cast<pid_t>(number)
               : 0;
}

void PythonProcess::findThreads(int64_t nowNs) {
    stateOf_.clear();
    states_.clear();
    // Discards cached facts, because the code may have been freed since.
    if (nowNs - roundBegunNs_ >= maxCodeAgeNs) {
        known_.clear();
        ++round_;
        roundBegunNs_ = nowNs;
    }
    if (codes_.size() > maxKnownCodes) codes_.clear();
    const FrameLayout& layout = image_->layout;
    interpreter_ = 0;
    uint64_t interpreter = 0;
    if (!memory_.get(image_->runtime + layout.interpreters, interpreter) || !isPlausible(interpreter)) return;
    interpreter_ = interpreter;
    uint64_t state = 0;
    if (!memory_.get(interpreter + layout.threads, state)) return;
    while (isPlausible(state) && states_.size() < maxThreads) {
        states_.push_back(state);
        if (const pid_t thread = threadOf(state); thread > 0) stateOf_.insert_or_assign(thread, state);
        if (!memory_.get(state + layout.nextThread, state)) break;
    }
    if (!gil_.isFound()) findGil();
}

/// Sets the lock's address by the layout. Until a thread has held the lock, it cannot be validated.
void PythonProcess::findGil() {
    const FrameLayout& layout = image_->layout;
    uint64_t address = 0;
    if (layout.gil != FrameLayout::none)
        address = image_->runtime + layout.gil;
    else if (layout.pointerToGil == FrameLayout::none || !memory_.get(interpreter_ + layout.pointerToGil, address))
        return;
    if (isPlausible(address)) gil_.setAddress(memory_, address, states_);
}

/// Returns true if that thread collects garbage: the interpreter collects and the thread holds the
/// lock. Finalizers may release the lock for a while; then no thread counts as collecting.
bool PythonProcess::isCollecting(uint64_t state) const {
    int32_t collecting = 0;
    return image_->layout.collecting != FrameLayout::none && interpreter_ != 0 &&
           memory_.get(interpreter_ + image_->layout.collecting, collecting) && collecting == 1 &&
           gil_.holder(memory_) == state;
}

pid_t PythonProcess::gilHolder() const {
    const auto state = gil_.holder(memory_);
    return state && std::ranges::find(states_, *state) != states_.end() ? threadOf(*state) : 0;
}

/// Returns true if the state still belongs to the thread: a freed state may be another thread's now.
bool PythonProcess::isStill(pid_t thread, uint64_t state) const { return threadOf(state) == thread; }

uint32_t PythonProcess::stackOf(pid_t thread) {
    const auto found = stateOf_.find(thread);
    if (found == stateOf_.end() || !reading_.isWanted) return 0;
    const uint64_t state = found->second;
    for (int tries = 0; tries < maxTries; ++tries) {
        uint32_t number = 0;
        const Outcome outcome = tryStack(thread, state, number);
        if (outcome == Outcome::Whole) ++reading_.whole;
        if (outcome != Outcome::Inconsistent) return number;
        memory_.forget();
    }
    // Stacks of ended threads are unreadable too.
    if (isStill(thread, state)) ++reading_.inconsistent;
    return 0;
}

PythonProcess::Outcome PythonProcess::tryStack(pid_t thread, uint64_t state, uint32_t& number) {
    if (!isStill(thread, state)) return Outcome::None;
    const Walked walked = walkFrames<false>(memory_, image_->layout, state, frames_);
    if (!walked.isWhole) return Outcome::Inconsistent;
    if (walked.count == 0) return Outcome::None;
    const bool collects = isCollecting(state);
    uint64_t key = (walked.isCut ? 1 : 0) + (collects ? 2 : 0);
    for (uint32_t i = 0; i < walked.count; ++i) key = mixed(mixed(key, frames_[i].code), frames_[i].instruction);
    if (const auto known = known_.find(key); known != known_.end()) {
        number = known->second;
        return Outcome::Whole;
    }
    number = walked.isCut ? store_.stack(0, store_.code(truncatedFrame, {}), 0) : 0;
    for (uint32_t i = walked.count; i > 0; --i)
        if (!addFrame(frames_[i - 1], number)) return Outcome::Inconsistent;
    if (collects) number = store_.stack(number, store_.code(garbageCollectionFrame, {}), 0);
    if (known_.size() >= maxKnownStacks) known_.clear();
    known_.emplace(key, number);
    return Outcome::Whole;
}

/// Replaces the number of a stack by that of the stack with one more frame. Returns false if the
/// frame has no valid code.
bool PythonProcess::addFrame(const Frame& told, uint32_t& number) {
    const FrameLayout& layout = image_->layout;
    Frame frame = told;
    CodeFacts facts;
    auto code = codes_.find(frame.code);
    if (code == codes_.end() || code->second.checked != round_) {
        if (!readIdentity(memory_, layout, frame)) return false;
        const bool isKnown = code != codes_.end() && code->second.identity == frame.identity;
        if (!readCode(memory_, layout, image_->types, frame.code, !isKnown, facts)) return false;
        const uint32_t known = isKnown
                                   ? code->second.number
                                   : store_.code({facts.function, facts.functionBytes}, {facts.file, facts.fileBytes});
        code = codes_.insert_or_assign(frame.code, KnownCode{frame.identity, known, round_}).first;
    }
    const uint64_t place = mixed(mixed(mixed(frame.copy, frame.code), code->second.identity), frame.instruction);
    auto line = lines_.find(place);
    if (line == lines_.end()) {
        if (!readCode(memory_, layout, image_->types, frame.code, false, facts) ||
            !isWithinCode(memory_, layout, frame))
            return false;
        if (lines_.size() >= maxKnownLines) lines_.clear();
        line = lines_.emplace(place, lineOfFrame(memory_, layout, facts, frame)).first;
    }
    number = store_.stack(number, code->second.number, line->second);
    return true;
}

}  // namespace lanescope::capture
