//===- Tuning.cpp - Schedules measured on a card --------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Autotuning. A variant of a program is the program with one more attribute,
// compiled and run like any other program. So the measurements are the same as
// for a program with the attribute in its source.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Driver/Tuning.h"

#include "GpuFunction.h"
#include "blockscale/Dialect/IR/BlockScale.h"
#include "blockscale/Dialect/Transforms/Selection/Schedule.h"
#include "blockscale/Dialect/Transforms/Transforms.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/FormatVariadic.h"

#include <cstring>

using namespace mlir;
using namespace mlir::blockscale;

/// The attribute with the index of a product of the program, by which it is
/// found in a clone, and in what lowering has made of it.
static constexpr StringLiteral kNumberAttrName = "blockscale.tuned";

namespace {
/// A product of the program and its candidate schedules, the default first.
struct TunedProduct {
  ProductOpInterface op;
  StringRef path;
  SmallVector<ScheduleInterface> candidates;
  /// The row of the tuned table for each candidate that is in one.
  DenseMap<Attribute, std::string> rows;
};

/// The outcome of a variant: a time and results, or the reason of a failure.
struct Outcome {
  double milliseconds = 0;
  std::vector<NpyArray> results;
  std::string reason;
};
} // namespace

//===----------------------------------------------------------------------===//
// Texts
//===----------------------------------------------------------------------===//

/// A location as messages print it.
static std::string printLocation(Location location) {
  if (auto found = location->findInstanceOf<FileLineColLoc>())
    return llvm::formatv("{0}:{1}:{2}", found.getFilename().getValue(),
                         found.getLine(), found.getColumn());
  std::string text;
  llvm::raw_string_ostream(text) << location;
  return text;
}

/// How many elements differ from `expected` in the first result that differs
/// bit by bit; empty if none does.
static std::string describeDifference(ArrayRef<NpyArray> results,
                                      ArrayRef<NpyArray> expected) {
  for (auto [i, result, other] : llvm::enumerate(results, expected)) {
    unsigned size = result.elementSize();
    int64_t count = 0;
    for (size_t at = 0; at != result.data.size(); at += size)
      count +=
          std::memcmp(&result.data[at], &other.data[at], size) == 0 ? 0 : 1;
    if (count != 0)
      return llvm::formatv("result #{0} differs from the default's in {1} of "
                           "{2}",
                           i, count, result.numElements());
  }
  return "";
}

/// "    0.1230    0.500  tile=...: WHY", with dashes for a variant that has no
/// time.
static std::string printRow(std::optional<double> milliseconds, double usual,
                            StringRef schedule, StringRef note) {
  std::string row = milliseconds && usual > 0
                        ? llvm::formatv("{0,10:F4} {1,8:F3}", *milliseconds,
                                        *milliseconds / usual)
                              .str()
                        : llvm::formatv("{0,10} {1,8}", "-", "-").str();
  return row + "  " + schedule.str() + note.str() + "\n";
}

//===----------------------------------------------------------------------===//
// Variants
//===----------------------------------------------------------------------===//

namespace {
class Tuner {
public:
  Tuner(ModuleOp module, std::vector<NpyArray> arguments,
        const TuneOptions &options,
        std::function<Error(const std::string &)> print)
      : module(module), arguments(std::move(arguments)), options(options),
        print(std::move(print)) {}

