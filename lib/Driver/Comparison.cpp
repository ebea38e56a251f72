//===- Comparison.cpp - Results against the reference ---------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Compares the results of a device with the reference: within the error bound
// if one is known, else bit by bit.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Driver/Comparison.h"
#include "blockscale/Driver/Destinations.h"

#include "ErrorBounds/ErrorBounds.h"
#include "ErrorBounds/ErrorProbes.h"
#include "blockscale/Dialect/IR/BlockScale.h"
#include "blockscale/Dialect/Transforms/Passes.h"
#include "blockscale/Driver/CpuExecution.h"
#include "mlir/Dialect/Linalg/Passes.h"
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
        function_ref<LogicalResult(func::FuncOp)> change) {
  std::unique_ptr<Program> copy = program.parseAgain(llvm::errs());
  if (!copy)
    return failure();
  bool isAmbiguous;
  Result<func::FuncOp> entry = copy->getEntry(entryName, isAmbiguous);
  if (!entry)
    return failure();
  // Bounds exist for ops, not for loops, so loops are unrolled.
  copy->dropSchedules();
  if (failed(copy->keepOnly(*entry)) || failed(returnDestinations(*entry)) ||
      failed(copy->run([](OpPassManager &pm) {
        // Called functions are inlined.
        pm.addPass(createInlinerPass());
        pm.addPass(createCanonicalizerPass());
        pm.addNestedPass<func::FuncOp>(createUnrollHostLoopsPass());
        // Check sizes before the ops that rely on them are decomposed.
        pm.addPass(createGenerateRuntimeVerificationPass());
        pm.addPass(createConvertElementwiseToLinalgPass());
      })) ||
      failed(change(*entry)))
    return failure();
  return runOnCpu(*copy, *entry, arguments);
}

/// How to read elements of `type`, if the dtype does not say it.
static std::optional<Format> getStoredFormat(Type type) {
  if (std::optional<Format> format = getElementFormat(type))
    return format;
  if (std::optional<Format> format = getScaleFormat(type))
    return format;
  return getHighPrecisionFormat(type);
}

FailureOr<Reference>
blockscale::computeReference(const Program &program, StringRef entryName,
                             const std::vector<NpyArray> &arguments) {
  std::vector<BoundedResult> bounded;
  std::vector<std::optional<Format>> formats;
  FailureOr<std::vector<NpyArray>> arrays = runCopy(
      program, entryName, arguments, [&](func::FuncOp entry) -> LogicalResult {
        for (Type type : entry.getResultTypes())
          formats.push_back(getStoredFormat(getElementTypeOrSelf(type)));
        FailureOr<std::vector<BoundedResult>> bounds = returnErrorBounds(entry);
        if (failed(bounds))
          return failure();
        bounded = std::move(*bounds);
        return success();
      });
  if (failed(arrays))
    return failure();
  Reference reference;
  auto next = std::make_move_iterator(arrays->begin());
  for (auto [i, bound] : llvm::enumerate(bounded)) {
    ReferenceResult result;
    result.value = *next++;
    result.format = formats[i];
    result.unknownThrough = bound.unknownThrough;
    if (bound.isInexact) {
      result.low = *next++;
      result.high = *next++;
    }
    for (unsigned probe = 0; bound.isProbed && probe != kNumErrorProbes;
         ++probe)
      result.probes.push_back(*next++);
    reference.results.push_back(std::move(result));
  }
  return reference;
}

//===----------------------------------------------------------------------===//
// Comparison
//===----------------------------------------------------------------------===//

template <typename T>
static T load(const NpyArray &array, int64_t index) {
  T value;
  std::memcpy(&value, array.data.data() + index * sizeof(T), sizeof(T));
  return value;
}

template <typename T>
static double loadNumber(const NpyArray &array, int64_t index) {
  return static_cast<double>(load<T>(array, index));
}

static double loadF16(const NpyArray &array, int64_t index) {
  return decode(Format::F16, load<uint16_t>(array, index));
}

static constexpr struct {
  DType dtype;
  double (*load)(const NpyArray &array, int64_t index);
} numbers[] = {
    {DType::F4, loadNumber<float>},
    {DType::F8, loadNumber<double>},
    {DType::F2, loadF16},
    {DType::U1, loadNumber<uint8_t>},
    {DType::I1, loadNumber<int8_t>},
    {DType::U2, loadNumber<uint16_t>},
    {DType::I2, loadNumber<int16_t>},
    {DType::U4, loadNumber<uint32_t>},
    {DType::I4, loadNumber<int32_t>},
    {DType::U8, loadNumber<uint64_t>},
    {DType::I8, loadNumber<int64_t>},
};

/// The value of an element. 64-bit integers may be rounded.
static double getNumber(const NpyArray &array, std::optional<Format> format,
                        int64_t index) {
  if (format)
    return decode(*format, array.elementSize() == 1
                               ? load<uint8_t>(array, index)
                               : load<uint16_t>(array, index));
  for (const auto &row : numbers)
    if (row.dtype == array.dtype)
      return row.load(array, index);
  llvm_unreachable("every dtype is above");
}

/// "[1, 2]" for the index of an element.
static std::string formatIndex(const NpyArray &array, int64_t index) {
  return llvm::interleaved_array(
             delinearize(index, computeStrides(array.shape)))
      .str();
}

