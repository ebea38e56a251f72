//===- TraceFile.cpp - Events for chrome://tracing and Perfetto -----------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An SM is a process. Its warps are threads, and so are its units: overlapping
// operations of a unit are on several threads.
//
// Source: Trace Event Format, "Complete Events" and "Metadata Events".
//
//===----------------------------------------------------------------------===//

#include "Trace/KernelTrace.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;

/// The most overlapping operations of a unit in a file; others are left out.
static constexpr size_t kMaxThreadsOfUnit = 64;

namespace {
class TraceWriter {
public:
  explicit TraceWriter(llvm::json::OStream &json) : json(json) {}

  void write(const KernelTrace &kernel);
  /// Names of processes and threads.
  void writeNames();
  /// How many events were left out.
  uint64_t getNumLeftOut() const { return numLeftOut; }

private:
  void writeSlice(const KernelTrace &kernel, const TraceSlice &slice);
  void writeName(llvm::StringRef what, uint64_t sm, uint64_t thread,
                 const std::string &name);
  std::optional<uint64_t> findThread(uint64_t sm, TraceUnit unit, double begin,
                                     double end);
  uint64_t getThread(uint64_t sm, const std::string &name);
  std::string nameWarp(const KernelTrace &kernel, const TraceSlice &slice);

  llvm::json::OStream &json;
  /// When the current kernel begins, in microseconds.
  double start = 0;
  uint64_t numLeftOut = 0;
  /// Thread numbers from 1 on, by SM and name.
  std::map<std::pair<uint64_t, std::string>, uint64_t> threads;
  std::map<uint64_t, uint64_t> numThreads;
  /// By SM and unit: until when each of its threads is occupied.
  std::map<std::pair<uint64_t, TraceUnit>, std::vector<double>> threadEnds;
};
} // namespace

uint64_t TraceWriter::getThread(uint64_t sm, const std::string &name) {
  auto [entry, isNew] = threads.try_emplace({sm, name});
  if (isNew)
    entry->second = ++numThreads[sm];
  return entry->second;
}

/// A thread without an overlapping operation; none if there are too many
/// threads.
std::optional<uint64_t> TraceWriter::findThread(uint64_t sm, TraceUnit unit,
                                                double begin, double end) {
  std::vector<double> &ends = threadEnds[{sm, unit}];
  auto found = llvm::find_if(ends, [&](double each) { return each <= begin; });
  std::string name = getName(unit).str();
  if (size_t line = found - ends.begin())
    name += " (" + std::to_string(line + 1) + ")";
  if (found != ends.end())
    *found = end;
  else if (ends.size() != kMaxThreadsOfUnit)
    ends.push_back(end);
  else
    return std::nullopt;
  return getThread(sm, name);
}

std::string TraceWriter::nameWarp(const KernelTrace &kernel,
                                  const TraceSlice &slice) {
  const Recording &recording =
      kernel.recordings[slice.group / kernel.shape.stride];
  return kernel.name + ", block " +
         recording.blocks[slice.warp / kernel.shape.warpsOfBlock] +
         (kernel.shape.stride == 1 ? "" : " or one like it") + ", warp " +
         std::to_string(slice.warp % kernel.shape.warpsOfBlock);
}

void TraceWriter::writeSlice(const KernelTrace &kernel,
                             const TraceSlice &slice) {
  const Recording &recording =
      kernel.recordings[slice.group / kernel.shape.stride];
  double begin = start + kernel.getMicroseconds(slice.begin),
         end = start + kernel.getMicroseconds(slice.end);
  bool isOperation = slice.kind == TraceSlice::Kind::Operation;
  const TraceOperation *operation =
      slice.isForOperation ? &recording.operations[slice.number] : nullptr;
  std::string name;
  switch (slice.kind) {
  case TraceSlice::Kind::Run:
    name = "line " + std::to_string(slice.firstLine);
    break;
  case TraceSlice::Kind::Wait:
    name =
        "wait for " +
        (operation
             ? getName(operation->unit).str()
             : recording.barriers[recording.phases[slice.number].barrier].name);
    break;
  case TraceSlice::Kind::Operation:
    name = getName(operation->unit).str() + ", line " +
           std::to_string(operation->line);
    break;
  }
  std::optional<uint64_t> thread =
      isOperation ? findThread(slice.sm, operation->unit, begin, end)
                  : getThread(slice.sm, nameWarp(kernel, slice));
  if (!thread) {
    ++numLeftOut;
    return;
  }
  json.object([&] {
    json.attribute("name", name);
    json.attribute("ph", "X");
    json.attribute("ts", begin);
    json.attribute("dur", end - begin);
    json.attribute("pid", slice.sm);
    json.attribute("tid", *thread);
    json.attributeObject("args", [&] {
      json.attribute("clock", std::round(slice.begin));
      if (slice.kind == TraceSlice::Kind::Run) {
        json.attribute("last_line", slice.lastLine);
        json.attribute("instructions", slice.numSteps);
      }
      if (!isOperation)
        return;
      json.attribute("begun_by", nameWarp(kernel, slice));
      json.attribute("bytes", static_cast<int64_t>(std::max(
                                  {operation->l2Bytes, operation->sharedBytes,
                                   operation->tensorMemoryBytes})));
      if (operation->flops)
        json.attribute("flops", static_cast<int64_t>(operation->flops));
    });
  });
}

void TraceWriter::write(const KernelTrace &kernel) {
  for (const TraceSlice &slice : kernel.slices)
    writeSlice(kernel, slice);
  if (kernel.result)
    start += kernel.getMicroseconds(kernel.result->clocks);
  threadEnds.clear();
}

void TraceWriter::writeName(llvm::StringRef what, uint64_t sm, uint64_t thread,
                            const std::string &name) {
  json.object([&] {
    json.attribute("name", what);
    json.attribute("ph", "M");
    json.attribute("pid", sm);
    json.attribute("tid", thread);
    json.attributeObject("args", [&] { json.attribute("name", name); });
  });
}

void TraceWriter::writeNames() {
  for (auto [sm, count] : numThreads)
    writeName("process_name", sm, 0, "SM " + std::to_string(sm));
  for (const auto &[key, thread] : threads)
    writeName("thread_name", key.first, thread, key.second);
}

std::string sim::printTrace(const std::vector<KernelTrace> &kernels) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  llvm::json::OStream json(stream);
  json.object([&] {
    json.attribute("displayTimeUnit", "ns");
    TraceWriter writer(json);
    json.attributeArray("traceEvents", [&] {
      for (const KernelTrace &kernel : kernels)
        writer.write(kernel);
      writer.writeNames();
    });
    json.attributeArray("notes", [&] {
      for (const KernelTrace &kernel : kernels) {
        if (!kernel.result)
          json.value(kernel.name + ": " + kernel.problem);
        if (kernel.slices.size() == kMaxSlices)
          json.value(kernel.name + ": events behind the first " +
                     std::to_string(kMaxSlices) + " are left out");
      }
      if (writer.getNumLeftOut())
        json.value(
            std::to_string(writer.getNumLeftOut()) +
            " events of units with too many operations in flight are left out");
    });
  });
  stream << "\n";
  return text;
}
