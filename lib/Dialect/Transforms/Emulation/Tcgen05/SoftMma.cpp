//===- SoftMma.cpp - tcgen05.mma in software ------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Has its own formulas for the fields of the instruction descriptor and the
// positions of scales and sums, on purpose, see MatrixReader.h.
//
// Each quarter of the lanes uses the copy of the scales in its own lanes. A
// thread computes four rows of D, one of each quarter, and four columns at a
// time, so that it uses each element that it loads and decodes for four sums.
//
// Sources: PTX ISA 9.0, "Instruction descriptor" (kinds mxf8f6f4, mxf4 and
// mxf4nvf4), "Block scaling for tcgen05.mma.sync", "Data path layout
// organization", layout D.
//
//===----------------------------------------------------------------------===//

#include "Emulation/Tcgen05/SoftFunctions.h"
#include "Emulation/Tcgen05/SoftOperand.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::blockscale;

namespace {

/// Values that a loop carries.
using Sums = SmallVector<Value>;

class MmaEmitter {
public:
  using Offset = SoftOperand::Offset;

  MmaEmitter(ImplicitLocOpBuilder &b, gpu::GPUModuleOp module, Kind kind,
             unsigned blockSize, ValueRange arguments)
      : b(b), memory(module), decodeTable(module),
        isPacked(kind != Kind::MXF8F6F4), kind(kind), blockSize(blockSize),
        d(b, arguments[0]), word(b, arguments[3]), aScales(b, arguments[4]),
        bScales(b, arguments[5]), accumulate(b, arguments[6]),
        first(b, arguments[7]), threads(b, arguments[8]),
        a(memory, decodeTable, arguments[1], word, {7, 13, 15}, isPacked),
        other(memory, decodeTable, arguments[2], word, {10, 14, 16}, isPacked),
        n(word.field(17, 6) << 3) {}

  void emit() {
    check();
    loop(first, Word(b, kRows), threads, {}, [&](const Word &row, ValueRange) {
      emitRows(row);
      return Sums();
    });
  }

private:
  static constexpr int64_t kRows = 32, kQuarters = 4, kColumns = 4;

  int64_t getK() const { return isPacked ? 64 : 32; }
  int64_t getNumScales() const { return getK() / blockSize; }

  void check();
  void emitRows(const Word &row);
  Sums emitBlock(ArrayRef<Offset> rows, ArrayRef<Offset> columns,
                 const Word &block);
  Sums emitScales(const Word &row, const Word &column, const Word &block);

  Value zero() { return arith::ConstantOp::create(b, b.getF64FloatAttr(0)); }

  /// Calls `body` for `from`, ... with the values that the loop carries.
  Sums loop(const Word &from, const Word &to, const Word &step, Sums sums,
            function_ref<Sums(const Word &, ValueRange)> body) {
    auto op = scf::ForOp::create(b, from, to, step, sums);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(op.getBody());
    Sums results = body(Word(b, op.getInductionVar()), op.getRegionIterArgs());
    if (!results.empty())
      scf::YieldOp::create(b, results);
    return llvm::to_vector_of<Value>(op.getResults());
  }

  ImplicitLocOpBuilder &b;
  SoftTensorMemory memory;
  DecodeTable decodeTable;
  bool isPacked;
  Kind kind;
  int64_t blockSize;
  Word d, word, aScales, bScales, accumulate, first, threads;
  SoftOperand a, other;
  Word n;
};

} // namespace

/// Checks at run time, as hardware does not, that the instruction descriptor is
/// legal, and that this function computes it.
void MmaEmitter::check() {
  auto expect = [&](const Word &condition, const Twine &text) {
    emitCheck(condition, "tcgen05.mma: expected " + text);
  };
  int64_t unused = 0b11 | 1 << 3 | 1 << 6 | 0b111 << 24;
  if (isPacked)
    unused |= 1 << 12 | 1 << 15 | 1 << 16;
  expect((word & unused).isEqual(0), "0 in unused bits of the instruction "
                                     "descriptor");
  expect(word.field(2, 1).isEqual(0), "a dense A");
  expect(word.field(31, 1).isEqual(0), "K of " + Twine(getK()));
  expect(word.field(27, 2).isEqual(1), "M of 128");
  expect((n - 1).isAtMost(255), "N from 8 to 256");
  for (unsigned format : {7, 10}) {
    Word code = word.field(format, 3);
    if (isPacked) {
      expect(code.isEqual(1), "the code 1 of e2m1");
      continue;
    }
    expect(code.isAtMost(5), "a format with a code up to 5");
    expect(code.isDifferent(2), "a format with another code than 2");
  }
  // With blocks of 16 elements, both formats of scales are legal.
  if (kind != Kind::MXF4NVF4 || blockSize != 16)
    expect(word.field(23, 1).isEqual(1), "scales of ue8m0");
  for (unsigned id : {4, 29})
    expect((word.field(id, 2) & (getNumScales() - 1)).isEqual(0),
           "a scale id that is a multiple of " + Twine(getNumScales()));
  for (const Word &address : {d, aScales, bScales})
    expect(address.field(16, 7).isEqual(0), "addresses of lane 0");
  Word last = d.field(0, 16) + n;
  expect(last.isAtMost(memory.kColumns), "columns of tensor memory");
  for (const Word &scales : {aScales, bScales})
    expect((scales.field(0, 16) + kQuarters).isAtMost(memory.kColumns),
           "columns of tensor memory");
}

