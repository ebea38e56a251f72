#!/bin/bash
# Checks of blockscale-launch on a machine with a CUDA card (sm_90 or later for
# clusters and tensor maps; they are skipped below that by --old).
#
#   card_checks.sh [--old] DIR      DIR has blockscale-launch; all that is
#                                   needed beside it is bash, od, grep, printf
#
# Each check prints one line, `ok NAME` or `FAILED NAME` with what came. The last
# line is `N ok, N failed`; all are ok if it ends in `0 failed`. LAUNCH=... names
# another program of the same command line (blockscale-sim for the PTX itself).
old=; [ "$1" = --old ] && { old=1; shift; }
bin=${1:-.}
launch=${LAUNCH:-$bin/blockscale-launch}
work=$(mktemp -d); cd "$work" || exit 2
[[ $launch = /* ]] || launch=$OLDPWD/$launch
passed=0 failed=0

ok() { echo "ok $1"; passed=$((passed + 1)); }
bad() { echo "FAILED $1: $2"; failed=$((failed + 1)); }

# expect NAME CODE REGEX COMMAND...: exit code, and one line that matches.
expect() {
  local name=$1 code=$2 regex=$3; shift 3
  local text; text=$("$@" 2>&1); local got=$?
  local lines; lines=$(printf '%s' "$text" | grep -c '')
  if [ $got -ne "$code" ]; then bad "$name" "exit code $got, expected $code: $text"
  elif [ -n "$regex" ] && ! grep -Eq "$regex" <<<"$text"; then bad "$name" "expected /$regex/, got: $text"
  elif [ "$lines" -gt 1 ]; then bad "$name" "more than one line: $text"
  else ok "$name"; fi
}

# words FILE: the 32-bit words behind the header of a .npy file.
words() { tail -c +129 "$1" | od -An -v -td4 | tr -s ' \n' ' ' | sed 's/^ //;s/ $//'; }
holds() {
  local got; got=$(words "$2")
  [ "$got" = "$3" ] && ok "$1" || bad "$1" "expected '$3', got '$got'"
}

cat > fill.ptx <<'X'
.version 7.0
.target sm_80
.address_size 64
.visible .entry fill(.param .u64 out, .param .u32 value)
{
  .reg .b32 %r<3>;
  .reg .b64 %rd<4>;
  ld.param.u64 %rd0, [out];
  ld.param.u32 %r0, [value];
  cvta.to.global.u64 %rd1, %rd0;
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd2, %r1, 4;
  add.u64 %rd3, %rd1, %rd2;
  st.global.u32 [%rd3], %r0;
  ret;
}
X
expect fill 0 '' "$launch" fill.ptx --grid=1 --block=4 out:f.npy:i4:4 i32:7
holds fill-values f.npy "7 7 7 7"
expect stdin 0 '' bash -c "'$launch' - --grid=1 --block=4 out:g.npy:i4:4 i32:9 < fill.ptx"
holds stdin-values g.npy "9 9 9 9"

# Dynamic shared memory of more than 48 KiB: the last word of 96 KiB.
cat > shared.ptx <<'X'
.version 7.0
.target sm_80
.address_size 64
.extern .shared .align 16 .b8 tile[];
.visible .entry shared(.param .u64 out, .param .u32 last)
{
  .reg .b32 %r<5>;
  .reg .b64 %rd<2>;
  ld.param.u64 %rd0, [out];
  ld.param.u32 %r0, [last];
  cvta.to.global.u64 %rd1, %rd0;
  mov.u32 %r1, tile;
  add.u32 %r2, %r1, %r0;
  mov.u32 %r3, 42;
  st.shared.u32 [%r2], %r3;
  ld.shared.u32 %r4, [%r2];
  st.global.u32 [%rd1], %r4;
  ret;
}
X
expect shared 0 '' "$launch" shared.ptx --grid=1 --block=1 --shared=98304 out:s.npy:i4:1 i32:98300
holds shared-values s.npy "42"
if [ -z "$LAUNCH" ]; then
  expect shared-too-much 1 "^error: 'shared.ptx': cannot give kernel 'shared' 1000000 bytes of dynamic shared memory: " \
    "$launch" shared.ptx --grid=1 --block=1 --shared=1000000 out:t.npy:i4:1 i32:0
fi

if [ -z "$old" ]; then
cat > cluster.ptx <<'X'
.version 7.8
.target sm_90
.address_size 64
.visible .entry cluster(.param .u64 out)
{
  .reg .b32 %r<5>;
  .reg .b64 %rd<4>;
  ld.param.u64 %rd0, [out];
  cvta.to.global.u64 %rd1, %rd0;
  mov.u32 %r0, %ctaid.x;
  mov.u32 %r1, %cluster_ctarank;
  mov.u32 %r2, %cluster_nctarank;
  mad.lo.u32 %r3, %r2, 100, %r1;
  mul.wide.u32 %rd2, %r0, 4;
  add.u64 %rd3, %rd1, %rd2;
  st.global.u32 [%rd3], %r3;
  ret;
}
X
expect cluster 0 '' "$launch" cluster.ptx --grid=4 --block=1 --cluster=2 out:c.npy:i4:4
holds cluster-values c.npy "200 201 200 201"
expect cluster-of-16 0 '' "$launch" cluster.ptx --grid=16 --block=1 --cluster=16 out:c.npy:i4:16
holds cluster-of-16-values c.npy "1600 1601 1602 1603 1604 1605 1606 1607 1608 1609 1610 1611 1612 1613 1614 1615"

# A tensor map of the 4 x 8 numbers 0 to 31: the box of 2 x 4 at row 3, column
# 4, with zeros where the tensor ends.
cat > map.ptx <<'X'
.version 8.0
.target sm_90
.address_size 64
.visible .entry map(.param .align 64 .b8 tensor[128], .param .u64 out)
{
  .reg .b32 %r<8>;
  .reg .b64 %rd<6>;
  .reg .pred %p;
  .shared .align 128 .b8 box[32];
  .shared .align 8 .b64 bar;
  ld.param.u64 %rd0, [out];
  cvta.to.global.u64 %rd1, %rd0;
  mov.b64 %rd2, tensor;
  cvta.param.u64 %rd3, %rd2;
  mov.u32 %r0, box;
  mov.u32 %r1, bar;
  mov.u32 %r2, 4;
  mov.u32 %r3, 3;
  mbarrier.init.shared.b64 [%r1], 1;
  fence.proxy.async.shared::cta;
  mbarrier.arrive.expect_tx.shared.b64 _, [%r1], 32;
  cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r0], [%rd3, {%r2, %r3}], [%r1];
WAIT:
  mbarrier.try_wait.parity.shared.b64 %p, [%r1], 0;
  @!%p bra WAIT;
  mov.u32 %r4, 0;
COPY:
  add.u32 %r5, %r0, %r4;
  ld.shared.u32 %r6, [%r5];
  cvt.u64.u32 %rd4, %r4;
  add.u64 %rd5, %rd1, %rd4;
  st.global.u32 [%rd5], %r6;
  add.u32 %r4, %r4, 4;
  setp.lt.u32 %p, %r4, 32;
  @%p bra COPY;
  ret;
}
X
header="{'descr': '<i4', 'fortran_order': False, 'shape': (4, 8), }"
{ printf '\x93NUMPY\x01\x00\x76\x00%-117s\n' "$header"
  for i in {0..31}; do printf "\\x$(printf %02x $i)\\x00\\x00\\x00"; done; } > n.npy
expect tensor-map 0 '' "$launch" map.ptx --grid=1 --block=1 tmap:n.npy:i4:BOX=2x4:SWIZZLE=none out:m.npy:i4:2x4
holds tensor-map-values m.npy "28 29 30 31 0 0 0 0"
fi

if [ -z "$LAUNCH" ]; then
expect time 0 '^[0-9]+\.[0-9]{4} ms$' "$launch" fill.ptx --grid=1 --block=4 --time out:f.npy:i4:4 i32:7

# --check-memory: five threads write to four words. Without the flag the fifth
# goes unnoticed.
expect unchecked 0 '' "$launch" fill.ptx --grid=1 --block=5 out:f.npy:i4:4 i32:7
expect check-memory 1 "^error: 'fill.ptx': kernel 'fill' wrote outside of argument #0: expected writes to its 16 bytes, got one to byte 16$" \
  "$launch" fill.ptx --check-memory --grid=1 --block=5 out:f.npy:i4:4 i32:7
expect check-memory-right 0 '' "$launch" fill.ptx --check-memory --grid=1 --block=4 out:h.npy:i4:4 i32:8
holds check-memory-values h.npy "8 8 8 8"

# Errors, one line each.
sed 's/st.global.u32 .*/trap;/; s/fill/stop/' fill.ptx > trap.ptx
expect trap 1 "^error: 'trap.ptx': kernel 'stop': execution failed: .*\(CUDA_ERROR_[A-Z_]*, [0-9]+\)$" \
  "$launch" trap.ptx --grid=1 --block=4 out:t.npy:i4:4 i32:7
sed 's/st.global.u32 .*/{ .reg .b64 %zero; mov.b64 %zero, 0; st.global.u32 [%zero], %r0; }/; s/fill/null/' fill.ptx > null.ptx
expect fault 1 "^error: 'null.ptx': kernel 'null': execution failed: .*\(CUDA_ERROR_ILLEGAL_ADDRESS, 700\)$" \
  "$launch" null.ptx --grid=1 --block=4 out:t.npy:i4:4 i32:7
sed 's/.version 7.0/.version 9.9/' fill.ptx > new.ptx
expect new-ptx 1 "^error: 'new.ptx': (expected a PTX version that the driver's CUDA [0-9.]+ knows, got .version 9.9|cannot compile the PTX: .*[Vv]ersion)" \
  "$launch" new.ptx --grid=1 --block=4 out:t.npy:i4:4 i32:7
sed 's/sm_80/sm_999/' fill.ptx > chip.ptx
expect wrong-chip 1 "^error: 'chip.ptx': (expected a .target that runs on the card's sm_[0-9]+, got .target sm_999|cannot compile the PTX: .*target)" \
  "$launch" chip.ptx --grid=1 --block=4 out:t.npy:i4:4 i32:7
sed 's/ld.param.u32/ld.nonsense/' fill.ptx > broken.ptx
expect broken-ptx 1 "^error: 'broken.ptx': cannot compile the PTX: " \
  "$launch" broken.ptx --grid=1 --block=4 out:t.npy:i4:4 i32:7
cat > huge.json <<'X'
{"version": 1, "target": "sm_80", "workspace": 4000000000000,
 "kernels": [{"name": "fill", "grid": [1, 1, 1], "block": [4, 1, 1], "cluster": [1, 1, 1],
              "shared": 0, "params": [{"result": 0}, {"arg": 0}]}]}
X
expect out-of-memory 1 "^error: 'fill.ptx': cannot allocate 4000000000000 bytes on the card, which has [0-9]+ free of [0-9]+: out of memory \(CUDA_ERROR_OUT_OF_MEMORY, 2\)$" \
  "$launch" fill.ptx --launch-info=huge.json i32:7 out:t.npy:i4:4
expect no-card 1 '^error: cannot find a CUDA device: .*\(CUDA_ERROR_NO_DEVICE, 100\)$' \
  env CUDA_VISIBLE_DEVICES= "$launch" fill.ptx --grid=1 --block=4 out:t.npy:i4:4 i32:7
mkdir none && touch none/libcuda.so.1 none/libcuda.so
expect no-driver 1 '^error: cannot open the CUDA driver libcuda.so.1: ' \
  env LD_LIBRARY_PATH="$PWD/none" "$launch" fill.ptx --grid=1 --block=4 out:t.npy:i4:4 i32:7
[ -e t.npy ] && bad nothing-stored t.npy || ok nothing-stored
fi

echo "$passed ok, $failed failed"
[ $failed -eq 0 ]
