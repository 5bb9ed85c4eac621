// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "model/load/json/giveEvents.h"
#include "model/values/sortLarge.h"

namespace lanescope {

namespace {

using Meaning = JsonCounter::Meaning;

/// The number that a text begins with; -1 if it begins with none.
int64_t leadingNumber(std::string_view text) {
    int64_t number = -1;
    std::from_chars(text.data(), text.data() + text.size(), number);
    return number;
}

/// What PyTorch's own allocator holds; what it says of the CPU is of a process, not of a GPU.
void describeAllocator(const JsonEvents::Counter& counter, JsonGiving& giving,
                       CounterSeries& series) {
    const bool isOfGpu = counter.deviceType != 0 && counter.device >= 0;
    if (isOfGpu) series.gpu = giving.builder.gpu(counter.device);
    const std::string_view where = isOfGpu ? "" : " on the CPU";
    series.unit = CounterUnit::Bytes;
    series.source = "torch";
    switch (counter.meaning) {
        case Meaning::Reserved:
            series.key = "allocator.reserved";
            series.name = fmt::format("Memory reserved by PyTorch{}", where);
            break;
        case Meaning::Change:
            series.key = "allocator.change";
            series.name = fmt::format("Memory allocated by PyTorch since the beginning{}", where);
            break;
        default:
            series.key = "allocator.allocated";
            series.name = fmt::format("Memory allocated by PyTorch{}", where);
            break;
    }
}

void describe(const JsonEvents::Counter& counter, JsonGiving& giving, CounterSeries& series) {
    // "GPU 0 Counters": what is no process, but a GPU.
    constexpr int64_t mostGpus = 1024;
    constexpr std::string_view gpuWord = "GPU ";
    const std::string_view owner = counter.process;
    const int64_t gpu =
        owner.starts_with(gpuWord) ? leadingNumber(owner.substr(gpuWord.size())) : -1;
    if (gpu >= 0 && gpu < mostGpus)
        series.gpu = giving.builder.gpu(gpu);
    else if (!owner.empty())
        series.process = giving.identities.process(counter.process);
    if (counter.meaning != Meaning::Value) return describeAllocator(counter, giving, series);
    const std::string name(giving.builder.text(counter.name));
    const std::string part(giving.builder.text(counter.part));
    const bool saysMore = !part.empty() && part != "value" && part != name;
    series.name = saysMore ? fmt::format("{}: {}", name, part) : name;
    series.key = series.name;
    series.source = "trace";
}

}  // namespace

void giveCounters(JsonGiving& giving) {
    for (size_t index = 0; index < giving.events.counters.size(); ++index) {
        const JsonEvents::Counter& counter = giving.events.counters[index];
        LargeVector<JsonEvents::Sample> samples(giving.builder.memory());
        giving.events.samples[index].consume(
            [&](const JsonEvents::Sample& sample) { samples.push_back(sample); });
        sortLarge(samples, [](const JsonEvents::Sample& a, const JsonEvents::Sample& b) {
            return a.timeNs < b.timeNs;
        });
        CounterSeries series;
        describe(counter, giving, series);
        CounterSamples sampled;
        sampled.unit = series.unit;
        sampled.timesNs = LargeVector<int64_t>(giving.builder.memory());
        sampled.values = LargeVector<long double>(giving.builder.memory());
        long double sum = 0;
        for (const JsonEvents::Sample& sample : samples) {
            sum += sample.value;
            sampled.timesNs.push_back(sample.timeNs - giving.zeroNs);
            sampled.values.push_back(counter.meaning == Meaning::Change ? sum : sample.value);
        }
        giving.builder.counter(std::move(series), std::move(sampled));
    }
}

}  // namespace lanescope
