// SPDX-License-Identifier: Apache-2.0
#include "capture/watch/HangReport.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <stdexcept>
#include <utility>

#include "model/format/factNames.h"
#include "model/format/ncclFunctions.h"
#include "model/format/text.h"
#include "model/format/threadStates.h"

namespace lanescope::capture {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(NcclPlace, operation, datatype, sequence, count, bytes, root, peer,
                                                thread, begunNs, endedNs, line)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(CommunicatorPlace, hash, name, rank, rankCount, call, hasTask,
                                                operations, sequences)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(OpenLaunch, launchedNs, api, line, kernel, isGraph, thread)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(ThreadPlace, id, name, state, call, sinceNs, holdsGil, gilHolder,
                                                pipePeer, hasNoPeer, stack)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(ProcessState, pid, rank, worldSize, host, program, startTicks, isAlive,
                                                isStopped, recordsLaunches, end, atNs, lastEventNs, lastGpuEndNs,
                                                launch, communicators, threads, children)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(HangReport, atNs, quietNs, processes)

namespace {

constexpr size_t maxShownLines = 60, maxShownFrames = 12, maxShownThreads = 6, maxShownNameBytes = 80;
constexpr int64_t nsPerSecond = 1'000'000'000;

std::string thousands(int64_t number) {
    std::string digits = std::to_string(number);
    for (size_t at = digits.size(); at > 3 && digits[at - 4] != '-'; at -= 3) digits.insert(at - 3, 1, ',');
    return digits;
}

/// Returns 0 if one of the times is unknown.
int64_t passedNs(int64_t fromNs, int64_t toNs) { return fromNs > 0 && toNs > fromNs ? toNs - fromNs : 0; }

/// Returns " for 61 s"; empty below a second.
std::string lasting(int64_t fromNs, int64_t toNs, const char* before = " for ", const char* after = " s") {
    const int64_t seconds = passedNs(fromNs, toNs) / nsPerSecond;
    return seconds > 0 ? before + thousands(seconds) + after : std::string();
}

std::string brief(std::string_view text) {
    if (text.size() <= maxShownNameBytes) return std::string(text);
    return validUtf8(text.substr(0, maxShownNameBytes)) + "...";
}

/// Returns " at train.py:12" for "/srv/train.py:12 step"; empty without a line.
std::string at(std::string_view line) {
    if (line.empty()) return {};
    if (!line.starts_with('(')) line = line.substr(0, line.rfind(' '));
    return " at " + brief(line.substr(line.rfind('/') + 1));
}

using Processes = std::vector<const ProcessState*>;

/// Returns "rank 3", "ranks 0-2, 4", or for processes without a rank "process 4711".
std::string namesOf(const Processes& processes, bool isBegin = false) {
    std::set<int64_t> numbers;
    for (const ProcessState* each : processes) numbers.insert(each->rank < 0 ? each->pid : each->rank);
    const bool isRank = processes.front()->rank >= 0;
    std::string text = isBegin ? (isRank ? "Rank" : "Process") : isRank ? "rank" : "process";
    if (numbers.size() > 1) text += isRank ? "s" : "es";
    for (auto from = numbers.begin(); from != numbers.end();) {
        auto last = from;
        while (std::next(last) != numbers.end() && *std::next(last) == *last + 1) ++last;
        text += (from == numbers.begin() ? " " : ", ") + std::to_string(*from);
        if (last != from) text += "-" + std::to_string(*last);
        from = std::next(last);
    }
    return text;
}

/// Returns true for a collective whose sequence is comparable between ranks; sends are not.
bool isComparable(const NcclPlace& operation) {
    const NcclFunction* const known = findNcclFunction(operation.operation);
    const bool isSend = operation.operation == "Send" || operation.operation == "Recv" || (known && known->isOfSends);
    return operation.sequence >= 0 && operation.peer < 0 && !operation.operation.empty() && !isSend;
}

std::string nameOf(const NcclPlace& operation) {
    return brief(operation.operation) + " " + thousands(operation.sequence);
}

std::string sizeOf(const NcclPlace& operation) {
    std::string text =
        operation.bytes < 0 ? thousands(operation.count) + " elements" : thousands(operation.bytes) + " bytes";
    if (!operation.datatype.empty()) text += " of " + brief(operation.datatype);
    return operation.root > 0 ? fmt::format("{} from root {}", text, operation.root) : text;
}

/// A process in a communicator, and its last collective there; without a sequence if that is unknown.
struct Member {
    const ProcessState* process;
    const CommunicatorPlace* place;
    NcclPlace last;

