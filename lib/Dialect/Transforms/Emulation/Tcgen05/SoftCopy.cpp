//===- SoftCopy.cpp - tcgen05.cp in software ------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Source: PTX ISA 9.0, "tcgen05.cp": of 32 rows of 128 bits, row i is copied to
// four columns of lane i, and of lanes 32 + i, 64 + i and 96 + i.
//
//===----------------------------------------------------------------------===//

#include "Emulation/Tcgen05/MatrixReader.h"
#include "Emulation/Tcgen05/SoftFunctions.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::blockscale;

static void emitCopy(ImplicitLocOpBuilder &b, SoftTensorMemory memory,
                     ValueRange arguments) {
  constexpr int64_t kRows = 32, kGroups = 4, kWords = 4;
  constexpr uint64_t kRowBytes = 16;
  Word address(b, arguments[0]);
  MatrixReader matrix(b, arguments[1], "tcgen05.cp");
  emitCheck((address.field(0, 16) + kWords).isAtMost(memory.kColumns),
            "tcgen05.cp: expected columns of tensor memory");
  auto loop = scf::ForOp::create(b, arguments[2], Word(b, kRows), arguments[3]);
  b.setInsertionPointToStart(loop.getBody());
  Word row(b, loop.getInductionVar()), zero(b, 0);
  Word from = matrix.getAddress(matrix.getSwizzleRow(row, zero).bytes);
  auto type = VectorType::get(kWords, b.getI32Type());
  Value words =
      LLVM::LoadOp::create(b, type, getSharedPointer(from), kRowBytes);
  Value to = memory.getCell(address, row, zero);
  for (int64_t group = 0; group != kGroups; ++group)
    for (int64_t word = 0; word != kWords; ++word)
      LLVM::StoreOp::create(b, vector::ExtractOp::create(b, words, word),
                            memory.getNeighbor(b, to, kRows * group, word));
}

func::FuncOp blockscale::getSoftCopy(gpu::GPUModuleOp module) {
  Builder types(module.getContext());
  Type i32 = types.getI32Type();
  return getSoftFunction(
      module, "emulated_tcgen05_cp_32x128b",
      {i32, types.getI64Type(), i32, i32}, {},
      [&](ImplicitLocOpBuilder &b, func::FuncOp function) {
        emitCopy(b, SoftTensorMemory(module), function.getArguments());
        b.setInsertionPointToEnd(&function.getBody().front());
        func::ReturnOp::create(b);
      });
}
