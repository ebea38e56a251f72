//===- VariableUses.cpp - What kernels do with variables ------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Compilers move the address of a variable through registers. It is followed
// through instructions that are known to make an address of one, or to read;
// what goes anywhere else may be written. Where a function is called through a
// register, that may be any of the module.
//
//===----------------------------------------------------------------------===//

#include "VariableUses.h"

#include <algorithm>
#include <cctype>
#include <map>

using namespace capture;

//===----------------------------------------------------------------------===//
// What is reached
//===----------------------------------------------------------------------===//

namespace {

/// Walks from names to what they stand for.
class Reach {
public:
  explicit Reach(const PtxCode &code) : code(code) {
    for (const PtxFunction &function : code.functions)
      functions.emplace(function.name, &function);
    for (const PtxVariable &variable : code.variables)
      variables.emplace(variable.name, &variable);
  }

  void visit(const PtxStatement &words) {
    for (std::string_view word : words)
      visit(word);
  }

  void visit(std::string_view word) {
    if (!seen.insert(word).second)
      return;
    if (word == "malloc" || word == "free")
      hasHeap = true;
    if (word == ".callprototype" || word == ".calltargets")
      for (const PtxFunction &function : code.functions)
        if (!function.isEntry)
          visit(function.name);
    auto [first, last] = variables.equal_range(word);
    for (auto at = first; at != last; ++at) {
      reachedVariables.insert(at->second);
      visit(at->second->value);
    }
    auto found = functions.find(word);
    if (found == functions.end())
      return;
    reachedFunctions.push_back(found->second);
    for (const PtxStatement &statement : found->second->statements)
      visit(statement);
  }

  std::set<const PtxVariable *> reachedVariables;
  std::vector<const PtxFunction *> reachedFunctions;
  bool hasHeap = false;

private:
  const PtxCode &code;
  std::map<std::string_view, const PtxFunction *> functions;
  std::multimap<std::string_view, const PtxVariable *> variables;
  std::set<std::string_view> seen;
};

} // namespace

//===----------------------------------------------------------------------===//
// What is changed
//===----------------------------------------------------------------------===//

/// Their result is an address of the same variable, if any.
static constexpr std::string_view moves[] = {"mov", "cvta", "cvt", "add", "sub",
                                             "mad", "selp", "and", "or",  "xor",
                                             "shl", "shr",  "min", "max"};
/// They read at an address, or compare it.
static constexpr std::string_view reads[] = {"ld",        "ldu",  "prefetch",
                                             "prefetchu", "setp", "isspacep"};
/// Functions of the driver that only read at their arguments.
static constexpr std::string_view readers[] = {"vprintf", "__assertfail"};

template <typename List>
static bool isIn(const List &list, std::string_view word) {
  return std::find(std::begin(list), std::end(list), word) != std::end(list);
}

static bool isName(std::string_view word) {
  return std::isalpha(uint8_t(word[0])) || word[0] == '%' || word[0] == '_' ||
         word[0] == '$';
}

/// Up to the comma behind the first operand.
static PtxStatement::const_iterator findSecond(const PtxStatement &words) {
  int depth = 0;
  return std::find_if(words.begin(), words.end(), [&](std::string_view word) {
    depth += word == "{" || word == "["   ? 1
             : word == "}" || word == "]" ? -1
                                          : 0;
    return word == "," && depth == 0;
  });
}

namespace {

/// Follows the address of a variable through a function.
class AddressWalk {
public:
  AddressWalk(const PtxFunction &function, const PtxVariable &variable)
      : function(function), addresses{variable.name} {}

  bool mayWrite() {
    for (size_t known = 0; known != addresses.size();) {
      known = addresses.size();
      for (const PtxStatement &statement : function.statements)
        if (mayWrite(statement))
          return true;
    }
    return false;
  }

private:
  bool mayWrite(const PtxStatement &words) {
    auto hasAddress = [&](auto from, auto to) {
      return std::any_of(from, to, [&](std::string_view word) {
        return addresses.count(word) || arguments.count(word);
      });
    };
    if (!hasAddress(words.begin(), words.end()))
      return false;
    // A guard is `@%p1` or `@!%p1`.
    size_t guard = words[0] != "@" ? 0 : words[1] != "!" ? 2 : 3;
    if (guard >= words.size())
      return true;
    auto at = words.begin() + guard;
    std::string_view name = *at, opcode = name.substr(0, name.find('.'));
    auto second = findSecond(words);
    if (opcode == "call") {
      arguments.clear();
      return !std::any_of(at, words.end(), [](std::string_view word) {
        return isIn(readers, word);
      });
    }
    if (name.substr(0, 8) == "st.param" && !hasAddress(at, second))
      return add(at + 1, second, arguments);
    if (isIn(moves, opcode))
      return hasAddress(second, words.end()) && add(at + 1, second, addresses);
    return !isIn(reads, opcode);
  }

  /// Adds the names that an instruction writes; whether that leaves the
  /// function.
  template <typename Node>
  bool add(Node from, Node to, std::set<std::string_view> &names) {
    bool isResult = false;
    for (; from != to; ++from) {
      if (!isName(*from))
        continue;
      names.insert(*from);
      isResult |= isIn(function.head, *from);
    }
    return isResult;
  }

  const PtxFunction &function;
  /// Registers.
  std::set<std::string_view> addresses;
  /// Of the next call.
  std::set<std::string_view> arguments;
};

} // namespace

VariableUses capture::findVariableUses(const PtxCode &code,
                                       std::string_view kernel) {
  Reach reach(code);
  reach.visit(kernel);
  VariableUses uses;
  uses.reached = reach.reachedVariables;
  uses.hasHeap = reach.hasHeap;
  std::set<std::string_view> pointedTo;
  for (const PtxVariable *variable : uses.reached)
    pointedTo.insert(variable->value.begin(), variable->value.end());
  for (const PtxVariable *variable : uses.reached) {
    if (variable->space != PtxVariable::Space::Global)
      continue;
    // An address that is in memory is not followed.
    bool isChanged = pointedTo.count(variable->name) != 0;
    for (const PtxFunction *function : reach.reachedFunctions)
      isChanged = isChanged || AddressWalk(*function, *variable).mayWrite();
    if (isChanged)
      uses.changed.insert(variable);
  }
  return uses;
}
