//===- OpcodesTest.cpp - A form of every opcode ---------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each opcode of the PTX ISA 9.0 has a row with a form that ptxas assembles.
// The form is translated, or refused by name; docs/Simulator.md lists the
// refused ones.
//
//===----------------------------------------------------------------------===//

#include "KernelTesting.h"
#include "Translation/OpcodeTable.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <fstream>
#include <set>
#include <sstream>

using namespace mlir::blockscale::sim;
using namespace kerneltest;

namespace {
struct Form {
  const char *text;
  const char *target = "sm_120a";
};
} // namespace

static const Form kForms[] = {
    {"abs.s32 %r0, %r1;"},
    {"activemask.b32 %r0;"},
    {"add.u32 %r0, %r1, %r2;"},
    {"addc.u32 %r0, %r1, %r2;"},
    {"alloca.u64 %d0, %d1, 16;"},
    {"and.b32 %r0, %r1, %r2;"},
    {"applypriority.global.L2::evict_normal [%d0], 128;"},
    {"atom.global.add.u32 %r0, [%d0], %r1;"},
    {"bar.sync 0;"},
    {"barrier.sync 0;"},
    {"bfe.u32 %r0, %r1, %r2, %r3;"},
    {"bfi.b32 %r0, %r1, %r2, 3, 4;"},
    {"bfind.u32 %r0, %r1;"},
    {"bmsk.clamp.b32 %r0, %r1, %r2;"},
    {"bra L; L:"},
    {"brev.b32 %r0, %r1;"},
    {"brkpt;"},
    {"T: .branchtargets L; brx.idx %r0, T; L:"},
    {"call f;"},
    {"clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx"
     "::bytes.b128 [%r0], [%r1];"},
    {"clz.b32 %r0, %r1;"},
    {"cnot.b32 %r0, %r1;"},
    {"copysign.f32 %f0, %f1, %f2;"},
    {"cos.approx.f32 %f0, %f1;"},
    {"cp.async.ca.shared.global [%r0], [%d0], 16;"},
    {"createpolicy.fractional.L2::evict_last.b64 %d0, 1.0;"},
    {"cvt.u32.u16 %r0, %s0;"},
    {"cvta.to.global.u64 %d0, %d1;"},
    {"discard.global.L2 [%d0], 128;"},
    {"div.u32 %r0, %r1, %r2;"},
    {"dp2a.lo.u32.u32 %r0, %r1, %r2, %r3;"},
    {"dp4a.u32.u32 %r0, %r1, %r2, %r3;"},
    {"elect.sync _|%p0, -1;"},
    {"ex2.approx.f32 %f0, %f1;"},
    {"exit;"},
    {"fence.acq_rel.gpu;"},
    {"fma.rn.f32 %f0, %f1, %f2, %f3;"},
    {"fns.b32 %r0, %r1, %r2, %r3;"},
    {"getctarank.u64 %r0, %d0;"},
    {"griddepcontrol.wait;"},
    {"isspacep.global %p0, %d0;"},
    {"istypep.texref %p0, %d0;"},
    {"ld.mmio.relaxed.sys.global.u32 %r0, [%d0];"},
    {"ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r0}, [%r1];"},
    {"ldu.global.u32 %r0, [%d0];"},
    {"lg2.approx.f32 %f0, %f1;"},
    {"lop3.b32 %r0, %r1, %r2, %r3, 0x80;"},
    {"mad.lo.u32 %r0, %r1, %r2, %r3;"},
    {"mad24.lo.u32 %r0, %r1, %r2, %r3;"},
    {"madc.lo.u32 %r0, %r1, %r2, %r3;"},
    {"mapa.u64 %d0, %d1, %r0;"},
    {"match.any.sync.b32 %r0, %r1, -1;"},
    {"max.u32 %r0, %r1, %r2;"},
    {"mbarrier.init.shared.b64 [%r0], 1;"},
    {"membar.gl;"},
    {"min.u32 %r0, %r1, %r2;"},
    {"mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%f0,%f1,%f2,%f3}, "
     "{%r0,%r1,%r2,%r3}, {%r4,%r5}, {%f0,%f1,%f2,%f3};"},
    {"mov.u32 %r0, %pm3;"},
    {"movmatrix.sync.aligned.m8n8.trans.b16 %r0, %r1;"},
    {"mul.lo.u32 %r0, %r1, %r2;"},
    {"mul24.lo.u32 %r0, %r1, %r2;"},
    {"multimem.red.relaxed.gpu.global.add.u32 [%d0], %r0;"},
    {"nanosleep.u32 100;"},
    {"neg.s32 %r0, %r1;"},
    {"not.b32 %r0, %r1;"},
    {"or.b32 %r0, %r1, %r2;"},
    {"pmevent 3;"},
    {"popc.b32 %r0, %r1;"},
    {"prefetch.global.L2 [%d0];"},
    {"prefetchu.L1 [%d0];"},
    {"prmt.b32 %r0, %r1, %r2, %r3;"},
    {"rcp.rn.f32 %f0, %f1;"},
    {"red.global.add.u32 [%d0], %r0;"},
    {"redux.sync.add.u32 %r0, %r1, -1;"},
    {"rem.u32 %r0, %r1, %r2;"},
    {"ret;"},
    {"rsqrt.approx.f32 %f0, %f1;"},
    {"sad.u32 %r0, %r1, %r2, %r3;"},
    {"selp.b32 %r0, %r1, %r2, %p0;"},
    {"set.lt.u32.u32 %r0, %r1, %r2;"},
    {"setmaxnreg.inc.sync.aligned.u32 64;"},
    {"setp.lt.u32 %p0, %r1, %r2;"},
    {"shf.l.wrap.b32 %r0, %r1, %r2, %r3;"},
    {"shfl.sync.idx.b32 %r0, %r1, 0, 31, -1;"},
    {"shl.b32 %r0, %r1, %r2;"},
    {"shr.u32 %r0, %r1, %r2;"},
    {"sin.approx.f32 %f0, %f1;"},
    {"slct.u32.s32 %r0, %r1, %r2, %r3;"},
    {"sqrt.rn.f32 %f0, %f1;"},
    {"st.bulk.weak.shared::cta [%d0], %d1, 0;"},
    {"stackrestore.u64 %d0;"},
    {"stacksave.u64 %d0;"},
    {"stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r1], {%r0};"},
    {"sub.cc.u32 %r0, %r1, %r2;"},
    {"subc.cc.u32 %r0, %r1, %r2;"},
    {"suld.b.1d.b32.trap {%r0}, [%d0, {%r1}];"},
    {"suq.width.b32 %r0, [%d0];"},
    {"sured.b.add.1d.u32.trap [%d0, {%r0}], %r1;"},
    {"sust.b.1d.b32.trap [%d0, {%r0}], {%r1};"},
    {"szext.clamp.u32 %r0, %r1, %r2;"},
    {"tanh.approx.f32 %f0, %f1;"},
    {"tcgen05.fence::before_thread_sync;", "sm_100a"},
    {"tcgen05.mma.sp.cta_group::1.kind::mxf4.block_scale.block32 [%r0], %d0, "
     "%d1, [%r1], %r2, [%r3], [%r4], %p0;",
     "sm_100a"},
    {"tensormap.replace.tile.global_address.global.b1024.b64 [%d0], %d1;"},
    {"testp.finite.f32 %p0, %f0;"},
    {"tex.1d.v4.f32.s32 {%f0,%f1,%f2,%f3}, [%d0, {%r0}];"},
    {"tld4.r.2d.v4.f32.f32 {%f0,%f1,%f2,%f3}, [%d0, {%f4,%f5}];"},
    {"trap;"},
    {"txq.width.b32 %r0, [%d0];"},
    {"vabsdiff.s32.s32.s32 %r0, %r1, %r2;"},
    {"vabsdiff2.s32.s32.s32 %r0, %r1, %r2, %r3;"},
    {"vabsdiff4.u32.u32.u32.add %r0, %r1, %r2, %r3;"},
    {"vadd.s32.s32.s32.sat %r0, %r1.b1, %r2.h0;"},
    {"vadd2.s32.s32.s32 %r0, %r1, %r2, %r3;"},
    {"vadd4.s32.s32.s32 %r0, %r1, %r2, %r3;"},
    {"vavrg2.s32.s32.s32 %r0, %r1, %r2, %r3;"},
    {"vavrg4.s32.s32.s32 %r0, %r1, %r2, %r3;"},
    {"vmad.s32.s32.u32 %r0, %r1.h0, -%r2.b1, %r3;"},
    {"vmax.s32.s32.s32 %r0, %r1, %r2;"},
    {"vmax2.s32.s32.s32 %r0, %r1, %r2, %r3;"},
    {"vmax4.s32.s32.s32 %r0, %r1, %r2, %r3;"},
    {"vmin.s32.s32.s32 %r0, %r1, %r2;"},
    {"vmin2.s32.s32.s32 %r0, %r1, %r2, %r3;"},
    {"vmin4.s32.s32.s32 %r0, %r1, %r2, %r3;"},
    {"vote.sync.any.pred %p0, %p1, -1;"},
    {"vset.u32.u32.lt %r0, %r1, %r2;"},
    {"vset2.u32.u32.lt %r0, %r1, %r2, %r3;"},
    {"vset4.u32.u32.lt %r0, %r1, %r2, %r3;"},
    {"vshl.u32.u32.u32.clamp %r0, %r1, %r2;"},
    {"vshr.u32.u32.u32.wrap %r0, %r1, %r2;"},
    {"vsub.s32.s32.s32 %r0, %r1, %r2;"},
    {"vsub2.s32.s32.s32 %r0, %r1, %r2, %r3;"},
    {"vsub4.s32.s32.s32 %r0, %r1, %r2, %r3;"},
    {"wgmma.fence.sync.aligned;", "sm_90a"},
    {"wmma.load.a.sync.aligned.row.m16n16k16.f16 {%r0,%r1,%r2,%r3,%r4,%r5,%r6,"
     "%r7}, [%d0], 16;"},
    {"xor.b32 %r0, %r1, %r2;"},
};

