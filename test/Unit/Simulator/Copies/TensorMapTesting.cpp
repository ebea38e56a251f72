//===- TensorMapTesting.cpp - Kernels with tensor maps --------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The map is a parameter of its own, which views the buffer of another
// parameter.
//
//===----------------------------------------------------------------------===//

#include "TensorMapTesting.h"

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;
using namespace mlir::blockscale::sim::kerneltest;

static constexpr unsigned kNumBuffers = 3;

static std::string makeModule(const TensorMapRun &run) {
  return ".version 9.0\n.target " + run.target +
         "\n.address_size 64\n.entry k(.param .u64 B0, .param .u64 B1, "
         ".param .u64 B2, .param .align 64 .b8 T[128]) { "
         ".reg .b32 %r<64>; .reg .b64 %d<64>; .reg .pred %p<8>; "
         ".reg .b64 %buf<3>; .shared .align 1024 .b8 S[8192]; "
         ".shared .align 8 .b64 M; ld.param.u64 %buf0, [B0]; "
         "ld.param.u64 %buf1, [B1]; ld.param.u64 %buf2, [B2]; "
         "mov.u32 %r0, %tid.x; setp.eq.u32 %p0, %r0, 0; "
         "@%p0 mbarrier.init.shared.b64 [M], 1; fence.proxy.async; bar.sync 0;"
         "\n" +
         run.body + "\n}\n";
}

static std::vector<LaunchArgument> makeArguments(const TensorMapRun &run) {
  std::vector<LaunchArgument> arguments;
  for (unsigned i = 0; i != kNumBuffers; ++i) {
    std::vector<uint32_t> words(i == 0 ? 4096 : 1024);
    for (size_t j = 0; i == 0 && j != words.size(); ++j)
      words[j] = j;
    LaunchArgument argument;
    argument.kind = LaunchArgument::Kind::InOut;
    argument.array.data = toBytes(words);
    argument.array.shape = {static_cast<int64_t>(argument.array.data.size())};
    arguments.push_back(std::move(argument));
  }
  Result<LaunchArgument> map = parseLaunchArgument("tmap:@0:" + run.map);
  EXPECT_TRUE(bool(map)) << map.message();
  if (map)
    arguments.push_back(*map);
  return arguments;
}

TensorMapResult kerneltest::runTensorMap(const TensorMapRun &run) {
  TensorMapResult result;
  Result<SimulatedProgram> program = SimulatedProgram::load(makeModule(run));
  if (!program) {
    result.error = program.message();
    return result;
  }
  std::vector<LaunchArgument> arguments = makeArguments(run);
  LaunchPlan plan;
  PlannedKernel kernel;
  kernel.name = "k";
  kernel.block[0] = 32;
  kernel.params = planParams(arguments);
  plan.kernels.push_back(kernel);
  Result<Report> report = program->run(plan, arguments, run.options);
  if (!report) {
    result.error = report.message();
    return result;
  }
  for (unsigned i = 0; i != kNumBuffers; ++i) {
    const std::vector<uint8_t> &data = arguments[i].array.data;
    std::vector<uint32_t> &words = result.words.emplace_back(data.size() / 4);
    std::memcpy(words.data(), data.data(), data.size());
  }
  return result;
}

std::string kerneltest::loadAndWait(const std::string &load, unsigned bytes) {
  return "@%p0 mbarrier.arrive.expect_tx.shared.b64 _, [M], " +
         std::to_string(bytes) + "; @%p0 " + load +
         "\nL: mbarrier.try_wait.parity.shared.b64 %p1, [M], 0; @!%p1 bra L;\n";
}

std::string kerneltest::storeWords(unsigned count) {
  return "mov.u32 %r10, S; add.u32 %r10, %r10, 1024; mad.lo.u32 %r10, %r0, 4, "
         "%r10; mad.wide.u32 %d10, %r0, 4, %buf1; mov.u32 %r11, %r0;"
         "K: setp.lt.u32 %p2, %r11, " +
         std::to_string(count) +
         "; @!%p2 bra J; ld.shared.b32 %r12, [%r10];"
         "st.global.b32 [%d10], %r12; add.u32 %r11, %r11, 32;"
         "add.u32 %r10, %r10, 128; add.u64 %d10, %d10, 128; bra K;\nJ: ret;";
}
