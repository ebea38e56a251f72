//===- PtxMutator.cpp - Mutation of PTX as text ---------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PtxMutator.h"

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <vector>

using namespace mlir::blockscale;

//===----------------------------------------------------------------------===//
// Tables
//===----------------------------------------------------------------------===//

/// Statements with places for registers: $p predicate, $h 16 bits, $r 32, $d
/// 64, $q 128, $f f32, $g f64; $b is a buffer, $s, $l and $c are variables in
/// shared, local and constant memory, $n is a number, $t a label.
static constexpr const char *kTemplates[] = {
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
    "mma.sync.aligned.m16n8k64.row.col.kind::mxf4nvf4.block_scale.scale_vec::4X"
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
    "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [$b], [$s], 16",
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
    "st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [$r], $r, [$r]",
    "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes."
    "add.u32 [$r], $r, [$r]",
    "clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::"
    "bytes.b128 [$s], [$s]",
    "clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 $p, $q",
    "clusterlaunchcontrol.query_cancel.get_first_ctaid.v4.b32.b128 {$r, $r, "
    "$r, "
    "$r}, $q",
    "tensormap.replace.tile.global_address.global.b1024.b64 [$b], $d",
    "tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [$s], 0, $r",
    "tensormap.replace.tile.swizzle_mode.global.b1024.b32 [$b], $n",
    "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu."
    "sync.aligned [$b], [$s], 128",
    "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::"
    "bytes [$s], [$b, {$r, $r}], [$s]",
    "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [$b, {$r, $r}], "
    "[$s]",
    "wmma.load.a.sync.aligned.row.m16n16k16.shared.f16 {$r, $r, $r, $r, $r, "
    "$r, $r, $r}, [$s], $n",
    "wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32 {$f, $f, $f, $f, $f, $f, "
    "$f, $f}, {$r, $r, $r, $r, $r, $r, $r, $r}, {$r, $r, $r, $r, $r, $r, $r, "
    "$r}, {$f, $f, $f, $f, $f, $f, $f, $f}",
    "wmma.store.d.sync.aligned.row.m16n16k16.global.f32 [$b], {$f, $f, $f, $f, "
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
    "tcgen05.mma.ws.cta_group::1.kind::f16.collector::b1::fill [$r], $d, $d, "
    "$r, $p, $d",
    "tcgen05.mma.ws.cta_group::1.kind::i8 [$r], [$r], $d, $r, $p",
    "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 "
    "[$s]",
};

static constexpr const char *kModifiers[] = {
    "b8",        "b16",      "b32",     "b64",         "b128",       "u8",
    "u16",       "u32",      "u64",     "s8",          "s16",        "s32",
    "s64",       "f16",      "f16x2",   "bf16",        "bf16x2",     "f32",
    "f32x2",     "f64",      "pred",    "tf32",        "e4m3x2",     "e5m2x2",
    "e2m1x2",    "ue8m0x2",  "e4m3x4",  "rn",          "rz",         "rm",
    "rp",        "rni",      "rzi",     "rs",          "ftz",        "sat",
    "satfinite", "relu",     "NaN",     "approx",      "full",       "lo",
    "hi",        "wide",     "cc",      "eq",          "lt",         "gtu",
    "num",       "and",      "or",      "xor",         "add",        "min",
    "max",       "inc",      "cas",     "exch",        "global",     "shared",
    "local",     "const",    "param",   "shared::cta", "v2",         "v4",
    "v8",        "volatile", "relaxed", "acquire",     "release",    "sys",
    "cluster",   "sync",     "aligned", "trans",       "x1",         "x2",
    "x4",        "m8n8",     "m16n16",  "m16n8k8",     "m16n8k16",   "m16n8k32",
    "m16n8k64",  "row",      "col",     "e4m3",        "e5m2",       "e2m1",
    "e3m2",      "ue4m3",    "ue8m0",   "parity",      "noComplete", "noinc",
    "read",      "idx",      "up",      "down",        "bfly",       "clamp",
    "wrap",      "l",        "r",       "uni",         "noftz"};

