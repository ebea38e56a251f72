//===- Inflate.cpp - Data of zlib -----------------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// blockscale-launch needs no library but C's, and this library none that users
// of it would have to find: reading what zlib has written takes a page.
//
//===----------------------------------------------------------------------===//

#include "Inflate.h"

#include <algorithm>
#include <array>
#include <vector>

using namespace mlir;
using namespace mlir::blockscale;

uint32_t blockscale::computeCrc32(std::string_view bytes) {
  static const std::array<uint32_t, 256> table = [] {
    constexpr uint32_t polynomial = 0xEDB88320;
    std::array<uint32_t, 256> made;
    for (uint32_t i = 0; i != made.size(); ++i) {
      made[i] = i;
      for (unsigned bit = 0; bit != 8; ++bit)
        made[i] = made[i] >> 1 ^ (made[i] & 1 ? polynomial : 0);
    }
    return made;
  }();
  uint32_t crc = ~uint32_t(0);
  for (char byte : bytes)
    crc = crc >> 8 ^ table[(crc ^ static_cast<uint8_t>(byte)) & 0xFF];
  return ~crc;
}

static uint32_t computeAdler32(std::string_view bytes) {
  constexpr uint32_t modulus = 65521;
  uint32_t a = 1, b = 0;
  for (char byte : bytes) {
    a = (a + static_cast<uint8_t>(byte)) % modulus;
    b = (b + a) % modulus;
  }
  return b << 16 | a;
}

namespace {

constexpr unsigned maxCodeBits = 15;

/// A canonical Huffman code (RFC 1951, section 3.2.2): how many symbols have
/// codes of each length, and the symbols by code.
struct HuffmanCode {
  std::array<uint16_t, maxCodeBits + 1> counts = {};
  std::vector<uint16_t> symbols;

  /// Length 0 means that a symbol is not used. False where lengths say more
  /// codes than there are.
  bool build(const uint8_t *lengths, unsigned size) {
    counts = {};
    for (unsigned i = 0; i != size; ++i)
      ++counts[lengths[i]];
    counts[0] = 0;
    int left = 1;
    std::array<uint16_t, maxCodeBits + 2> starts = {};
    for (unsigned bits = 1; bits <= maxCodeBits; ++bits) {
      left = 2 * left - counts[bits];
      if (left < 0)
        return false;
      starts[bits + 1] = starts[bits] + counts[bits];
    }
    symbols.assign(starts[maxCodeBits + 1], 0);
    for (unsigned i = 0; i != size; ++i)
      if (lengths[i] != 0)
        symbols[starts[lengths[i]]++] = static_cast<uint16_t>(i);
    return true;
  }
};

/// A base and how many bits are added to it, by symbol.
struct Range {
  uint16_t base;
  uint8_t bits;
};

/// Lengths of copies, from symbol 257 on, and distances (section 3.2.5).
constexpr Range lengthRanges[] = {
    {3, 0},   {4, 0},   {5, 0},   {6, 0},   {7, 0},  {8, 0},  {9, 0},  {10, 0},
    {11, 1},  {13, 1},  {15, 1},  {17, 1},  {19, 2}, {23, 2}, {27, 2}, {31, 2},
    {35, 3},  {43, 3},  {51, 3},  {59, 3},  {67, 4}, {83, 4}, {99, 4}, {115, 4},
    {131, 5}, {163, 5}, {195, 5}, {227, 5}, {258, 0}};
constexpr Range distanceRanges[] = {
    {1, 0},     {2, 0},     {3, 0},     {4, 0},      {5, 1},      {7, 1},
    {9, 2},     {13, 2},    {17, 3},    {25, 3},     {33, 4},     {49, 4},
    {65, 5},    {97, 5},    {129, 6},   {193, 6},    {257, 7},    {385, 7},
    {513, 8},   {769, 8},   {1025, 9},  {1537, 9},   {2049, 10},  {3073, 10},
    {4097, 11}, {6145, 11}, {8193, 12}, {12289, 12}, {16385, 13}, {24577, 13}};

/// Each function is false where the data is no such data.
class Inflater {
public:
  Inflater(std::string_view data, uint64_t size) : data(data), size(size) {}

  bool readBlocks() {
    unsigned isLast = 0;
    while (isLast == 0) {
      unsigned type;
      if (!readBits(1, isLast) || !readBits(2, type))
        return false;
      if (!(type == 0   ? readStored()
            : type == 1 ? readFixed()
            : type == 2 ? readDynamic()
                        : false))
        return false;
    }
    return true;
  }

  std::string output;
  /// Where whole bytes are read next.
  size_t position = 0;

private:
  bool readBits(unsigned count, unsigned &bits) {
    while (numBits < count) {
      if (position == data.size())
        return false;
      buffer |= uint32_t(static_cast<uint8_t>(data[position++])) << numBits;
      numBits += 8;
    }
    bits = buffer & ((1u << count) - 1);
    buffer >>= count;
    numBits -= count;
    return true;
  }

  bool readSymbol(const HuffmanCode &code, unsigned &symbol) {
    unsigned value = 0, first = 0, index = 0;
    for (unsigned length = 1; length <= maxCodeBits; ++length) {
      unsigned bit;
      if (!readBits(1, bit))
        return false;
      value |= bit;
      unsigned count = code.counts[length];
      if (value < first + count) {
        symbol = code.symbols[index + (value - first)];
        return true;
      }
      index += count;
      first = (first + count) << 1;
      value <<= 1;
    }
    return false;
  }

