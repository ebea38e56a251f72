//===- SharedWork.cpp - Share work in a warp ------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Lanes may have different values in their registers, so all values that the
// work depends on are broadcast from the leader.
//
//===----------------------------------------------------------------------===//

#include "Emulation/Tcgen05/SharedWork.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace mlir::blockscale;

static Value makeWord(OpBuilder &b, Location loc, int32_t value) {
  return arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(value));
}

static constexpr int32_t kAllLanes = -1;

Value SharedWork::broadcast(OpBuilder &b, Location loc, Value value) const {
  constexpr int32_t kLastLane = 31;
  constexpr unsigned kWord = 32;
  Type i32 = b.getI32Type(), type = value.getType();
  auto shuffle = [&](Value word) -> Value {
    return NVVM::ShflOp::create(b, loc, i32, makeWord(b, loc, kAllLanes), word,
                                leader, makeWord(b, loc, kLastLane),
                                NVVM::ShflKind::idx, UnitAttr());
  };
  unsigned width = type.getIntOrFloatBitWidth();
  if (width == kWord)
    return shuffle(value);
  if (width < kWord)
    return arith::TruncIOp::create(
        b, loc, type, shuffle(arith::ExtUIOp::create(b, loc, i32, value)));
  assert(width == 2 * kWord && "expected up to 64 bits");
  Value shift = arith::ConstantIntOp::create(b, loc, type, kWord);
  Value high = arith::ShRUIOp::create(b, loc, value, shift);
  Value halves[2];
  for (auto [half, of] : llvm::zip_equal(halves, std::array{value, high})) {
    half = shuffle(arith::TruncIOp::create(b, loc, i32, of));
    half = arith::ExtUIOp::create(b, loc, type, half);
  }
  high = arith::ShLIOp::create(b, loc, halves[1], shift);
  return arith::OrIOp::create(b, loc, halves[0], high);
}

/// Whether all lanes may execute the ops of `block`.
static bool canShare(Block &block, function_ref<bool(Operation *)> isShared) {
  return llvm::all_of(block, [&](Operation &op) {
    if (isShared(&op) || isMemoryEffectFree(&op))
      return true;
    auto branch = dyn_cast<scf::IfOp>(op);
    return branch && branch->getNumResults() == 0 &&
           llvm::all_of(branch->getRegions(), [&](Region &region) {
             return llvm::all_of(region, [&](Block &inner) {
               return canShare(inner, isShared);
             });
           });
  });
}

llvm::DenseMap<Operation *, SharedWork>
blockscale::shareElected(Operation *root,
                         function_ref<bool(Operation *)> isShared) {
  SmallVector<scf::IfOp> guards;
  root->walk([&](scf::IfOp guard) {
    auto elect = guard.getCondition().getDefiningOp<NVVM::ElectSyncOp>();
    bool hasShared = false;
    guard->walk([&](Operation *op) { hasShared |= isShared(op); });
    if (hasShared && elect && !elect.getMembermask() &&
        elect->getBlock() == guard->getBlock() && !guard.elseBlock() &&
        guard->getNumResults() == 0 && canShare(*guard.thenBlock(), isShared))
      guards.push_back(guard);
  });

  llvm::DenseMap<Operation *, SharedWork> shared;
  for (scf::IfOp guard : guards) {
    OpBuilder b(guard);
    Location loc = guard.getLoc();
    SharedWork work;
    work.isElected = guard.getCondition();
    Value ballot = NVVM::VoteSyncOp::create(
        b, loc, b.getI32Type(), makeWord(b, loc, kAllLanes), work.isElected,
        NVVM::VoteSyncKind::ballot);
    work.leader = LLVM::CountTrailingZerosOp::create(
        b, loc, b.getI32Type(), ballot, /*is_zero_poison=*/true);
    guard->walk([&](Operation *op) {
      if (isShared(op))
        shared[op] = work;
      auto branch = dyn_cast<scf::IfOp>(op);
      if (!branch || branch == guard)
        return;
      OpBuilder before(branch);
      branch.getConditionMutable().assign(
          work.broadcast(before, branch.getLoc(), branch.getCondition()));
    });
    Block *body = guard.thenBlock();
    body->getTerminator()->erase();
    guard->getBlock()->getOperations().splice(guard->getIterator(),
                                              body->getOperations());
    guard.erase();
  }
  return shared;
}
