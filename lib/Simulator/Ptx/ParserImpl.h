//===- ParserImpl.h - The parser of PTX -------------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One class for the grammar of PTX; its functions are in files by subject.
// Parsing stops at the first error: functions return true (failure) and the
// message is kept.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_SIMULATOR_PTX_PARSERIMPL_H
#define BLOCKSCALE_LIB_SIMULATOR_PTX_PARSERIMPL_H

#include "Ptx/Lexer.h"
#include "Ptx/Parser.h"
#include "Ptx/SymbolTable.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/LogicalResult.h"

namespace mlir::blockscale::sim {

using llvm::failure;
using llvm::ParseResult;
using llvm::StringRef;
using llvm::success;
using llvm::Twine;

/// The value of a constant expression. Integers have 64 bits.
struct Constant {
  enum class Kind : uint8_t { S64, U64, F32, F64 };
  Kind kind = Kind::S64;
  uint64_t bits = 0;

  bool isInteger() const { return kind == Kind::S64 || kind == Kind::U64; }
};

class PtxParser {
public:
  explicit PtxParser(Module &module) : module(module), lexer(*module.text) {}

  Error parse();

private:
  using TokenKind = Token::Kind;

  //===--------------------------------------------------------------------===//
  // Tokens and errors (Parser.cpp)
  //===--------------------------------------------------------------------===//

  void advance();
  const Token &peekNext();
  bool consumeIf(StringRef punctuator);
  bool consumeIfDot(StringRef name);
  ParseResult parsePunctuator(StringRef punctuator);
  ParseResult parseWord(StringRef &word, const Twine &what);
  /// A literal from `min` to `max`.
  ParseResult parseInteger(uint64_t &value, uint64_t min, uint64_t max);
  ParseResult parseString();
  /// A list that `parseElement` parses one by one, up to `close`.
  ParseResult parseList(StringRef close,
                        llvm::function_ref<ParseResult()> parseElement);
  /// Skips a pair of brackets and their contents; the next token must be the
  /// open bracket.
  ParseResult skipBrackets(StringRef open, StringRef close);

  /// Failure. Only the first error is kept.
  ParseResult emitError(Location location, const Twine &message);
  /// `expected WHAT, got TOKEN` at the current token.
  ParseResult emitExpected(const Twine &what);
  ParseResult emitExpected(const Twine &what, const Token &got);
  ParseResult emitNotSupported(const Twine &what);

  /// Deeper nesting is refused, as the parser recurses.
  static constexpr unsigned maxNesting = 256;
  ParseResult emitTooDeep();

  /// Counts a level of nesting while it lives.
  class Nesting {
  public:
    explicit Nesting(PtxParser &parser) : parser(parser) { ++parser.depth; }
    ~Nesting() { --parser.depth; }
    ParseResult check() {
      return parser.depth <= maxNesting ? ParseResult() : parser.emitTooDeep();
    }

  private:
    PtxParser &parser;
  };

  //===--------------------------------------------------------------------===//
  // The module (Parser.cpp)
  //===--------------------------------------------------------------------===//

  struct Linkage {
    bool isExtern = false;
    bool isVisible = false;
  };

  ParseResult parseHeader();
  ParseResult parseVersion();
  ParseResult parseTarget();
  ParseResult parseAddressSize();
  ParseResult parseModuleDirective();
  ParseResult parseLinkage(Linkage &linkage);
  /// Directives that do not change results; nullopt if the token is none.
  std::optional<ParseResult> parseDebugDirective();
  ParseResult parseLoc();
  ParseResult parseFile();
  ParseResult parsePragma();
  ParseResult resolveGlobalReferences();

  //===--------------------------------------------------------------------===//
  // Declarations (ParseDeclarations.cpp)
  //===--------------------------------------------------------------------===//

  /// The attributes before the names of a declaration.
  struct Attributes {
    Type type = Type::B8;
    unsigned vectorSize = 1;
    /// 0 if it is not declared.
    uint64_t alignment = 0;
  };
  struct ParsedParameter {
    bool isRegister = false;
    Register reg;
    Variable variable;
    Location location;
  };
  using Extents = llvm::SmallVector<uint64_t, 4>;

  ParseResult parseAttributes(Attributes &attributes);
  ParseResult parseType(Attributes &attributes);
  ParseResult parseAlignment(uint64_t &alignment);
  ParseResult parsePointer(Variable &variable);
  ParseResult parseNames(llvm::function_ref<ParseResult()> parseName);
  ParseResult parseRegisters();
  ParseResult parseRegister(const Attributes &attributes);
  ParseResult parseVariables(Space space, const Linkage &linkage);
  ParseResult parseVariable(Variable &variable, Extents &extents);
  /// The numbers in brackets behind a name; 0 for `[]`.
  ParseResult parseExtents(Extents &extents);
  ParseResult computeSize(Variable &variable, llvm::ArrayRef<uint64_t> extents);
  ParseResult addVariable(Variable variable, Index &index);
  ParseResult addGlobal(Variable variable, Index &index);
  ParseResult declareLocal(StringRef name, Location location, Symbol symbol);
  ParseResult parseParameter(ParsedParameter &parameter, bool isEntry);
  ParseResult parseParameters(std::vector<ParsedParameter> &parameters,
                              bool isEntry);

  //===--------------------------------------------------------------------===//
  // Initializers (ParseInitializers.cpp)
  //===--------------------------------------------------------------------===//