static std::string formatNumber(double number, const char *form = "%.9g") {
  if (std::isnan(number))
    return "nan";
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format(form, number);
  return text;
}

static std::string formatRelative(double number) {
  return formatNumber(number, "%.3g");
}

namespace {
/// The error of one element, and its bound.
struct CellError {
  int64_t index = -1;
  double error = 0, bound = 0;
};
} // namespace

/// The message about an element that is outside of its interval.
static Error describeOutlier(const ReferenceResult &expected, double a,
                             double b, const CellError &cell) {
  std::string text = "element " + formatIndex(expected.value, cell.index) +
                     ": expected " + formatNumber(a) + ", got " +
                     formatNumber(b) + ", error " + formatNumber(cell.error) +
                     ", bound " + formatNumber(cell.bound);
  if (!expected.unknownThrough.empty())
    text += " (no bound is known through '" + expected.unknownThrough +
            "', so results must be equal)";
  return Error(text);
}

/// Whether elements without a bound are equal: integers and narrow floats to
/// the bit; floats of at least 16 bits may differ in the sign of a zero.
static bool areEqual(const ReferenceResult &expected, const NpyArray &got,
                     int64_t index, double a, double b) {
  if (std::isnan(a) || std::isnan(b))
    return std::isnan(a) && std::isnan(b);
  unsigned size = got.elementSize();
  bool isNumber =
      size > 1 &&
      (expected.format || getDTypeInfo(got.dtype).kind == DTypeKind::Float);
  if (isNumber)
    return a == b;
  return std::memcmp(expected.value.data.data() + index * size,
                     got.data.data() + index * size, size) == 0;
}

namespace {
/// Squares of norms, over the elements that are finite and compared.
struct Lengths {
  double expected = 0, error = 0, probes = 0;

  /// `moved` is the sum of the differences of all probes.
  void add(double a, double b, double moved) {
    if (!std::isfinite(a) || !std::isfinite(b))
      return;
    expected += a * a;
    error += (a - b) * (a - b);
    if (std::isfinite(moved))
      probes += moved * moved;
  }
  double getRelative(double square) const {
    return square == 0 ? 0 : std::sqrt(square) / std::sqrt(expected);
  }
};
} // namespace

static double addUpProbes(const ReferenceResult &expected, int64_t index,
                          double a) {
  double moved = 0;
  for (const NpyArray &probe : expected.probes)
    moved += std::fabs(getNumber(probe, expected.format, index) - a);
  return moved;
}

/// Appends the relative error of a result, and the bound that the probes
/// measured, if there are any. An error if the first exceeds the second.
static Error compareLengths(const ReferenceResult &expected,
                            const Lengths &lengths, std::string &line) {
  double error = lengths.getRelative(lengths.error);
  if (lengths.error != 0)
    line += "; relative error " + formatRelative(error);
  if (expected.probes.empty())
    return Error::success();
  double bound = lengths.getRelative(lengths.probes);
  // The probes do not include the last rounding to f32.
  if (error > bound + 0x1p-23)
    return Error("expected a relative error of at most " +
                 formatRelative(bound) +
                 ", what sums of f32 come to in this function, got " +
                 formatRelative(error));
  if (lengths.error != 0)
    line += ", bound " + formatRelative(bound);
  return Error::success();
}

static Error compareResult(const ReferenceResult &expected, const NpyArray &got,
                           std::string &line) {
  CellError largest;
  Lengths lengths;
  int64_t uncompared = 0;
  for (int64_t i = 0; i != expected.value.numElements(); ++i) {
    double a = getNumber(expected.value, expected.format, i);
    double b = getNumber(got, expected.format, i);
    if (areEqual(expected, got, i, a, b)) {
      lengths.add(a, b, addUpProbes(expected, i, a));
      continue;
    }
    CellError cell = {i, std::fabs(a - b), 0};
    if (!expected.low)
      return describeOutlier(expected, a, b, cell);
    double low = getNumber(*expected.low, std::nullopt, i);
    double high = getNumber(*expected.high, std::nullopt, i);
    if (low == -INFINITY && high == INFINITY) {
      ++uncompared;
      continue;
    }
    // NaN has no distance.
    cell.bound = std::fmax(b < a ? a - low : high - a, 0.0);
    if (!(low <= b && b <= high))
      return describeOutlier(expected, a, b, cell);
    if (cell.error > largest.error)
      largest = cell;
    lengths.add(a, b, addUpProbes(expected, i, a));
  }
  bool hasErrors = expected.low || expected.format == Format::BF16 ||
                   getDTypeInfo(got.dtype).kind == DTypeKind::Float;
  line = hasErrors ? "largest error " + formatNumber(largest.error) : "equal";
  if (largest.index >= 0)
    line += " at " + formatIndex(expected.value, largest.index) + ", bound " +
            formatNumber(largest.bound);
  if (Error error = compareLengths(expected, lengths, line))
    return error;
  if (uncompared)
    line += "; " + std::to_string(uncompared) +
            " elements may overflow and are not compared";
  return Error::success();
}

Error blockscale::compareResults(const Reference &reference,
                                 const std::vector<NpyArray> &results,
                                 std::string &lines) {
  for (auto [i, expected] : llvm::enumerate(reference.results)) {
    std::string name = "result #" + std::to_string(i) + ": ", line;
    if (Error error = compareResult(expected, results[i], line))
      return Error(name + error.message());
    lines += name + line + "\n";
  }
  return Error::success();
}
