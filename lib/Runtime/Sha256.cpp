//===- Sha256.cpp - SHA-256 -----------------------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// SHA-256, which Python has in its standard library. blockscale-launch must run
// on machines with nothing but a driver, so it links no library for
// cryptography. Names are those of FIPS 180-4, section 6.2.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Runtime/CodeDigest.h"

using namespace mlir;
using namespace mlir::blockscale;

/// The first 32 bits of the fractions of the cube roots of the first 64 primes.
static constexpr uint32_t kConstants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1,
    0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3,
    0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786,
    0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147,
    0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13,
    0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
    0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a,
    0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208,
    0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static constexpr size_t kBlockBytes = 64;

static uint32_t rotateRight(uint32_t x, unsigned by) {
  return x >> by | x << (32 - by);
}

static void compress(std::array<uint32_t, 8> &hash, const char *block) {
  uint32_t w[64];
  for (unsigned t = 0; t != 16; ++t) {
    w[t] = 0;
    for (unsigned i = 0; i != 4; ++i)
      w[t] = w[t] << 8 | static_cast<uint8_t>(block[4 * t + i]);
  }
  for (unsigned t = 16; t != 64; ++t) {
    uint32_t sigma0 =
        rotateRight(w[t - 15], 7) ^ rotateRight(w[t - 15], 18) ^ w[t - 15] >> 3;
    uint32_t sigma1 =
        rotateRight(w[t - 2], 17) ^ rotateRight(w[t - 2], 19) ^ w[t - 2] >> 10;
    w[t] = sigma1 + w[t - 7] + sigma0 + w[t - 16];
  }
  auto [a, b, c, d, e, f, g, h] = hash;
  for (unsigned t = 0; t != 64; ++t) {
    uint32_t sum1 = rotateRight(e, 6) ^ rotateRight(e, 11) ^ rotateRight(e, 25);
    uint32_t t1 = h + sum1 + ((e & f) ^ (~e & g)) + kConstants[t] + w[t];
    uint32_t sum0 = rotateRight(a, 2) ^ rotateRight(a, 13) ^ rotateRight(a, 22);
    uint32_t t2 = sum0 + ((a & b) ^ (a & c) ^ (b & c));
    h = g;
    g = f;
    f = e;
    e = d + t1;
    d = c;
    c = b;
    b = a;
    a = t1 + t2;
  }
  const uint32_t sums[] = {a, b, c, d, e, f, g, h};
  for (unsigned i = 0; i != hash.size(); ++i)
    hash[i] += sums[i];
}

std::string blockscale::computeSha256(std::string_view bytes) {
  std::array<uint32_t, 8> hash = {0x6a09e667, 0xbb67ae85, 0x3c6ef372,
                                  0xa54ff53a, 0x510e527f, 0x9b05688c,
                                  0x1f83d9ab, 0x5be0cd19};
  size_t whole = bytes.size() / kBlockBytes * kBlockBytes;
  for (size_t at = 0; at != whole; at += kBlockBytes)
    compress(hash, bytes.data() + at);
  // The rest, a one bit, zeros, and the number of bits in 8 bytes.
  std::string last(bytes.substr(whole));
  last += '\x80';
  last.resize((last.size() + 8 + kBlockBytes - 1) / kBlockBytes * kBlockBytes -
              8);
  for (unsigned i = 8; i-- != 0;)
    last += static_cast<char>(uint64_t(bytes.size()) * 8 >> 8 * i);
  for (size_t at = 0; at != last.size(); at += kBlockBytes)
    compress(hash, last.data() + at);
  std::string digits;
  for (uint32_t word : hash)
    for (unsigned i = 8; i-- != 0;)
      digits += "0123456789abcdef"[word >> 4 * i & 15];
  return digits;
}