static constexpr const char *kNumbers[] = {"0",
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

/// What a text without a kernel becomes. Registers have values, so that not
/// every use of one fails.
static std::string makeModule() {
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

//===----------------------------------------------------------------------===//
// What a text declares
//===----------------------------------------------------------------------===//

namespace {
/// `begin` to `end` of a text: a statement with its semicolon, or a line
/// without one.
struct Piece {
  size_t begin, end;
};

struct Text {
  explicit Text(const std::string &text);

  /// All pieces, and those that are instructions.
  std::vector<Piece> pieces, instructions;
  /// By letter of the templates.
  std::vector<std::string> names[128];
};
} // namespace

static bool isWordChar(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '$' ||
         c == '%';
}

/// The word at `at`, which moves behind it.
static std::string takeWord(const std::string &text, size_t &at) {
  while (at < text.size() && std::isspace(static_cast<unsigned char>(text[at])))
    ++at;
  size_t begin = at;
  while (at < text.size() && (isWordChar(text[at]) || text[at] == '.'))
    ++at;
  return text.substr(begin, at - begin);
}

static char getLetter(const std::string &type) {
  static constexpr std::pair<const char *, char> letters[] = {
      {".pred", 'p'}, {".b16", 'h'}, {".u16", 'h'}, {".s16", 'h'},
      {".b32", 'r'},  {".u32", 'r'}, {".s32", 'r'}, {".b64", 'd'},
      {".u64", 'd'},  {".s64", 'd'}, {".f32", 'f'}, {".f64", 'g'},
      {".b128", 'q'}};
  for (auto [name, letter] : letters)
    if (type == name)
      return letter;
  return 0;
}

/// `.reg .b32 %r<4>, %x;`
static void addRegisters(const std::string &statement, size_t at, Text &text) {
  char letter = getLetter(takeWord(statement, at));
  if (!letter)
    return;
  do {
    std::string name = takeWord(statement, at);
    if (name.empty())
      return;
    if (statement.compare(at, 1, "<") != 0) {
      text.names[unsigned(letter)].push_back(name);
    } else {
      unsigned long count =
          std::strtoul(statement.c_str() + at + 1, nullptr, 10);
      for (unsigned i = 0; i < count && i != 16; ++i)
        text.names[unsigned(letter)].push_back(name + std::to_string(i));
      at = statement.find('>', at);
      if (at == std::string::npos)
        return;
    }
    at = statement.find(',', at);
  } while (at++ != std::string::npos);
}

/// `.shared .align 8 .b8 S[64];`: the name is before the bracket.
static void addVariable(const std::string &statement, char letter, Text &text) {
  size_t end = statement.find_first_of("[;=");
  size_t begin = end;
  while (begin != std::string::npos && begin != 0 &&
         isWordChar(statement[begin - 1]))
    --begin;
  if (begin != end)
    text.names[unsigned(letter)].push_back(
        statement.substr(begin, end - begin));
}

/// Looks at one piece; whether it is an instruction.
static bool scan(const std::string &statement, Text &text) {
  size_t at = 0;
  std::string word = takeWord(statement, at);
  if (word == ".reg")
    addRegisters(statement, at, text);
  else if (word == ".shared")
    addVariable(statement, 's', text);
  else if (word == ".local")
    addVariable(statement, 'l', text);
  else if (word == ".const")
    addVariable(statement, 'c', text);
  else if (!word.empty() && statement.compare(at, 1, ":") == 0)
    text.names[unsigned('t')].push_back(word);
  if (word.rfind("ld.param", 0) == 0 && word.find("64") != std::string::npos)
    text.names[unsigned('b')].push_back(takeWord(statement, at));
  bool isGuarded = word.empty() && statement.compare(at, 1, "@") == 0;
  return statement.back() == ';' &&
         (isGuarded ||
          (!word.empty() && std::islower(static_cast<unsigned char>(word[0]))));
}

Text::Text(const std::string &text) {
  for (size_t begin = 0; begin != text.size();) {
    size_t end = std::min(text.find_first_of(";\n:", begin), text.size() - 1);
    // A double colon is part of a modifier.
    while (text.compare(end, 2, "::") == 0)
      end = std::min(text.find_first_of(";\n:", end + 2), text.size() - 1);
    Piece piece = {begin, end + 1};
    pieces.push_back(piece);
    if (scan(text.substr(begin, end + 1 - begin), *this))
      instructions.push_back(piece);
    begin = end + 1;
  }
}

//===----------------------------------------------------------------------===//
// Mutations
//===----------------------------------------------------------------------===//

namespace {
class Mutator {
public:
  Mutator(const std::string &text, std::minstd_rand &random)
      : result(text), text(text), random(random) {}

  std::string mutate();
  std::string cross(const std::string &other);

private:
  size_t below(size_t bound) { return random() % bound; }
  template <typename List>
  const auto &pick(const List &list) {
    return list[below(std::size(list))];
  }
  std::string get(const Piece &piece) const {
    return result.substr(piece.begin, piece.end - piece.begin);
  }
  void replace(const Piece &piece, const std::string &with) {
    result.replace(piece.begin, piece.end - piece.begin, with);
  }
  std::string makeName(char letter);
  std::string pickTemplate();
  std::string makeStatement();
  std::string renameRegisters(std::string statement);
  Piece pickPart(const Piece &piece, bool (*isPart)(char));
  void changeNumber(const Piece &piece);
  void changeName(const Piece &piece);
  void changeModifier(const Piece &piece);
  void changeGuard(const Piece &piece);

  std::string result;
  Text text;
  std::minstd_rand &random;
};
} // namespace

std::string Mutator::makeName(char letter) {
  if (letter == 'n')
    return pick(kNumbers);
  const std::vector<std::string> &names = text.names[unsigned(letter)];
  if (!names.empty())
    return pick(names) + (letter == 's' && below(2)
                              ? "+" + std::to_string(8 * below(16))
                              : "");
  // The nearest that is there.
  switch (letter) {
  case 'b':
    return makeName('d');
  case 'f':
    return "0f3F800000";
  case 'g':
    return "0d3FF0000000000000";
  default:
    return "16";
  }
}

/// A template for which the text has registers of all types; after some vain
/// tries, another one.
std::string Mutator::pickTemplate() {
  std::string pattern;
  for (unsigned tries = 0; tries != 16; ++tries) {
    pattern = pick(kTemplates);
    bool isMissing = false;
    for (size_t at = 0; (at = pattern.find('$', at)) != std::string::npos;) {
      char letter = pattern[++at];
      isMissing |= letter != 'n' && letter != 'b' &&
                   text.names[unsigned(letter)].empty();
    }
    if (!isMissing)
      break;
  }
  return pattern;
}

std::string Mutator::makeStatement() {
  std::string pattern = pickTemplate(), statement;
  if (below(4) == 0 && !text.names[unsigned('p')].empty())
    pattern = (below(2) ? "@$p " : "@!$p ") + pattern;
  for (size_t i = 0; i != pattern.size(); ++i)
    if (pattern[i] == '$')
      statement += makeName(pattern[++i]);
    else
      statement += pattern[i];
  return "  " + statement + ";\n";
}

/// A word of a piece, or a part of one, that begins with a character for which
/// `isPart` is true; an empty piece if there is none.
Piece Mutator::pickPart(const Piece &piece, bool (*isPart)(char)) {
  std::vector<Piece> parts;
  for (size_t i = piece.begin; i < piece.end; ++i) {
    bool isInWord =
        i != piece.begin && isWordChar(result[i - 1]) && isWordChar(result[i]);
    if (isInWord || !isPart(result[i]))
      continue;
    size_t end = i + 1;
    while (end < piece.end && (isWordChar(result[end]) ||
                               (result[i] == '.' && result[end] == ':')))
      ++end;
    parts.push_back({i, end});
    i = end - 1;
  }
  return parts.empty() ? Piece{piece.begin, piece.begin} : pick(parts);
}

void Mutator::changeNumber(const Piece &piece) {
  Piece number = pickPart(piece, [](char c) {
    return std::isdigit(static_cast<unsigned char>(c)) != 0;
  });
  if (number.begin == number.end)
    return;
  if (below(2))
    return replace(number, pick(kNumbers));
  uint64_t value = std::strtoull(get(number).c_str(), nullptr, 0);
  switch (below(4)) {
  case 0:
    return replace(number, std::to_string(value + 1));
  case 1:
    return replace(number, std::to_string(value - (value != 0)));
  case 2:
    return replace(number, std::to_string(value * 2));
  default:
    return replace(number, std::to_string(value / 2));
  }
}

/// A register becomes another one, mostly of its type.
void Mutator::changeName(const Piece &piece) {
  Piece part = pickPart(piece, [](char c) { return c == '%'; });
  if (part.begin == part.end)
    return;
  std::string name = get(part);
  static constexpr char letters[] = {'p', 'h', 'r', 'd', 'q', 'f', 'g'};
  char letter = pick(letters);
  for (char other : letters)
    for (const std::string &known : text.names[unsigned(other)])
      if (known == name && below(8))
        letter = other;
  static constexpr const char *others[] = {"_", "%laneid", "%tid.x", "0", "-1"};
  replace(part, below(16) ? makeName(letter) : pick(others));
}

void Mutator::changeModifier(const Piece &piece) {
  Piece part = pickPart(piece, [](char c) { return c == '.'; });
  if (part.begin == part.end)
    return;
  std::string name = get(part);
  std::string other = std::string(".") + pick(kModifiers);
  if (!text.instructions.empty() && below(2))
    other =
        get(pickPart(pick(text.instructions), [](char c) { return c == '.'; }));
  switch (below(4)) {
  case 0:
    return replace(part, "");
  case 1:
    return replace(part, below(2) ? name + other : other + name);
  default:
    return replace(part, other);
  }
}

void Mutator::changeGuard(const Piece &piece) {
  std::string statement = get(piece);
  size_t at = statement.find('@');
  if (at != std::string::npos)
    return replace(piece, statement.erase(at, statement.find(' ', at) - at));
  if (text.names[unsigned('p')].empty())
    return;
  at = statement.find_first_not_of(" \t\n");
  replace(piece,
          statement.insert(at, (below(2) ? "@" : "@!") + makeName('p') + " "));
}

/// Registers of another text become those of this one, of any type.
std::string Mutator::renameRegisters(std::string statement) {
  for (size_t at = 0; (at = statement.find('%', at)) != std::string::npos;) {
    size_t end = at + 1;
    while (end < statement.size() && isWordChar(statement[end]))
      ++end;
    std::string name = statement.substr(at, end - at);
    bool isKnown = false;
    for (const auto &names : text.names)
      for (const std::string &known : names)
        isKnown |= known == name;
    if (!isKnown && end - at > 2 &&
        std::isdigit(static_cast<unsigned char>(name.back()))) {
      char letter = name[1] == 'p'                     ? 'p'
                    : name[1] == 'f'                   ? 'f'
                    : name[1] == 'd' || name[2] == 'd' ? 'd'
                                                       : 'r';
      name = makeName(letter);
      statement.replace(at, end - at, name);
    }
    at += name.size();
  }
  return statement;
}

std::string Mutator::cross(const std::string &other) {
  Text source(other);
  if (source.instructions.empty() || text.instructions.empty())
    return result;
  size_t first = below(source.instructions.size());
  size_t end = std::min(source.instructions.size(), first + 1 + below(4));
  std::string added;
  for (size_t i = first; i != end; ++i) {
    const Piece &piece = source.instructions[i];
    added +=
        renameRegisters(other.substr(piece.begin, piece.end - piece.begin));
  }
  return result.insert(pick(text.instructions).begin, added + "\n");
}

std::string Mutator::mutate() {
  if (result.find(".entry") == std::string::npos || text.instructions.empty())
    return makeModule();
  const Piece &piece = pick(text.instructions);
  const Piece &other = pick(text.instructions);
  switch (below(16)) {
  case 0:
    replace(piece, "");
    break;
  case 1:
    result.insert(other.begin, get(piece));
    break;
  case 2: // Two change places.
    if (piece.begin < other.begin) {
      std::string moved = get(piece);
      replace(piece, get(other));
      size_t shift = result.size() - text.pieces.back().end;
      replace({other.begin + shift, other.end + shift}, moved);
    }
    break;
  case 3:
    result.insert(piece.begin, "\nT" + std::to_string(below(1000)) + ":\n");
    break;
  case 4: {
    std::string label = "T" + std::to_string(below(1000));
    std::string branch =
        (below(2) ? "@" : "@!") + makeName('p') + " bra " + label + ";\n";
    const Piece &first = piece.begin < other.begin ? piece : other;
    const Piece &last = piece.begin < other.begin ? other : piece;
    bool isLoop = below(2);
    result.insert(last.end, "\n" + (isLoop ? branch : label + ":\n"));
    result.insert(first.begin, "\n" + (isLoop ? label + ":\n" : branch));
    break;
  }
  case 5:
    changeNumber(pick(text.pieces)); // A size in a declaration, perhaps.
    break;
  case 6:
    changeModifier(pick(text.pieces));
    break;
  case 7:
    if (result.compare(0, 3, "// ") == 0)
      replace({3, std::min(result.find('\n'), result.size())},
              std::to_string(below(1024)));
    else
      result.insert(0, "// " + std::to_string(below(1024)) + "\n");
    break;
  case 8:
    changeModifier(piece);
    break;
  case 9:
    changeNumber(piece);
    break;
  case 10:
    changeGuard(piece);
    break;
  case 11:
    changeName(piece);
    break;
  case 12:
    replace(piece, makeStatement());
    break;
  default:
    result.insert(piece.begin, makeStatement());
    break;
  }
  return result;
}

std::string mlir::blockscale::mutatePtx(const std::string &text,
                                        std::minstd_rand &random) {
  return Mutator(text, random).mutate();
}

std::string mlir::blockscale::crossPtx(const std::string &text,
                                       const std::string &other,
                                       std::minstd_rand &random) {
  return Mutator(text, random).cross(other);
}
