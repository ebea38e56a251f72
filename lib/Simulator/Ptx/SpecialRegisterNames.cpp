//===- SpecialRegisterNames.cpp - The special registers of PTX ------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Source: PTX ISA 9.0, chapter 10 "Special Registers".
//
//===----------------------------------------------------------------------===//

#include "Ptx/SpecialRegisterNames.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;
using llvm::StringRef;

static constexpr const char *kVectors[] = {
    "%tid",       "%ntid",       "%ctaid",         "%nctaid",
    "%clusterid", "%nclusterid", "%cluster_ctaid", "%cluster_nctaid",
};

static constexpr const char *kScalars[] = {
    "%laneid",
    "%warpid",
    "%nwarpid",
    "%smid",
    "%nsmid",
    "%gridid",
    "%is_explicit_cluster",
    "%cluster_ctarank",
    "%cluster_nctarank",
    "%lanemask_eq",
    "%lanemask_le",
    "%lanemask_lt",
    "%lanemask_ge",
    "%lanemask_gt",
    "%clock",
    "%clock_hi",
    "%clock64",
    "%globaltimer",
    "%globaltimer_lo",
    "%globaltimer_hi",
    "%reserved_smem_offset_begin",
    "%reserved_smem_offset_end",
    "%reserved_smem_offset_cap",
    "%reserved_smem_offset_0",
    "%reserved_smem_offset_1",
    "%total_smem_size",
    "%aggr_smem_size",
    "%dynamic_smem_size",
    "%current_graph_exec",
};

static constexpr unsigned numEnvironmentRegisters = 32;
static constexpr unsigned numPerformanceMonitors = 8;

SpecialRegisterKind sim::lookupSpecialRegister(StringRef name) {
  static const llvm::StringMap<SpecialRegisterKind> registers = [] {
    llvm::StringMap<SpecialRegisterKind> map;
    for (StringRef vector : kVectors)
      map[vector] = SpecialRegisterKind::Vector;
    for (StringRef scalar : kScalars)
      map[scalar] = SpecialRegisterKind::Scalar;
    for (unsigned i = 0; i < numEnvironmentRegisters; ++i)
      map["%envreg" + llvm::utostr(i)] = SpecialRegisterKind::Scalar;
    for (unsigned i = 0; i < numPerformanceMonitors; ++i) {
      map["%pm" + llvm::utostr(i)] = SpecialRegisterKind::Scalar;
      map["%pm" + llvm::utostr(i) + "_64"] = SpecialRegisterKind::Scalar;
    }
    return map;
  }();
  return registers.lookup(name);
}
