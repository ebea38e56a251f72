//===- Rates.cpp - Rates of chips -----------------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The rates of chips. Each figure has its source: a repository and the number
// of the issue or pull request with the output of a device query or a
// measurement, a file of a repository, or a data sheet. Figures with "measured"
// were measured on one card: latencies by chains of dependent instructions, the
// others by eight chains in each of 16 warps.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Support/Rates.h"

using namespace mlir;
using namespace mlir::blockscale;

// clang-format off
const std::vector<ChipRates> &blockscale::getChipRates() {
  constexpr std::nullopt_t none = std::nullopt;
  static const std::vector<ChipRates> rows = {
      {80, "A100 80GB",
       108,    // A100 whitepaper
       1410,   // A100 whitepaper, MHz
       2048,   // data sheet: 312 TFLOP/s at 1.41 GHz
       none,   // no block-scaled instruction
       none,   // no block-scaled instruction
       2,      // data sheet: 624 TFLOP/s of 312 with bf16
       128,    // CUDA C++ Programming Guide: 32 banks of 4 bytes
       none,   // no tensor memory
       none,
       4,      // CUDA C++ Programming Guide: four warp schedulers
       none,   // no bulk copies
       2039,   // data sheet: 2039 GB/s
       64,     // CUDA C++ Programming Guide, arithmetic instructions
       32,     // CUDA C++ Programming Guide, arithmetic instructions
       2048,   // as bf16 above, which is mma.sync
       none,   // no fp8
       4096,   // data sheet: 624 TOP/s
       8192,   // data sheet: 1248 TOP/s
       128},   // data sheet: 19.5 TFLOP/s
      {86, "A40",
       84,     // data sheet
       1740,   // data sheet: 37.4 TFLOP/s with f32
       1024,   // data sheet: 149.7 TFLOP/s
       none,   // no block-scaled instruction
       none,   // no block-scaled instruction
       2,      // data sheet: 299.4 TFLOP/s of 149.7 with bf16
       128,    // CUDA C++ Programming Guide: 32 banks of 4 bytes
       none,   // no tensor memory
       none,
       4,      // CUDA C++ Programming Guide: four warp schedulers
       none,   // no bulk copies
       696,    // data sheet: 696 GB/s
       128,    // CUDA C++ Programming Guide, arithmetic instructions
       2,      // CUDA C++ Programming Guide, arithmetic instructions
       1024,   // as bf16 above, which is mma.sync
       none,   // no fp8
       2048,   // data sheet: 299.3 TOP/s
       4096,   // data sheet: 598.7 TOP/s
       4},     // GA102 whitepaper: two units for f64 do these, too
      {89, "L40S",
       142,    // data sheet
       2520,   // data sheet: 91.6 TFLOP/s with f32
       1024,   // data sheet: 362 TFLOP/s
       none,   // no block-scaled instruction
       none,   // no block-scaled instruction
       2,      // data sheet: 733 TFLOP/s of 362 with bf16
       128,    // CUDA C++ Programming Guide: 32 banks of 4 bytes
       none,   // no tensor memory
       none,
       4,      // CUDA C++ Programming Guide: four warp schedulers
       none,   // no bulk copies
       864,    // data sheet: 864 GB/s
       128,    // CUDA C++ Programming Guide, arithmetic instructions
       2,      // CUDA C++ Programming Guide, arithmetic instructions
       1024,   // as bf16 above, which is mma.sync
       2048,   // data sheet: 733 TFLOP/s
       2048},  // data sheet: 733 TOP/s
      {90, "H200",
       132,    // device query
       1980,   // device query, MHz
       4096,   // data sheet: 989 TFLOP/s on 132 SMs at 1.83 GHz
       8192,   // data sheet: 1979 TFLOP/s
       none,   // no block-scaled instruction
       2,      // data sheet: 1979 TFLOP/s of 989 with bf16
       128,    // CUDA C++ Programming Guide: 32 banks of 4 bytes
       none,   // no tensor memory
       64,     // deepseek-ai/DeepGEMM, csrc/jit_kernels/heuristics/sm90.hpp,
               // which has it for one, and 6153 for all together
       4,      // CUDA C++ Programming Guide: four warp schedulers
       none,
       4800,   // data sheet: 4.8 TB/s
       128,    // CUDA C++ Programming Guide; measured: 126
       64,     // measured
       2140,   // measured: 0.52 of m16n8k16
       2140,   // as bf16: elements become f16, see docs/Simulator.md
       4280,   // measured: as many m16n8k32 as m16n8k16 of bf16
       197,    // measured: 0.012 of m16n8k64, which this chip has not
       256,    // measured: 0.25 of m16n8k4, 0.125 of m16n8k8
       4,      // measured: mad, lop3 and fma
       16,     // measured: m16n8k16 in 24, of which it takes 8
       23,     // measured
       265,    // measured: a bulk copy of 128 bytes, less what surrounds it
       660,    // measured
       290,    // measured: 128 bytes
       60,     // measured: wgmma of 1 to 8 m64n64k16
       130,    // measured: half of there and back, and of a wait
       10},    // chosen, and what estimates were held against a card with;
               // measured: 14 for bar.sync of one warp, 2 more for each other
      {100, "B200",
       148,    // pytorch/ao#4002, device query
       1965,   // VeOmni#986, device query
       8192,   // NVIDIA/cudnn-frontend, table of its benchmarks
       16384,  // NVIDIA/cudnn-frontend, table of its benchmarks
       32768,  // data sheet: 9 PFLOP/s, at 1.86 GHz
       2,      // data sheet: 18 PFLOP/s of 9 with fp4
       128,    // SemiAnalysis, Dissecting Nvidia Blackwell (2026), measured
       none,   // arXiv:2512.02189 has 16 TB/s, in units that cannot be right
       none,
       none,
       1618,   // facebookexperimental/triton#1219: up to 918, and 700
       7672,   // pytorch/ao#4002: 7680 bits at 3996 MHz
       128,    // CUDA C++ Programming Guide, arithmetic instructions
       64,     // data sheet: 37 TFLOP/s
       none, none, none, none,
       128,    // data sheet: 37 TFLOP/s
       none, none, none, none, none, none,
       518},   // facebookexperimental/triton#1219: the smallest tile
      {103, "B300",
       148,    // specification
       none,
       8192,   // NVIDIA/cudnn-frontend, table of its benchmarks
       16384,  // NVIDIA/cudnn-frontend, table of its benchmarks
       32768,  // data sheet; steps of K = 96 have 49152
       2,      // data sheet: 18 PFLOP/s with fp4, of 13 with K = 96
       128,    // CUDA C++ Programming Guide: 32 banks of 4 bytes
       none,
       none,
       none,
       none,
       8000,   // data sheet: 8 TB/s
       128,    // CUDA C++ Programming Guide, arithmetic instructions
       2,      // data sheet: 1.2 TFLOP/s
       none, none, none, none,
       4},     // data sheet: 1.2 TFLOP/s
      {110, "Thor",
       20,     // NVIDIA/cutlass#2784, device query
       1050,   // NVIDIA/cutlass#2784, device query
       none,
       none,
       none,
       none,
       128,    // CUDA C++ Programming Guide: 32 banks of 4 bytes
       none,
       none,
       none,
       none,
       273},   // data sheet: 273 GB/s
      {120, "RTX 5090",
       170,    // data sheet
       2407,   // data sheet: 2.41 GHz
       512,    // gau-nernst/learn-cuda, limits
       2048,   // flashinfer-ai/flashinfer#3628, measured on a smaller card
       4096,   // Neroued/ninfer#160, measured
       2,      // data sheet: 3352 TFLOP/s of 1676 with fp4
       128,    // CUDA C++ Programming Guide: 32 banks of 4 bytes
       none,   // no tensor memory
       none,
       none,
       none,
       1792,   // data sheet: 1.79 TB/s
       128,    // CUDA C++ Programming Guide, arithmetic instructions
       2,      // CUDA C++ Programming Guide, arithmetic instructions
       512,    // as bf16 above, which is mma.sync
       1024,   // RTX Blackwell whitepaper: 419 TFLOP/s, with f32
       2048},  // RTX Blackwell whitepaper: 838 TOP/s
      {121, "GB10",
       48,     // device query
       none,
       none,
       none,
       none,
       none,
       128,    // CUDA C++ Programming Guide: 32 banks of 4 bytes
       none,   // no tensor memory
       none,
       none,
       none,
       273},   // data sheet: 273 GB/s
  };
  return rows;
}
// clang-format on

