//===- PtxMutator.cpp - Mutation of PTX as text ---------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What one mutation does: mostly a change that a program survives.
//
//===----------------------------------------------------------------------===//

#include "PtxMutator.h"

#include "PtxTemplates.h"
#include "PtxText.h"

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <iterator>
#include <vector>

using namespace mlir::blockscale;

namespace {
class Mutator {
public:
  Mutator(const std::string &text, std::minstd_rand &random)
      : result(text), text(text), random(random) {}

  std::string mutate();
  std::string cross(const std::string &other);

private:
  size_t below(size_t bound) { return random() % bound; }
  template <typename List>
  const auto &pick(const List &list) {
    return list[below(std::size(list))];
  }
  std::string get(const PtxPiece &piece) const {
    return result.substr(piece.begin, piece.end - piece.begin);
  }
  void replace(const PtxPiece &piece, const std::string &with) {
    result.replace(piece.begin, piece.end - piece.begin, with);
  }
  std::string makeName(char letter);
  std::string pickTemplate();
  std::string makeStatement();
  std::string renameRegisters(std::string statement);
  PtxPiece pickPart(const PtxPiece &piece, bool (*isPart)(char));
  void changeNumber(const PtxPiece &piece);
  void changeName(const PtxPiece &piece);
  void changeModifier(const PtxPiece &piece);
  void changeGuard(const PtxPiece &piece);

  std::string result;
  PtxText text;
  std::minstd_rand &random;
};
} // namespace

std::string Mutator::makeName(char letter) {
  if (letter == 'n')
    return pick(getPtxNumbers());
  const std::vector<std::string> &names = text.names[unsigned(letter)];
  if (!names.empty())
    return pick(names) + (letter == 's' && below(2)
                              ? "+" + std::to_string(8 * below(16))
                              : "");
  // The nearest that is there.
  switch (letter) {
  case 'b':
    return makeName('d');
  case 'f':
    return "0f3F800000";
  case 'g':
    return "0d3FF0000000000000";
  default:
    return "16";
  }
}

/// A template for which the text has registers of all types; after some vain
/// tries, another one.
std::string Mutator::pickTemplate() {
  std::string pattern;
  for (unsigned tries = 0; tries != 16; ++tries) {
    pattern = pick(getPtxTemplates());
    bool isMissing = false;
    for (size_t at = 0; (at = pattern.find('$', at)) != std::string::npos;) {
      char letter = pattern[++at];
      isMissing |= letter != 'n' && letter != 'b' &&
                   text.names[unsigned(letter)].empty();
    }
    if (!isMissing)
      break;
  }
  return pattern;
}

std::string Mutator::makeStatement() {
  std::string pattern = pickTemplate(), statement;
  if (below(4) == 0 && !text.names[unsigned('p')].empty())
    pattern = (below(2) ? "@$p " : "@!$p ") + pattern;
  for (size_t i = 0; i != pattern.size(); ++i)
    if (pattern[i] == '$')
      statement += makeName(pattern[++i]);
    else
      statement += pattern[i];
  return "  " + statement + ";\n";
}

/// A word of a piece, or a part of one, that begins with a character for which
/// `isPart` is true; an empty piece if there is none.
PtxPiece Mutator::pickPart(const PtxPiece &piece, bool (*isPart)(char)) {
  std::vector<PtxPiece> parts;
  for (size_t i = piece.begin; i < piece.end; ++i) {
    bool isInWord = i != piece.begin && isPtxWordChar(result[i - 1]) &&
                    isPtxWordChar(result[i]);
    if (isInWord || !isPart(result[i]))
      continue;
    size_t end = i + 1;
    while (end < piece.end && (isPtxWordChar(result[end]) ||
                               (result[i] == '.' && result[end] == ':')))
      ++end;
    parts.push_back({i, end});
    i = end - 1;
  }
  return parts.empty() ? PtxPiece{piece.begin, piece.begin} : pick(parts);
}

void Mutator::changeNumber(const PtxPiece &piece) {
  PtxPiece number = pickPart(piece, [](char c) {
    return std::isdigit(static_cast<unsigned char>(c)) != 0;
  });
  if (number.begin == number.end)
    return;
  if (below(2))
    return replace(number, pick(getPtxNumbers()));
  uint64_t value = std::strtoull(get(number).c_str(), nullptr, 0);
  switch (below(4)) {
  case 0:
    return replace(number, std::to_string(value + 1));
  case 1:
    return replace(number, std::to_string(value - (value != 0)));
  case 2:
    return replace(number, std::to_string(value * 2));
  default:
    return replace(number, std::to_string(value / 2));
  }
}

/// A register becomes another one, mostly of its type.
void Mutator::changeName(const PtxPiece &piece) {
  PtxPiece part = pickPart(piece, [](char c) { return c == '%'; });
  if (part.begin == part.end)
    return;
  std::string name = get(part);
  static constexpr char letters[] = {'p', 'h', 'r', 'd', 'q', 'f', 'g'};
  char letter = pick(letters);
  for (char other : letters)
    for (const std::string &known : text.names[unsigned(other)])
      if (known == name && below(8))
        letter = other;
  static constexpr const char *others[] = {"_", "%laneid", "%tid.x", "0", "-1"};
  replace(part, below(16) ? makeName(letter) : pick(others));
}

