//===- RaiseRoles.cpp - Roles of factors ----------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Types decide the role of a factor first, then how often each element is read.
//
//===----------------------------------------------------------------------===//

#include "Raise/RaiseRoles.h"

#include "llvm/ADT/SmallSet.h"

using namespace mlir;
using namespace mlir::blockscale;

bool blockscale::isScale(const Factor &factor) {
  return factor.role == FactorRole::Scale ||
         isa<Float8E8M0FNUType>(factor.getElementType());
}

bool blockscale::isReadBy(const Factor &factor, AffineExpr loop) {
  auto dim = dyn_cast<AffineDimExpr>(loop);
  return dim && llvm::any_of(factor.getNearest().index, [&](AffineExpr expr) {
           return expr.isFunctionOfDim(dim.getPosition());
         });
}

bool blockscale::haveOneRow(const Factor &first, const Factor &second,
                            const Contraction &contraction) {
  return llvm::any_of(ArrayRef(contraction.accIndex).take_back(2),
                      [&](AffineExpr row) {
                        return isReadBy(first, row) && isReadBy(second, row);
                      });
}

/// Whether `index` is known to change with every step of `loop`.
static bool changesWith(AffineExpr index, unsigned loop) {
  if (auto dim = dyn_cast<AffineDimExpr>(index))
    return dim.getPosition() == loop;
  auto binary = dyn_cast<AffineBinaryOpExpr>(index);
  return binary && index.getKind() != AffineExprKind::FloorDiv &&
         (changesWith(binary.getLHS(), loop) ||
          changesWith(binary.getRHS(), loop));
}

bool blockscale::isCoarse(const Factor &factor,
                          const Contraction &contraction) {
  return !llvm::all_of(contraction.reductions, [&](unsigned loop) {
    return contraction.loops.extents[loop] == 1 ||
           llvm::any_of(factor.origin.index, [&](AffineExpr index) {
             return changesWith(index, loop);
           });
  });
}

bool blockscale::checkSum(const Contraction &contraction, std::string &reason) {
  if (!contraction.problem.empty())
    return fail(reason, contraction.problem);
  Type accType = getElementTypeOrSelf(contraction.acc.getType());
  return accType.isF32() ||
         fail(reason, "it accumulates in ", accType, ", expected f32");
}

bool blockscale::checkLoops(const Contraction &contraction,
                            std::string &reason) {
  auto tensor = dyn_cast<RankedTensorType>(contraction.acc.getType());
  if (tensor && tensor.getEncoding())
    return fail(reason, "expected tensors without encoding, got ", tensor);

  unsigned rank = contraction.getRank();
  if (rank < 2 || rank > 3)
    return fail(reason,
                "expected a result with M and N and at most one batch, "
                "got rank ",
                rank);
  llvm::SmallSet<unsigned, 8> loops;
  for (unsigned loop : contraction.reductions)
    loops.insert(loop);
  for (AffineExpr expr : contraction.accIndex) {
    auto loop = dyn_cast<AffineDimExpr>(expr);
    if (!loop || !loops.insert(loop.getPosition()).second)
      return fail(reason, "expected a result with a parallel loop for each "
                          "dimension");
  }
  unsigned numReductions = contraction.reductions.size();
  if (rank + numReductions != contraction.loops.extents.size())
    return fail(reason, "expected each parallel loop to have a dimension of "
                        "the result");
  if (numReductions > 2)
    return fail(reason, "expected one or two loops along K, got ",
                numReductions);
  if (llvm::is_contained(contraction.loops.extents, 0))
    return fail(reason, "expected all sizes to be at least 1");
  return true;
}
