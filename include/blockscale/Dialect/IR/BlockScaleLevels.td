//===- BlockScaleLevels.td - The level of each op ----------*- tablegen -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The base class of an op is its level. blockscale-verify-stage, the sections
// of the generated reference and the lists of ops in docs/gpu/levels.md follow
// from it.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_DIALECT_IR_BLOCKSCALELEVELS_TD
#define BLOCKSCALE_DIALECT_IR_BLOCKSCALELEVELS_TD

include "blockscale/Dialect/IR/BlockScaleDialect.td"
include "blockscale/Dialect/IR/BlockScaleInterfaces.td"
include "mlir/IR/EnumAttr.td"

def BlockScale_OpLevel : I32Enum<
    "OpLevel", "the level of the lowering that an op belongs to",
    [I32EnumCase<"Tile", 0, "tile">,
     I32EnumCase<"Host", 1, "host">,
     I32EnumCase<"Kernel", 2, "kernel">,
     I32EnumCase<"Instruction", 3, "instr">]> {
  let cppNamespace = "::mlir::blockscale";
}

class BlockScale_OfLevel<string level>
    : ParamNativeOpTrait<"OfLevel", "::mlir::blockscale::OpLevel::" # level> {
  let cppNamespace = "::mlir::blockscale";
}

class BlockScale_Level<string level, string title, string text> : OpDocGroup {
  let summary = title;
  let description = text;
  Trait trait = BlockScale_OfLevel<level>;
}

// The blank lines keep the text apart from the headings of the reference.
def BlockScale_TileLevel : BlockScale_Level<"Tile", "Tile level", [{

These ops say what is computed, on tensors of any shape, or on vectors in
kernels.
}]>;
def BlockScale_HostLevel : BlockScale_Level<"Host", "Host", [{

These ops are on the host, around launches, at the tile level and all levels
below.
}]>;
def BlockScale_KernelLevel : BlockScale_Level<"Kernel", "Kernel level", [{

Operands of these ops are tiles in shared memory; results are accumulators.
}]>;
def BlockScale_InstructionLevel
    : BlockScale_Level<"Instruction", "Instruction level", [{

Each of these ops is one instruction of a GPU, or an address or a descriptor for
one. The kernel level has them, too.
}]>;

/// An op of the dialect. Ops derive from one of the classes below.
class BlockScale_Op<BlockScale_Level level, string mnemonic,
                    list<Trait> traits>
    : Op<BlockScale_Dialect, mnemonic, [level.trait] # traits> {
  let opDocGroup = level;
}

class BlockScale_TileOp<string mnemonic, list<Trait> traits = []>
    : BlockScale_Op<BlockScale_TileLevel, mnemonic, traits>;
class BlockScale_HostOp<string mnemonic, list<Trait> traits = []>
    : BlockScale_Op<BlockScale_HostLevel, mnemonic, traits>;
class BlockScale_KernelOp<string mnemonic, list<Trait> traits = []>
    : BlockScale_Op<BlockScale_KernelLevel, mnemonic, traits>;

/// `interface` is given by ops that define its methods in C++.
class BlockScale_InstructionOp<
    string mnemonic, list<Trait> traits = [],
    Trait interface = BlockScale_InstructionOpInterface>
    : BlockScale_Op<BlockScale_InstructionLevel, mnemonic,
                    [interface] # traits>;

#endif // BLOCKSCALE_DIALECT_IR_BLOCKSCALELEVELS_TD