  LogicalResult run(Program &program, func::FuncOp entry) {
    if (failed(openCard()))
      return failure();
    FailureOr<GpuFunction> prepared =
        prepareForGpu(program, entry, options.gpu, *card);
    if (failed(prepared))
      return failure();
    function = std::move(*prepared);
    // The first run prints the same diagnostics as a run without tuning.
    OwningOpRef<ModuleOp> usual = module.clone();
    FailureOr<GpuCode> code = compileFunction(*usual, function);
    if (failed(code))
      return failure();
    FailureOr<std::vector<NpyArray>> results =
        runFunction(*usual, *code, function, arguments, *card);
    if (failed(results))
      return failure();
    expected = std::move(*results);
    std::string lines;
    if (options.reference)
      if (Error error = compareResults(*options.reference, expected, lines))
        return fail(error.message());

    ScopedDiagnosticHandler silence(
        module.getContext(), [](Diagnostic &diagnostic) {
          return success(diagnostic.getSeverity() ==
                         DiagnosticSeverity::Remark);
        });
    FailureOr<SmallVector<TunedProduct>> products = findProducts(entry);
    if (failed(products))
      return failure();
    for (const TunedProduct &product : *products)
      if (failed(tune(
              product.op->getAttrOfType<IntegerAttr>(kNumberAttrName).getInt(),
              product)))
        return failure();
    return success();
  }

private:
  LogicalResult fail(const std::string &message) {
    return emitError(UnknownLoc::get(module.getContext())) << message;
  }
  LogicalResult openCard() {
    // Closing the card releases it after a fault in a kernel.
    card.reset();
    CudaRunOptions cuda;
    cuda.milliseconds = &milliseconds;
    cuda.checksMemory = options.checksMemory;
    Result<std::unique_ptr<GpuDevice>> opened = openCudaDevice(cuda);
    if (!opened)
      return fail(opened.message());
    card = std::move(*opened);
    return success();
  }

  /// Numbers the products of the program, and gets their candidate schedules
  /// from a first lowering. If a product became several, in loops, the first
  /// counts.
  FailureOr<SmallVector<TunedProduct>> findProducts(func::FuncOp entry) {
    SmallVector<ProductOpInterface> all;
    module.walk([&](ProductOpInterface op) {
      op->setAttr(kNumberAttrName, Builder(op).getI64IntegerAttr(all.size()));
      all.push_back(op);
    });
    OwningOpRef<ModuleOp> lowered = module.clone();
    GpuCompileOptions compile = function.compile;
    compile.stage = GpuStage::Tile;
    if (failed(compileForGpu(*lowered, compile)))
      return failure();
    llvm::MapVector<int64_t, TunedProduct> found;
    lowered->walk([&](ProductOpInterface op) {
      auto number = op->getAttrOfType<IntegerAttr>(kNumberAttrName);
      auto path = op->getAttrOfType<PathAttr>(kPathAttrName);
      if (!number || !path || !op->hasAttr(kScheduleAttrName))
        return;
      auto [entry, isNew] = found.try_emplace(number.getInt());
      if (!isNew)
        return;
      TunedProduct &product = entry->second;
      product.op = all[number.getInt()];
      product.path = getPathInfo(path.getValue()).name;
      product.candidates =
          getScheduleCandidates(op, *compile.target, /*hasWorkspace=*/true);
      for (ScheduleInterface candidate : product.candidates)
        product.rows[candidate] = printTunedRow(op, candidate, *compile.target,
                                                "blockscale-run --tune");
    });
    if (found.empty())
      return entry.emitError(
                 "expected a product whose kernels have schedules on ")
             << StringRef(compile.target->name) << " for --tune, got none in '"
             << entry.getSymName() << "'";
    SmallVector<TunedProduct> products;
    for (auto &[number, product] : found) {
      // The program asks for this path.
      if (auto path = product.op->getAttrOfType<PathAttr>(kPathAttrName))
        llvm::erase_if(product.candidates, [&](ScheduleInterface candidate) {
          return !candidate.isFor(path.getValue());
        });
      products.push_back(std::move(product));
    }
    return products;
  }