    Member(const ProcessState& of, const CommunicatorPlace& in) : process(&of), place(&in) {
        for (const NcclPlace& each : in.operations)
            if (isComparable(each)) last = each;
        const auto before = in.sequences.find(in.call.operation);
        if (in.hasTask || before == in.sequences.end() || before->second == std::numeric_limits<int64_t>::max()) return;
        // The call is inside NCCL, which has not begun its operation yet.
        NcclPlace next = in.call;
        next.sequence = before->second + 1;
        if (isComparable(next)) last = std::move(next);
    }
    bool hasEntered(const NcclPlace& operation) const {
        if (last.operation == operation.operation && last.sequence >= operation.sequence) return true;
        const auto found = place->sequences.find(operation.operation);
        return found != place->sequences.end() && found->second >= operation.sequence;
    }
};

/// Members of a communicator whose last collective is the same.
struct Group {
    std::vector<const Member*> members;

    const Member& first() const { return *members.front(); }
    const NcclPlace& last() const { return first().last; }
    Processes processes() const {
        Processes all;
        for (const Member* each : members) all.push_back(each->process);
        return all;
    }
};

struct Communicator {
    std::string title;
    int64_t rankCount = 0;
    std::vector<Member> members;
    std::vector<Group> groups;  ///< The one that entered most collectives of others first.

