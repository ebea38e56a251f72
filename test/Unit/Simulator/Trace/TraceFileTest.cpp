//===- TraceFileTest.cpp - Tests of trace files ---------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The trace of a small kernel: steps of warps, waits with their causes, and
// operations of units.
//
//===----------------------------------------------------------------------===//

#include "ThreadTesting.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/JSON.h"

#include <map>
#include <set>

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;
using namespace mlir::blockscale::sim::kerneltest;

namespace {
struct Event {
  std::string name;
  int64_t sm, thread;
  double begin, duration, bytes, instructions;
};
} // namespace

/// The events of a kernel, and the names of its threads.
static std::vector<Event>
trace(KernelRun run,
      std::map<std::pair<int64_t, int64_t>, std::string> &names) {
  run.target = "sm_90a";
  run.options.wantsTrace = true;
  KernelResult result = runKernel(run);
  EXPECT_EQ(result.error, "");
  llvm::Expected<llvm::json::Value> json = llvm::json::parse(result.trace);
  if (!json) {
    ADD_FAILURE() << llvm::toString(json.takeError());
    return {};
  }
  std::vector<Event> events;
  for (const llvm::json::Value &value :
       *json->getAsObject()->getArray("traceEvents")) {
    const llvm::json::Object &event = *value.getAsObject();
    const llvm::json::Object &arguments = *event.getObject("args");
    int64_t sm = *event.getInteger("pid"), thread = *event.getInteger("tid");
    if (*event.getString("ph") == "X")
      events.push_back({event.getString("name")->str(), sm, thread,
                        *event.getNumber("ts"), *event.getNumber("dur"),
                        arguments.getNumber("bytes").value_or(0),
                        arguments.getNumber("instructions").value_or(0)});
    else if (*event.getString("name") == "thread_name")
      names[{sm, thread}] = arguments.getString("name")->str();
  }
  return events;
}

static KernelRun makeCopy() {
  KernelRun run = makeRun(
      "setp.eq.u32 %p1, %r0, 0; @!%p1 bra W;"
      "mbarrier.init.shared.b64 [%r2], 1; fence.mbarrier_init.release.cluster;"
      "mbarrier.arrive.expect_tx.shared.b64 _, [%r2], 2048;"
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
      "[D], [%buf0], 1024, [%r2];"
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
      "[D + 1024], [%buf0], 1024, [%r2];"
      "W: bar.sync 0;"
      "L: mbarrier.try_wait.parity.shared.b64 %p2, [%r2], 0; @!%p2 bra L;",
      64);
  run.blocks = 2;
  run.declarations = ".extern .shared .align 128 .b8 D[];";
  run.dynamicShared = 2048;
  run.buffers[0].resize(1024);
  return run;
}

TEST(TraceFileTest, WaitsAndTheirCauses) {
  std::map<std::pair<int64_t, int64_t>, std::string> names;
  std::vector<Event> events = trace(makeCopy(), names);
  for (const Event &event : events)
    EXPECT_TRUE(names.count({event.sm, event.thread})) << event.name;
  // Both blocks have an SM, two warps and two copies.
  for (unsigned sm = 0; sm != 2; ++sm) {
    std::string block = "k, block (" + std::to_string(sm) + ",0,0), warp ";
    for (unsigned warp = 0; warp != 2; ++warp) {
      auto isWait = [&](const Event &event) {
        return event.sm == sm &&
               names[{event.sm, event.thread}] ==
                   block + std::to_string(warp) &&
               event.name.find("wait for mbarrier") == 0;
      };
      EXPECT_EQ(llvm::count_if(events, isWait), 1) << block << warp;
    }
    auto isCopy = [&](const Event &event) {
      return event.sm == sm && event.name.find("bulk loads") == 0 &&
             event.bytes == 1024;
    };
    EXPECT_EQ(llvm::count_if(events, isCopy), 2);
  }
}

// On a thread, one event ends before the next one begins.
TEST(TraceFileTest, NothingOverlaps) {
  std::map<std::pair<int64_t, int64_t>, std::string> names;
  std::map<std::pair<int64_t, int64_t>, double> ends;
  std::vector<Event> events = trace(makeCopy(), names);
  llvm::sort(events, [](const Event &lhs, const Event &rhs) {
    return lhs.begin < rhs.begin;
  });
  EXPECT_GT(events.size(), 12u);
  constexpr double nearly = 1e-9;
  for (const Event &event : events) {
    double &end = ends[{event.sm, event.thread}];
    EXPECT_GE(event.begin + nearly, end) << event.name;
    EXPECT_GE(event.duration, 0) << event.name;
    end = event.begin + event.duration;
  }
}

// Polls without success are not counted: the second warp has as many
// instructions with every seed.
TEST(TraceFileTest, PollsAreNotCounted) {
  std::string chain;
  for (unsigned i = 0; i != 2000; ++i)
    chain += "add.u32 %r4, %r4, 1;";
  std::set<double> counts;
  for (const char *wait : {"try_wait", "test_wait"}) {
    std::string name = wait;
    for (uint64_t seed = 0; seed != 6; ++seed) {
      std::map<std::pair<int64_t, int64_t>, std::string> names;
      double count = 0;
      for (const Event &event :
           trace(makeRun("mov.u32 %r4, 0; setp.eq.u32 %p1, %r0, 0;"
                         "setp.lt.u32 %p0, %r0, 32;"
                         "@%p1 mbarrier.init.shared.b64 [%r2], 1; bar.sync 0;"
                         "@!%p0 bra W;" +
                             chain +
                             "@%p1 mbarrier.arrive.shared.b64 _, [%r2]; bra E;"
                             "W: mbarrier." +
                             name +
                             ".parity.shared.b64 %p2, [%r2], 0; @!%p2 bra W;"
                             "E: ret;",
                         64, seed),
                 names))
        if (names[{event.sm, event.thread}] == "k, block (0,0,0), warp 1")
          count += event.instructions;
      counts.insert(count);
    }
  }
  EXPECT_EQ(counts.size(), 1u);
}
