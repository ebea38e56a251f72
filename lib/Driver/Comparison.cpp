//===- Comparison.cpp - Results against the reference ---------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Whether a device is right is decided here: within the bound where one is
// known, else bit by bit.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Driver/Comparison.h"

#include "ErrorBounds.h"
#include "blockscale/Driver/CpuExecution.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/InterleavedRange.h"
#include "llvm/Support/raw_ostream.h"

#include <cmath>
#include <cstring>

using namespace mlir;
using namespace mlir::blockscale;

//===----------------------------------------------------------------------===//
// Reference
//===----------------------------------------------------------------------===//

static FailureOr<std::vector<NpyArray>>
runCopy(const Program &program, StringRef entryName,
        const std::vector<NpyArray> &arguments,
        function_ref<void(func::FuncOp)> change) {
  std::unique_ptr<Program> copy = program.parseAgain();
  // What a function calls is a part of it.
  if (!copy || failed(copy->run(
                   [](OpPassManager &pm) { pm.addPass(createInlinerPass()); })))
    return failure();
  bool isAmbiguous;
  Result<func::FuncOp> entry = copy->getEntry(entryName, isAmbiguous);
  if (!entry)
    return failure();
  // Bounds are known of ops, not of loops; the kernels are of unrolled ones.
  copy->dropSchedules();
  if (failed(copy->keepOnly(*entry)) || failed(copy->run([](OpPassManager &pm) {
        pm.addPass(createCanonicalizerPass());
        pm.addNestedPass<func::FuncOp>(createUnrollHostLoopsPass());
      })))
    return failure();
  change(*entry);
  return runOnCpu(*copy, *entry, arguments);
}

FailureOr<Reference>
blockscale::computeReference(const Program &program, StringRef entryName,
                             const std::vector<NpyArray> &arguments) {
  Reference reference;
  FailureOr<std::vector<NpyArray>> results =
      runCopy(program, entryName, arguments, [](func::FuncOp) {});
  if (failed(results))
    return failure();
  reference.results = std::move(*results);

  FailureOr<std::vector<NpyArray>> bounds =
      runCopy(program, entryName, arguments, [&](func::FuncOp entry) {
        reference.unknownThrough = returnErrorBounds(entry);
      });
  if (failed(bounds))
    return failure();
  reference.bounds = std::move(*bounds);
  return reference;
}

//===----------------------------------------------------------------------===//
// Comparison
//===----------------------------------------------------------------------===//

static float getFloat(const NpyArray &array, int64_t index) {
  float value;
  std::memcpy(&value, array.data.data() + index * sizeof(float), sizeof(float));
  return value;
}

/// "[1, 2]" for the number of an element.
static std::string formatIndex(const NpyArray &array, int64_t index) {
  return llvm::interleaved_array(
             delinearize(index, computeStrides(array.shape)))
      .str();
}

static std::string formatNumber(double number) {
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%.9g", number);
  return text;
}

/// Bytes that must be equal: types that no bound is for.
static Error compareBytes(const NpyArray &expected, const NpyArray &got) {
  unsigned size = expected.elementSize();
  for (int64_t i = 0; i != expected.numElements(); ++i)
    if (std::memcmp(expected.data.data() + i * size, got.data.data() + i * size,
                    size) != 0)
      return Error("element " + formatIndex(expected, i) +
                   " differs from the reference");
  return Error::success();
}

namespace {
struct CellError {
  int64_t index = -1;
  double error = 0, bound = 0;
};
} // namespace

static Error compareFloats(const NpyArray &expected, const NpyArray &got,
                           const NpyArray &bounds,
                           const std::string &unknownThrough,
                           std::string &line) {
  CellError largest;
  int64_t uncompared = 0;
  for (int64_t i = 0; i != expected.numElements(); ++i) {
    double a = getFloat(expected, i), b = getFloat(got, i);
    double bound = getFloat(bounds, i);
    bool areNaN = std::isnan(a) && std::isnan(b);
    if (a == b || areNaN)
      continue;
    // Overflow may come at a partial sum, but a NaN does not go away.
    if (std::isinf(bound) && !std::isnan(a)) {
      ++uncompared;
      continue;
    }
    double error = std::fabs(a - b);
    if (!(error <= bound))
      return Error("element " + formatIndex(expected, i) + ": expected " +
                   formatNumber(a) + " within " + formatNumber(bound) +
                   ", got " + formatNumber(b) +
                   (unknownThrough.empty()
                        ? ""
                        : " (no bound is known through '" + unknownThrough +
                              "', so results must be equal)"));
    if (error > largest.error)
      largest = {i, error, bound};
  }
  line = "largest error " + formatNumber(largest.error);
  if (largest.index >= 0)
    line += " at " + formatIndex(expected, largest.index) + ", bound " +
            formatNumber(largest.bound);
  if (uncompared)
    line += "; " + std::to_string(uncompared) +
            " elements may overflow and are not compared";
  return Error::success();
}

Error blockscale::compareResults(const Reference &reference,
                                 const std::vector<NpyArray> &results,
                                 std::string &lines) {
  for (size_t i = 0; i != results.size(); ++i) {
    const NpyArray &expected = reference.results[i];
    std::string name = "result #" + std::to_string(i) + ": ", line = "equal";
    bool isFloat = expected.dtype == DType::F4;
    if (Error error =
            isFloat ? compareFloats(expected, results[i], reference.bounds[i],
                                    reference.unknownThrough[i], line)
                    : compareBytes(expected, results[i]))
      return Error(name + error.message());
    lines += name + line + "\n";
  }
  return Error::success();
}
