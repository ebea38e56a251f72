//===- Lanewise.h - Results of lanes, one by one ----------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Most instructions compute a result from the sources of the same lane. This
// file has the loop over lanes and the rules for undefined sources.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_SIMULATOR_ARITHMETIC_LANEWISE_H
#define BLOCKSCALE_LIB_SIMULATOR_ARITHMETIC_LANEWISE_H

#include "Machine/Warp.h"

#include "llvm/Support/Compiler.h"
#include "llvm/Support/MathExtras.h"

#include <type_traits>
#include <utility>

namespace mlir::blockscale::sim {

/// Sets one lane of a predicate.
inline void setLane(Predicate &predicate, unsigned lane, bool value,
                    bool isUndefined) {
  LaneMask bit = LaneMask(1) << lane;
  predicate.value = value ? predicate.value | bit : predicate.value & ~bit;
  predicate.undefined =
      isUndefined ? predicate.undefined | bit : predicate.undefined & ~bit;
}

/// How undefined bytes of sources spread to a result of `size` bytes.
enum class Spread : uint8_t {
  /// One undefined byte makes all of the result undefined.
  All,
  /// A byte depends on the source bytes at its position and below (sums, low
  /// products).
  Upwards,
  /// A byte depends on the source bytes at its position.
  Bytewise,
};

inline uint8_t spreadUndefined(Spread spread, uint8_t undefined,
                               unsigned size) {
  uint8_t all = llvm::maskTrailingOnes<uint8_t>(size);
  switch (spread) {
  case Spread::All:
    return undefined ? all : 0;
  case Spread::Upwards:
    return undefined ? all & ~((undefined & -undefined) - 1) : 0;
  case Spread::Bytewise:
    return undefined & all;
  }
  return all;
}

/// The base of what a step computes in one lane. The `numSources` sources are
/// zero-extended to 64 bits; T is an unsigned integer of the size of the
/// result. Derived classes have
///
///   uint64_t operator()(uint64_t a, ...) const;
///
/// and may have their own `getUndefined`, and `isUnspecified(a, ...)` for
/// sources whose result PTX leaves open. Members are the form of the step.
template <typename T, unsigned n, Spread spread = Spread::All>
struct Operation {
  using Result = T;
  static constexpr unsigned numSources = n;
  using Sources = std::array<uint64_t, n>;
  using UndefinedBytes = std::array<uint8_t, n>;

