//===- AlternativeList.cpp - Alternatives of a product --------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Passes attach them, but a program may have any text there.
//
//===----------------------------------------------------------------------===//

#include "Kernels/Gemm/Paths/AlternativeList.h"

#include "Kernels/Gemm/Paths/GemmPath.h"
#include "Kernels/Gemm/Problem/QuantizedB.h"
#include "blockscale/Dialect/Transforms/Selection/Schedule.h"
#include "blockscale/Dialect/Transforms/Transforms.h"

using namespace mlir;
using namespace mlir::blockscale;

/// Whether the launch may count split-K ranges, or rounds of tiles.
static bool isCounted(AlternativeAttr attr) {
  return attr.getMostRanges() != 1 || attr.getCost() != 0;
}

/// What is wrong with `attr` behind `before`; empty for nothing.
static std::string findFault(AlternativeAttr attr, AlternativeAttr before,
                             const Chip &chip, ProductOpInterface op) {
  ScheduleInterface schedule = attr.getSchedule();
  Path path = attr.getInstruction().getPath();
  const GemmPath *kernels = getGemmPath(path);
  auto warps = dyn_cast<WarpSpecializedScheduleAttr>(Attribute(schedule));
  bool isCountable = warps &&
                     (warps.getKernel() == KernelKind::MixedInput ||
                      warps.getKernel() == KernelKind::SparseInput) &&
                     warps.getSplitK() == 1;
  if (!chip.has(path) || !kernels || !schedule.isFor(path) ||
      !kernels->findKernel(schedule))
    return "an instruction of the chip, and a schedule of its path";
  constexpr int64_t kMostRanges = 64, kMostCost = 1 << 20;
  if (attr.getMostRows() < 1 || attr.getMostRanges() < 1 ||
      attr.getMostRanges() > kMostRanges || attr.getCost() < 0 ||
      attr.getCost() > kMostCost)
    return "positive numbers, at most " + std::to_string(kMostRanges) +
           " ranges and a cost of " + std::to_string(kMostCost);
  if (isCounted(attr) && !isCountable)
    return "a schedule of the kernel mixed_input or sparse_input, with "
           "split_k = 1, for ranges and costs";
  auto own = op->getAttrOfType<PathAttr>(kPathAttrName);
  // The path of a sparse op is dequant_mma, which takes each K, also where
  // alternatives for most of them are of wgmma.
  bool takesAll =
      op.getRowGroups() ||
      getPathInfo(path).dequantization == Dequantization::InRegisters ||
      schedule.getKernelKind() == KernelKind::SparseInput;
  if (!takesAll && (!own || own.getValue() != path))
    return "an instruction of the path of the op, of dequant_mma, or of the "
           "kernel sparse_input";
  std::optional<InstructionChoice> choice = chooseInstruction(op, path);
  if (!choice || attr.getInstruction() !=
                     InstructionAttr::get(op->getContext(), *choice->emitted))
    return "the instruction that its path has for the op";
  if (attr.getMostRanges() != 1 &&
      cast<ShapedType>(op.getAcc().getType()).getRank() == 3)
    return "one range for a product with a batch";
  if (!before)
    return {};
  if (attr.getInstruction() != before.getInstruction() ||
      schedule.getKernelKind() != before.getSchedule().getKernelKind())
    return "the kernel and the instruction of all alternatives to be the same";
  bool isSame = attr.getMostRows() == before.getMostRows();
  if (attr.getMostRows() < before.getMostRows() ||
      (isSame && (attr.getCost() == 0 || before.getCost() == 0)))
    return "ascending rows, or alternatives of the same with costs";
  return {};
}

FailureOr<SmallVector<AlternativeAttr>>
blockscale::readAlternatives(ProductOpInterface op, const Chip &chip) {
  SmallVector<AlternativeAttr> list;
  Attribute attribute = op->getAttr(kAlternativesAttrName);
  if (!attribute)
    return list;
  auto array = dyn_cast<ArrayAttr>(attribute);
  if (!array || array.empty() ||
      !llvm::all_of(array, llvm::IsaPred<AlternativeAttr>))
    return op->emitOpError("expected '")
           << kAlternativesAttrName << "' to be an array of "
           << "#blockscale.alternative, got " << attribute;
  for (auto attr : array.getAsRange<AlternativeAttr>()) {
    size_t count = list.size();
    std::string fault =
        findFault(attr, count ? list[count - 1] : AlternativeAttr(), chip, op);
    if (!fault.empty())
      return op->emitOpError("alternative #")
             << count << ": expected " << fault << ", got " << attr;
    list.push_back(attr);
    if (failed(getGemmPath(attr.getInstruction().getPath())
                   ->verify({op, attr.getInstruction(), chip},
                            attr.getSchedule(),
                            [&] { return op->emitOpError(); })))
      return failure();
  }
  return list;
}
