//===- GpuOptions.cpp - The options of compileForGpu as a table -----------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Driver/GpuOptions.h"

#include "blockscale/Dialect/Transforms/Selection/Schedule.h"

using namespace mlir;
using namespace mlir::blockscale;

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

Result<unsigned> blockscale::readPtxVersion(StringRef text) {
  // 8.7, as the .version directive has it, or 87.
  auto [major, minor] = text.split('.');
  bool hasForm =
      !text.contains('.') || (major.size() == 1 && minor.size() == 1);
  std::string digits = (major + minor).str();
  unsigned version;
  if (hasForm && !StringRef(digits).getAsInteger(10, version) &&
      isKnownPtxVersion(version))
    return version;
  return Error("unknown PTX version '" + text.str() +
               "', expected one of 70 to 78, 80 to 88, 90");
}

template <const Chip *GpuCompileOptions::*chip>
static Error setChip(GpuCompileOptions &options, StringRef name,
                     StringRef value) {
  const Chip *found = lookupChip(value);
  if (!found)
    return Error(describeUnknownChip(value));
  if (found->isCpu())
    return Error("expected a GPU for " + name.str() + ", got cpu");
  options.*chip = found;
  return Error::success();
}

static Error setFlag(bool &flag, StringRef name, StringRef value) {
  if (value != "" && value != "true" && value != "false")
    return Error("expected true or false for " + name.str() + ", got '" +
                 value.str() + "'");
  flag = value != "false";
  return Error::success();
}

template <bool GpuCompileOptions::*flag>
static Error setFlag(GpuCompileOptions &options, StringRef name,
                     StringRef value) {
  return setFlag(options.*flag, name, value);
}

namespace {
template <typename T>
struct NamedValue {
  StringLiteral name;
  T value;
};
} // namespace

template <auto choice, const auto &rows>
static Error setChoice(GpuCompileOptions &options, StringRef name,
                       StringRef value) {
  std::string names;
  for (const auto &row : rows) {
    names += " " + row.name.str();
    if (row.name != value)
      continue;
    options.*choice = row.value;
    return Error::success();
  }
  return Error("expected one of" + names + " for " + name.str() + ", got '" +
               value.str() + "'");
}

static constexpr NamedValue<Raising> kRaisings[] = {
    {"none", Raising::None},
    {"report", Raising::Report},
    {"raise", Raising::Raise},
    {"assume-positive-scales", Raising::RaisePositiveScales},
};

static constexpr NamedValue<GpuStage> kStages[] = {
    {"tile", GpuStage::Tile},         {"kernel", GpuStage::Kernel},
    {"instr", GpuStage::Instruction}, {"nvvm", GpuStage::NVVM},
    {"llvm", GpuStage::LLVM},         {"ptx", GpuStage::PTX},
    {"cubin", GpuStage::Cubin},
};

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

ArrayRef<GpuOption> blockscale::getGpuOptions() {
  using Options = GpuCompileOptions;
  static const GpuOption options[] = {
      {"target", GpuOptionType::Chip, "", "none: it must be set",
       "the chip that instructions are chosen for", setChip<&Options::target>},
      {"emulate-on", GpuOptionType::Chip, "", "the target",
       "the chip that runs the code, with the target's instructions in "
       "software",
       setChip<&Options::emulateOn>},
      {"ptx-version", GpuOptionType::PtxVersion, "", "the lowest that works",
       "the version of the PTX",
       [](Options &options, StringRef, StringRef value) {
         Result<unsigned> version = readPtxVersion(value);
         if (!version)
           return version.error();
         options.ptxVersion = *version;
         return Error::success();
       }},
      {"native-only", GpuOptionType::Flag, "", "false",
       "whether an op without a block-scaled instruction is an error",
       setFlag<&Options::nativeOnly>},
      {"accumulate", GpuOptionType::Choice, "32 64 128", "none",
       "the chunk of the licence of products that have none, "
       "#blockscale.accumulate",
       [](Options &options, StringRef name, StringRef value) {
         int64_t chunk;
         if (value.getAsInteger(10, chunk) || !isAccumulateChunk(chunk))
           return Error("expected " + listAccumulateChunks() + " for " +
                        name.str() + ", got '" + value.str() + "'");
         options.accumulation.chunk = chunk;
         return Error::success();
       }},
      {"rebase", GpuOptionType::Flag, "", "false",
       "whether that licence permits rebasing, too",
       [](Options &options, StringRef name, StringRef value) {
         return setFlag(options.accumulation.rebase, name, value);
       }},
      {"no-workspace", GpuOptionType::Flag, "", "false",
       "whether to choose kernels without a workspace (memory besides "
       "arguments and results) and refuse functions that need one",
       setFlag<&Options::noWorkspace>},
      {"explain", GpuOptionType::Flag, "", "false",
       "whether kernels and schedules are explained on standard error",
       setFlag<&Options::explain>},
      {"schedule", GpuOptionType::Schedule, "", "chosen",
       "the schedule of all kernels",
       [](Options &options, StringRef, StringRef value) {
         if (!isScheduleText(value))
           return Error("expected a schedule of the form " +
                        std::string(describeScheduleForms()) + ", got '" +
                        value.str() + "'" + describeRenamedFields(value));
         options.schedule = value.str();
         return Error::success();
       }},
      {"raise", GpuOptionType::Choice,
       "none report raise assume-positive-scales", "report",
       "what to do with contractions of decoded operands: leave them silently, "
       "leave them with a remark, or make them mma_scaled",
       setChoice<&Options::raising, kRaisings>},
      {"emit", GpuOptionType::Choice, "tile kernel instr nvvm llvm ptx cubin",
       "ptx", "how far the module is lowered",
       setChoice<&Options::stage, kStages>},
  };
  return options;
}

Error blockscale::setGpuOption(GpuCompileOptions &options, StringRef name,
                               StringRef value) {
  std::string names;
  for (const GpuOption &option : getGpuOptions()) {
    if (option.name == name)
      return option.set(options, name, value);
    names += " " + option.name.str();
  }
  return Error("unknown option '" + name.str() + "', expected one of" + names);
}