  LogicalResult tune(unsigned number, const TunedProduct &product) {
    std::string text =
        llvm::formatv("{0}: {1}, {2} on {3}\n{4,10} {5,8}  schedule\n",
                      printLocation(product.op->getLoc()),
                      product.op->getName().getStringRef(), product.path,
                      StringRef(function.compile.target->name), "ms", "ratio");
    double usual = 0, least = 0;
    ScheduleInterface fastest;
    for (ScheduleInterface schedule : product.candidates) {
      Outcome outcome = run(number, schedule);
      bool isRight, isDefault = schedule == product.candidates.front();
      std::string note = judge(outcome, isRight);
      if (isDefault)
        usual = outcome.milliseconds;
      std::optional<double> time;
      if (outcome.reason.empty())
        time = outcome.milliseconds;
      text += printRow(time, usual, getScheduleText(schedule),
                       (isDefault ? " (default)" : "") + note);
      if (Error error = print(text))
        return fail(error.message());
      text.clear();
      // Measure the default schedule.
      if (isDefault && !isRight)
        return fail("expected the default to run as before, got" + note);
      if (!outcome.reason.empty() && failed(openCard()))
        return failure();
      if (isRight && (!fastest || *time < least)) {
        fastest = schedule;
        least = *time;
      }
    }
    llvm::raw_string_ostream(text)
        << llvm::formatv("fastest: {0:F4} ms, {1:F3} of the default's{2}\n",
                         least, least / usual,
                         fastest == product.candidates.front() ? ", which it is"
                                                               : "")
        << "  " << kScheduleAttrName << " = " << fastest
        << "\n  --schedule=" << getScheduleText(fastest) << "\n";
    if (std::string row = product.rows.lookup(fastest); !row.empty())
      text += "  TunedRows.cpp: " + row + "\n";
    if (Error error = print(text))
      return fail(error.message());
    return success();
  }

  /// The note of a row, and whether the results allow the schedule to be
  /// chosen.
  std::string judge(const Outcome &outcome, bool &isRight) {
    isRight = false;
    if (!outcome.reason.empty())
      return ": " + outcome.reason;
    std::string difference = describeDifference(outcome.results, expected);
    isRight = difference.empty();
    if (isRight)
      return "";
    if (!options.reference)
      return ": not taken: " + difference;
    std::string lines;
    if (Error error =
            compareResults(*options.reference, outcome.results, lines))
      return ": wrong: " + error.message();
    isRight = true;
    return ": " + difference + ", within its bound";
  }

  /// Runs the program or, with a schedule, a variant.
  Outcome run(unsigned number, ScheduleInterface schedule) {
    Outcome outcome;
    // Diagnostics about a variant go to its row; those about the program were
    // printed for the first run.
    ScopedDiagnosticHandler handler(
        module.getContext(), [&](Diagnostic &diagnostic) {
          if (outcome.reason.empty() &&
              diagnostic.getSeverity() == DiagnosticSeverity::Error)
            outcome.reason =
                StringRef(diagnostic.str()).split('\n').first.str();
          return success();
        });
    OwningOpRef<ModuleOp> variant = module.clone();
    variant->walk([&](ProductOpInterface op) {
      auto attr = op->getAttrOfType<IntegerAttr>(kNumberAttrName);
      op->removeAttr(kNumberAttrName);
      if (attr && attr.getInt() == number)
        op->setAttr(kScheduleAttrName, schedule);
    });
    FailureOr<GpuCode> code = compileFunction(*variant, function);
    if (failed(code))
      return outcome;
    FailureOr<std::vector<NpyArray>> results =
        runFunction(*variant, *code, function, arguments, *card);
    if (failed(results))
      return outcome;
    outcome.milliseconds = milliseconds;
    outcome.results = std::move(*results);
    return outcome;
  }

  ModuleOp module;
  std::vector<NpyArray> arguments;
  const TuneOptions &options;
  std::function<Error(const std::string &)> print;
  std::unique_ptr<GpuDevice> card;
  double milliseconds = 0;
  GpuFunction function;
  /// The results of the program with its default schedules.
  std::vector<NpyArray> expected;
};
} // namespace

LogicalResult
blockscale::tuneSchedules(Program &program, func::FuncOp entry,
                          std::vector<NpyArray> arguments,
                          const TuneOptions &options,
                          std::function<Error(const std::string &)> print) {
  return Tuner(program.getModule(), std::move(arguments), options,
               std::move(print))
      .run(program, entry);
}
