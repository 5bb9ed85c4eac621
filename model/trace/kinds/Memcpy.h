// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <algorithm>

#include "model/format/Memory.h"
#include "model/text/formatValue.h"
#include "model/trace/Track.h"
#include "model/trace/kinds/OfTable.h"

namespace lanescope::kinds {

struct Memcpy : GpuWork<EventKind::Memcpy, &Trace::memcpys> {
    static constexpr std::string_view identifier = "memcpy";
    static constexpr std::string_view name = "Memcpy", plural = "memcpys";

    struct Row {
        int64_t startNs = 0, endNs = 0, bytes = 0;
        MemcpyKind kind = MemcpyKind::Unknown;
        MemoryKind sourceMemory = MemoryKind::Unknown, destinationMemory = MemoryKind::Unknown;
        uint32_t sourceGpu = noIndex, destinationGpu = noIndex;
        uint32_t stream = noIndex;
        uint32_t correlation = 0;
        /// For a migration of managed memory (see its kind).
        uint64_t address = 0;
        MigrationCause cause = MigrationCause::Unknown;
    };
    static void append(Trace& trace, const Row& row) {
        MemcpyTable& table = trace.memcpys;
        table.kind.push_back(row.kind);
        table.sourceMemory.push_back(row.sourceMemory);
        table.destinationMemory.push_back(row.destinationMemory);
        table.sourceDevice.push_back(deviceOf(trace, row.sourceGpu));
        table.destinationDevice.push_back(deviceOf(trace, row.destinationGpu));
        if (!isMigration(row.kind)) return;
        trace.migrations.memcpy.push_back(table.size() - 1);
        trace.migrations.address.push_back(row.address);
        trace.migrations.cause.push_back(row.cause);
    }

    /// Migrations are counted separately from copies.
    static void forEachCount(const Trace& trace, auto sink) {
        sink(plural, int64_t{trace.memcpys.size()} - trace.migrations.size());
        sink(migrationsCounted, int64_t{trace.migrations.size()});
    }

    static std::string nameOf(const Trace& trace, uint32_t row) {
        return fmt::format("{} {}", lanescope::name(trace.memcpys.kind[row]), formatBytes(trace.memcpys.bytes[row]));
    }
    static SliceCategory categoryOf(const Trace& trace, uint32_t row) {
        return memcpyCategory(trace.memcpys.kind[row]);
    }

    static void describe(const Trace& trace, uint32_t row, Details& details) {
        const MemcpyTable& table = trace.memcpys;
        details.add("Memcpy", fmt::format("{} ({})", lanescope::name(table.kind[row]), longName(table.kind[row])));
        details.addTimes();
        details.addBandwidth(table.bytes[row]);
        details.add("From", fmt::format("{} memory{}", lanescope::name(table.sourceMemory[row]),
                                        device(trace, table.sourceDevice[row])));
        details.add("To", fmt::format("{} memory{}", lanescope::name(table.destinationMemory[row]),
                                      device(trace, table.destinationDevice[row])));
        addMigration(trace, row, details);
        details.addStream(table.stream[row]);
        details.addLaunch();
    }

  private:
    /// -1 if the trace does not have the GPU.
    static int16_t deviceOf(const Trace& trace, uint32_t gpu) {
        return gpu < trace.gpus.size() ? static_cast<int16_t>(gpu) : int16_t{-1};
    }
    static std::string device(const Trace& trace, int16_t gpu) {
        if (gpu < 0 || static_cast<size_t>(gpu) >= trace.gpus.size()) return {};
        return fmt::format(" of GPU {}", trace.gpus[static_cast<size_t>(gpu)].id);
    }
    /// Adds cause and address of a migration of managed memory, if the copy is one.
    static void addMigration(const Trace& trace, uint32_t memcpy, Details& details) {
        const MigrationTable& table = trace.migrations;
        const auto found = std::lower_bound(table.memcpy.begin(), table.memcpy.end(), memcpy);
        if (found == table.memcpy.end() || *found != memcpy) return;
        const auto row = static_cast<size_t>(found - table.memcpy.begin());
        details.add("Cause", std::string(nameOfCause(table.cause[row])));
        details.add("Address", fmt::format("{:#x}", table.address[row]));
    }
    static std::string_view nameOfCause(MigrationCause cause) {
        return enumText(cause,
                        {"", "prefetched by the program", "missed where it was needed", "prefetched by the driver",
                         "eviction, to free memory", "accessed too often from another processor"});
    }
};

struct Memset : GpuWork<EventKind::Memset, &Trace::memsets> {
    static constexpr std::string_view identifier = "memset";
    static constexpr std::string_view name = "Memset", plural = "memsets";

    struct Row {
        int64_t startNs = 0, endNs = 0, bytes = 0;
        uint32_t value = 0;
        MemoryKind memory = MemoryKind::Unknown;
        uint32_t stream = noIndex;
        uint32_t correlation = 0;
    };
    static void append(Trace& trace, const Row& row) {
        trace.memsets.value.push_back(row.value);
        trace.memsets.memory.push_back(row.memory);
    }

    static std::string nameOf(const Trace& trace, uint32_t row) {
        return fmt::format("Memset {}", formatBytes(trace.memsets.bytes[row]));
    }
    static SliceCategory categoryOf(const Trace&, uint32_t) { return SliceCategory::Memset; }

    static void describe(const Trace& trace, uint32_t row, Details& details) {
        details.add("Memset", fmt::format("to {}", trace.memsets.value[row]));
        details.addTimes();
        details.addBandwidth(trace.memsets.bytes[row]);
        details.add("Memory", std::string(lanescope::name(trace.memsets.memory[row])));
        details.addStream(trace.memsets.stream[row]);
        details.addLaunch();
    }
};

}  // namespace lanescope::kinds
