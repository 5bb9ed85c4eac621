// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "app/cli/Output.h"
#include "app/cli/commands.h"
#include "app/help/HelpFormatter.h"
#include "capture/doctor/CudaDriver.h"
#include "capture/doctor/diagnose.h"
#include "capture/machine/Machine.h"
#include "model/bandwidth/LinkUse.h"
#include "model/bandwidth/tensorUse.h"
#include "model/format/ReadWatch.h"
#include "model/format/factNames.h"
#include "model/text/formatTable.h"

namespace lanescope::cli {

namespace {

struct DoctorWords {
    std::string agent;
    std::string format = "text";
    bool measures = false;
    bool isForced = false;
    std::string output;
    std::string products;
};

/// Rates above this share of the nominal peak are measurement errors.
constexpr double maxNominalShare = 1.2;

/// A measured peak with its name and nominal value.
struct Row {
    const capture::MeasuredPeak* peak = nullptr;
    std::string gpu;
    std::string copy = {};
    double nominalBytesPerSecond = 0;  ///< 0 if unknown.
};

const capture::MachineGpu* machineGpu(const capture::Machine& machine, const std::string& uuid) {
    for (const capture::MachineGpu& gpu : machine.gpus)
        if (gpu.uuid == uuid) return &gpu;
    return nullptr;
}

const capture::MachineLink* linkBetween(const capture::Machine& machine, const std::string& from,
                                        const std::string& to) {
    const capture::MachineGpu* const gpu = machineGpu(machine, from);
    const capture::MachineGpu* const peer = machineGpu(machine, to);
    if (gpu == nullptr || peer == nullptr) return nullptr;
    for (const capture::MachineLink& link : machine.links)
        if (link.gpu == gpu->index && link.peer == peer->index) return &link;
    return nullptr;
}

/// Returns nvidia-smi's number of the GPU; CUDA's own without NVML.
std::string numberOf(const capture::Machine& machine, const std::vector<capture::MeasuredGpu>& gpus,
                     const std::string& uuid) {
    if (const capture::MachineGpu* const gpu = machineGpu(machine, uuid)) return fmt::format("{}", gpu->index);
    for (const capture::MeasuredGpu& gpu : gpus)
        if (gpu.uuid == uuid) return fmt::format("{}", gpu.ordinal);
    return "?";
}

Row rowOf(const capture::Machine& machine, const capture::Measurement& measured, const capture::MeasuredPeak& peak) {
    Row row{.peak = &peak, .gpu = numberOf(machine, measured.gpus, peak.gpuUuid)};
    const capture::MachineGpu* const gpu = machineGpu(machine, peak.gpuUuid);
    const auto pcie = static_cast<double>(gpu ? pcieBytesPerSecond(gpu->pcieGeneration, gpu->pcieWidth) : int64_t{0});
    if (peak.kind == "host-copy") {
        row.copy = fmt::format("{} {}", peak.direction == "rx" ? "HtoD" : "DtoH", peak.memory);
        row.nominalBytesPerSecond = pcie;
    } else if (peak.kind == "dram") {
        row.copy = "DtoD, read and written";
        for (const capture::MeasuredGpu& each : measured.gpus)
            if (each.uuid == peak.gpuUuid)
                row.nominalBytesPerSecond = static_cast<double>(each.nominalMemoryBytesPerSecond);
    } else {
        row.copy = "to GPU " + numberOf(machine, measured.gpus, peak.peerUuid);
        const capture::MachineLink* const link = linkBetween(machine, peak.gpuUuid, peak.peerUuid);
        const int links = link ? link->nvlinkCount : 0;
        row.copy += links > 0 ? fmt::format(", NV{}", links) : ", PCIe";
        row.nominalBytesPerSecond = links > 0 && gpu ? nominalNvlinkBytesPerSecond(gpu->computeMajor, links) : pcie;
    }
    return row;
}

ReportTable tableOf(const capture::Machine& machine, const capture::Measurement& measured) {
    ReportTable table{.columns = {{"GPU", Unit::Text},
                                  {"Copy", Unit::Text},
                                  {"Measured", Unit::GigabytesPerSecond},
                                  {"Nominal", Unit::GigabytesPerSecond},
                                  {"Of Nominal", Unit::Percent}}};
    for (const capture::MeasuredPeak& peak : measured.peaks) {
        const Row row = rowOf(machine, measured, peak);
        const auto rate = static_cast<double>(peak.bytesPerSecond);
        const double nominal = row.nominalBytesPerSecond;
        table.rows.push_back({row.gpu, row.copy, rate / 1e9, nominal > 0 ? Cell(nominal / 1e9) : Cell(),
                              nominal > 0 ? Cell(100 * rate / nominal) : Cell()});
    }
    return table;
}

ReportTable roofTable(const capture::Machine& machine, const capture::Measurement& measured) {
    ReportTable table{.columns = {{"GPU", Unit::Text},
                                  {"Operation", Unit::Text},
                                  {"Size", Unit::Text},
                                  {"Bandwidth", Unit::GigabytesPerSecond},
                                  {"Compute", Unit::TeraflopsPerSecond},
                                  {"Of Data Sheet", Unit::Percent},
                                  {"SM Clock", Unit::Text},
                                  {"Power, 1 s Mean", Unit::Text},
                                  {"Temperature", Unit::Text}}};
    for (const capture::MeasuredRoof& roof : measured.roofs) {
        const auto gpu = std::ranges::find(measured.gpus, roof.gpuUuid, &capture::MeasuredGpu::uuid);
        const bool isProduct = roof.kind == "gemm";
        const auto rate = static_cast<double>(roof.perSecond);
        double sheet = 0;
        if (gpu != measured.gpus.end())
            sheet = isProduct ? datasheetFlopsPerSecond(gpu->name, gpu->computeMajor, gpu->computeMinor, gpu->smCount,
                                                        roof.operation)
                              : static_cast<double>(gpu->nominalMemoryBytesPerSecond);
        const auto orEmpty = [](int64_t value, const char* format) {
            return value > 0 ? Cell(fmt::format(fmt::runtime(format), value)) : Cell();
        };
        table.rows.push_back({numberOf(machine, measured.gpus, roof.gpuUuid),
                              isProduct ? "GEMM " + roof.operation : "memory " + roof.operation,
                              isProduct ? Cell(fmt::format("{} x {} x {}", roof.m, roof.n, roof.k)) : Cell(),
                              isProduct ? Cell() : Cell(rate / 1e9), isProduct ? Cell(rate / 1e12) : Cell(),
                              sheet > 0 ? Cell(100 * rate / sheet) : Cell(), orEmpty(roof.smClockMhz, "{} MHz"),
                              orEmpty(roof.powerMilliwatts / 1000, "{} W"), orEmpty(roof.temperature, "{} C")});
    }
    return table;
}

/// Peer copies use NVLink or PCIe; only NVML reports which.
void nameLinks(const capture::Machine& machine, std::vector<capture::MeasuredPeak>& peaks) {
    for (capture::MeasuredPeak& peak : peaks) {
        if (peak.peerUuid.empty()) continue;
        const capture::MachineLink* const link = linkBetween(machine, peak.gpuUuid, peak.peerUuid);
        if (link != nullptr && link->nvlinkCount == 0) peak.kind = "pcie";
    }
}

/// Removes and reports peaks faster than the hardware: failed measurements.
void dropImplausible(const capture::Machine& machine, capture::Measurement& measured) {
    std::erase_if(measured.peaks, [&](const capture::MeasuredPeak& peak) {
        const Row row = rowOf(machine, measured, peak);
        const auto rate = static_cast<double>(peak.bytesPerSecond);
        if (row.nominalBytesPerSecond <= 0 || rate <= maxNominalShare * row.nominalBytesPerSecond) return false;
        reportWarning(
            fmt::format("GPU {}, {}: {:.1f} GB/s is implausible for hardware rated at {:.1f} GB/s; discarded.", row.gpu,
                        row.copy, rate / 1e9, row.nominalBytesPerSecond / 1e9));
        return true;
    });
}

/// Fails if a file would be lost that is no earlier measurement.
Result<void> checkReplaced(const std::string& output) {
    if (output.empty() || !mayExist(output) || capture::MeasuredPeaks::load(output)) return {};
    return fail("{}: exists, and is no file of doctor --measure. Choose another name with -o.", output);
}

/// Stores the measurement in `output`, or in the file that `record` reads by default.
Result<std::filesystem::path> keep(const capture::Measurement& measured, const std::string& output) {
    const Result<std::filesystem::path> file =
        output.empty() ? capture::MeasuredPeaks::defaultFile() : std::filesystem::path(output);
    if (!file) return file;
    if (const Result<void> replaced = checkReplaced(output); !replaced) return fail(replaced.error());
    // Earlier results of other GPUs are kept; an unreadable default file is replaced.
    capture::MeasuredPeaks all = capture::MeasuredPeaks::load(*file).value_or(capture::MeasuredPeaks{});
    capture::MeasuredPeaks newer;
    newer.measuredAtUtcNs =
        std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now().time_since_epoch())
            .count();
    newer.peaks = measured.peaks;
    newer.roofs = measured.roofs;
    all.merge(newer);
    if (const Result<void> saved = all.save(*file); !saved) return fail(saved.error());
    return *file;
}

const char* word(capture::CheckStatus status) {
    switch (status) {
        case capture::CheckStatus::Ok: return "ok";
        case capture::CheckStatus::Warning: return "warn";
        case capture::CheckStatus::NoCuda:
        case capture::CheckStatus::Failure: return "fail";
    }
    return "";
}

const char* verdict(capture::CheckStatus worst) {
    switch (worst) {
        case capture::CheckStatus::Ok:
        case capture::CheckStatus::Warning: return "Recording works here.";
        case capture::CheckStatus::NoCuda: return "CUDA cannot be recorded here; NVTX ranges can.";
        case capture::CheckStatus::Failure: return "Recording does not work here.";
    }
    return "";
}

std::string asText(const std::vector<capture::Check>& checks) {
    std::string text;
    for (const capture::Check& check : checks) {
        text +=
            fmt::format("{:<6} {:<12} {}\n", fmt::format("[{}]", word(check.status)), check.subject, check.sentence);
        if (!check.advice.empty()) text += fmt::format("{:<19} {}\n", "", check.advice);
    }
    return text + verdict(capture::worstOf(checks)) + "\n";
}

std::string asJson(const std::vector<capture::Check>& checks) {
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    for (const capture::Check& check : checks)
        list.push_back({{"status", word(check.status)},
                        {"subject", check.subject},
                        {"sentence", check.sentence},
                        {"advice", check.advice}});
    const nlohmann::ordered_json all{{"canRecord", capture::canRecord(checks)}, {"checks", std::move(list)}};
    return all.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

}  // namespace

/// Runs `doctor --measure`: measures copies, memory and matrix products of this machine, prints them next to the
/// nominal values, and stores them for `record`. Returns the exit status: 0 if every GPU was measured.
int measureMachine(const DoctorWords& words) {
    if (const Result<void> replaced = checkReplaced(words.output); !replaced) return reportFailure(replaced.error());
    const auto driver = capture::CudaDriver::open();
    if (!driver) return reportFailure(driver.error());
    Result<std::unique_ptr<capture::CublasLt>> products = capture::CublasLt::open(words.products);
    if (!products && !words.products.empty()) return reportFailure(products.error());
    if (!products) reportWarning("Matrix products are not measured. " + products.error().sentence);
    const capture::Machine machine = capture::queryMachine();
    capture::MeasureOptions options{.isForced = words.isForced};
    options.utilization = capture::gpuUtilization;
    options.state = capture::gpuState;
    options.products = products ? products->get() : nullptr;
    options.progress = [](const std::string& what) {
        printMessage(what);
        return true;
    };
    Result<capture::Measurement> measured = capture::measureRates(**driver, options);
    if (!measured) return reportFailure(measured.error());
    nameLinks(machine, measured->peaks);
    dropImplausible(machine, *measured);
    const ReportTable copies = tableOf(machine, *measured), roofs = roofTable(machine, *measured);
    std::string text = formatTable(copies, TableFormat::Text);
    if (!roofs.rows.empty()) text += "\n" + formatTable(roofs, TableFormat::Text);
    if (words.format == "json")
        text = fmt::format("{{\"copies\": {}, \"roofs\": {}}}\n", formatTable(copies, TableFormat::Json),
                           formatTable(roofs, TableFormat::Json));
    if (const Result<void> printed = printOutput(text); !printed) return reportFailure(printed.error());
    bool isComplete = true;
    for (const capture::MeasuredGpu& gpu : measured->gpus) {
        for (const std::string& note : gpu.notes)
            reportWarning(fmt::format("GPU {} ({}): {}", gpu.ordinal, gpu.name, note));
        if (gpu.refusal.empty()) continue;
        isComplete = false;
        reportWarning(fmt::format("GPU {} ({}): not measured. {}", gpu.ordinal, gpu.name, gpu.refusal));
    }
    if (measured->peaks.empty()) return reportFailure({"No copy could be measured; nothing was stored."});
    const Result<std::filesystem::path> kept = keep(*measured, words.output);
    if (!kept) return reportFailure(kept.error());
    printMessage(words.output.empty()
                     ? fmt::format("Stored in {}. New traces on this machine include it.", kept->string())
                     : fmt::format("Stored in {0}. 'record --roofs {0}' adds it to a trace.", kept->string()));
    return isComplete ? exitOk : exitFailed;
}

int runDoctor(const DoctorWords& words) {
    const std::vector<capture::Check> checks = capture::diagnose(words.agent);
    const Result<void> printed = printOutput(words.format == "json" ? asJson(checks) : asText(checks));
    return !printed ? reportFailure(printed.error()) : capture::canRecord(checks) ? exitOk : exitFailed;
}

void addDoctor(CLI::App& app, int& exitStatus) {
    auto words = std::make_shared<DoctorWords>();
    CLI::App* command = app.add_subcommand("doctor", "Check whether recording works here; if not, tell how to fix it");
    help::addValue(*command, "--agent", "FILE", words->agent, "Agent library to check instead of the default");
    addFormat(*command, words->format, {"text", "json"});
    CLI::Option* const measure =
        command->add_flag("--measure", words->measures,
                          "Measure copies, memory and matrix products of the GPUs (about 60 s, 2 GiB per GPU), and "
                          "store the rates; traces then show how close a run came to them");
    command->add_flag("--force", words->isForced, "With --measure: also measure busy GPUs")->needs(measure);
    help::addValue(*command, "-o,--output", "FILE", words->output,
                   "With --measure: store in FILE, for record --roofs FILE")
        ->needs(measure);
    help::addValue(*command, "--cublas", "FILE", words->products,
                   "With --measure: libcublasLt.so to use; default: that of Python's packages")
        ->needs(measure);
    command->footer(
        "Exit status: 0 if CUDA and NVTX can be recorded, else 1; with --measure: 0 if all GPUs were measured.");
    command->callback(
        [words, &exitStatus] { exitStatus = words->measures ? measureMachine(*words) : runDoctor(*words); });
}

}  // namespace lanescope::cli
