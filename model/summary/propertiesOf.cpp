// SPDX-License-Identifier: Apache-2.0
#include "model/format/factNames.h"
#include "model/summary/describeTrace.h"

namespace lanescope {

namespace {

class Properties {
  public:
    void add(std::string name, std::string value) {
        if (!value.empty()) all_.push_back({std::move(name), std::move(value)});
    }
    /// The facts that have a member; `nameOf` turns identifiers into the names of the file.
    template <class Facts, class NameOf>
    void addNamed(const Facts& facts, NameOf nameOf) {
        forEachFact(facts, [&](const FactName& name, const auto& value) {
            add(nameOf(name.identifier), factText(name, value));
        });
    }
    template <class Facts>
    void addNamed(const Facts& facts) {
        addNamed(facts, [](std::string_view name) { return std::string(name); });
    }
    void addAll(const std::vector<Property>& others) {
        all_.insert(all_.end(), others.begin(), others.end());
    }
    std::vector<Property> take() { return std::move(all_); }

  private:
    std::vector<Property> all_;
};

std::string textOf(const std::optional<int>& value) {
    return value ? std::to_string(*value) : std::string();
}

}  // namespace

std::vector<Property> propertiesOf(const RunFacts& facts) {
    Properties properties;
    properties.addNamed(facts);
    for (const HostName& host : facts.hosts)
        properties.add(numberedFactName(facts::host, host.number), host.name);
    for (const SamplerFacts& samplers : facts.samplers) {
        properties.addNamed(
            samplers, [&](std::string_view name) { return hostFactName(samplers.host, name); });
        for (const SampledGpuFacts& gpu : samplers.gpus)
            properties.addNamed(gpu, [&](std::string_view name) {
                return hostFactName(samplers.host, numberedFactName(name, gpu.cudaDevice));
            });
    }
    properties.addAll(facts.others);
    return properties.take();
}

std::vector<Property> propertiesOf(const Process& process) {
    Properties properties;
    properties.add(std::string(facts::rank), textOf(process.rank));
    properties.add(std::string(facts::localRank), textOf(process.localRank));
    properties.add(std::string(facts::worldSize), textOf(process.worldSize));
    properties.addNamed(*process.facts);
    properties.addAll(process.facts->others);
    return properties.take();
}

std::vector<Property> propertiesOf(const GpuFacts& facts) {
    Properties properties;
    properties.addNamed(facts);
    properties.addAll(facts.others);
    return properties.take();
}

}  // namespace lanescope