/// Refused forms of supported opcodes that the table of docs/Simulator.md
/// names.
static const Form kRefusedForms[] = {
    {"cp.async.bulk.tensor.3d.shared::cta.global.im2col.mbarrier::complete_tx"
     "::bytes [%r0], [%d0, {%r1, %r1, %r1}], [%r2], {%s0};"},
    {"tcgen05.mma.sp.cta_group::1.kind::f16 [%r0], %d0, %d1, [%r1], %r2, %p0;",
     "sm_100a"},
    {"tcgen05.mma.sp.cta_group::1.kind::mxf4.block_scale.block32 [%r0], [%r1], "
     "%d1, [%r2], %r3, [%r4], [%r5], %p0;",
     "sm_100a"},
    {"tcgen05.mma.ws.sp.cta_group::1.kind::f16 [%r0], %d0, %d1, [%r1], %r2, "
     "%p0;",
     "sm_100a"},
    {"tcgen05.mma.cta_group::1.kind::f16.ashift [%r0], [%r1], %d1, %r2, %p0;",
     "sm_100a"},
    {"vadd.s32.s32.s32.sat %r0.b0, %r1, %r2, %r3;"},
    {"vmad.s32.s32.s32.sat %r0, %r1, %r2, %r3;"},
    {"vshl.s32.s32.u32.sat.clamp %r0, %r1, %r2;"},
    {"wgmma.mma_async.sp.sync.aligned.m64n8k64.f32.e4m3.e4m3 "
     "{%f0,%f1,%f2,%f3}, %d0, %d1, %r0, 0, 1, 1, 1;",
     "sm_90a"},
    {"wmma.load.a.sync.aligned.row.m8n8k4.f64 {%d1}, [%d0], 16;"},
};

