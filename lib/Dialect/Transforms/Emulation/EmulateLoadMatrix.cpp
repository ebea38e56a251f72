//===- EmulateLoadMatrix.cpp - ldmatrix in software -----------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Does not use the layout tables of the lowering, on purpose: like
// EmulateMmaFunction.cpp, it tests the lowering independently.
//
// Source: PTX ISA 9.0, "ldmatrix".
//
//===----------------------------------------------------------------------===//

#include "Emulation/Emulation.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

using namespace mlir;
using namespace mlir::blockscale;

namespace {
/// Emits the code of one `load_matrix`, with integers of 32 bits.
class Emitter {
public:
  explicit Emitter(LoadMatrixOp op)
      : op(op), b(op.getLoc(), op), bits(op.getCodeBits()),
        isTransposed(op.getTransposed()) {}

  void emit() {
    ReassociationIndices all = llvm::to_vector(llvm::seq<int64_t>(
        0, cast<MemRefType>(op.getMemory().getType()).getRank()));
    bytes = memref::CollapseShapeOp::create(b, op.getMemory(), all);
    Value lane = toI32(gpu::LaneIdOp::create(b, /*upper_bound=*/IntegerAttr()));
    group = arith::DivUIOp::create(b, lane, integer(4));
    inGroup = arith::RemUIOp::create(b, lane, integer(4));
    row = toI32(op.getOffset());

    auto type = cast<VectorType>(op.getRegisters().getType());
    SmallVector<Value> registers;
    for (int64_t reg = 0; reg != type.getNumElements(); ++reg) {
      Value word;
      for (int32_t byte = 0; byte != 4; ++byte) {
        Value code =
            isTransposed ? emitTransposed(reg, byte) : emitRow(reg, byte);
        code = arith::ShLIOp::create(b, code, integer(8 * byte));
        word = word ? Value(arith::OrIOp::create(b, word, code)) : code;
      }
      registers.push_back(word);
    }
    op.getRegisters().replaceAllUsesWith(
        vector::FromElementsOp::create(b, type, registers));
    op.erase();
  }

private:
  Value integer(int32_t value) {
    return arith::ConstantOp::create(b, b.getI32IntegerAttr(value));
  }
  Value toI32(Value index) {
    return arith::IndexCastOp::create(b, b.getI32Type(), index);
  }
  Value add(Value lhs, Value rhs) { return arith::AddIOp::create(b, lhs, rhs); }

  /// The start of the row whose address `lane` passes.
  Value getRow(Value lane) {
    Value start =
        gpu::ShuffleOp::create(b, row, lane, integer(32), gpu::ShuffleMode::IDX)
            .getShuffleResult();
    return add(start, integer(static_cast<int32_t>(op.getPlus())));
  }

  Value loadByte(Value at) {
    Value index = arith::IndexCastOp::create(b, b.getIndexType(), at);
    Value byte = memref::LoadOp::create(b, bytes, index);
    return arith::ExtUIOp::create(b, b.getI32Type(), byte);
  }

  static constexpr int32_t kCodesOfRow = 16;

  /// Code `number` of the row that starts at `start`.
  Value loadCode(Value start, Value number) {
    if (bits == 8)
      return loadByte(add(start, number));
    Value bit = arith::MulIOp::create(b, number, integer(bits));
    Value first = add(start, arith::DivUIOp::create(b, bit, integer(8)));
    Value low = loadByte(first);
    // A row ends with its last code.
    Value last = add(start, integer(kCodesOfRow * bits / 8 - 1));
    Value high =
        loadByte(arith::MinUIOp::create(b, add(first, integer(1)), last));
    high = arith::ShLIOp::create(b, high, integer(8));
    Value both = arith::OrIOp::create(b, low, high);
    Value inByte = arith::RemUIOp::create(b, bit, integer(8));
    both = arith::ShRUIOp::create(b, both, inByte);
    return arith::AndIOp::create(b, both, integer((1 << bits) - 1));
  }

  /// Four lanes share a row of the matrix of 8 rows: each has four bytes of it.
  Value emitRow(int64_t reg, int32_t byte) {
    Value lane = add(group, integer(static_cast<int32_t>(8 * reg)));
    Value number = arith::MulIOp::create(b, inGroup, integer(4));
    return loadCode(getRow(lane), add(number, integer(byte)));
  }

  /// Four lanes share a column of the matrix of 16 rows: each has its bytes of
  /// four rows. The second register has the column that is 8 further.
  Value emitTransposed(int64_t reg, int32_t byte) {
    Value lane = arith::MulIOp::create(b, inGroup, integer(4));
    lane = add(lane, integer(static_cast<int32_t>(16 * (reg / 2)) + byte));
    Value column = add(group, integer(static_cast<int32_t>(8 * (reg % 2))));
    return loadCode(getRow(lane), column);
  }

  LoadMatrixOp op;
  ImplicitLocOpBuilder b;
  int32_t bits;
  bool isTransposed;
  Value bytes, group, inGroup, row;
};
} // namespace

void blockscale::emulateLoadMatrix(LoadMatrixOp op) { Emitter(op).emit(); }
