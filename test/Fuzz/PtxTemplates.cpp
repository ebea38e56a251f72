//===- PtxTemplates.cpp - What mutated PTX is made of ---------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A row for each form of an instruction that random changes would hardly find.
//
//===----------------------------------------------------------------------===//

#include "PtxTemplates.h"

using namespace mlir;

const std::vector<const char *> &blockscale::getPtxTemplates() {
  static const std::vector<const char *> rows = {
      "add.s32 $r, $r, $r",
      "add.cc.u32 $r, $r, $n",
      "addc.u32 $r, $r, $r",
      "mad.lo.u32 $r, $r, $n, $r",
      "mul.wide.u32 $d, $r, $n",
      "div.s32 $r, $r, $r",
      "rem.s64 $d, $d, $d",
      "shl.b64 $d, $d, $r",
      "shf.l.wrap.b32 $r, $r, $r, $r",
      "bfe.s32 $r, $r, $r, $r",
      "bfi.b64 $d, $d, $d, $r, $r",
      "bfind.shiftamt.s64 $r, $d",
      "fns.b32 $r, $r, $r, $r",
      "prmt.b32.f4e $r, $r, $r, $r",
      "lop3.b32 $r, $r, $r, $r, $n",
      "lop3.or.b32 $r|$p, $r, $r, $r, 12, $p",
      "dp4a.s32.u32 $r, $r, $r, $r",
      "szext.clamp.s32 $r, $r, $r",
      "bmsk.wrap.b32 $r, $r, $r",
      "add.rn.ftz.sat.f32 $f, $f, $f",
      "fma.rn.f64 $g, $g, $g, $g",
      "fma.rn.relu.bf16x2 $r, $r, $r, $r",
      "fma.rz.f32x2 $d, $d, $d, $d",
      "add.f32.bf16 $f, $h, $f",
      "div.rm.f32 $f, $f, $f",
      "rcp.rn.f64 $g, $g",
      "sqrt.rp.f64 $g, $g",
      "ex2.approx.f16x2 $r, $r",
      "testp.subnormal.f64 $p, $g",
      "min.NaN.xorsign.abs.f32 $f, $f, $f",
      "copysign.f64 $g, $g, $g",
      "cvt.rzi.s64.f64 $d, $g",
      "cvt.rni.u16.f32 $h, $f",
      "cvt.rn.satfinite.relu.e4m3x2.f32 $h, $f, $f",
      "cvt.rn.f16x2.e5m2x2 $r, $h",
      "cvt.rs.satfinite.bf16x2.f32 $r, $f, $f, $r",
      "cvt.pack.sat.u8.s32.b32 $r, $r, $r, $r",
      "setp.lt.and.u32 $p|$p, $r, $r, !$p",
      "set.eq.ftz.u32.f32 $r, $f, $f",
      "selp.b64 $d, $d, $d, $p",
      "slct.f32.s32 $f, $f, $f, $r",
      "mov.b32 $r, $n",
      "mov.b64 $d, {$r, $r}",
      "mov.b32 {$h, $h}, $r",
      "mov.b128 $q, {$d, $d}",
      "mov.u32 $r, %tid.x",
      "mov.u32 $r, %laneid",
      "mov.u64 $d, %clock64",
      "mov.u32 $r, $s",
      "mov.u64 $d, $l",
      "mov.f32 $f, 0f3F800000",
      "mov.f64 $g, 1.5",
      "mov.pred $p, 1",
      "cvta.shared.u64 $d, $d",
      "cvta.to.local.u64 $d, $d",
      "isspacep.global $p, $d",
      "ld.global.u32 $r, [$b+$n]",
      "ld.global.v4.f32 {$f, $f, $f, $f}, [$b]",
      "ld.volatile.shared.v2.b64 {$d, $d}, [$s]",
      "ld.shared.b8 $r, [$r]",
      "ld.shared.b128 $q, [$s]",
      "ld.b64 $d, [$d+$n]",
      "ld.local.s16 $r, [$l]",
      "ld.const.b32 $r, [$c]",
      "st.global.v8.b32 [$b], {$r, $r, $r, $r, $r, $r, $r, $r}",
      "st.global.b32 [$b+$n], $r",
      "st.shared.v2.f64 [$s], {$g, $g}",
      "st.shared.u8 [$s+$n], $h",
      "st.local.b64 [$l], $d",
      "st.b16 [$d], $h",
      "prefetch.global.L2 [$b]",
      "discard.global.L2 [$b], 128",
      "createpolicy.fractional.L2::evict_last.b64 $d, 0f3F000000",
      "atom.global.cas.b128 $q, [$b], $q, $q",
      "atom.shared.add.f32 $f, [$s], $f",
      "atom.acq_rel.gpu.global.inc.u32 $r, [$b], $n",
      "red.global.v4.f32.add [$b], {$f, $f, $f, $f}",
      "red.shared.add.noftz.bf16x2 [$s], $r",
      "bra $t",
      "bra.uni $t",
      "ret",
      "exit",
      "trap",
      "bar.sync 0",
      "bar.sync $r, 32",
      "bar.arrive 1, 64",
      "bar.red.popc.u32 $r, 0, $p",
      "barrier.sync.aligned 3",
      "bar.warp.sync 0xffffffff",
      "membar.gl",
      "fence.proxy.async",
      "fence.mbarrier_init.release.cluster",
      "activemask.b32 $r",
      "vote.sync.ballot.b32 $r, $p, $r",
      "vote.sync.any.pred $p, $p, 0xffffffff",
      "match.all.sync.b64 $r|$p, $d, 0xffffffff",
      "shfl.sync.bfly.b32 $r|$p, $r, $r, $n, 0xffffffff",
      "redux.sync.add.s32 $r, $r, 0xffffffff",
      "elect.sync $r|$p, 0xffffffff",
      "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {$r, $r, $r, $r}, [$s]",
      "ldmatrix.sync.aligned.m8n16.x1.shared.b8x16.b4x16_p64 {$r}, [$s]",
      "stmatrix.sync.aligned.m8n8.x2.shared.b16 [$s], {$r, $r}",
      "movmatrix.sync.aligned.m8n8.trans.b16 $r, $r",
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {$f, $f, $f, $f}, "
      "{$r, $r, $r, $r}, {$r, $r}, {$f, $f, $f, $f}",
      "mma.sync.aligned.m16n8k32.row.col.s32.u8.s8.s32 {$r, $r, $r, $r}, "
      "{$r, $r, $r, $r}, {$r, $r}, {$r, $r, $r, $r}",
      "mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.e4m3.e2m1.f32 "
      "{$f, $f, $f, $f}, {$r, $r, $r, $r}, {$r, $r}, {$f, $f, $f, $f}",
      "mma.sync.aligned.m16n8k64.row.col.kind::mxf4nvf4.block_scale.scale_vec::"
      "4X"
      ".f32.e2m1.e2m1.f32.ue4m3 {$f, $f, $f, $f}, {$r, $r, $r, $r}, {$r, $r}, "
      "{$f, $f, $f, $f}, {$r}, {0, 1}, {$r}, {$n, 0}",
      "mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 "
      "{$f, $f, $f, $f}, {$r, $r, $r, $r}, {$r, $r, $r, $r}, {$f, $f, $f, $f}, "
      "$r, 0x0",
      "cp.async.ca.shared.global [$s], [$b], 8",
      "cp.async.cg.shared.global [$s], [$b], 16, $r",
      "cp.async.commit_group",
      "cp.async.wait_group $n",
      "cp.async.wait_all",
      "cp.async.mbarrier.arrive.noinc.shared.b64 [$s]",
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [$s], "
      "[$b], 32, [$s]",
      "cp.async.bulk.global.shared::cta.bulk_group [$b], [$s], $r",
      "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [$b], [$s], "
      "16",
      "cp.async.bulk.commit_group",
      "cp.async.bulk.wait_group.read 0",
      "mbarrier.init.shared.b64 [$s], $n",
      "mbarrier.inval.shared.b64 [$s]",
      "mbarrier.arrive.shared.b64 $d, [$s]",
      "mbarrier.arrive.expect_tx.shared.b64 $d, [$s], $n",
      "mbarrier.arrive_drop.shared.b64 $d, [$s], $r",
      "mbarrier.complete_tx.shared.b64 [$s], $r",
      "mbarrier.test_wait.shared.b64 $p, [$s], $d",
      "mbarrier.try_wait.parity.shared.b64 $p, [$s], $n",
      "mbarrier.pending_count.b64 $r, $d",
      "nanosleep.u32 $r",
      "griddepcontrol.wait",
      "griddepcontrol.launch_dependents",
      "setmaxnreg.inc.sync.aligned.u32 $n",
      "barrier.cluster.arrive.release",
      "barrier.cluster.wait.acquire",
      "mapa.shared::cluster.u32 $r, $s, $r",
      "getctarank.shared::cluster.u32 $r, $r",
      "st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [$r], $r, "
      "[$r]",
      "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes."
      "add.u32 [$r], $r, [$r]",
      "clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx:"
      ":"
      "bytes.b128 [$s], [$s]",
      "clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 $p, $q",
      "clusterlaunchcontrol.query_cancel.get_first_ctaid.v4.b32.b128 {$r, $r, "
      "$r, "
      "$r}, $q",
      "tensormap.replace.tile.global_address.global.b1024.b64 [$b], $d",
      "tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [$s], 0, $r",
      "tensormap.replace.tile.swizzle_mode.global.b1024.b32 [$b], $n",
      "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release."
      "gpu."
      "sync.aligned [$b], [$s], 128",
      "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::"
      "bytes [$s], [$b, {$r, $r}], [$s]",
      "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [$b, {$r, $r}], "
      "[$s]",
      "wmma.load.a.sync.aligned.row.m16n16k16.shared.f16 {$r, $r, $r, $r, $r, "
      "$r, $r, $r}, [$s], $n",
      "wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32 {$f, $f, $f, $f, $f, "
      "$f, "
      "$f, $f}, {$r, $r, $r, $r, $r, $r, $r, $r}, {$r, $r, $r, $r, $r, $r, $r, "
      "$r}, {$f, $f, $f, $f, $f, $f, $f, $f}",
      "wmma.store.d.sync.aligned.row.m16n16k16.global.f32 [$b], {$f, $f, $f, "
      "$f, "
      "$f, $f, $f, $f}, 16",
      "wgmma.fence.sync.aligned",
      "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {$f, $f, $f, $f}, $d, "
      "$d, $p, 1, 1, 0, 0",
      "wgmma.commit_group.sync.aligned",
      "wgmma.wait_group.sync.aligned 0",
      "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [$s], 64",
      "tcgen05.dealloc.cta_group::1.sync.aligned.b32 $r, 64",
      "tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned",
      "tcgen05.ld.sync.aligned.16x32bx2.x2.b32 {$r, $r}, [$r], 8",
      "tcgen05.ld.red.sync.aligned.32x32b.x2.max.abs.f32 {$r, $r}, $f, [$r]",
      "tcgen05.st.sync.aligned.32x32b.x4.b32 [$r], {$r, $r, $r, $r}",
      "tcgen05.wait::ld.sync.aligned",
      "tcgen05.wait::st.sync.aligned",
      "tcgen05.fence::before_thread_sync",
      "tcgen05.fence::after_thread_sync",
      "tcgen05.cp.cta_group::1.32x128b.warpx4 [$r], $d",
      "tcgen05.shift.cta_group::1.down [$r]",
      "tcgen05.mma.cta_group::1.kind::f16 [$r], $d, $d, $r, $p",
      "tcgen05.mma.cta_group::1.kind::mxf8f6f4.block_scale [$r], [$r], $d, $r, "
      "[$r], [$r], $p",
      "tcgen05.mma.sp.cta_group::1.kind::mxf8f6f4.block_scale [$r], $d, $d, "
      "[$r], $r, [$r], [$r], $p",
      "tcgen05.mma.ws.cta_group::1.kind::f16.collector::b1::fill [$r], $d, $d, "
      "$r, $p, $d",
      "tcgen05.mma.ws.cta_group::1.kind::i8 [$r], [$r], $d, $r, $p",
      "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 "
      "[$s]",
  };
  return rows;
}