    void arrange();
};

void Communicator::arrange() {
    std::map<std::pair<std::string, int64_t>, Group> byLast;
    for (const Member& each : members) {
        if (each.last.sequence >= 0) byLast[{each.last.operation, each.last.sequence}].members.push_back(&each);
        rankCount = std::max<int64_t>(rankCount, each.place->rankCount);
        if (!each.place->name.empty()) title = "communicator " + brief(each.place->name);
    }
    if (title.empty()) title = "the communicator";
    title += fmt::format(" of {} ranks", thousands(rankCount));
    for (auto& [key, each] : byLast) groups.push_back(std::move(each));
    std::ranges::stable_sort(groups, std::greater(), [this](const Group& group) {
        return std::pair(
            std::ranges::count_if(members, [&](const Member& each) { return group.first().hasEntered(each.last); }),
            group.members.size());
    });
}

ThreadState stateOf(const ThreadPlace& thread) {
    const auto* const found = std::ranges::find(threadStateNames, thread.state, &ThreadStateName::identifier);
    return threadStateFrom(found == threadStateNames.end() ? 0 : found - threadStateNames.begin());
}

/// Returns "waits for a lock at loader.py:88 for 61 s".
std::string doingOf(const ThreadPlace& thread, const ProcessState& process) {
    const ThreadState state = stateOf(thread);
    std::string text(lanescope::nameOf(state).meaning);
    if (thread.pipePeer != 0 || thread.hasNoPeer)
        text = (thread.call == "write" ? "waits for space in a full pipe" : "waits for data from a pipe") +
               (thread.hasNoPeer ? " that no other process has open" : fmt::format(" of process {}", thread.pipePeer));
    else if (state == ThreadState::Lock)
        text = "waits for a lock";
    else if (state == ThreadState::Running && !thread.stack.empty())
        text = "runs Python";
    text += at(ownLine(thread.stack)) + lasting(thread.sinceNs, process.atNs);
    if (state != ThreadState::Gil || thread.gilHolder == 0) return text;
    const auto holder = std::ranges::find(process.threads, thread.gilHolder, &ThreadPlace::id);
    return text + fmt::format(", held by thread {}{}", thread.gilHolder,
                              holder == process.threads.end() ? "" : at(ownLine(holder->stack)));
}

std::string endOf(const ProcessState& process) {
    return fmt::format("has ended ({})", process.end.empty() ? "reason not known" : brief(process.end));
}

/// Present activity of a process.
struct Doing {
    int weight = 0;      ///< As the reason of a hang; below `strongReason` it may wait for other processes.
    std::string clause;  ///< "its main thread waits for a lock at loader.py:88".
};
constexpr int strongReason = 4;

bool isOfNccl(const OpenLaunch& launch) { return launch.kernel.find("nccl") != std::string::npos; }

/// Describes a wait for a data loader: for the pipe of a child process, or of one that has ended. Threads that always
/// wait for a child process, such as those of compilers, do not count.
std::optional<Doing> waitForLoader(const ProcessState& process) {
    for (const ThreadPlace& thread : process.threads) {
        const bool isMain = &thread == process.threads.data();
        const auto child = std::ranges::find_if(process.children, [&](const ProcessState& each) {
            return thread.hasNoPeer ? !each.isAlive : each.pid == thread.pipePeer;
        });
        const bool hasChild = child != process.children.end();
        if ((!thread.hasNoPeer && !hasChild) || (!isMain && std::ranges::none_of(thread.stack, isTorchDataFile)))
            continue;
        std::string text = "its main thread " + doingOf(process.threads.front(), process);
        if (!isMain) text += fmt::format(", its thread {} {}", brief(thread.name), doingOf(thread, process));
        if (!hasChild) return Doing{strongReason, text};
        std::string childText = child->isAlive ? "is alive" : endOf(*child);
        for (const ThreadPlace& each : child->threads)
            if (child->isAlive && (&each == child->threads.data() || each.call == "write"))
                childText = doingOf(each, *child);
        return Doing{strongReason, fmt::format("{}; child process {} {}", text, child->pid, childText)};
    }
    return std::nullopt;
}

Doing doingOf(const ProcessState& process, int64_t quietNs) {
    const OpenLaunch& launch = process.launch;
    const int64_t openNs = passedNs(launch.launchedNs, process.atNs);
    if (!process.isAlive) return {6, "it " + endOf(process)};
    if (process.isStopped) return {6, "it is stopped, by a signal or a debugger"};
    if (openNs > 0 && openNs >= quietNs / 2 && !isOfNccl(launch))
        // A graph with collectives waits for other ranks.
        return {launch.isGraph && !process.communicators.empty() ? 1 : 5,
                fmt::format("its {} {}, launched{} by {}{}, does not end", launch.isGraph ? "CUDA graph" : "kernel",
                            launch.kernel.empty() ? "(name not known)" : brief(launch.kernel), at(launch.line),
                            brief(launch.api), lasting(launch.launchedNs, process.atNs, " ", " s ago"))};
    if (auto wait = waitForLoader(process)) return *std::move(wait);
    if (process.threads.empty()) return {0, "its threads are not known"};
    const ThreadPlace& main = process.threads.front();
    const ThreadState state = stateOf(main);
    std::string clause = "its main thread " + doingOf(main, process);
    if (state == ThreadState::Unknown || isWaiting(state)) return {state == ThreadState::Unknown ? 0 : 2, clause};
    if (main.stack.empty() || launch.launchedNs != 0 || !process.recordsLaunches) return {1, clause};
    return {3, clause + ", without GPU work: a loop on the host"};
}

/// Search for the reason. Times of different processes are not compared, because hosts have clocks of their own.
class Analysis {
  public:
    explicit Analysis(const HangReport& report);

    std::string sentence;
    Processes culprits;
    std::map<uint64_t, Communicator> communicators;  // by hash

  private:
    void add(int weight, std::string text, Processes of) {
        if (weight <= weight_) return;
        weight_ = weight;
        sentence = std::move(text);
        culprits = std::move(of);
    }
    Doing doing(const ProcessState& process) const { return doingOf(process, report_.quietNs); }
    std::string clauseOf(const Processes& all) const;
    bool waitsElsewhere(const ProcessState& process, const Communicator& here) const;
    void findMismatch(const Communicator& in);
    void findOrder(const Communicator& in);
    void findLate(const Communicator& in);
    void findEnded(const ProcessState& process);
    void findActivity();

