//===- StagedOperand.cpp - TMA or software producer -----------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Operands of the software producer are contiguous along K in a stage. If the
// other operand has 8 bits, it widens fp6 and fp4 to e4m3, since tensor cores
// take narrow elements from shared memory only packed. mma.sync kernels read
// stages with ldmatrix and take any layout that ldmatrix can read.
//
//===----------------------------------------------------------------------===//

#include "Kernels/Gemm/Mainloop/WarpSpecialized/StagedOperand.h"

#include "Kernels/Gemm/Mainloop/Multistage/StagePlan.h"
#include "Kernels/Gemm/Mainloop/WarpSpecialized/MmaWarps.h"

using namespace mlir;
using namespace mlir::blockscale;

KernelProblem blockscale::getInstructionProblem(const KernelProblem &problem) {
  KernelProblem sides = problem;
  if (!cast<WarpSpecializedScheduleAttr>(problem.schedule).getSwapAb())
    return sides;
  std::swap(sides.types.lhs, sides.types.rhs);
  std::swap(sides.m, sides.n);
  std::swap(sides.mostM, sides.mostN);
  if (sides.groups)
    sides.groups->areColumns = true;
  for (auto get : {getElementsOf, getScalesOf})
    std::swap(sides[get(/*isA=*/true)], sides[get(/*isA=*/false)]);
  InstructionAttr of = problem.instruction;
  sides.instruction =
      InstructionAttr::get(of.getContext(), of.getPath(), of.getM(), of.getN(),
                           of.getK(), of.getKind(), of.getB(), of.getA(),
                           of.getScale(), of.getScaleVec(), of.getSparsity());
  return sides;
}

std::string blockscale::describeSoftwareOperands(const StagedOperands &operands,
                                                 bool swapsAb) {
  std::string text;
  for (bool isX : {true, false})
    if (const StagedOperand &operand = operands[getElementsOf(isX != swapsAb)];
        operand.loader)
      text += (text.empty() ? "" : "; ") + std::string(isX ? "x" : "y") +
              " is brought by warps, not by bulk copies: " + operand.reason;
  return text;
}

static LoaderPtr makeLoader(const KernelProblem &problem,
                            const SharedMemoryPlan &pipeline, bool isA,
                            Format &format) {
  const KernelOperand &operand = problem[getElementsOf(isA)];
  WarpSpecializedScheduleAttr schedule = pipeline.getSchedule();
  int64_t rows = pipeline.getRows(isA);
  // A swizzle row of B has half of its K for a sparse A.
  TileExtent extent = {rows, pipeline.getElementsOfK(/*isA=*/true), rows,
                       kSoftwareProducerWarps * kWarpLanes};
  Kind kind = problem.instruction.getKind();
  // mma.sync warps read the layouts of the multistage kernel, too.
  if (getPathInfo(problem.instruction.getPath()).isWarpLevel) {
    MmaWarps warps(schedule);
    extent.warpRows = isA ? warps.m : warps.n;
    return planElements(operand, format, kind, extent);
  }
  unsigned bits = getFormatInfo(format).bits;
  if (!hasContainers(kind) ||
      (bits == 8 && operand.contiguity == Contiguity::Columns))
    return planElements(operand, format, kind, extent);
  if (bits == 6 && canPack(operand))
    return makePackLoader(operand, extent, getSlot(kind, format));
  std::optional<Format> narrow;
  if (bits != 8)
    narrow = format;
  format = bits == 8 ? format : Format::E4M3;
  SharedTile tile = getElementTile(extent, getSlot(kind, format), TileLayout());
  return makeElementLoader(std::move(tile), operand, extent, std::nullopt,
                           narrow);
}

StagedOperands
blockscale::planStagedOperands(const KernelProblem &problem,
                               const SharedMemoryPlan &pipeline) {
  StagedOperands operands;
  const Instruction &instruction = problem.instruction.getInstruction();
  for (GemmOperand id : kGemmOperands) {
    StagedOperand &operand = operands[id];
    auto [isA, isScale, isMetadata, letter, name] = getInfo(id);
    // Beside a quantized A, lanes load metadata themselves.
    bool isStaged = problem.reads(id) && !pipeline.getQuantizedA();
    if ((isMetadata && !isStaged) || (isScale && !problem.hasScales()))
      continue;
    if (!isA && pipeline.isGemv())
      continue;
    operand.format = isA ? instruction.a : instruction.b;
    operand.tensor = TensorOperand::plan(problem, pipeline, id, operand.reason);
    if (operand.tensor) {
      operand.layout = operand.tensor->getLayout();
      continue;
    }
    assert(!isScale && !isMetadata &&
           "copies bring all scales and metadata in atoms");
    operand.loader = makeLoader(problem, pipeline, isA, operand.format);
    operand.layout = operand.loader->getTile().layout;
  }
  return operands;
}
