//===- Pipes.cpp - Pipes of instructions ----------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The table of opcodes. Some use another pipe if their operands are
// floating-point values.
//
// Source: CUDA C++ Programming Guide, "Throughput of Native Arithmetic
// Instructions".
//
//===----------------------------------------------------------------------===//

#include "Translation/Code.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;

namespace {
struct PipeRow {
  llvm::StringLiteral opcode;
  Pipe pipe;
  /// With a type of f16, bf16 or f32, and with f64.
  Pipe ofFloat, ofDouble;
};
} // namespace

static constexpr PipeRow makeRow(llvm::StringLiteral opcode, Pipe pipe) {
  return {opcode, pipe, pipe, pipe};
}

static constexpr PipeRow makeArithmetic(llvm::StringLiteral opcode, Pipe pipe) {
  return {opcode, pipe, Pipe::Float, Pipe::Double};
}

/// Opcodes that are not here use Pipe::Integer.
static constexpr PipeRow kPipes[] = {
    makeArithmetic("add", Pipe::Integer),
    makeArithmetic("sub", Pipe::Integer),
    makeArithmetic("neg", Pipe::Integer),
    makeArithmetic("abs", Pipe::Integer),
    makeArithmetic("mul", Pipe::Multiply),
    makeArithmetic("mad", Pipe::Multiply),
    makeArithmetic("mul24", Pipe::Multiply),
    makeArithmetic("mad24", Pipe::Multiply),
    makeArithmetic("fma", Pipe::Float),
    makeRow("vmad", Pipe::Multiply),
    makeRow("div", Pipe::Special),
    makeRow("rem", Pipe::Special),
    makeRow("rcp", Pipe::Special),
    makeRow("sqrt", Pipe::Special),
    makeRow("rsqrt", Pipe::Special),
    makeRow("sin", Pipe::Special),
    makeRow("cos", Pipe::Special),
    makeRow("lg2", Pipe::Special),
    makeRow("ex2", Pipe::Special),
    makeRow("tanh", Pipe::Special),
    makeRow("popc", Pipe::Special),
    makeRow("clz", Pipe::Special),
    makeRow("brev", Pipe::Special),
    makeRow("bfind", Pipe::Special),
    makeRow("mov", Pipe::None),
    makeRow("cvta", Pipe::None),
    makeRow("ret", Pipe::None),
    makeRow("exit", Pipe::Issue),
    makeRow("bra", Pipe::Issue),
    makeRow("brx", Pipe::Issue),
    makeRow("call", Pipe::Issue),
    makeRow("bar", Pipe::Issue),
    makeRow("barrier", Pipe::Issue),
    makeRow("membar", Pipe::Issue),
    makeRow("fence", Pipe::Issue),
    makeRow("elect", Pipe::Issue),
    makeRow("setmaxnreg", Pipe::Issue),
    makeRow("griddepcontrol", Pipe::Issue),
    makeRow("wgmma", Pipe::Issue),
    makeRow("tcgen05", Pipe::Issue),
    makeRow("mma", Pipe::Matrix),
    makeRow("wmma", Pipe::Matrix),
    makeRow("ld", Pipe::Memory),
    makeRow("ldu", Pipe::Memory),
    makeRow("st", Pipe::Memory),
    makeRow("atom", Pipe::Memory),
    makeRow("red", Pipe::Memory),
    makeRow("multimem", Pipe::Memory),
    makeRow("cp", Pipe::Memory),
    makeRow("ldmatrix", Pipe::Memory),
    makeRow("stmatrix", Pipe::Memory),
    makeRow("mbarrier", Pipe::Memory),
    makeRow("shfl", Pipe::Memory),
    makeRow("prefetch", Pipe::Memory),
};

Pipe sim::getPipe(const PtxInstruction &instruction) {
  static const llvm::StringMap<const PipeRow *> rows = [] {
    llvm::StringMap<const PipeRow *> rows;
    for (const PipeRow &row : kPipes)
      rows[row.opcode] = &row;
    return rows;
  }();
  auto found = rows.find(instruction.opcode);
  if (found == rows.end())
    return Pipe::Integer;
  const PipeRow &row = *found->second;
  if (row.ofFloat == row.pipe && row.ofDouble == row.pipe)
    return row.pipe;
  auto has = [&](llvm::StringRef type) {
    return llvm::is_contained(instruction.modifiers, type);
  };
  if (has("f64"))
    return row.ofDouble;
  for (llvm::StringRef type :
       {"f32", "f32x2", "f16", "f16x2", "bf16", "bf16x2"})
    if (has(type))
      return row.ofFloat;
  return row.pipe;
}
