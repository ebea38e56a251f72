//===- Reconvergence.cpp - Points of reconvergence ------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The algorithm of Lengauer and Tarjan ("A Fast Algorithm for Finding
// Dominators in a Flowgraph"), with path compression only, on the reversed
// graph of basic blocks. It takes less than quadratic time for all graphs.
//
//===----------------------------------------------------------------------===//

#include "Translation/Reconvergence.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/ADT/SmallVector.h"

#include <utility>

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
static bool isExit(const Function &function,
                   const PtxInstruction &instruction) {
  return !instruction.guard &&
         (instruction.opcode == "exit" ||
          (instruction.opcode == "ret" && function.isEntry));
}

/// The successors of an instruction apart from the next one; returns whether
/// the next one is a successor.
static bool getTargets(const Function &function,
                       const PtxInstruction &instruction,
                       llvm::SmallVectorImpl<Index> &targets) {
  auto add = [&](Index label) {
    targets.push_back(function.labels[label].instruction);
  };
  Index end = function.instructions.size();
  if (instruction.opcode == "bra") {
    for (const PtxOperand &operand : instruction.operands)
      if (operand.kind == PtxOperand::Kind::Label)
        add(operand.index);
  } else if (instruction.opcode == "brx") {
    for (const PtxOperand &operand : instruction.operands)
      if (operand.kind == PtxOperand::Kind::BranchTargets)
        for (Index label : function.branchTargets[operand.index])
          add(label);
  } else if (instruction.opcode == "trap" || instruction.opcode == "brkpt") {
    // The run ends here, so there are no successors.
  } else if (instruction.opcode == "ret" || instruction.opcode == "exit") {
    // Lanes that leave do not come back, so those that stay need not wait.
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
    auto &successors = graph.successors[block];
    for (Index target : targets)
      successors.push_back(blockOf[target]);
    // Tables of branches may be long, and have few targets.
    llvm::sort(successors);
    successors.erase(llvm::unique(successors), successors.end());
    for (Index successor : successors)
      graph.predecessors[successor].push_back(block);
  }
  return graph;
}

namespace {
/// Immediate post-dominators: dominators of the graph with its edges reversed.
/// Blocks are numbered in preorder from the end; blocks that cannot reach the
/// end have no number.
class PostDominators {
public:
  explicit PostDominators(const BlockGraph &graph);

  /// The immediate post-dominator of a block; kUnknown if there is none.
  Index lookup(Index block) const {
    Index number = numbers[block];
    return number == kUnknown || number == 0 ? kUnknown
                                             : order[immediate[number]];
  }

  static constexpr Index kUnknown = ~Index(0);

private:
  void search(const BlockGraph &graph);
  Index findLeast(Index number);

  std::vector<Index> order, numbers;
  /// By number: the parent in the search tree, the semidominator, and the
  /// immediate dominator.
  std::vector<Index> parents, semi, immediate;
  /// The forest, which grows while the numbers go down; `least` is the node
  /// with the least semidominator on the compressed part of the path.
  std::vector<Index> ancestors, least;
};
} // namespace

/// Numbers the blocks.
void PostDominators::search(const BlockGraph &graph) {
  numbers.assign(graph.begins.size(), kUnknown);
  std::vector<std::pair<Index, unsigned>> path;
  auto visit = [&](Index block, Index parent) {
    numbers[block] = order.size();
    order.push_back(block);
    parents.push_back(parent);
    path.push_back({block, 0});
  };
  visit(graph.end(), kUnknown);
  while (!path.empty()) {
    auto &[block, next] = path.back();
    if (next == graph.predecessors[block].size()) {
      path.pop_back();
      continue;
    }
    Index predecessor = graph.predecessors[block][next++];
    if (numbers[predecessor] == kUnknown)
      visit(predecessor, numbers[block]);
  }
}

/// The node with the least semidominator on the path to the root of the forest,
/// without the root.
Index PostDominators::findLeast(Index number) {
  if (ancestors[number] == kUnknown)
    return number;
  llvm::SmallVector<Index> path;
  Index top = number;
  for (; ancestors[ancestors[top]] != kUnknown; top = ancestors[top])
    path.push_back(top);
  for (Index below : llvm::reverse(path)) {
    Index above = ancestors[below];
    if (semi[least[above]] < semi[least[below]])
      least[below] = least[above];
    ancestors[below] = ancestors[above];
  }
  return least[number];
}

PostDominators::PostDominators(const BlockGraph &graph) {
  search(graph);
  Index count = order.size();
  llvm::append_range(semi, llvm::seq<Index>(0, count));
  least = semi;
  immediate.assign(count, 0);
  ancestors.assign(count, kUnknown);
  // Lists of the nodes with the same semidominator.
  std::vector<Index> first(count, kUnknown), next(count, kUnknown);
  for (Index number = count - 1; number != 0; --number) {
    for (Index successor : graph.successors[order[number]])
      if (numbers[successor] != kUnknown)
        semi[number] =
            std::min(semi[number], semi[findLeast(numbers[successor])]);
    next[number] = std::exchange(first[semi[number]], number);
    Index parent = parents[number];
    ancestors[number] = parent;
    for (Index of = std::exchange(first[parent], kUnknown); of != kUnknown;
         of = next[of]) {
      Index best = findLeast(of);
      immediate[of] = semi[best] < semi[of] ? best : parent;
    }
  }
  for (Index number = 1; number < count; ++number)
    if (immediate[number] != semi[number])
      immediate[number] = immediate[immediate[number]];
}

std::vector<Index> sim::computeReconvergence(const Function &function) {
  BlockGraph graph = buildGraph(function);
  PostDominators dominators(graph);
  Index end = graph.end();

  std::vector<Index> reconvergence(function.instructions.size(), kFunctionEnd);
  for (Index block = 0; block != end; ++block) {
    Index last = graph.begins[block + 1] - 1;
    for (Index i = graph.begins[block]; i != last; ++i)
      reconvergence[i] = i + 1;
    Index meet = dominators.lookup(block);
    if (meet == PostDominators::kUnknown || meet == end)
      continue;
    // Lanes that leave need not wait for others, which may wait for them.
    Index begin = graph.begins[meet];
    if (!isExit(function, function.instructions[begin]))
      reconvergence[last] = begin;
  }
  return reconvergence;
}

bool sim::leadsToExit(const Function &function, Index instruction) {
  Index count = function.instructions.size(), at = instruction;
  // A longer path would be a loop.
  for (Index steps = 0; at != count && steps != count; ++steps) {
    const PtxInstruction &current = function.instructions[at];
    if (isExit(function, current))
      return true;
    if (current.opcode == "bra" && !current.guard &&
        current.operands.size() == 1 &&
        current.operands[0].kind == PtxOperand::Kind::Label)
      at = function.labels[current.operands[0].index].instruction;
    else if (current.opcode == "bra" || current.opcode == "brx" ||
             current.opcode == "call" || current.opcode == "ret")
      return false;
    else
      ++at;
  }
  return at == count && function.isEntry;
}
