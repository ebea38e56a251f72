//===- MmaSyncOps.cpp - Instructions of mma.sync --------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Dialect/IR/BlockScale.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"

using namespace mlir;
using namespace mlir::blockscale;

//===----------------------------------------------------------------------===//
// load_matrix
//===----------------------------------------------------------------------===//

const MatrixLoad &LoadMatrixOp::getForm() {
  return *lookupMatrixLoad(getCodeBits(), getTransposed());
}

unsigned LoadMatrixOp::getLowestPtxVersion() { return getForm().lowestPtx; }

bool LoadMatrixOp::isSupportedOn(const Chip &chip) {
  return chip.capability >= getForm().lowestCapability;
}

std::string LoadMatrixOp::describeInstruction() {
  return "ldmatrix of " + std::string(getForm().type);
}

LogicalResult LoadMatrixOp::verify() {
  MemRefType type = getMemory().getType(); // (D1)
  if (!type.hasStaticShape() || !type.getLayout().isIdentity() ||
      !gpu::GPUDialect::hasWorkgroupMemoryAddressSpace(type))
    return emitOpError("expected memory of a static shape, the identity layout "
                       "and the workgroup memory space, got ")
           << type;
  if (!lookupMatrixLoad(getCodeBits(), getTransposed())) // (D2)
    return emitOpError("expected code_bits to be 4, 6 or 8, or 16 where it is "
                       "transposed, got ")
           << getCodeBits();
  return success();
}

//===----------------------------------------------------------------------===//
// mma_sync
//===----------------------------------------------------------------------===//

unsigned MmaSyncOp::getLowestPtxVersion() {
  return getInstruction().getInstruction().lowestPtx;
}

bool MmaSyncOp::isSupportedOn(const Chip &chip) {
  return chip.has(getInstruction().getPath());
}

std::string MmaSyncOp::describeInstruction() {
  return getOpcode(getInstruction().getInstruction());
}

/// (M1) or (P1), and (M2), of an `mma_sync` or `mma_sp`.
template <typename Op>
static LogicalResult verifyMma(Op op, bool isSparse) {
  InstructionAttr instruction = op.getInstruction();
  if (instruction.getPath() != Path::MmaSync ||
      instruction.isSparse() != isSparse)
    return op.emitOpError("expected a ")
           << (isSparse ? "sparse" : "dense")
           << " instruction of mma_sync, got " << instruction;
  unsigned scaleVec = instruction.getScaleVec();
  struct Selectors {
    StringRef name;
    Operand operand;
    uint64_t byte;
    uint64_t thread;
  };
  for (const Selectors &s :
       {Selectors{"a_scale", Operand::A, op.getAByte(), op.getAThread()},
        Selectors{"b_scale", Operand::B, op.getBByte(), op.getBThread()}}) {
    auto byte = static_cast<int64_t>(s.byte);
    auto thread = static_cast<int64_t>(s.thread);
    if (!isLegalByteSelector(scaleVec, byte))
      return op.emitOpError("expected the byte selector of ")
             << s.name << " to be one of " << describeByteSelectors(scaleVec)
             << " for scale_vec::" << scaleVec << "X, got " << byte;
    int64_t tiles = getScaleFragment(s.operand).tiles;
    if (thread < 0 || thread >= tiles)
      return op.emitOpError("expected the thread selector of ")
             << s.name << " to be 0 to " << tiles - 1 << ", got " << thread;
  }
  return success();
}

LogicalResult MmaSyncOp::verify() {
  return verifyMma(*this, /*isSparse=*/false);
}

//===----------------------------------------------------------------------===//
// MmaSpOp
//===----------------------------------------------------------------------===//

unsigned MmaSpOp::getLowestPtxVersion() {
  return getInstruction().getInstruction().lowestPtx;
}

bool MmaSpOp::isSupportedOn(const Chip &chip) {
  return getInstruction().getInstruction().isOn(chip);
}

std::string MmaSpOp::describeInstruction() {
  return getOpcode(getInstruction().getInstruction());
}

LogicalResult MmaSpOp::verify() { return verifyMma(*this, /*isSparse=*/true); }
