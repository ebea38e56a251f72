//===- KernelTesting.cpp - Kernels for tests of instructions --------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelTesting.h"

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;
using namespace mlir::blockscale::sim::kerneltest;

/// Everything before the body is on a fixed number of lines; subtracting that
/// number from lines in messages makes the body start at line 1.
static constexpr unsigned kLinesBefore = 4;

static std::string makeModule(const KernelRun &run) {
  size_t numBuffers = run.buffers.size();
  std::string text = ".version 9.1\n.target " + run.target +
                     "\n.address_size 64\n" + run.declarations + " .entry k(";
  for (size_t i = 0; i != numBuffers; ++i)
    text += (i ? ", .param .u64 B" : ".param .u64 B") + std::to_string(i);
  text += ") " + run.directives +
          " { .reg .b32 %r<64>; .reg .b16 %s<64>; .reg .b64 %d<64>; "
          ".reg .f32 %f<64>; .reg .pred %p<16>; .reg .b64 %buf<16>; ";
  for (size_t i = 0; i != numBuffers; ++i)
    text += "ld.param.u64 %buf" + std::to_string(i) + ", [B" +
            std::to_string(i) + "]; ";
  return text + "\n" + run.body + "\n}\n";
}

/// Numbers lines from the start of the body.
static std::string renumber(std::string message) {
  for (size_t at = 0; (at = message.find("line ", at)) != std::string::npos;) {
    at += 5;
    size_t end = message.find_first_not_of("0123456789", at);
    if (end == std::string::npos)
      end = message.size();
    if (end == at)
      continue;
    unsigned line = std::stoul(message.substr(at, end - at));
    message.replace(at, end - at,
                    std::to_string(static_cast<int>(line) -
                                   static_cast<int>(kLinesBefore)));
  }
  return message;
}

KernelResult kerneltest::runKernel(const KernelRun &run) {
  KernelResult result;
  Result<SimulatedProgram> program = SimulatedProgram::load(makeModule(run));
  if (!program) {
    result.error = renumber(program.message());
    return result;
  }
  std::vector<LaunchArgument> arguments;
  for (const std::vector<uint8_t> &buffer : run.buffers) {
    LaunchArgument argument;
    argument.kind = LaunchArgument::Kind::InOut;
    argument.array.shape = {static_cast<int64_t>(buffer.size())};
    argument.array.data = buffer;
    arguments.push_back(std::move(argument));
  }
  LaunchPlan plan;
  PlannedKernel kernel;
  kernel.name = "k";
  kernel.grid[0] = run.blocks;
  kernel.block[0] = run.threads;
  kernel.cluster[0] = run.cluster;
  kernel.shared = run.dynamicShared;
  kernel.params = planParams(arguments);
  plan.kernels.push_back(kernel);
  Result<Report> report = program->run(plan, arguments, run.options);
  if (!report) {
    result.error = renumber(report.message());
    return result;
  }
  for (const std::string &warning : report->warnings)
    result.warnings.push_back(renumber(warning));
  result.output = report->output;
  result.statistics = report->statistics;
  result.trace = report->trace;
  for (LaunchArgument &argument : arguments)
    result.buffers.push_back(std::move(argument.array.data));
  return result;
}

//===----------------------------------------------------------------------===//
// One instruction
//===----------------------------------------------------------------------===//

/// Loads register `name`; undefined bytes come from shared memory that nothing
/// has written.
static std::string makeSource(const std::string &name, const Source &source,
                              size_t index) {
  std::string bits = std::to_string(source.bits);
  std::string text = ".reg .b" + bits + " " + name + "; ";
  for (unsigned byte = 0; byte != source.bits / 8; ++byte)
    if (!(source.undefined >> byte & 1))
      text += "mov.b16 %s63, " +
              std::to_string(source.value >> byte * 8 & 255) +
              "; st.shared.b8 [S + " + std::to_string(index * 8 + byte) +
              "], %s63; ";
  return text + "ld.shared.b" + bits + " " + name + ", [S + " +
         std::to_string(index * 8) + "]; ";
}

/// The bytes of the result that are undefined: those whose store makes the
/// output undefined.
static bool isUndefined(KernelRun run, const std::string &store) {
  run.body += store;
  return runKernel(run).error.find("undefined") != std::string::npos;
}

Value kerneltest::evaluate(const std::string &text, unsigned resultBits,
                           const std::vector<Source> &sources) {
  static constexpr const char *names[] = {"%a", "%b", "%c", "%e"};
  KernelRun run;
  run.threads = 1;
  run.buffers = {zeros<uint64_t>(1)};
  run.body = ".shared .align 8 .b8 S[64]; ";
  for (size_t i = 0; i != sources.size(); ++i)
    run.body += makeSource(names[i], sources[i], i);
  std::string bits = std::to_string(resultBits);
  run.body += resultBits == 1 ? ".reg .pred %d; " : ".reg .b" + bits + " %d; ";
  run.body += text + " ";
  if (resultBits == 1) {
    run.body += "selp.b32 %r63, 1, 0, %d; ";
    bits = "32";
  }
  const std::string name = resultBits == 1 ? "%r63" : "%d";
  const std::string store = "st.global.b" + bits + " [%buf0], " + name + "; ";
  run.options.allowUndefinedOutput = true;
  KernelRun whole = run;
  whole.body += store;
  KernelResult result = runKernel(whole);
  Value value;
  value.error = result.error;
  if (!value.error.empty())
    return value;
  value.bits = result.get<uint64_t>(0)[0];
  if (result.warnings.empty())
    return value;
  run.options.allowUndefinedOutput = false;
  for (unsigned byte = 0; byte != std::stoul(bits) / 8; ++byte) {
    std::string shifted = ".shared .align 8 .b8 R[8]; st.shared.b" + bits +
                          " [R], " + name + "; ld.shared.b8 %s62, [R + " +
                          std::to_string(byte) +
                          "]; st.global.b8 [%buf0], %s62; ";
    value.undefined |= isUndefined(run, shifted) << byte;
  }
  return value;
}

std::string kerneltest::getLoadError(const std::string &body,
                                     const std::string &target) {
  KernelRun run;
  run.body = body;
  run.target = target;
  run.buffers = {zeros<uint64_t>(1)};
  std::string message = runKernel(run).error;
  if (message.empty())
    return "no error";
  size_t colon = message.find(": ");
  return colon == std::string::npos ? message : message.substr(colon + 2);
}