static std::string getLoadError(const Form &form) {
  KernelRun run;
  run.declarations = ".func f() { ret; }";
  run.body = std::string(form.text) + "\nexit;";
  run.target = form.target;
  run.buffers = {zeros<uint64_t>(1)};
  // Run-time errors have no column.
  std::string message = runKernel(run).error;
  llvm::StringRef location = message;
  bool hasColumn = location.consume_front("line ") &&
                   location.drop_while(llvm::isDigit).starts_with(":");
  return hasColumn ? message : "";
}

/// The opcode in front of the first dot, behind a label.
static std::string getOpcode(llvm::StringRef text) {
  if (text.starts_with("T: "))
    text = text.split("; ").second;
  return text.take_while([](char c) { return llvm::isAlnum(c); }).str();
}

/// The opcodes of the table behind "What is refused", by row.
static std::vector<std::string> readRefusedRows() {
  std::ifstream file(BLOCKSCALE_SIMULATOR_PAGE);
  std::stringstream text;
  text << file.rdbuf();
  std::vector<std::string> rows;
  std::string page = text.str();
  llvm::StringRef rest =
      llvm::StringRef(page).split("### What is refused").second;
  llvm::SmallVector<llvm::StringRef> lines;
  rest.split("\n## ").first.split(lines, '\n');
  for (llvm::StringRef line : lines)
    if (line.starts_with("| `"))
      rows.push_back(line.drop_front().split('|').first.str());
  return rows;
}

