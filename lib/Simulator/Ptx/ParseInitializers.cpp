//===- ParseInitializers.cpp - Initializers of PTX variables --------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Initial values of variables: bytes, and addresses that are only known when a
// run begins.
//
// Source: PTX ISA, section 5.4.4 "Initializers".
//
//===----------------------------------------------------------------------===//

#include "Ptx/ParserImpl.h"

#include "llvm/ADT/bit.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;

static constexpr uint64_t maxInitializerBytes = uint64_t(256) << 20;

/// Bytes of an element of an array that has these extents below the first.
static uint64_t getStride(const Variable &variable,
                          llvm::ArrayRef<uint64_t> extents) {
  uint64_t stride = getBytes(variable.type);
  for (uint64_t extent : extents.drop_front())
    stride *= extent;
  return stride;
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

ParseResult PtxParser::writeInitializer(Variable &variable, uint64_t offset,
                                        uint64_t bits, unsigned size,
                                        Location location) {
  uint64_t end = llvm::SaturatingAdd<uint64_t>(offset, size);
  uint64_t previousEnd = variable.initializer.size();
  if (end > previousEnd) {
    numInitializerBytes =
        llvm::SaturatingAdd(numInitializerBytes, end - previousEnd);
    if (numInitializerBytes > maxInitializerBytes)
      return emitError(location, "expected at most " +
                                     Twine(maxInitializerBytes) +
                                     " bytes of initializers, got more");
    variable.initializer.resize(end);
  }
  for (unsigned i = 0; i != size; ++i)
    variable.initializer[offset + i] = bits >> (8 * i);
  return success();
}

/// The bits of a constant as a value of `type`. As in ptxas, a floating-point
/// constant in a 32-bit variable is an f32. An untyped variable of 8 or 16 bits
/// gets the low bits of the constant, as LLVM writes f16 and bf16 constants as
/// integers.
ParseResult PtxParser::encodeConstant(Type type, const Constant &constant,
                                      const Token &start, uint64_t &bits) {
  TypeClass kind = getTypeInfo(type).kind;
  unsigned size = getBits(type);
  bits = constant.bits;
  if (constant.isInteger()) {
    if (kind == TypeClass::Float)
      return emitExpected("a floating-point number", start);
    return success();
  }
  if (kind != TypeClass::Float && kind != TypeClass::Untyped)
    return emitExpected("an integer", start);
  bool isSingle = constant.kind == Constant::Kind::F32;
  if (isSingle && size == 64)
    return emitExpected("a number of 64 bits", start);
  if (!isSingle && size == 32)
    bits = llvm::bit_cast<uint32_t>(
        static_cast<float>(llvm::bit_cast<double>(bits)));
  return success();
}

//===----------------------------------------------------------------------===//
// Addresses
//===----------------------------------------------------------------------===//

/// The name, which may be that of a function that is declared later.
ParseResult PtxParser::parseRelocationTarget(Variable &variable, Index index,
                                             Relocation &relocation) {
  StringRef name = token.text;
  Location location = token.location;
  std::optional<Symbol> symbol;
  if (lookup(symbol))
    return failure();
  bool isTarget = !symbol || symbol->kind == Symbol::Kind::Variable ||
                  symbol->kind == Symbol::Kind::Function;
  if (!token.is(TokenKind::Word) || !isTarget)
    return emitExpected("a variable or a function");
  advance();
  relocation.isFunction = true;
  if (symbol) {
    relocation.isFunction = symbol->kind == Symbol::Kind::Function;
    relocation.target = symbol->index;
    return success();
  }
  Reference reference;
  reference.name = name;
  reference.location = location;
  reference.wanted = Reference::Wanted::Function;
  reference.site = Reference::Site::Initializer;
  reference.index = index;
  reference.part = variable.relocations.size();
  globalReferences.push_back(reference);
  return success();
}

/// Of `0xFF00`, 8: the shift of the byte that a mask selects.
static std::optional<unsigned> getShiftOfMask(uint64_t mask) {
  for (unsigned shift = 0; shift != 64; shift += 8)
    if (mask == uint64_t(0xff) << shift)
      return shift;
  return std::nullopt;
}

/// `x+4` or `generic(x)+4`; in parentheses behind `mask`.
ParseResult PtxParser::parseRelocation(Variable &variable, Index index,
                                       uint64_t offset,
                                       std::optional<uint64_t> mask) {
  Relocation relocation = {};
  relocation.offset = offset;
  relocation.size = getBytes(variable.type);
  std::optional<unsigned> shift = mask ? getShiftOfMask(*mask) : 0;
  TypeClass kind = getTypeInfo(variable.type).kind;
  // A mask selects one byte; without one, the whole address is written.
  bool fits = mask ? relocation.size == 1
                   : relocation.size == 4 || relocation.size == 8;
  if (!shift)
    return emitExpected("an address behind a mask of one byte");
  if (!fits || kind == TypeClass::Float)
    return emitExpected(mask ? "an address with a mask in a variable of bytes"
                             : "an address in a variable of 32 or 64 bits");
  relocation.shift = *shift;
  if (token.isWord("generic") && peekNext().isPunctuator("(")) {
    relocation.isGeneric = true;
    advance();
    advance();
  }
  if (parseRelocationTarget(variable, index, relocation) ||
      (relocation.isGeneric && parsePunctuator(")")) ||
      parseOffset(relocation.addend))
    return failure();
  variable.relocations.push_back(relocation);
  return success();
}

//===----------------------------------------------------------------------===//
// Lists
//===----------------------------------------------------------------------===//

ParseResult PtxParser::parseInitializerValue(Variable &variable, Index index,
                                             uint64_t offset) {
  Token start = token;
  unsigned size = getBytes(variable.type);
  uint64_t bits = 0;
  if (token.is(TokenKind::Word) && !token.isWord("WARP_SZ")) {
    if (parseRelocation(variable, index, offset, std::nullopt))
      return failure();
  } else if (token.is(TokenKind::Integer) && peekNext().isPunctuator("(")) {
    Constant mask;
    if (parseLiteral(mask) || parsePunctuator("(") ||
        parseRelocation(variable, index, offset, mask.bits) ||
        parsePunctuator(")"))
      return failure();
  } else {
    Constant constant;
    if (parseExpression(constant) ||
        encodeConstant(variable.type, constant, start, bits))
      return failure();
  }
  return writeInitializer(variable, offset, bits, size, start.location);
}

/// The elements of the first extent, at `offset`; an extent of 0 has no limit.
ParseResult PtxParser::parseInitializerList(Variable &variable, Index index,
                                            llvm::ArrayRef<uint64_t> extents,
                                            uint64_t offset,
                                            uint64_t &numElements) {
  if (extents.empty())
    return parseInitializerValue(variable, index, offset);
  uint64_t stride = getStride(variable, extents);
  numElements = 0;
  if (parsePunctuator("{"))
    return failure();
  return parseList("}", [&]() -> ParseResult {
    if (extents.front() != 0 && numElements == extents.front())
      return emitExpected("at most " + Twine(extents.front()) + " elements");
    uint64_t start = llvm::SaturatingMultiplyAdd(numElements++, stride, offset);
    uint64_t unused;
    return parseInitializerList(variable, index, extents.drop_front(), start,
                                unused);
  });
}

ParseResult PtxParser::parseInitializer(Variable &variable, Index index,
                                        llvm::ArrayRef<uint64_t> extents) {
  bool isHalf = variable.type == Type::F16 || variable.type == Type::F16x2;
  if (isHalf || variable.type == Type::B128)
    return emitNotSupported("initializers of ." +
                            StringRef(getName(variable.type)));
  // The elements of vectors are in braces like those of arrays.
  llvm::SmallVector<uint64_t, 4> all(extents);
  if (variable.vectorSize != 1)
    all.push_back(variable.vectorSize);
  Token start = token;
  uint64_t numElements;
  if (parseInitializerList(variable, index, all, 0, numElements))
    return failure();
  variable.isInitialized = true;
  if (!variable.isUnsized)
    return success();
  variable.isUnsized = false;
  variable.size =
      llvm::SaturatingMultiply(numElements, getStride(variable, all));
  if (numElements == 0 || variable.size > INT64_MAX)
    return emitError(start.location, "expected an initializer of 1 to " +
                                         Twine(INT64_MAX) + " bytes, got " +
                                         Twine(variable.size));
  return success();
}