const std::vector<const char *> &blockscale::getPtxModifiers() {
  static const std::vector<const char *> rows = {
      "b8",      "b16",       "b32",      "b64",         "b128",
      "u8",      "u16",       "u32",      "u64",         "s8",
      "s16",     "s32",       "s64",      "f16",         "f16x2",
      "bf16",    "bf16x2",    "f32",      "f32x2",       "f64",
      "pred",    "tf32",      "e4m3x2",   "e5m2x2",      "e2m1x2",
      "ue8m0x2", "e4m3x4",    "rn",       "rz",          "rm",
      "rp",      "rni",       "rzi",      "rs",          "ftz",
      "sat",     "satfinite", "relu",     "NaN",         "approx",
      "full",    "lo",        "hi",       "wide",        "cc",
      "eq",      "lt",        "gtu",      "num",         "and",
      "or",      "xor",       "add",      "min",         "max",
      "inc",     "cas",       "exch",     "global",      "shared",
      "local",   "const",     "param",    "shared::cta", "v2",
      "v4",      "v8",        "volatile", "relaxed",     "acquire",
      "release", "sys",       "cluster",  "sync",        "aligned",
      "trans",   "x1",        "x2",       "x4",          "m8n8",
      "m16n16",  "m16n8k8",   "m16n8k16", "m16n8k32",    "m16n8k64",
      "row",     "col",       "e4m3",     "e5m2",        "e2m1",
      "e3m2",    "ue4m3",     "ue8m0",    "parity",      "noComplete",
      "noinc",   "read",      "idx",      "up",          "down",
      "bfly",    "clamp",     "wrap",     "l",           "r",
      "uni",     "noftz"};
  return rows;
}

