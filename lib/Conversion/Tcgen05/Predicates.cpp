//===- Predicates.cpp - Instructions of one thread ------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// LLVM has no predicates. So a branch is marked, conversions of ops in it use
// its condition as a predicate, and then the branch is removed.
//
//===----------------------------------------------------------------------===//

#include "Tcgen05/Predicates.h"

#include "blockscale/Dialect/IR/BlockScale.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace mlir::blockscale;

static constexpr StringLiteral kPredicated = "blockscale.predicated";

/// Instructions that have a predicate.
static bool canPredicate(Operation *op, bool hasTensorCore) {
  if (auto arrive = dyn_cast<BarrierArriveOp>(op))
    return arrive.getBytes().has_value();
  if (isa<CopyScalesOp, CopyMetadataOp, Tcgen05MmaOp, Tcgen05CommitOp>(op))
    return hasTensorCore;
  return isa<TensorLoadOp>(op);
}

/// Whether the condition holds in at most one thread of a warp.
static bool isOfOneThread(Value condition) {
  auto isElected = [](Value value) {
    return value.getDefiningOp<NVVM::ElectSyncOp>() != nullptr;
  };
  if (auto both = condition.getDefiningOp<arith::AndIOp>())
    return isElected(both.getLhs()) || isElected(both.getRhs());
  return isElected(condition);
}

void blockscale::markPredicated(Operation *root, bool hasTensorCore) {
  root->walk([&](scf::IfOp guard) {
    if (isOfOneThread(guard.getCondition()) && !guard.elseBlock() &&
        llvm::all_of(guard.thenBlock()->without_terminator(),
                     [&](Operation &op) {
                       return canPredicate(&op, hasTensorCore) || isPure(&op);
                     }))
      guard->setAttr(kPredicated, UnitAttr::get(guard.getContext()));
  });
}

Value blockscale::getPredicate(Operation *op) {
  auto guard = dyn_cast<scf::IfOp>(op->getParentOp());
  return guard && guard->hasAttr(kPredicated) ? guard.getCondition() : Value();
}

void blockscale::flattenPredicated(Operation *root) {
  root->walk([](scf::IfOp guard) {
    if (!guard->hasAttr(kPredicated))
      return;
    Block *body = guard.thenBlock();
    body->getTerminator()->erase();
    guard->getBlock()->getOperations().splice(guard->getIterator(),
                                              body->getOperations());
    guard.erase();
  });
}
