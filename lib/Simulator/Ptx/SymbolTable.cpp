//===- SymbolTable.cpp - The names of a PTX module ------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Scopes and ranges of registers (%r<1000>); the time does not depend on the
// length of a range.
//
//===----------------------------------------------------------------------===//

#include "Ptx/SymbolTable.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <tuple>
#include <utility>

using namespace mlir::blockscale::sim;
using llvm::StringRef;

/// Maps `key` to `value`; returns the previous value.
template <typename Map, typename Value>
static std::optional<Value> replace(Map &table, StringRef key, Value value) {
  auto [entry, isNew] = table.try_emplace(key, value);
  if (isNew)
    return std::nullopt;
  return std::exchange(entry->second, value);
}

template <typename Map, typename Value>
static void restore(Map &table, StringRef key, std::optional<Value> value) {
  if (value)
    table.find(key)->second = *value;
  else
    table.erase(key);
}

//===----------------------------------------------------------------------===//
// Declarations
//===----------------------------------------------------------------------===//

bool SymbolTable::declareGlobal(StringRef name, Symbol symbol) {
  return globals.try_emplace(name, symbol).second;
}

std::optional<Symbol> SymbolTable::lookupGlobal(StringRef name) const {
  auto found = globals.find(name);
  if (found == globals.end())
    return std::nullopt;
  return found->second;
}

bool SymbolTable::declare(StringRef name, Symbol symbol) {
  auto found = symbols.find(name);
  if (found != symbols.end() && found->second.depth == getDepth())
    return false;
  Range *range = lookupRange(name).range;
  if (range && range->depth == getDepth())
    return false;
  scopes.back().shadowed.emplace_back(
      name, replace(symbols, name, ScopedSymbol{symbol, getDepth()}));
  return true;
}

bool SymbolTable::declareRange(StringRef prefix, Type type, unsigned vectorSize,
                               uint64_t count) {
  auto found = rangesOfPrefix.find(prefix);
  if (found != rangesOfPrefix.end() &&
      ranges[found->second].depth == getDepth())
    return false;
  std::optional<size_t> outer = replace(rangesOfPrefix, prefix, ranges.size());
  scopes.back().shadowedRanges.emplace_back(prefix, outer);
  ranges.push_back({type, vectorSize, count, getDepth(), outer,
                    llvm::DenseMap<uint64_t, Index>()});
  return true;
}

//===----------------------------------------------------------------------===//
// Look-up
//===----------------------------------------------------------------------===//

/// The innermost range that has `name`. The prefix may itself end in digits:
/// `%r12` is in `%r<20>` as well as in `%r1<5>`.
SymbolTable::Member SymbolTable::lookupRange(StringRef name) {
  // Ranges have at most 2^32 registers.
  constexpr size_t maxDigits = 10;
  Member member;
  uint64_t number = 0, scale = 1;
  for (size_t digits = 1; digits <= maxDigits && digits < name.size();
       ++digits, scale *= 10) {
    char first = name[name.size() - digits];
    if (!llvm::isDigit(first))
      break;
    number += (first - '0') * scale;
    // No name has a number with leading zeros.
    if (first == '0' && digits != 1)
      continue;
    auto found = rangesOfPrefix.find(name.drop_back(digits));
    if (found == rangesOfPrefix.end())
      continue;
    // A shorter range of the same prefix hides the first registers only.
    std::optional<size_t> index = found->second;
    while (index && number >= ranges[*index].count)
      index = ranges[*index].outer;
    if (!index)
      continue;
    Range &range = ranges[*index];
    if (member.range && member.range->depth == range.depth)
      member.isAmbiguous = true;
    else if (!member.range || member.range->depth < range.depth)
      member = {&range, number, false};
  }
  return member;
}

SymbolTable::Found SymbolTable::lookup(StringRef name,
                                       std::vector<Register> &registers) {
  auto found = symbols.find(name);
  Member member = lookupRange(name);
  if (found != symbols.end()) {
    unsigned depth = found->second.depth;
    if (!member.range || member.range->depth < depth)
      return {found->second.symbol, false};
    member.isAmbiguous |= member.range->depth == depth;
  }
  if (!member.range)
    return {};
  if (member.isAmbiguous)
    return {std::nullopt, true};
  auto [entry, isNew] = member.range->registers.try_emplace(
      member.number, static_cast<Index>(registers.size()));
  if (isNew)
    registers.push_back({name, member.range->type, member.range->vectorSize});
  return {Symbol{Symbol::Kind::Register, entry->second}, false};
}

//===----------------------------------------------------------------------===//
// Scopes
//===----------------------------------------------------------------------===//

void SymbolTable::enterScope() { scopes.emplace_back(); }

void SymbolTable::addReference(const Reference &reference) {
  ++scopes.back().numReferences;
  scopes.back().references[reference.name].push_back(reference);
}

/// Merges the smaller set into the larger one, so that each reference moves at
/// most log(n) times.
void SymbolTable::passOn(Scope &from, Scope &to) {
  if (from.numReferences > to.numReferences)
    std::swap(from.references, to.references);
  to.numReferences += from.numReferences;
  for (auto &[name, references] : from.references) {
    auto &others = to.references[name];
    if (references.size() > others.size())
      std::swap(references, others);
    others.append(references.begin(), references.end());
  }
}

std::vector<Reference> SymbolTable::leaveScope(
    llvm::function_ref<void(const Reference &, Symbol)> resolve) {
  Scope scope = std::move(scopes.back());
  scopes.pop_back();
  for (auto &[name, previous] : llvm::reverse(scope.shadowed)) {
    Symbol symbol = symbols.find(name)->second.symbol;
    if (symbol.kind >= Symbol::Kind::Label) {
      auto found = scope.references.find(name);
      if (found != scope.references.end()) {
        for (const Reference &reference : found->second)
          resolve(reference, symbol);
        scope.numReferences -= found->second.size();
        scope.references.erase(found);
      }
    }
    restore(symbols, name, previous);
  }
  for (auto &[prefix, previous] : scope.shadowedRanges)
    restore(rangesOfPrefix, prefix, previous);

  if (!scopes.empty()) {
    passOn(scope, scopes.back());
    return {};
  }
  ranges.clear();
  std::vector<Reference> rest;
  for (auto &[name, references] : scope.references)
    rest.insert(rest.end(), references.begin(), references.end());
  // The order of the table is not that of the text.
  llvm::sort(rest, [](const Reference &lhs, const Reference &rhs) {
    return std::tie(lhs.location.line, lhs.location.column) <
           std::tie(rhs.location.line, rhs.location.column);
  });
  return rest;
}