void Mutator::changeModifier(const PtxPiece &piece) {
  PtxPiece part = pickPart(piece, [](char c) { return c == '.'; });
  if (part.begin == part.end)
    return;
  std::string name = get(part);
  std::string other = std::string(".") + pick(getPtxModifiers());
  if (!text.instructions.empty() && below(2))
    other =
        get(pickPart(pick(text.instructions), [](char c) { return c == '.'; }));
  switch (below(4)) {
  case 0:
    return replace(part, "");
  case 1:
    return replace(part, below(2) ? name + other : other + name);
  default:
    return replace(part, other);
  }
}

void Mutator::changeGuard(const PtxPiece &piece) {
  std::string statement = get(piece);
  size_t at = statement.find('@');
  if (at != std::string::npos)
    return replace(piece, statement.erase(at, statement.find(' ', at) - at));
  if (text.names[unsigned('p')].empty())
    return;
  at = statement.find_first_not_of(" \t\n");
  replace(piece,
          statement.insert(at, (below(2) ? "@" : "@!") + makeName('p') + " "));
}

/// Registers of another text become those of this one, of any type.
std::string Mutator::renameRegisters(std::string statement) {
  for (size_t at = 0; (at = statement.find('%', at)) != std::string::npos;) {
    size_t end = at + 1;
    while (end < statement.size() && isPtxWordChar(statement[end]))
      ++end;
    std::string name = statement.substr(at, end - at);
    bool isKnown = false;
    for (const auto &names : text.names)
      for (const std::string &known : names)
        isKnown |= known == name;
    if (!isKnown && end - at > 2 &&
        std::isdigit(static_cast<unsigned char>(name.back()))) {
      char letter = name[1] == 'p'                     ? 'p'
                    : name[1] == 'f'                   ? 'f'
                    : name[1] == 'd' || name[2] == 'd' ? 'd'
                                                       : 'r';
      name = makeName(letter);
      statement.replace(at, end - at, name);
    }
    at += name.size();
  }
  return statement;
}

std::string Mutator::cross(const std::string &other) {
  PtxText source(other);
  if (source.instructions.empty() || text.instructions.empty())
    return result;
  size_t first = below(source.instructions.size());
  size_t end = std::min(source.instructions.size(), first + 1 + below(4));
  std::string added;
  for (size_t i = first; i != end; ++i) {
    const PtxPiece &piece = source.instructions[i];
    added +=
        renameRegisters(other.substr(piece.begin, piece.end - piece.begin));
  }
  return result.insert(pick(text.instructions).begin, added + "\n");
}

std::string Mutator::mutate() {
  if (result.find(".entry") == std::string::npos || text.instructions.empty())
    return makePtxModule();
  const PtxPiece &piece = pick(text.instructions);
  const PtxPiece &other = pick(text.instructions);
  switch (below(16)) {
  case 0:
    replace(piece, "");
    break;
  case 1:
    result.insert(other.begin, get(piece));
    break;
  case 2: // Two are swapped.
    if (piece.begin < other.begin) {
      std::string moved = get(piece);
      replace(piece, get(other));
      size_t shift = result.size() - text.pieces.back().end;
      replace({other.begin + shift, other.end + shift}, moved);
    }
    break;
  case 3:
    result.insert(piece.begin, "\nT" + std::to_string(below(1000)) + ":\n");
    break;
  case 4: {
    std::string label = "T" + std::to_string(below(1000));
    std::string branch =
        (below(2) ? "@" : "@!") + makeName('p') + " bra " + label + ";\n";
    const PtxPiece &first = piece.begin < other.begin ? piece : other;
    const PtxPiece &last = piece.begin < other.begin ? other : piece;
    bool isLoop = below(2);
    result.insert(last.end, "\n" + (isLoop ? branch : label + ":\n"));
    result.insert(first.begin, "\n" + (isLoop ? label + ":\n" : branch));
    break;
  }
  case 5:
    changeNumber(pick(text.pieces)); // A size in a declaration, perhaps.
    break;
  case 6:
    changeModifier(pick(text.pieces));
    break;
  case 7:
    if (result.compare(0, 3, "// ") == 0)
      replace({3, std::min(result.find('\n'), result.size())},
              std::to_string(below(1024)));
    else
      result.insert(0, "// " + std::to_string(below(1024)) + "\n");
    break;
  case 8:
    changeModifier(piece);
    break;
  case 9:
    changeNumber(piece);
    break;
  case 10:
    changeGuard(piece);
    break;
  case 11:
    changeName(piece);
    break;
  case 12:
    replace(piece, makeStatement());
    break;
  default:
    result.insert(piece.begin, makeStatement());
    break;
  }
  return result;
}

std::string mlir::blockscale::mutatePtx(const std::string &text,
                                        std::minstd_rand &random) {
  return Mutator(text, random).mutate();
}

std::string mlir::blockscale::crossPtx(const std::string &text,
                                       const std::string &other,
                                       std::minstd_rand &random) {
  return Mutator(text, random).cross(other);
}