  bool readStored() {
    buffer = numBits = 0;
    unsigned length, complement;
    if (!readBits(16, length) || !readBits(16, complement) ||
        length != (complement ^ 0xFFFF) || length > data.size() - position ||
        length > size - output.size())
      return false;
    output.append(data.substr(position, length));
    position += length;
    return true;
  }

  bool readFixed() {
    std::array<uint8_t, 288> lengths;
    for (unsigned i = 0; i != lengths.size(); ++i)
      lengths[i] = i < 144 ? 8 : i < 256 ? 9 : i < 280 ? 7 : 8;
    std::array<uint8_t, 30> distances;
    distances.fill(5);
    HuffmanCode literal, distance;
    return literal.build(lengths.data(), lengths.size()) &&
           distance.build(distances.data(), distances.size()) &&
           readCodes(literal, distance);
  }

  bool readDynamic() {
    constexpr uint8_t order[] = {16, 17, 18, 0, 8,  7, 9,  6, 10, 5,
                                 11, 4,  12, 3, 13, 2, 14, 1, 15};
    unsigned numLiterals, numDistances, numLengths;
    if (!readBits(5, numLiterals) || !readBits(5, numDistances) ||
        !readBits(4, numLengths))
      return false;
    numLiterals += 257, numDistances += 1, numLengths += 4;
    if (numLiterals > 286 || numDistances > 30)
      return false;
    std::array<uint8_t, 19> codeLengths = {};
    for (unsigned i = 0; i != numLengths; ++i) {
      unsigned bits;
      if (!readBits(3, bits))
        return false;
      codeLengths[order[i]] = static_cast<uint8_t>(bits);
    }
    HuffmanCode code, literal, distance;
    std::vector<uint8_t> lengths;
    if (!code.build(codeLengths.data(), codeLengths.size()) ||
        !readLengths(code, numLiterals + numDistances, lengths))
      return false;
    return literal.build(lengths.data(), numLiterals) &&
           distance.build(lengths.data() + numLiterals, numDistances) &&
           readCodes(literal, distance);
  }

  /// Lengths of codes, themselves coded (section 3.2.7).
  bool readLengths(const HuffmanCode &code, unsigned count,
                   std::vector<uint8_t> &lengths) {
    while (lengths.size() < count) {
      unsigned symbol, more = 0;
      if (!readSymbol(code, symbol))
        return false;
      if (symbol < 16) {
        lengths.push_back(static_cast<uint8_t>(symbol));
        continue;
      }
      // 16 repeats the last one, 17 and 18 are zeros.
      if (symbol == 16 && lengths.empty())
        return false;
      uint8_t repeated = symbol == 16 ? lengths.back() : 0;
      if (!readBits(symbol == 16 ? 2 : symbol == 17 ? 3 : 7, more))
        return false;
      more += symbol == 18 ? 11 : 3;
      if (more > count - lengths.size())
        return false;
      lengths.insert(lengths.end(), more, repeated);
    }
    return true;
  }

  bool readCodes(const HuffmanCode &literal, const HuffmanCode &distance) {
    constexpr unsigned endOfBlock = 256;
    for (;;) {
      unsigned symbol, length, back;
      if (!readSymbol(literal, symbol))
        return false;
      if (symbol == endOfBlock)
        return true;
      if (symbol < endOfBlock) {
        if (output.size() == size)
          return false;
        output += static_cast<char>(symbol);
        continue;
      }
      if (!readRange(lengthRanges, symbol - endOfBlock - 1, length) ||
          !readSymbol(distance, symbol) ||
          !readRange(distanceRanges, symbol, back) || back > output.size() ||
          length > size - output.size())
        return false;
      // What is copied may be what this copy has just written.
      for (unsigned i = 0; i != length; ++i)
        output += output[output.size() - back];
    }
  }

  template <size_t count>
  bool readRange(const Range (&ranges)[count], unsigned index,
                 unsigned &number) {
    if (index >= count || !readBits(ranges[index].bits, number))
      return false;
    number += ranges[index].base;
    return true;
  }

  std::string_view data;
  uint64_t size;
  uint32_t buffer = 0;
  unsigned numBits = 0;
};

} // namespace

Result<std::string> blockscale::inflate(std::string_view data, uint64_t size) {
  constexpr size_t headerBytes = 2, checksumBytes = 4;
  Error error("expected " + std::to_string(size) +
              " bytes as zlib compresses them, got other data");
  if (data.size() < headerBytes + checksumBytes)
    return error;
  unsigned method = static_cast<uint8_t>(data[0]);
  unsigned flags = static_cast<uint8_t>(data[1]);
  constexpr unsigned deflate = 8, dictionary = 0x20;
  if ((method & 15) != deflate || (method << 8 | flags) % 31 != 0 ||
      (flags & dictionary))
    return error;
  Inflater inflater(data.substr(headerBytes), size);
  if (!inflater.readBlocks() || inflater.output.size() != size ||
      inflater.position + headerBytes + checksumBytes != data.size())
    return error;
  uint32_t checksum = 0;
  for (char byte : data.substr(data.size() - checksumBytes))
    checksum = checksum << 8 | static_cast<uint8_t>(byte);
  if (checksum != computeAdler32(inflater.output))
    return error;
  return std::move(inflater.output);
}
