//===- SelectSchedule.cpp - Schedules of kernels --------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Decides which schedule applies: that of the option, of the op, of its
// function, or the path's own choice. The path's kernels define schedules.
//
//===----------------------------------------------------------------------===//

#include "Kernels/Gemm/Paths/AlternativeList.h"
#include "Kernels/Gemm/Paths/GemmPath.h"
#include "Kernels/Gemm/Problem/QuantizedB.h"
#include "Selection/CoarseScales.h"
#include "blockscale/Dialect/Transforms/Passes.h"
#include "blockscale/Dialect/Transforms/Selection/Schedule.h"
#include "blockscale/Dialect/Transforms/Transforms.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/MapVector.h"

namespace mlir::blockscale {
#define GEN_PASS_DEF_SELECTSCHEDULEPASS
#include "blockscale/Dialect/Transforms/Passes.h.inc"
} // namespace mlir::blockscale

using namespace mlir;
using namespace mlir::blockscale;

namespace {
/// A matmul whose path has schedules.
struct Product {
  ProductOpInterface op;
  Path path;
  const GemmPath *kernels;
  InstructionAttr instruction;
  /// Why the kernels of the option's path do not take it.
  std::string obstacle = {};
};

struct SelectSchedulePass final
    : mlir::blockscale::impl::SelectSchedulePassBase<SelectSchedulePass> {
  using Base::Base;

  void runOnOperation() override {
    FailureOr<TargetAttr> target = getTarget(getOperation());
    if (failed(target))
      return signalPassFailure();
    if (failed(refuseCoarseScales(getOperation())))
      return signalPassFailure();
    chip = (*target).getChip();
    emulatedOn = (*target).getEmulatedOn();
    llvm::MapVector<Operation *, SmallVector<Product>> functions;
    if (failed(parseOption()) || failed(collect(functions)))
      return signalPassFailure();
    for (auto &[function, products] : functions) {
      bool isForOthers = llvm::any_of(products, [](const Product &product) {
        return findQuantizedB(product.op).has_value();
      });
      for (Product &product : products)
        moveToWanted(product, isForOthers);
      if (failed(selectAll(products)))
        return signalPassFailure();
    }
  }

private:
  /// Parses the option, which must have the form of one of the chip's paths.
  LogicalResult parseOption() {
    if (schedule.empty())
      return success();
    // The option is wrong, not an op of the module.
    auto emitHere = [&] { return emitError(UnknownLoc::get(&getContext())); };
    const ScheduleText *text = findScheduleText(schedule);
    if (!text)
      return emitHere() << "expected a schedule of the form "
                        << describeScheduleForms() << ", got '" << schedule
                        << "'" << describeRenamedFields(schedule);
    // A schedule for a path of another chip fits no matmul here.
    bool isSupported = llvm::any_of(chip->paths, [&](Path path) {
      const GemmPath *kernels = getGemmPath(path);
      return kernels && kernels->hasSchedules() &&
             llvm::is_contained(kernels->getTexts(), text);
    });
    if (!isSupported)
      return success();
    wanted = text->parse(&getContext(), schedule, emitHere);
    return success(wanted != nullptr);
  }

  /// Collects the matmuls, by function.
  LogicalResult
  collect(llvm::MapVector<Operation *, SmallVector<Product>> &functions) {
    WalkResult result =
        getOperation()->walk([&](ProductOpInterface op) -> WalkResult {
          auto path = op->getAttrOfType<PathAttr>(kPathAttrName);
          const GemmPath *kernels =
              path ? getGemmPath(path.getValue()) : nullptr;
          if (!op.hasTensorSemantics() || !kernels || !kernels->hasSchedules())
            return WalkResult::advance();
          auto instruction =
              op->getAttrOfType<InstructionAttr>(kInstructionAttrName);
          if (!instruction)
            return op->emitOpError("expected the attribute '")
                   << kInstructionAttrName << "' of blockscale-legalize";
          functions[op->getParentOfType<FunctionOpInterface>()].push_back(
              {op, path.getValue(), kernels, instruction});
          return WalkResult::advance();
        });
    return failure(result.wasInterrupted());
  }

  /// Paths that dequantize operands are alternatives to each other: the option
  /// may request another one of them than the one with the best estimate. So it
  /// may for operands without scales, unless `isForOthers`.
  void moveToWanted(Product &product, bool isForOthers) {
    if (!wanted || wanted.isFor(product.path) ||
        product.instruction.getInstruction().isNative() ||
        (isForOthers && !findQuantizedB(product.op)))
      return;
    for (Path path : chip->paths) {
      const GemmPath *kernels = getGemmPath(path);
      std::optional<InstructionChoice> choice =
          chooseInstruction(product.op, path);
      if (!choice || !kernels || !kernels->hasSchedules() ||
          !wanted.isFor(path) || (emulatedOn && !emulatedOn->has(path)))
        continue;
      auto instruction = InstructionAttr::get(&getContext(), *choice->emitted);
      // Few kernels of another path read metadata, or take groups of rows.
      if (product.op.getMetadata() || product.op.getRowGroups()) {
        product.obstacle =
            explainRefusal({product.op, instruction, *chip}, *kernels);
        if (!product.obstacle.empty())
          continue;
      }
      product.op->emitRemark("computed on the path ")
          << StringRef(getPathInfo(path).name) << ", as --schedule is of that";
      product.path = path;
      product.kernels = kernels;
      product.instruction = instruction;
      product.op->setAttr(kPathAttrName, PathAttr::get(&getContext(), path));
      product.op->setAttr(kInstructionAttrName, product.instruction);
      return;
    }
  }

  /// Why no kernel of a path computes `product` with the schedule of the
  /// option; empty if one does.
  std::string explainRefusal(ScheduledProduct product,
                             const GemmPath &kernels) {
    std::string obstacle;
    ScopedDiagnosticHandler handler(&getContext(), [&](Diagnostic &diagnostic) {
      obstacle = diagnostic.str();
      return success();
    });
    // Without the name of the op, which the remark has anyway.
    (void)kernels.verify(product, wanted,
                         [&] { return product.op->emitError(); });
    return obstacle;
  }

  /// Applies the option to the matmuls of a function that support it. If none
  /// does, that is an error.
  LogicalResult selectAll(ArrayRef<Product> products) {
    SmallVector<std::string> obstacles;
    for (const Product &product : products)
      obstacles.push_back(findObstacle(product));
    if (llvm::none_of(obstacles,
                      [](const std::string &text) { return text.empty(); })) {
      const auto *first = llvm::find_if(products, [&](const Product &product) {
        return wanted && wanted.isFor(product.path);
      });
      size_t number = first == products.end() ? 0 : first - products.begin();
      return products[number].op->emitOpError(obstacles[number]);
    }
    for (auto [product, obstacle] : llvm::zip_equal(products, obstacles)) {
      bool takesOption = !schedule.empty() && obstacle.empty();
      if (!takesOption && !schedule.empty())
        product.op->emitRemark("the schedule is not that of --schedule: ")
            << obstacle;
      if (failed(select(product, takesOption)))
        return failure();
    }
    return success();
  }

  /// Why a matmul does not support the schedule of the option; empty if it
  /// does.
  std::string findObstacle(const Product &product) {
    if (schedule.empty())
      return {};
    if (!product.obstacle.empty())
      return product.obstacle;
    if (!wanted || !wanted.isFor(product.path))
      return ("expected a schedule of the path " +
              StringRef(getPathInfo(product.path).name) + ", '" +
              joinForms(product.kernels->getTexts(), "' or '") + "', got '" +
              schedule + "'")
          .str();
    return explainRefusal({product.op, product.instruction, *chip},
                          *product.kernels);
  }

  LogicalResult select(const Product &product, bool takesOption) {
    ProductOpInterface op = product.op;
    ScheduledProduct asked = {op, product.instruction, *chip, !noWorkspace};
    FailureOr<ScheduleInterface> found =
        takesOption ? wanted : findAttr(op, product.path);
    if (failed(found))
      return failure();
    ScheduleInterface chosen = *found;
    // A program may have its own, such as a printed one.
    if (takesOption)
      op->removeAttr(kAlternativesAttrName);
    if (failed(readAlternatives(op, *chip)))
      return failure();
    if (!chosen) {
      chosen = product.kernels->choose(asked);
      if (!chosen)
        return op->emitOpError(
                   "expected a path with kernels for groups of rows "
                   "of these types and sizes, got ")
               << StringRef(getPathInfo(product.path).name);
      if (!op->hasAttr(kAlternativesAttrName))
        if (ArrayAttr list = findAlternatives(product))
          op->setAttr(kAlternativesAttrName, list);
    } else if (!takesOption &&
               failed(product.kernels->verify(
                   asked, chosen, [&] { return op->emitOpError(); })))
      return failure();
    op->setAttr(kScheduleAttrName, chosen);
    const GemmKernel *kernel = product.kernels->findKernel(chosen);
    if (!op->hasAttr(kAlternativesAttrName) &&
        kernel->getTransforms(product.instruction).y !=
            OperandTransform::DequantizedInRegisters) {
      std::string obstacle =
          product.kernels->findMixedInputObstacle(op, *chip, !noWorkspace);
      remarkOnDequantize(op, obstacle.empty() ? "another schedule" : obstacle);
    }
    return success();
  }

  /// The alternatives for `product`, those of its own path before those of
  /// the one that takes all types; null if there are none.
  ArrayAttr findAlternatives(const Product &product) {
    SmallVector<Path> paths = {product.path};
    ProductOpInterface op = product.op;
    if (op.getRowGroups()) {
      // A path that dequantizes large products in front has other kernels for
      // few rows, also where it is not that of the op.
      std::optional<Path> first = chip->findPath(Dequantization::InFront);
      if (first && *first != product.path)
        paths.insert(paths.begin(), *first);
    } else if (std::optional<Path> all =
                   chip->findPath(Dequantization::InRegisters)) {
      paths.push_back(*all);
    }
    for (Path path : paths) {
      if (!chip->has(path))
        continue;
      const GemmPath *kernels = getGemmPath(path);
      std::optional<InstructionChoice> choice =
          chooseInstruction(product.op, path);
      if (!choice || !kernels || !kernels->hasSchedules() ||
          (emulatedOn && !emulatedOn->has(path)))
        continue;
      auto list = kernels->getAlternatives(
          {product.op, InstructionAttr::get(&getContext(), *choice->emitted),
           *chip, !noWorkspace});
      if (!list.empty())
        return ArrayAttr::get(&getContext(),
                              SmallVector<Attribute>(list.begin(), list.end()));
    }
    return {};
  }

  /// Whether `schedule` is for kernels that only other chips have for `op`,
  /// which has no scales. A program for several chips may have such schedules.
  bool isOfOtherChips(ScheduleInterface schedule, ProductOpInterface op) const {
    return !op.getXScale() && llvm::none_of(chip->paths, [&](Path path) {
      return schedule.isFor(path) && chooseInstruction(op, path);
    });
  }

  /// The schedule that the op or else its function requests; null for none.
  FailureOr<ScheduleInterface> findAttr(ProductOpInterface op,
                                        Path path) const {
    Operation *sources[] = {op, op->getParentOfType<func::FuncOp>()};
    for (Operation *source : sources) {
      Attribute attr =
          source ? source->getAttr(kScheduleAttrName) : Attribute();
      if (!attr)
        continue;
      auto schedule = dyn_cast<ScheduleInterface>(attr);
      if (schedule && schedule.isFor(path))
        return schedule;
      if (schedule && source != op.getOperation() && !op.getXScale())
        continue;
      if (schedule && isOfOtherChips(schedule, op)) {
        op->emitRemark("the schedule is not that of the attribute: expected "
                       "one of the path ")
            << StringRef(getPathInfo(path).name) << ", got " << schedule;
        continue;
      }
      return source->emitOpError("expected the attribute '")
             << kScheduleAttrName << "' to be a schedule of the path "
             << StringRef(getPathInfo(path).name) << ", got " << attr;
    }
    return ScheduleInterface();
  }

  /// The schedule of the option; null for none, or one of another chip.
  ScheduleInterface wanted;
  const Chip *chip = nullptr, *emulatedOn = nullptr;
};

} // namespace
