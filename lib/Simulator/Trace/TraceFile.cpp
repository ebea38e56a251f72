//===- TraceFile.cpp - Events for chrome://tracing and Perfetto -----------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A multiprocessor is a process; its warps are threads, and so are its units:
// what a unit has under way is on as many lines as overlap.
//
// Source: Trace Event Format, "Complete Events" and "Metadata Events".
//
//===----------------------------------------------------------------------===//

#include "Trace/KernelTrace.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;

/// Events of a file, at most: those behind are left out.
static constexpr size_t kMaxEvents = size_t(1) << 20;
/// Threads of one unit, in a process: numbers behind those of warps.
static constexpr uint64_t kFirstUnit = uint64_t(1) << 24,
                          kLinesOfUnit = 1 << 16;

namespace {
class TraceWriter {
public:
  explicit TraceWriter(llvm::json::OStream &json) : json(json) {}

  void write(const KernelTrace &kernel);
  /// Names of processes and threads.
  void writeNames();
  bool isFull() const { return numEvents >= kMaxEvents; }

private:
  void writeSlice(const KernelTrace &kernel, const TraceSlice &slice);
  void writeName(llvm::StringRef what, uint64_t place, uint64_t thread,
                 const std::string &name);
  uint64_t findLine(uint64_t place, TraceUnit unit, double begin, double end);
  std::string nameWarp(const KernelTrace &kernel, const TraceSlice &slice);

  llvm::json::OStream &json;
  /// When the current kernel begins, in microseconds.
  double start = 0;
  size_t numEvents = 0;
  std::map<std::pair<uint64_t, uint64_t>, std::string> threads;
  /// Groups of earlier kernels.
  uint64_t firstGroup = 0;
  /// Of a multiprocessor and a unit: until when its lines are taken.
  std::map<std::pair<uint64_t, TraceUnit>, std::vector<double>> lines;
};
} // namespace

/// A line on which nothing overlaps.
uint64_t TraceWriter::findLine(uint64_t place, TraceUnit unit, double begin,
                               double end) {
  std::vector<double> &ends = lines[{place, unit}];
  auto found = llvm::find_if(ends, [&](double each) { return each <= begin; });
  uint64_t line = found - ends.begin();
  if (found == ends.end())
    ends.push_back(end);
  else
    *found = end;
  uint64_t thread =
      kFirstUnit + static_cast<uint64_t>(unit) * kLinesOfUnit + line;
  threads.try_emplace({place, thread}, getName(unit).str());
  return thread;
}

std::string TraceWriter::nameWarp(const KernelTrace &kernel,
                                  const TraceSlice &slice) {
  const Recording &recording =
      kernel.recordings[slice.group / kernel.shape.stride];
  return "block " + recording.blocks[slice.warp / kernel.shape.warpsOfBlock] +
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
  uint64_t warps = kernel.shape.warpsOfBlock * kernel.shape.clustersOfGroup *
                   kernel.shape.clusterSize;
  uint64_t thread = (firstGroup + slice.group) * warps + slice.warp;
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
  if (isOperation)
    thread = findLine(slice.place, operation->unit, begin, end);
  else
    threads.try_emplace({slice.place, thread}, nameWarp(kernel, slice));
  ++numEvents;
  json.object([&] {
    json.attribute("name", name);
    json.attribute("ph", "X");
    json.attribute("ts", begin);
    json.attribute("dur", end - begin);
    json.attribute("pid", slice.place);
    json.attribute("tid", thread);
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
    if (!isFull())
      writeSlice(kernel, slice);
  firstGroup += kernel.shape.numGroups;
  if (kernel.result)
    start += kernel.getMicroseconds(kernel.result->clocks);
  lines.clear();
}

void TraceWriter::writeName(llvm::StringRef what, uint64_t place,
                            uint64_t thread, const std::string &name) {
  json.object([&] {
    json.attribute("name", what);
    json.attribute("ph", "M");
    json.attribute("pid", place);
    json.attribute("tid", thread);
    json.attributeObject("args", [&] { json.attribute("name", name); });
  });
}

void TraceWriter::writeNames() {
  std::optional<uint64_t> last;
  for (const auto &[key, name] : threads) {
    auto [place, thread] = key;
    if (place != last)
      writeName("process_name", place, 0,
                "multiprocessor " + std::to_string(place));
    last = place;
    writeName("thread_name", place, thread, name);
  }
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
    json.attributeObject("otherData", [&] {
      for (const KernelTrace &kernel : kernels)
        if (!kernel.result)
          json.attribute(kernel.name, kernel.problem);
      if (writer.isFull())
        json.attribute("left out",
                       "events behind the first " + std::to_string(kMaxEvents));
    });
  });
  stream << "\n";
  return text;
}
