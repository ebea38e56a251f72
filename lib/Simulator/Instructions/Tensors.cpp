//===- Tensors.cpp - Instructions of tensor memory ------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tensors.h"

#include "../BlockGroup.h"
#include "../Ptx/Target.h"

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;

std::optional<unsigned> sim::takeNumBlocks(Translator &t,
                                           Modifiers &modifiers) {
  static constexpr llvm::StringRef names[] = {"cta_group::1", "cta_group::2"};
  if (std::optional<unsigned> row = modifiers.takeOneOf(names)) {
    // PTX ISA, section 9.7.16.5 "CTA pair".
    unsigned &before = t.code.tensorBlocks;
    if (before != 0 && before != *row + 1)
      t.fail("expected ." + names[before - 1] +
             ", as other instructions of the function have, got ." +
             names[*row]);
    before = *row + 1;
    return before;
  }
  t.fail("expected .cta_group::1 or .cta_group::2 behind tcgen05." +
         t.current->modifiers.front());
  return std::nullopt;
}

bool sim::requireBlocks(Warp &warp, unsigned lane, unsigned numBlocks,
                        llvm::StringRef what) {
  if (numBlocks == 1)
    return true;
  Block *peer = warp.block.findPeer();
  if (!peer)
    warp.fail(lane, what +
                        ".cta_group::2 expected a cluster with an even number "
                        "of blocks, got " +
                        llvm::Twine(warp.block.group.clusterSize));
  else if (peer->isDone())
    warp.fail(lane, what +
                        ".cta_group::2 expected the other block of the pair "
                        "to run, but block " +
                        print(peer->index) + " has ended");
  return warp.state != WarpState::Failed;
}

/// sm_100, sm_103 and sm_110, of one architecture or of a family (PTX ISA,
/// sections "Target ISA Notes" of 9.7.16).
static bool hasTensorMemory(llvm::StringRef name) {
  std::optional<Target> target = Target::parse(name);
  return target && target->isSpecific() &&
         (target->number == 100 || target->number == 103 ||
          target->number == 110);
}

static void translateTensor(Translator &t, const Instruction &instruction) {
  static constexpr struct {
    llvm::StringRef name;
    void (*translate)(Translator &t, Modifiers &modifiers);
  } rows[] = {
      {"alloc", translateTensorAlloc},
      {"dealloc", translateTensorDealloc},
      {"relinquish_alloc_permit", translateTensorRelinquish},
      {"ld", translateTensorLoad},
      {"st", translateTensorStore},
      {"wait::ld", translateTensorWait},
      {"wait::st", translateTensorWait},
      {"fence::before_thread_sync", translateTensorFence},
      {"fence::after_thread_sync", translateTensorFence},
      {"cp", translateTensorCopy},
      {"shift", translateTensorShift},
      {"commit", translateTensorCommit},
      {"mma", translateTensorMultiply},
  };
  Modifiers modifiers(instruction);
  for (const auto &row : rows) {
    if (modifiers.rest().empty() || modifiers.rest().front() != row.name)
      continue;
    if (!hasTensorMemory(t.program.module.target))
      return t.fail("expected a target that has tcgen05." +
                    llvm::Twine(row.name) + ", got " + t.program.module.target);
    t.code.hasTensorMemory = t.code.hasAsyncProxy = true;
    // wait and fence find out themselves which one they are.
    if (!row.name.contains("::"))
      modifiers.take(row.name);
    return row.translate(t, modifiers);
  }
  t.fail("expected an instruction of tcgen05, such as tcgen05.mma");
}

void sim::addTensorInstructions(InstructionTable &table) {
  table["tcgen05"] = translateTensor;
}