  /// The undefined bytes of the result. Bytes of a source above the width of
  /// its type are ignored.
  uint8_t getUndefined(const Sources &values,
                       const UndefinedBytes &undefined) const {
    uint8_t any = 0;
    for (uint8_t bytes : undefined)
      any |= bytes;
    return spreadUndefined(spread, any, sizeof(T));
  }
};

/// A mask of the bits of undefined bytes, and back: bytes that have such a bit.
inline uint64_t expandBytes(uint8_t bytes) {
  uint64_t bits = 0;
  for (unsigned byte = 0; byte != 8; ++byte)
    if (bytes >> byte & 1)
      bits |= uint64_t(0xFF) << byte * 8;
  return bits;
}
inline uint8_t collapseBits(uint64_t bits) {
  uint8_t bytes = 0;
  for (unsigned byte = 0; byte != 8; ++byte)
    if (bits >> byte * 8 & 0xFF)
      bytes |= 1 << byte;
  return bytes;
}

namespace detail {

template <typename Op, size_t... i>
LLVM_ATTRIBUTE_ALWAYS_INLINE typename Op::Result
computeLane(const Op &op, const Lanes *const *sources, unsigned lane,
            std::index_sequence<i...>) {
  return static_cast<typename Op::Result>(op(sources[i]->value[lane]...));
}

template <typename Op, typename = void>
struct HasUnspecified : std::false_type {};
template <typename Op>
struct HasUnspecified<Op, std::void_t<decltype(&Op::isUnspecified)>>
    : std::true_type {};

template <typename Op, size_t... i>
LaneMask findUnspecified(const Op &op, const Lanes *const *sources,
                         LaneMask active, std::index_sequence<i...>) {
  LaneMask found = 0;
  forEachLane(active, [&](unsigned lane) {
    found |= LaneMask(op.isUnspecified(sources[i]->value[lane]...)) << lane;
  });
  return found;
}

} // namespace detail

/// Carries out an operation in all active lanes. Operand 0 of the step is the
/// result; the sources follow it.
template <typename Op>
inline void computeLanes(Warp &warp, const Step &step, const Op &op) {
  constexpr unsigned n = Op::numSources;
  std::make_index_sequence<n> indices;
  Lanes &result = warp.reg(step.operands[0]);
  const Lanes *sources[n];
  LaneMask undefinedLanes = 0;
  for (unsigned i = 0; i != n; ++i) {
    sources[i] = &warp.reg(step.operands[1 + i]);
    undefinedLanes |= sources[i]->undefinedLanes;
  }
  LaneMask active = warp.active, unspecified = 0;
  undefinedLanes &= active;
  if constexpr (detail::HasUnspecified<Op>::value)
    unspecified =
        detail::findUnspecified(op, sources, active & ~undefinedLanes, indices);
  // Computed before results are written, as a result may be a source.
  std::array<uint8_t, kLanes> undefinedBytes;
  if (LLVM_UNLIKELY(undefinedLanes != 0))
    forEachLane(undefinedLanes, [&](unsigned lane) {
      typename Op::Sources values;
      typename Op::UndefinedBytes undefined;
      for (unsigned i = 0; i != n; ++i) {
        values[i] = sources[i]->value[lane];
        undefined[i] = sources[i]->getUndefined(lane);
      }
      undefinedBytes[lane] = op.getUndefined(values, undefined);
    });
  if (active == kAllLanes) {
    // Not in the registers yet, so that no source aliases the result and the
    // loop can be vectorized.
    std::array<typename Op::Result, kLanes> values;
    for (unsigned lane = 0; lane != kLanes; ++lane)
      values[lane] = detail::computeLane(op, sources, lane, indices);
    for (unsigned lane = 0; lane != kLanes; ++lane)
      result.value[lane] = values[lane];
  } else {
    forEachLane(active, [&](unsigned lane) {
      result.value[lane] = detail::computeLane(op, sources, lane, indices);
    });
  }
  result.undefinedLanes &= ~active;
  if (LLVM_UNLIKELY((undefinedLanes | unspecified) != 0)) {
    forEachLane(undefinedLanes, [&](unsigned lane) {
      result.setUndefined(lane, undefinedBytes[lane]);
    });
    forEachLane(unspecified, [&](unsigned lane) {
      result.setUndefined(
          lane, llvm::maskTrailingOnes<uint8_t>(sizeof(typename Op::Result)));
    });
  }
}

/// Executes a step whose form is an operation (if it has members).
template <typename Op>
void executeOperation(Warp &warp, const Step &step) {
  if constexpr (std::is_empty_v<Op>) {
    computeLanes(warp, step, Op());
  } else {
    // A copy: the compiler knows that no result overwrites it.
    const Op op = step.getForm<Op>();
    computeLanes(warp, step, op);
  }
}

/// `count` elements, packed in the result and in each source, each computed on
/// its own.
template <typename Op, typename T, unsigned count>
struct Packed : Op {
  using Result = T;
  static constexpr unsigned kBytes = sizeof(T) / count, kBits = kBytes * 8;
  static_assert(sizeof(typename Op::Result) == kBytes);

  Packed() = default;
  Packed(const Op &op) : Op(op) {}

  template <typename... Source>
  LLVM_ATTRIBUTE_ALWAYS_INLINE uint64_t operator()(Source... sources) const {
    uint64_t result = 0;
    for (unsigned i = 0; i != count; ++i) {
      uint64_t element = static_cast<typename Op::Result>(
          Op::operator()((sources >> i * kBits & getMask())...));
      result |= element << i * kBits;
    }
    return result;
  }

  uint8_t getUndefined(const typename Op::Sources &values,
                       const typename Op::UndefinedBytes &undefined) const {
    uint8_t result = 0;
    for (unsigned i = 0; i != count; ++i) {
      typename Op::Sources elements;
      typename Op::UndefinedBytes bytes;
      for (unsigned source = 0; source != Op::numSources; ++source) {
        elements[source] = values[source] >> i * kBits & getMask();
        bytes[source] = undefined[source] >> i * kBytes &
                        llvm::maskTrailingOnes<uint8_t>(kBytes);
      }
      result |= Op::getUndefined(elements, bytes) << i * kBytes;
    }
    return result;
  }

private:
  static constexpr uint64_t getMask() { return (uint64_t(1) << kBits) - 1; }
};

} // namespace mlir::blockscale::sim

#endif // BLOCKSCALE_LIB_SIMULATOR_ARITHMETIC_LANEWISE_H
