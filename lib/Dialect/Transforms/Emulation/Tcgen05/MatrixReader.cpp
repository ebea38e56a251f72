//===- MatrixReader.cpp - Matrices of descriptors -------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One formula for all layouts, by swizzle rows. Eight rows are a group, and
// bytes along a row are contiguous:
//
//   row x is at (x / 8) * stride + (x % 8) * (bytes of a row)
//   byte y is at (y / (bytes of a row)) * leading + y % (bytes of a row)
//
// A row has 16 bytes without a swizzle, else 32, 64 or 128. The exception are
// matrices that are contiguous along M or N, without a swizzle: for these, the
// two distances are swapped.
//
//===----------------------------------------------------------------------===//

#include "Emulation/Tcgen05/MatrixReader.h"

#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace mlir::blockscale;

void blockscale::emitCheck(const Word &condition, const Twine &message) {
  cf::AssertOp::create(*condition.b, condition.value, message.str());
}

//===----------------------------------------------------------------------===//
// Fields
//===----------------------------------------------------------------------===//

static Word getHalf(ImplicitLocOpBuilder &b, Value descriptor, bool isHigh) {
  constexpr unsigned kHalf = 32;
  if (isHigh) {
    Value shift = arith::ConstantIntOp::create(b, b.getI64Type(), kHalf);
    descriptor = arith::ShRUIOp::create(b, descriptor, shift);
  }
  return {b, arith::TruncIOp::create(b, b.getI32Type(), descriptor)};
}

MatrixReader::MatrixReader(ImplicitLocOpBuilder &b, Value descriptor,
                           StringRef instruction)
    : low(getHalf(b, descriptor, /*isHigh=*/false)),
      high(getHalf(b, descriptor, /*isHigh=*/true)),
      // Bits 0 to 13, 16 to 29, 32 to 45 (in units of 16 bytes), 61 to 63.
      start(low.field(0, 14) << 4), leading(low.field(16, 14) << 4),
      stride(high.field(0, 14) << 4), swizzle(high.field(29, 3)),
      // 0 is none, 2 is 128 bytes, 4 is 64, 6 is 32.
      rowShift(
          swizzle.isEqual(0).select(Word(b, 4), Word(b, 8) - (swizzle >> 1))) {
  auto check = [&](const Word &condition, const Twine &text) {
    emitCheck(condition, instruction + ": expected a descriptor with " + text);
  };
  check(high.field(14, 3).isEqual(1), "1 in bits 46 to 48");
  // The base offset matters only with a swizzle.
  check(swizzle.isEqual(0).select(Word(b, 0), high.field(17, 3)).isEqual(0),
        "the base offset 0: others are not computed in software");
  check(high.field(20, 1).isEqual(0), "a relative leading dimension");
  check(high.field(21, 8).isEqual(0), "0 in bits 53 to 60");
  check((swizzle & 1).isEqual(0),
        "a swizzle of 32, 64 or 128 bytes in units of 16, or none");
  check((low & 0xC000C000).isEqual(0), "0 in bits 14, 15, 30 and 31");
}

//===----------------------------------------------------------------------===//
// Offsets
//===----------------------------------------------------------------------===//

MatrixReader::Offset MatrixReader::getAlong(const Word &number,
                                            const Packing &packing,
                                            const Word &isMN) const {
  Word one(*number.b, 1);
  Word inUnit = number & ((int64_t(1) << packing.unitShift) - 1);
  Word bit = inUnit * packing.bits;
  Word units = (number >> packing.unitShift) << 4;
  Word column = units >> rowShift;
  Word isSwapped = isMN & swizzle.isEqual(0);
  Word distance = isSwapped.select(stride, leading);
  Word inRow = units & ((one << rowShift) - one);
  return {column * distance + inRow + (bit >> 3), bit & 7};
}

MatrixReader::Offset MatrixReader::getSwizzleRow(const Word &number,
                                                 const Word &isMN) const {
  Word isSwapped = isMN & swizzle.isEqual(0);
  Word distance = isSwapped.select(leading, stride);
  return {(number >> 3) * distance + ((number & 7) << rowShift),
          Word(*number.b, 0)};
}

Word MatrixReader::getAddress(const Word &bytes) const {
  // Bits 7 to 9 of an address change bits 4 to 6, if the row has these bits.
  Word one(*bytes.b, 1);
  Word address = start + bytes;
  Word pattern = (address >> 7) & ((one << (rowShift - 4)) - one);
  return address ^ (pattern << 4);
}

//===----------------------------------------------------------------------===//
// Loads
//===----------------------------------------------------------------------===//

Value blockscale::getSharedPointer(const Word &address) {
  ImplicitLocOpBuilder &b = *address.b;
  // Shared addresses have the rank of the block in the cluster from bit 24 on
  // (measured on an H200); descriptors do not have it.
  Word rank(b, NVVM::ClusterId::create(b, b.getI32Type()));
  Word whole = address + (rank << 24);
  auto type = LLVM::LLVMPointerType::get(
      b.getContext(), static_cast<unsigned>(NVVM::NVVMMemorySpace::Shared));
  return LLVM::IntToPtrOp::create(b, type, whole.value);
}

static Word loadByte(const Word &address) {
  ImplicitLocOpBuilder &b = *address.b;
  Value byte =
      LLVM::LoadOp::create(b, b.getI8Type(), getSharedPointer(address));
  return {b, arith::ExtUIOp::create(b, b.getI32Type(), byte)};
}

Word MatrixReader::loadCode(const Offset &row, const Offset &step,
                            const Packing &packing, bool mayCrossBytes) const {
  Word bit = row.bit + step.bit;
  Word address = getAddress(row.bytes + step.bytes);
  Word code = loadByte(address);
  if (mayCrossBytes) {
    // A code and the next byte are in one unit of 16 bytes, which a swizzle
    // moves as a whole.
    Word crosses = (bit + packing.bits)
                       .isAtMost(8)
                       .select(Word(*bit.b, 0), Word(*bit.b, 1));
    code = code | (loadByte(address + crosses) << 8);
  }
  return code >> bit;
}