    const HangReport& report_;
    int weight_ = -1;
};

Analysis::Analysis(const HangReport& report) : report_(report) {
    for (const ProcessState& process : report.processes)
        for (const CommunicatorPlace& place : process.communicators)
            communicators[place.hash].members.emplace_back(process, place);
    for (auto& [hash, each] : communicators) each.arrange();
    for (const auto& [hash, each] : communicators) {
        findMismatch(each);
        if (each.groups.size() > 1) findOrder(each);
    }
    for (const ProcessState& each : report.processes)
        if (!each.isAlive) findEnded(each);
    findActivity();
}

/// Describes the activity of the process that is the most likely reason.
std::string Analysis::clauseOf(const Processes& all) const {
    const auto most = std::ranges::max_element(all, {}, [this](const auto* each) { return doing(*each).weight; });
    return (all.size() > 1 ? fmt::format("for {}, ", namesOf({*most})) : "") + doing(**most).clause;
}

/// Returns true if the process is in a collective of another communicator that another rank has not entered.
bool Analysis::waitsElsewhere(const ProcessState& process, const Communicator& here) const {
    return std::ranges::any_of(communicators, [&](const auto& entry) {
        const Communicator& each = entry.second;
        const auto self = std::ranges::find(each.members, &process, &Member::process);
        return &each != &here && self != each.members.end() && self->last.sequence >= 0 &&
               std::ranges::any_of(each.groups, [&](const Group& of) { return !of.first().hasEntered(self->last); });
    });
}

void Analysis::findMismatch(const Communicator& in) {
    struct Kind {
        const NcclPlace* operation = nullptr;
        Processes processes;
    };
    std::map<std::pair<int64_t, std::string>, std::map<std::string, Kind>> all;  // by operation and size
    const auto add = [&](const NcclPlace& each, const Member& member) {
        if (!isComparable(each)) return;
        Kind& kind = all[{each.sequence, each.operation}][sizeOf(each)];
        kind.operation = &each;
        kind.processes.push_back(member.process);
    };
    for (const Member& member : in.members) {
        for (const NcclPlace& each : member.place->operations) add(each, member);
        if (!member.place->hasTask) add(member.last, member);
    }
    const auto latest = std::find_if(all.rbegin(), all.rend(), [](const auto& each) { return each.second.size() > 1; });
    if (latest == all.rend()) return;
    std::vector<Kind> kinds;
    for (const auto& [size, kind] : latest->second) kinds.push_back(kind);
    std::ranges::stable_sort(kinds, {}, [](const Kind& kind) { return kind.processes.size(); });
    const Kind &few = kinds.front(), &many = kinds.back();
    this->add(80,
              fmt::format("{} entered {} of {} with {}{}, but {} with {}{}.", namesOf(few.processes, true),
                          nameOf(*few.operation), in.title, sizeOf(*few.operation), at(few.operation->line),
                          namesOf(many.processes), sizeOf(*many.operation), at(many.operation->line)),
              few.processes);
}

void Analysis::findOrder(const Communicator& in) {
    const Group& first = in.groups.front();
    for (const Group& other : in.groups) {
        if (first.first().hasEntered(other.last()) || other.first().hasEntered(first.last())) continue;
        const bool isFewer = other.members.size() <= first.members.size();
        const Group &odd = isFewer ? other : first, &most = isFewer ? first : other;
        return add(70,
                   fmt::format("{} skipped {} of {}, which {} entered{}, and entered {} instead{}.",
                               namesOf(odd.processes(), true), nameOf(most.last()), in.title, namesOf(most.processes()),
                               at(most.last().line), nameOf(odd.last()), at(odd.last().line)),
                   odd.processes());
    }
    findLate(in);
}

void Analysis::findLate(const Communicator& in) {
    const Group &first = in.groups.front(), &last = in.groups.back();
    if (first.members.size() == 1 && last.members.size() > 1 && in.groups.size() == 2)
        return add(30,
                   fmt::format("Only {} has entered {} of {}{}; {} have not: {}.", namesOf(first.processes()),
                               nameOf(first.last()), in.title, at(first.last().line), namesOf(last.processes()),
                               clauseOf(last.processes())),
                   last.processes());
    Group roots;
    for (const Member* each : last.members)
        if (!waitsElsewhere(*each->process, in)) roots.members.push_back(each);
    const Group& late = roots.members.empty() ? last : roots;
    const bool isOne = late.members.size() == 1;
    const auto& entered = first.first().place->operations;
    const auto next = std::ranges::find_if(
        entered, [&](const NcclPlace& each) { return isComparable(each) && !late.first().hasEntered(each); });
    const std::string text =
        fmt::format("{} {} not entered {} of {}", namesOf(late.processes(), true), isOne ? "has" : "have",
                    nameOf(next == entered.end() ? first.last() : *next), in.title);
    if (roots.members.empty())
        add(40, text + " but another communicator's collective: ranks wait for each other.", late.processes());
    else
        add(isOne ? 60 : 50, fmt::format("{}; {}.", text, clauseOf(late.processes())), late.processes());
}

void Analysis::findEnded(const ProcessState& process) {
    std::string text = fmt::format("{} {}", namesOf({&process}, true), endOf(process));
    for (const auto& [hash, in] : communicators)
        for (const Member& member : in.members)
            if (member.process == &process && !in.groups.empty() && !member.hasEntered(in.groups.front().last()))
                return add(
                    90,
                    fmt::format("{} and has not entered {} of {}{}.", text, nameOf(in.groups.front().last()), in.title,
                                member.last.sequence < 0 ? ""
                                                         : fmt::format("; its last operation was {}{}",
                                                                       nameOf(member.last), at(member.last.line))),
                    {&process});
    // Helper processes come and go.
    const bool isWorker = process.rank >= 0 || process.lastGpuEndNs > 0;
    if (isWorker && process.end != "exit") add(85, text + ".", {&process});
}

void Analysis::findActivity() {
    const auto most = std::ranges::max_element(
        report_.processes, {}, [this](const ProcessState& each) { return each.isAlive ? doing(each).weight : -1; });
    if (most == report_.processes.end() || !most->isAlive) return add(0, "No process of the run is alive.", {});
    const Doing found = doing(*most);
    std::string before;
    size_t present = 0;
    for (const auto& [hash, in] : communicators) {
        if (in.groups.empty() || in.members.size() <= present) continue;
        present = in.members.size();
        const Group& group = in.groups.front();
        before = fmt::format("{} {} entered {} of {}{}", namesOf(group.processes(), true),
                             group.members.size() == 1 ? "has" : "have", nameOf(group.last()), in.title,
                             at(group.last().line));
        // Other ranks of this communicator left no log, or are on hosts without a report.
        if (static_cast<int64_t>(present) < in.rankCount)
            before += fmt::format(", {} more left no report", thousands(in.rankCount - static_cast<int64_t>(present)));
    }
    if (!before.empty() && found.weight < strongReason &&
        std::ranges::any_of(report_.processes, [](const auto& each) { return isOfNccl(each.launch); }))
        return add(20, before + "; the kernel does not end: the reason is not known.", {&*most});
    add(found.weight >= strongReason ? 35 : 10,
        fmt::format("{}{} makes no progress: {}{}.", before.empty() ? "" : before + "; ",
                    namesOf({&*most}, before.empty()), found.clause,
                    found.weight > 0 ? "" : ": the reason is not known"),
        {&*most});
}

void addThreads(std::vector<std::string>& lines, const ProcessState& process) {
    for (size_t i = 0; i < std::min(process.threads.size(), maxShownThreads); ++i) {
        const ThreadPlace& thread = process.threads[i];
        lines.push_back(fmt::format("    thread {} ({}): {}{}", thread.id, brief(thread.name), doingOf(thread, process),
                                    thread.call.empty() ? "" : ", in " + brief(thread.call)));
        for (size_t frame = 0; frame < std::min(thread.stack.size(), maxShownFrames); ++frame)
            lines.push_back("        " + thread.stack[frame]);
    }
}

}  // namespace

std::string cleaned(std::string_view text) {
    std::string clean = validUtf8(text);
    for (size_t i = 0; i < clean.size(); ++i) {
        const auto byte = static_cast<unsigned char>(clean[i]);
        // Further controls are two bytes in UTF-8, from 0xc280 to 0xc29f.
        const bool isFirst = byte == 0xc2 && static_cast<unsigned char>(clean[i + 1]) < 0xa0;
        if (byte < ' ' || byte == 0x7f || isFirst) clean.replace(i, isFirst ? 2 : 1, 1, ' ');
    }
    return clean;
}

std::string pythonLine(std::string_view function, std::string_view file, int64_t line) {
    return cleaned(file.empty() ? std::string(function) : fmt::format("{}:{} {}", file, line, function));
}

std::string ownLine(const std::vector<std::string>& stack) {
    const auto own = std::ranges::find_if(stack, [](const std::string& each) {
        const size_t end = each.rfind(':');
        return end != std::string::npos && !isLibraryFile(each.substr(0, end));
    });
    return own != stack.end() ? *own : stack.empty() ? std::string() : stack.front();
}

std::string hangSentence(const HangReport& report) {
    return report.processes.empty() ? "No process reported its state." : Analysis(report).sentence;
}

std::string hangText(const HangReport& report) {
    if (report.processes.empty()) return hangSentence(report) + "\n";
    const Analysis analysis(report);
    std::vector<std::string> lines{analysis.sentence, "",
                                   fmt::format("Processes: {}.{}", report.processes.size(),
                                               lasting(1, report.quietNs + 1, " No progress for ", " s."))};
    if (!std::ranges::all_of(report.processes, &ProcessState::recordsLaunches))
        lines.push_back("CUDA calls were not recorded at this level, so a kernel without end cannot be named.");
    for (const auto& [hash, each] : analysis.communicators)
        for (const Group& group : each.groups)
            lines.push_back(fmt::format("In {}: {} in {} with {}{}", each.title, namesOf(group.processes()),
                                        nameOf(group.last()), sizeOf(group.last()), at(group.last().line)));
    // Processes with equal activity in one paragraph, those of the sentence first.
    std::map<std::pair<bool, std::string>, Processes> groups;
    for (const ProcessState& each : report.processes)
        groups[{std::ranges::find(analysis.culprits, &each) == analysis.culprits.end(),
                doingOf(each, report.quietNs).clause}]
            .push_back(&each);
    for (const auto& [key, processes] : groups) {
        const ProcessState& first = *processes.front();
        lines.insert(lines.end(), {"", namesOf(processes, true) + ": " + key.second});
        lines.push_back(fmt::format("    process {}{}{}", first.pid,
                                    first.host.empty() ? "" : " on " + brief(first.host),
                                    lasting(first.lastGpuEndNs, first.atNs, ": last GPU work ended ", " s ago")));
        addThreads(lines, first);
        for (const ProcessState& child : first.children) {
            lines.push_back(fmt::format("    child process {}{}", child.pid, child.isAlive ? "" : " " + endOf(child)));
            addThreads(lines, child);
        }
    }
    if (lines.size() > maxShownLines) {
        lines.resize(maxShownLines);
        lines.emplace_back("(more lines in the JSON)");
    }
    return fmt::format("{}\n", fmt::join(lines, "\n"));
}

std::string hangJson(const HangReport& report) {
    return nlohmann::json(report).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

Result<HangReport> readHangJson(std::string_view json, std::string_view name) {
    using Event = nlohmann::json::parse_event_t;
    constexpr int maxDepth = 12;
    constexpr size_t maxObjects = 1 << 16, maxEvents = 1 << 22;
    size_t objects = 0, events = 0;
    const auto check = [&](int depth, Event event, nlohmann::json& value) {
        objects += event == Event::object_start || event == Event::array_start;
        // Returning false would not end the parse, whose time grows with the square of the objects of an array.
        if (depth > maxDepth || objects > maxObjects || ++events > maxEvents || value.is_number_float())
            throw std::length_error("no hang report");
        if (event == Event::value && value.is_string()) value = cleaned(value.get_ref<const std::string&>());
        return true;
    };
    try {
        const nlohmann::json parsed = nlohmann::json::parse(json.substr(0, maxHangJsonBytes), check);
        if (parsed.contains("processes")) return parsed.get<HangReport>();
    } catch (const std::exception&) {
        // The sentence below.
    }
    return fail("{}: not a hang report of 'lanescope watch'. Remove it, or name another folder.", name);
}

HangReport joined(const std::vector<HangReport>& reports) {
    /// An older report is of another hang.
    constexpr int64_t maxAgeNs = 600 * nsPerSecond;
    HangReport all;
    for (const HangReport& each : reports) {
        all.atNs = std::max(all.atNs, each.atNs);
        all.quietNs = std::max(all.quietNs, each.quietNs);
    }
    std::map<std::pair<int64_t, std::string>, ProcessState> latest;  // by rank, or by process
    for (const HangReport& report : reports)
        for (const ProcessState& each : report.processes) {
            if (passedNs(report.atNs, all.atNs) > maxAgeNs) continue;
            const std::string process = each.rank < 0 ? fmt::format("{} {}", each.host, each.pid) : std::string();
            const auto [kept, isNew] = latest.try_emplace({each.rank, process}, each);
            if (!isNew && each.atNs > kept->second.atNs) kept->second = each;
        }
    for (auto& [key, each] : latest) all.processes.push_back(std::move(each));
    return all;
}

}  // namespace lanescope::capture