const ChipRates *blockscale::lookupChipRates(unsigned capability) {
  for (const ChipRates &row : getChipRates())
    if (row.capability == capability)
      return &row;
  return nullptr;
}

std::optional<Rate> blockscale::findRate(unsigned capability,
                                         ChipRates::Figure ChipRates::*figure) {
  std::optional<Rate> found;
  // Rows are in order: the last one that fits is the newest.
  for (const ChipRates &row : getChipRates())
    if (row.capability <= capability && row.*figure)
      found = Rate{*(row.*figure), &row, row.capability != capability};
  return found;
}

std::optional<Rate>
blockscale::findAnyRate(unsigned capability,
                        ChipRates::Figure ChipRates::*figure) {
  if (std::optional<Rate> rate = findRate(capability, figure))
    return rate;
  for (const ChipRates &row : getChipRates())
    if (row.*figure)
      return Rate{*(row.*figure), &row, /*isAssumed=*/true};
  return std::nullopt;
}

ChipRates::Figure ChipRates::*blockscale::getFlopsFigure(Kind kind) {
  using Member = ChipRates::Figure ChipRates::*;
  // By Kind.
  static constexpr Member members[kNumKinds] = {
      &ChipRates::byteFlops, &ChipRates::nibbleFlops, &ChipRates::nibbleFlops,
      &ChipRates::bf16Flops, &ChipRates::bf16Flops,   &ChipRates::bf16Flops,
      &ChipRates::byteFlops};
  return members[static_cast<unsigned>(kind)];
}
