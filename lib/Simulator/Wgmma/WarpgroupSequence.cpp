//===- WarpgroupSequence.cpp - wgmma of four warps ------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The first warp that executes an instruction defines it; the others are
// compared with it.
//
//===----------------------------------------------------------------------===//

#include "Wgmma/WarpgroupSequence.h"

#include "Machine/Block.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;

/// Fails if a peer has ended without executing the instruction of this line.
static bool failEnded(Warp &warp, unsigned ended, uint64_t count,
                      uint32_t line) {
  return warp.error(
      0, "expected the four warps of a warpgroup to execute the same "
         "wgmma instructions, but warp " +
             llvm::Twine(ended) + " ends after " + llvm::Twine(count) +
             " of them, without that of line " + llvm::Twine(line));
}

static std::string describe(const WarpgroupStep &instruction) {
  return "line " + std::to_string(instruction.line) + ", descriptors " +
         printHex(instruction.a) + " and " + printHex(instruction.b) +
         ", scale-d " + (instruction.addsD ? "true" : "false");
}

bool WarpgroupSequence::note(Warp &warp, const WarpgroupStep &instruction) {
  unsigned rank = warp.index % kWarpsOfWarpgroup, base = warp.index - rank;
  uint64_t number = counts[rank];
  if (number == first + instructions.size()) {
    instructions.push_back(instruction);
    for (unsigned peer = 0; peer != kWarpsOfWarpgroup; ++peer)
      if (hasEnded[peer])
        return failEnded(warp, base + peer, counts[peer], instruction.line);
  }
  const WarpgroupStep &expected = instructions[number - first];
  if (instruction.line != expected.line || instruction.a != expected.a ||
      instruction.b != expected.b || instruction.addsD != expected.addsD) {
    // Any warp that was here before.
    unsigned peer = llvm::max_element(counts) - counts.begin();
    return warp.error(
        0, "expected the four warps of a warpgroup to execute the same "
           "wgmma instructions, but number " +
               llvm::Twine(number) + " is " + describe(expected) + " in warp " +
               llvm::Twine(base + peer) + ", and " + describe(instruction) +
               " here");
  }
  ++counts[rank];
  uint64_t fewest = *llvm::min_element(counts);
  for (; first != fewest; ++first)
    instructions.pop_front();
  return true;
}

uint64_t WarpgroupSequence::getNext(const Warp &warp) const {
  return counts[warp.index % kWarpsOfWarpgroup];
}

bool WarpgroupSequence::haveAll(uint64_t number) const {
  return *llvm::min_element(counts) > number;
}

unsigned WarpgroupSequence::findMissing(const Warp &warp,
                                        uint64_t number) const {
  unsigned base = warp.index - warp.index % kWarpsOfWarpgroup;
  return base + (llvm::find_if(
                     counts, [&](uint64_t count) { return count <= number; }) -
                 counts.begin());
}

bool WarpgroupSequence::end(Warp &warp) {
  unsigned rank = warp.index % kWarpsOfWarpgroup;
  hasEnded[rank] = true;
  uint64_t number = counts[rank];
  if (number == first + instructions.size())
    return true;
  return failEnded(warp, warp.index, number, instructions[number - first].line);
}