  ParseResult parseInitializer(Variable &variable, Index index,
                               llvm::ArrayRef<uint64_t> extents);
  ParseResult parseInitializerList(Variable &variable, Index index,
                                   llvm::ArrayRef<uint64_t> extents,
                                   uint64_t offset, uint64_t &numElements);
  ParseResult parseInitializerValue(Variable &variable, Index index,
                                    uint64_t offset);
  ParseResult parseRelocation(Variable &variable, Index index, uint64_t offset,
                              std::optional<uint64_t> mask);
  ParseResult parseRelocationTarget(Variable &variable, Index index,
                                    Relocation &relocation);
  ParseResult encodeConstant(Type type, const Constant &constant,
                             const Token &start, uint64_t &bits);
  ParseResult writeInitializer(Variable &variable, uint64_t offset,
                               uint64_t bits, unsigned size, Location location);

  //===--------------------------------------------------------------------===//
  // Functions (ParseFunctions.cpp)
  //===--------------------------------------------------------------------===//

  ParseResult parseFunction(const Linkage &linkage, bool isEntry);
  ParseResult parseFunctionDirectives();
  ParseResult parseDimensions(std::optional<std::array<uint32_t, 3>> &extents);
  ParseResult parseNumber(std::optional<uint32_t> &number);
  ParseResult addParameters(std::vector<ParsedParameter> &&parsed,
                            std::vector<Parameter> &parameters);
  ParseResult parseAbiDirective(bool &isParsed);
  ParseResult declareFunction(Index &index);
  ParseResult checkRedeclaration(const Function &previous);
  bool haveSameTypes(const Function &previous, llvm::ArrayRef<Parameter> lhs,
                     llvm::ArrayRef<Parameter> rhs) const;
  ParseResult parseBody();
  ParseResult finishFunction(Index index);
  ParseResult emitUnresolved(const Reference &reference);
  /// Failure if `symbol` is of another kind than the one wanted.
  ParseResult resolve(Function &user, const Reference &reference,
                      Symbol symbol);
  ParseResult leaveScope(std::vector<Reference> *rest = nullptr);

  //===--------------------------------------------------------------------===//
  // Statements (ParseInstructions.cpp)
  //===--------------------------------------------------------------------===//

  ParseResult parseStatement();
  ParseResult parseBodyDirective();
  ParseResult parseLabel();
  ParseResult parseLabelDirective(StringRef name, Location location);
  ParseResult parseTargets(Reference::Wanted wanted, Reference::Site site,
                           Index index, std::vector<Index> &targets);
  ParseResult parseCallPrototype(Prototype &prototype);
  ParseResult parseGuard(PtxInstruction &instruction);
  ParseResult parseInstruction();
  ParseResult parseOperands(PtxInstruction &instruction);
  ParseResult parseCall(PtxInstruction &instruction);
  ParseResult parseCallArguments(PtxOperand &operand);
  /// Notes the operands that are names which are not declared yet.
  ParseResult addReferences(PtxInstruction &instruction);
  Reference::Wanted getWanted(const PtxInstruction &instruction,
                              size_t operand) const;

  //===--------------------------------------------------------------------===//
  // Operands (ParseOperands.cpp)
  //===--------------------------------------------------------------------===//

  ParseResult parseOperand(PtxOperand &operand);
  ParseResult parseSimpleOperand(PtxOperand &operand);
  ParseResult parseNamedOperand(PtxOperand &operand);
  ParseResult parseSpecialRegister(PtxOperand &operand);
  ParseResult parseComponent(PtxOperand &operand, unsigned size);
  ParseResult parseNegatedRegister(PtxOperand &operand);
  ParseResult parsePairEnd(PtxOperand &operand);
  ParseResult parseAddress(PtxOperand &operand);
  ParseResult parseVector(PtxOperand &operand);
  ParseResult parseConstantOperand(PtxOperand &operand);
  /// A name that is not looked up before the end of its scope.
  ParseResult parseReference(PtxOperand &operand, const Twine &what);
  /// `+4`, `-4`, `+4*2-1`; nothing if there is no sign.
  ParseResult parseOffset(int64_t &offset);
  ParseResult lookup(std::optional<Symbol> &symbol);

  //===--------------------------------------------------------------------===//
  // Constant expressions (ParseExpressions.cpp)
  //===--------------------------------------------------------------------===//

  ParseResult parseExpression(Constant &value);
  /// Operators that bind at least as tightly as `minPrecedence`.
  ParseResult parseBinary(Constant &value, unsigned minPrecedence);
  ParseResult parseUnary(Constant &value);
  ParseResult parsePrimary(Constant &value);
  ParseResult parseParenthesized(Constant &value);
  ParseResult parseLiteral(Constant &value);
  ParseResult parseIntegerLiteral(Constant &value);
  ParseResult parseHexFloat(Constant &value);
  ParseResult parseDecimalFloat(Constant &value);
  ParseResult applyBinary(const Token &op, Constant &lhs, Constant rhs);
  ParseResult applyIntegers(const Token &op, Constant &lhs, Constant rhs);
  ParseResult applyFloats(const Token &op, Constant &lhs, Constant rhs);

  Module &module;
  Lexer lexer;
  Token token;
  std::optional<Token> nextToken;
  std::string message;
  SymbolTable symbols;
  /// The function that is being parsed; it is in the module when it ends.
  Function function;
  /// Levels of nesting that are open, of all kinds.
  unsigned depth = 0;
  /// Bytes of all initializers.
  uint64_t numInitializerBytes = 0;
  /// Uses of functions that may be declared later.
  std::vector<Reference> globalReferences;
  /// Whether the operands of the current instruction have such uses, or uses
  /// of labels.
  bool hasReferences = false;
};

/// `expected WHAT, got` is followed by this.
std::string describe(const Token &token);

/// Whether both may be declarations of the same variable.
bool haveSameType(const Variable &lhs, const Variable &rhs);

} // namespace mlir::blockscale::sim

#endif // BLOCKSCALE_LIB_SIMULATOR_PTX_PARSERIMPL_H