/// Returns the sums of the products of block `block` of the instruction along
/// K.
Sums MmaEmitter::emitBlock(ArrayRef<Offset> rows, ArrayRef<Offset> columns,
                           const Word &block) {
  Word from = block * blockSize;
  return loop(from, from + blockSize, Word(b, 1),
              Sums(kQuarters * kColumns, zero()),
              [&](const Word &k, ValueRange sums) {
                Offset aStep = a.getStep(k), bStep = other.getStep(k);
                Sums next, xs, ys;
                for (const Offset &row : rows)
                  xs.push_back(a.load(row, aStep));
                for (const Offset &column : columns)
                  ys.push_back(other.load(column, bStep));
                for (auto [i, x] : llvm::enumerate(xs))
                  for (auto [j, y] : llvm::enumerate(ys))
                    next.push_back(
                        LLVM::FMAOp::create(b, x, y, sums[i * kColumns + j]));
                return next;
              });
}

/// Returns the product of both scales for each row and column. Row R of a
/// matrix of scales is in lane R % 32 (of each quarter), R / 32 columns
/// further; the scale id selects the byte of the first block.
Sums MmaEmitter::emitScales(const Word &row, const Word &column,
                            const Word &block) {
  Word format = word.field(23, 1) + DecodeTable::kScales;
  auto loadScale = [&](const Word &scales, unsigned id, const Word &lane,
                       const Word &of) {
    Value cell = memory.getCell(scales, lane, of >> 5);
    Word loaded(b, LLVM::LoadOp::create(b, b.getI32Type(), cell));
    Word byte = word.field(id, 2) + block;
    return decodeTable.get(format, loaded >> (byte << 3));
  };
  Sums factors;
  for (int64_t quarter = 0; quarter != kQuarters; ++quarter) {
    Word lanes(b, kRows * quarter);
    Value ofRow = loadScale(aScales, 29, lanes + row, lanes + row);
    for (int64_t j = 0; j != kColumns; ++j) {
      Word of = column + j;
      Value ofColumn = loadScale(bScales, 4, lanes + (of & 31), of);
      factors.push_back(arith::MulFOp::create(b, ofRow, ofColumn));
    }
  }
  return factors;
}

/// Computes all columns of the rows `row`, 32 + `row`, ... of D.
void MmaEmitter::emitRows(const Word &row) {
  SmallVector<Offset> rows;
  for (int64_t quarter = 0; quarter != kQuarters; ++quarter)
    rows.push_back(a.getRow(row + kRows * quarter));
  Word isNegated = a.isNegated ^ other.isNegated;
  loop(Word(b, 0), n, Word(b, kColumns), {},
       [&](const Word &column, ValueRange) {
         SmallVector<Offset> columns;
         for (int64_t j = 0; j != kColumns; ++j)
           columns.push_back(other.getRow(column + j));
         Sums totals = loop(
             Word(b, 0), Word(b, getNumScales()), Word(b, 1),
             Sums(kQuarters * kColumns, zero()),
             [&](const Word &block, ValueRange sums) {
               Sums products = emitBlock(rows, columns, block);
               Sums factors = emitScales(row, column, block);
               Sums next;
               for (auto [sum, product, factor] :
                    llvm::zip_equal(sums, products, factors))
                 next.push_back(LLVM::FMAOp::create(b, product, factor, sum));
               return next;
             });
         // The sum is rounded once, when D is written.
         Value isAdded = accumulate.isEqual(1);
         Value cell = memory.getCell(d, row, column);
         for (auto [i, total] : llvm::enumerate(totals)) {
           Value to = memory.getNeighbor(b, cell, kRows * (i / kColumns),
                                         i % kColumns);
           Value old = LLVM::LoadOp::create(b, b.getF32Type(), to);
           old = arith::ExtFOp::create(b, b.getF64Type(), old);
           old = arith::SelectOp::create(b, isAdded, old, zero());
           Value negative = arith::NegFOp::create(b, total);
           Value signedTotal =
               arith::SelectOp::create(b, isNegated, negative, total);
           Value sum = arith::AddFOp::create(b, old, signedTotal);
           LLVM::StoreOp::create(
               b, arith::TruncFOp::create(b, b.getF32Type(), sum), to);
         }
         return Sums();
       });
}

func::FuncOp blockscale::getSoftMma(gpu::GPUModuleOp module, Kind kind,
                                    unsigned blockSize, bool isInTensor) {
  Builder types(module.getContext());
  Type i32 = types.getI32Type(), i64 = types.getI64Type();
  std::string name = "emulated_tcgen05_mma_" +
                     std::string(stringifyKind(kind)) + "_block" +
                     std::to_string(blockSize) + (isInTensor ? "_tmem" : "");
  return getSoftFunction(
      module, name,
      {i32, isInTensor ? i32 : i64, i64, i32, i32, i32, i32, i32, i32}, {},
      [&](ImplicitLocOpBuilder &b, func::FuncOp function) {
        MmaEmitter(b, module, kind, blockSize, function.getArguments()).emit();
        func::ReturnOp::create(b);
      });
}