TEST(OpcodesTest, AFormOfEach) {
  std::vector<std::string> rows = readRefusedRows();
  ASSERT_FALSE(rows.empty());
  std::set<std::string> seen;
  for (const Form &form : kForms) {
    std::string opcode = getOpcode(form.text);
    seen.insert(opcode);
    std::string error = getLoadError(form);
    if (getOpcodeTable().count(opcode)) {
      EXPECT_EQ(error, "") << form.text;
      continue;
    }
    EXPECT_NE(error.find("not supported in this version: instruction '" +
                         opcode + "'"),
              std::string::npos)
        << form.text << ": " << error;
    EXPECT_TRUE(llvm::any_of(rows,
                             [&](const std::string &row) {
                               return row.find("`" + opcode + "`") !=
                                      std::string::npos;
                             }))
        << "not in docs/Simulator.md: " << opcode;
  }
  for (const auto &row : getOpcodeTable())
    EXPECT_TRUE(seen.count(row.first().str()))
        << "no form of " << row.first().str();
}

TEST(OpcodesTest, RefusedFormsAreNamed) {
  std::vector<std::string> rows = readRefusedRows();
  for (const Form &form : kRefusedForms) {
    std::string opcode = getOpcode(form.text);
    EXPECT_NE(getLoadError(form), "") << form.text;
    EXPECT_TRUE(llvm::any_of(rows,
                             [&](const std::string &row) {
                               return row.find("`" + opcode + "`") !=
                                      std::string::npos;
                             }))
        << "not in docs/Simulator.md: " << opcode;
  }
  // Everything that the page lists is refused: opcodes without a form above are
  // not supported at all.
  for (const std::string &row : rows) {
    llvm::SmallVector<llvm::StringRef> names;
    llvm::StringRef(row).split(names, '`');
    for (size_t i = 1; i < names.size(); i += 2) {
      bool hasForm = llvm::any_of(kRefusedForms, [&](const Form &form) {
        return getOpcode(form.text) == names[i];
      });
      bool isVideo = names[i].starts_with("v");
      EXPECT_TRUE(hasForm || isVideo || !getOpcodeTable().count(names[i]))
          << names[i].str();
    }
  }
}
