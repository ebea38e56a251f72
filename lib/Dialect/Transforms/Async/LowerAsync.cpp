//===- LowerAsync.cpp - Roles and products in tensor memory ---------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// From the kernel to the instruction level, for warp-specialized kernels: an op
// on tiles becomes a sequence of instructions.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Dialect/IR/BlockScale.h"
#include "blockscale/Dialect/Transforms/Passes.h"
#include "blockscale/Support/TensorMemory.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::blockscale {
#define GEN_PASS_DEF_LOWERASYNCPASS
#include "blockscale/Dialect/Transforms/Passes.h.inc"
} // namespace mlir::blockscale

using namespace mlir;
using namespace mlir::blockscale;

//===----------------------------------------------------------------------===//
// Roles
//===----------------------------------------------------------------------===//

/// The index of the warp in its block, from a shuffle, so that it is known to
/// be uniform.
static Value emitWarp(OpBuilder &b, Location loc) {
  Type i32 = b.getI32Type();
  auto word = [&](int64_t value) -> Value {
    return arith::ConstantOp::create(
        b, loc, b.getI32IntegerAttr(static_cast<int32_t>(value)));
  };
  Value thread = gpu::ThreadIdOp::create(b, loc, gpu::Dimension::x);
  thread = arith::IndexCastUIOp::create(b, loc, i32, thread);
  constexpr unsigned kWarpShift = 5;
  Value shift = word(kWarpShift);
  Value warp = arith::ShRUIOp::create(b, loc, thread, shift);
  Value all = word(-1), first = word(0), clamp = word(kWarpLanes - 1);
  return NVVM::ShflOp::create(b, loc, i32, all, warp, first, clamp,
                              NVVM::ShflKind::idx, UnitAttr());
}

static void lowerRoles(RolesOp op) {
  OpBuilder b(op);
  Location loc = op.getLoc();
  Value warp = emitWarp(b, loc);
  int64_t last = 0;
  for (auto [count, body] : llvm::zip_equal(op.getWarps(), op.getBodies())) {
    last += count;
    Value limit = arith::ConstantOp::create(
        b, loc, b.getI32IntegerAttr(static_cast<int32_t>(last)));
    Value isRole =
        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, warp, limit);
    auto choice = scf::IfOp::create(b, loc, isRole, /*withElseRegion=*/true);
    Block &role = *choice.thenBlock();
    role.getOperations().splice(std::prev(role.end()),
                                body.front().getOperations());
    b.setInsertionPointToStart(choice.elseBlock());
  }
  op.erase();
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// The offset in `memory` of the byte `first` along K, of elements of `unit`
/// bytes.
static int64_t getOffset(MemRefType memory, Major major, int64_t first,
                         int64_t unit) {
  ArrayRef<int64_t> shape = memory.getShape();
  int64_t rows = shape[memory.getRank() - 2], rowBytes = shape.back();
  if (major == Major::MN)
    return first / unit * rowBytes;
  return first / rowBytes * rows * rowBytes + first % rowBytes;
}

namespace {
/// One of the instructions of a tile: its first byte along K and its first
/// block.
struct TileStep {
  InstructionAttr instruction;
  int64_t byte, block;
};
} // namespace

static SmallVector<TileStep> getSteps(AsyncTileMmaOp op) {
  InstructionAttr narrow = op.getInstruction();
  SmallVector<InstructionAttr> round = {narrow};
  if (std::optional<uint64_t> k = op.getInstructionK()) {
    const Instruction &wide = *lookupWide(narrow.getInstruction(), *k);
    auto attr = InstructionAttr::get(
        op.getContext(), narrow.getPath(), narrow.getM(), narrow.getN(), wide.k,
        wide.kind, wide.a, wide.b, wide.scale, wide.scaleVec, wide.sparsity);
    round.clear();
    for (unsigned k : wide.getKPattern())
      round.push_back(k == wide.k ? attr : narrow);
  }
  // Bytes are proportional to K.
  int64_t bytes = op.getNumSteps() * AsyncTileMmaOp::kStepBytes;
  SmallVector<TileStep> steps;
  for (int64_t byte = 0, block = 0; byte < bytes;)
    for (InstructionAttr instruction : round) {
      steps.push_back({instruction, byte, block});
      byte += instruction.getK() * AsyncTileMmaOp::kStepBytes / narrow.getK();
      block += instruction.getScaleVec();
    }
  return steps;
}

static void lowerTileMma(AsyncTileMmaOp op) {
  OpBuilder b(op);
  Location loc = op.getLoc();
  Value always = arith::ConstantOp::create(b, loc, b.getBoolAttr(true));
  for (auto [number, step] : llvm::enumerate(getSteps(op))) {
    OpBuilder at = b;
    if (op.getSteps()) {
      Value index =
          arith::ConstantIndexOp::create(b, loc, static_cast<int64_t>(number));
      Value isStep = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult,
                                           index, op.getSteps());
      at = scf::IfOp::create(b, loc, isStep).getThenBodyBuilder();
    }
    auto describe = [&](Value memory, TileLayoutAttr layout,
                        int64_t byte) -> Value {
      int64_t bytes = getOffset(cast<MemRefType>(memory.getType()),
                                layout.getMajor(), byte, op.getUnit());
      Value offset = arith::ConstantIndexOp::create(at, loc, bytes);
      return MatrixDescriptorOp::create(at, loc, memory, offset, layout);
    };
    int64_t byteOfB = step.byte * op.getBytesOfB() / AsyncTileMmaOp::kStepBytes;
    Value x = describe(op.getA(), op.getALayout(), step.byte);
    Value y = describe(op.getB(), op.getBLayout(), byteOfB);
    Tcgen05MmaOp::create(at, loc, step.instruction, op.getAcc(), x, y,
                         op.getAScale(), step.block, op.getBScale(), step.block,
                         number == 0 ? op.getAccumulate() : always,
                         op.getMetadata(),
                         op.getMetadata() ? static_cast<int64_t>(number) : 0,
                         op.getALayout().getMajor() == Major::MN,
                         op.getBLayout().getMajor() == Major::MN,
                         op.getAcc().getType().getGroup());
  }
  op.erase();
}

namespace {
struct LowerAsyncPass final
    : mlir::blockscale::impl::LowerAsyncPassBase<LowerAsyncPass> {
  void runOnOperation() override {
    getOperation()->walk([](Operation *op) {
      if (auto tile = dyn_cast<AsyncTileMmaOp>(op))
        lowerTileMma(tile);
      else if (auto roles = dyn_cast<RolesOp>(op))
        lowerRoles(roles);
    });
  }
};
} // namespace
