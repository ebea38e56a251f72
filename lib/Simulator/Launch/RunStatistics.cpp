//===- RunStatistics.cpp - The statistics of a run ------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Writes one JSON object for each kernel that ran; docs/Simulator.md describes
// it.
//
//===----------------------------------------------------------------------===//

#include "Launch/RunStatistics.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/JSON.h"

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;

static void writeStatistics(llvm::json::OStream &json,
                            const CountedKernel &counted,
                            const KernelTrace &trace) {
  const auto &[kernel, planned, statistics] = counted;
  auto writeExtents = [&](llvm::StringRef name, const Dim3 &extents) {
    json.attributeBegin(name);
    json.arrayBegin();
    for (uint32_t extent : extents)
      json.value(extent);
    json.arrayEnd();
    json.attributeEnd();
  };
  json.objectBegin();
  json.attribute("name", kernel->function->name);
  writeExtents("grid", planned.grid);
  writeExtents("block", planned.block);
  json.attribute("registers",
                 static_cast<int64_t>(kernel->function->registers.size()));
  json.attribute(
      "shared_bytes",
      static_cast<int64_t>(kernel->sharedVariableBytes() + planned.shared));
  statistics->write(json);
  writeEstimate(json, trace);
  json.objectEnd();
}

std::string sim::printStatistics(const std::vector<CountedKernel> &kernels,
                                 const std::vector<KernelTrace> &traces) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  llvm::json::OStream json(stream, /*IndentSize=*/2);
  json.object([&] {
    json.attribute("version", 1);
    json.attributeArray("kernels", [&] {
      for (auto [kernel, trace] : llvm::zip_equal(kernels, traces))
        writeStatistics(json, kernel, trace);
    });
  });
  stream << "\n";
  return text;
}
