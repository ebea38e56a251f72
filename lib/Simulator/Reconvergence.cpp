//===- Reconvergence.cpp - Where parted lanes meet ------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The algorithm of Cooper, Harvey and Kennedy ("A Simple, Fast Dominance
// Algorithm") on the reversed graph of basic blocks.
//
//===----------------------------------------------------------------------===//

#include "Reconvergence.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;

namespace {
/// The graph of basic blocks; the last one is the function's end.
struct BlockGraph {
  /// The first instruction of each block, and one past the last one.
  std::vector<Index> begins;
  std::vector<llvm::SmallVector<Index, 2>> successors, predecessors;

  Index end() const { return begins.size() - 1; }
};
} // namespace

/// Whether lanes that come to an instruction leave the kernel.
static bool isExit(const Function &function, const Instruction &instruction) {
  return !instruction.guard &&
         (instruction.opcode == "exit" ||
          (instruction.opcode == "ret" && function.isEntry));
}

/// The instructions that control may go to, apart from the next one; whether it
/// may go to that.
static bool getTargets(const Function &function, const Instruction &instruction,
                       llvm::SmallVectorImpl<Index> &targets) {
  auto add = [&](Index label) {
    targets.push_back(function.labels[label].instruction);
  };
  Index end = function.instructions.size();
  if (instruction.opcode == "bra") {
    for (const Operand &operand : instruction.operands)
      if (operand.kind == Operand::Kind::Label)
        add(operand.index);
  } else if (instruction.opcode == "brx") {
    for (const Operand &operand : instruction.operands)
      if (operand.kind == Operand::Kind::BranchTargets)
        for (Index label : function.branchTargets[operand.index])
          add(label);
  } else if (instruction.opcode == "ret" || instruction.opcode == "exit" ||
             instruction.opcode == "trap") {
    // Lanes that leave do not come back: those that stay need not wait.
    bool isReturn = instruction.opcode == "ret" && !function.isEntry;
    if (instruction.guard && !isReturn)
      return true;
    targets.push_back(end);
  } else {
    return true;
  }
  return instruction.guard.has_value();
}

static BlockGraph buildGraph(const Function &function) {
  Index count = function.instructions.size();
  std::vector<bool> isBegin(count + 1);
  isBegin[0] = isBegin[count] = true;
  llvm::SmallVector<Index> targets;
  for (Index i = 0; i != count; ++i) {
    targets.clear();
    bool hasNext = getTargets(function, function.instructions[i], targets);
    for (Index target : targets)
      isBegin[target] = true;
    if (!hasNext || !targets.empty())
      isBegin[i + 1] = true;
  }
  BlockGraph graph;
  std::vector<Index> blockOf(count + 1);
  for (Index i = 0; i <= count; ++i) {
    if (isBegin[i])
      graph.begins.push_back(i);
    blockOf[i] = graph.begins.size() - 1;
  }
  graph.successors.resize(graph.begins.size());
  graph.predecessors.resize(graph.begins.size());
  for (Index block = 0; block != graph.end(); ++block) {
    Index last = graph.begins[block + 1] - 1;
    targets.clear();
    if (getTargets(function, function.instructions[last], targets))
      targets.push_back(last + 1);
    for (Index target : targets) {
      Index successor = blockOf[target];
      if (llvm::is_contained(graph.successors[block], successor))
        continue;
      graph.successors[block].push_back(successor);
      graph.predecessors[successor].push_back(block);
    }
  }
  return graph;
}

std::vector<Index> sim::computeReconvergence(const Function &function) {
  BlockGraph graph = buildGraph(function);
  Index end = graph.end();
  constexpr Index kUnknown = ~Index(0);

  // Blocks in postorder of the reversed graph, from the end.
  std::vector<Index> order, position(graph.begins.size(), kUnknown);
  std::vector<bool> isSeen(graph.begins.size());
  std::vector<std::pair<Index, unsigned>> path = {{end, 0}};
  isSeen[end] = true;
  while (!path.empty()) {
    auto &[block, next] = path.back();
    if (next == graph.predecessors[block].size()) {
      position[block] = order.size();
      order.push_back(block);
      path.pop_back();
      continue;
    }
    Index predecessor = graph.predecessors[block][next++];
    if (!isSeen[predecessor]) {
      isSeen[predecessor] = true;
      path.push_back({predecessor, 0});
    }
  }

  std::vector<Index> immediate(graph.begins.size(), kUnknown);
  immediate[end] = end;
  auto intersect = [&](Index a, Index b) {
    while (a != b) {
      while (position[a] < position[b])
        a = immediate[a];
      while (position[b] < position[a])
        b = immediate[b];
    }
    return a;
  };
  for (bool hasChanged = true; hasChanged;) {
    hasChanged = false;
    for (Index block : llvm::reverse(order)) {
      if (block == end)
        continue;
      Index meet = kUnknown;
      for (Index successor : graph.successors[block])
        if (immediate[successor] != kUnknown)
          meet = meet == kUnknown ? successor : intersect(meet, successor);
      if (meet != immediate[block]) {
        immediate[block] = meet;
        hasChanged = true;
      }
    }
  }

  std::vector<Index> reconvergence(function.instructions.size(), kFunctionEnd);
  for (Index block = 0; block != end; ++block) {
    Index last = graph.begins[block + 1] - 1;
    for (Index i = graph.begins[block]; i != last; ++i)
      reconvergence[i] = i + 1;
    Index meet = immediate[block];
    if (meet == kUnknown || meet == end)
      continue;
    // Lanes that leave need not wait for others, who may wait for them.
    Index begin = graph.begins[meet];
    if (!isExit(function, function.instructions[begin]))
      reconvergence[last] = begin;
  }
  return reconvergence;
}

bool sim::leadsToExit(const Function &function, Index instruction) {
  Index count = function.instructions.size(), at = instruction;
  // Whoever goes on for longer goes round in circles.
  for (Index steps = 0; at != count && steps != count; ++steps) {
    const Instruction &current = function.instructions[at];
    if (isExit(function, current))
      return true;
    if (current.opcode == "bra" && !current.guard &&
        current.operands.size() == 1 &&
        current.operands[0].kind == Operand::Kind::Label)
      at = function.labels[current.operands[0].index].instruction;
    else if (current.opcode == "bra" || current.opcode == "brx" ||
             current.opcode == "call" || current.opcode == "ret")
      return false;
    else
      ++at;
  }
  return at == count && function.isEntry;
}