const std::vector<const char *> &blockscale::getPtxNumbers() {
  static const std::vector<const char *> rows = {"0",
                                                 "1",
                                                 "2",
                                                 "3",
                                                 "4",
                                                 "7",
                                                 "8",
                                                 "15",
                                                 "16",
                                                 "17",
                                                 "31",
                                                 "32",
                                                 "33",
                                                 "63",
                                                 "64",
                                                 "127",
                                                 "128",
                                                 "255",
                                                 "256",
                                                 "512",
                                                 "1023",
                                                 "1024",
                                                 "4096",
                                                 "65535",
                                                 "1048575",
                                                 "2147483647",
                                                 "-1",
                                                 "-8",
                                                 "-128",
                                                 "232448",
                                                 "4294967295",
                                                 "-2147483648",
                                                 "1099511627776",
                                                 "9223372036854775807",
                                                 "0xffffffffffffffff"};
  return rows;
}

std::string blockscale::makePtxModule() {
  std::string text =
      "// 0\n.version 9.1\n.target sm_120a\n.address_size 64\n"
      ".const .align 8 .b8 C[64];\n"
      ".func (.reg .b32 %o) callee(.reg .b32 %i) {\n"
      "  .local .align 8 .b8 L[16];\n  add.u32 %o, %i, 1;\n  ret;\n}\n"
      ".entry k(.param .u64 B0, .param .u64 B1) {\n"
      "  .reg .pred %p<4>;\n  .reg .b16 %h<4>;\n  .reg .b32 %r<8>;\n"
      "  .reg .b64 %d<8>;\n  .reg .b128 %q<2>;\n  .reg .f32 %f<4>;\n"
      "  .reg .f64 %g<4>;\n  .shared .align 128 .b8 S[1024];\n"
      "  .local .align 16 .b8 L[64];\n"
      "  ld.param.u64 %d0, [B0];\n  ld.param.u64 %d1, [B1];\n"
      "  mov.u32 %r0, %tid.x;\n";
  auto define = [&](const char *type, const char *name, unsigned begin,
                    unsigned end, const char *value) {
    for (unsigned i = begin; i != end; ++i)
      text += std::string("  mov.") + type + " " + name + std::to_string(i) +
              ", " + value + ";\n";
  };
  define("pred", "%p", 0, 4, "1");
  define("b16", "%h", 0, 4, "3");
  define("b32", "%r", 1, 8, "16");
  define("b64", "%d", 2, 8, "32");
  define("b128", "%q", 0, 2, "{%d2, %d3}");
  define("f32", "%f", 0, 4, "0f3FC00000");
  define("f64", "%g", 0, 4, "0d3FF8000000000000");
  return text + "Loop:\n  call (%r1), callee, (%r0);\n"
                "  setp.lt.u32 %p1, %r0, 8;\n  @%p1 bra Done;\n"
                "  st.global.b32 [%d0], %r1;\nDone:\n  ret;\n}\n";
}
