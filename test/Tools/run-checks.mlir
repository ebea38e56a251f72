// Sizes that are known at run time only are checked then: exit code 1, one
// error that names the op and the constraint, nothing stored.

// RUN: rm -rf %t && mkdir %t
// DEFINE: %{fail} = %python %S/Inputs/expect.py 1 blockscale-run %s --entry=mma -o %t/out.npy
// DEFINE: %{check} = FileCheck %s --check-prefix=MMA

// RUN: %python %S/Inputs/save.py %t/x.npy "full((3, 64), 0x38, 'u1')" %t/x_scale.npy "full((3, 2), 127, 'u1')" %t/y.npy "full((64, 5), 0x3c, 'u1')" %t/y_scale.npy "full((2, 5), 127, 'u1')" %t/acc.npy "ones((3, 5), 'f4')"
// RUN: %python %S/Inputs/save.py %t/x_empty.npy "zeros((0, 64), 'u1')" %t/x_scale_empty.npy "zeros((0, 2), 'u1')" %t/acc_empty.npy "zeros((0, 5), 'f4')"
// RUN: %python %S/Inputs/save.py %t/x_k0.npy "zeros((3, 0), 'u1')" %t/x_scale_k0.npy "zeros((3, 0), 'u1')" %t/y_k0.npy "zeros((0, 5), 'u1')" %t/y_scale_k0.npy "zeros((0, 5), 'u1')"
// RUN: %python %S/Inputs/save.py %t/x_scale_m.npy "full((2, 2), 127, 'u1')" %t/x_scale_k.npy "full((3, 4), 127, 'u1')" %t/y_k.npy "full((32, 5), 0x3c, 'u1')" %t/y_scale_n.npy "full((2, 4), 127, 'u1')" %t/y_scale_k.npy "full((1, 5), 127, 'u1')" %t/y_scale_k4.npy "full((4, 5), 127, 'u1')" %t/acc_m.npy "ones((4, 5), 'f4')" %t/acc_n.npy "ones((3, 4), 'f4')"

// RUN: blockscale-run %s --entry=mma %t/x.npy %t/x_scale.npy %t/y.npy %t/y_scale.npy %t/acc.npy | FileCheck %s --check-prefix=RIGHT --match-full-lines
// RIGHT: {{\[\[65.0, 65.0, 65.0, 65.0, 65.0\], \[65.0, 65.0, 65.0, 65.0, 65.0\], \[65.0, 65.0, 65.0, 65.0, 65.0\]\]}}

// RUN: %{fail} %t/x.npy %t/x_scale_m.npy %t/y.npy %t/y_scale.npy %t/acc.npy 2>&1 | %{check} -DWHAT="x_scale to have the M of x"
// RUN: %{fail} %t/x.npy %t/x_scale.npy %t/y.npy %t/y_scale_n.npy %t/acc.npy 2>&1 | %{check} -DWHAT="y_scale to have the N of y"
// RUN: %{fail} %t/x.npy %t/x_scale.npy %t/y_k.npy %t/y_scale.npy %t/acc.npy 2>&1 | %{check} -DWHAT="y to have the K of x"
// RUN: %{fail} %t/x.npy %t/x_scale.npy %t/y.npy %t/y_scale_k.npy %t/acc.npy 2>&1 | %{check} -DWHAT="y_scale to have the K_s of x_scale"
// RUN: %{fail} %t/x.npy %t/x_scale.npy %t/y.npy %t/y_scale.npy %t/acc_m.npy 2>&1 | %{check} -DWHAT="acc to have the M of x"
// RUN: %{fail} %t/x.npy %t/x_scale.npy %t/y.npy %t/y_scale.npy %t/acc_n.npy 2>&1 | %{check} -DWHAT="acc to have the N of y"
// RUN: %{fail} %t/x.npy %t/x_scale_k.npy %t/y.npy %t/y_scale_k4.npy %t/acc.npy 2>&1 | %{check} -DWHAT="K to be K_s times the block size, 32"
// RUN: blockscale-run %s --entry=mma %t/x_empty.npy %t/x_scale_empty.npy %t/y.npy %t/y_scale.npy %t/acc_empty.npy | FileCheck %s --check-prefix=EMPTY --match-full-lines
// EMPTY: []
// RUN: %{fail} %t/x_k0.npy %t/x_scale_k0.npy %t/y_k0.npy %t/y_scale_k0.npy %t/acc.npy 2>&1 | %{check} -DWHAT="K to be at least 1"
// RUN: test ! -e %t/out.npy
// MMA: {{^}}error: check failed at run time:
// MMA: blockscale.mma_scaled
// MMA: expected [[WHAT]]{{$}}
// MMA: run-checks.mlir
// MMA-NOT: error:
func.func @mma(%x: tensor<?x?xf8E4M3FN>, %x_scale: tensor<?x?xf8E8M0FNU>,
               %y: tensor<?x?xf8E5M2>, %y_scale: tensor<?x?xf8E8M0FNU>,
               %acc: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc {block_size = 32}
       : tensor<?x?xf8E4M3FN>, tensor<?x?xf8E8M0FNU>, tensor<?x?xf8E5M2>,
         tensor<?x?xf8E8M0FNU>, tensor<?x?xf32>
  return %d : tensor<?x?xf32>
}

// DEFINE: %{batches} = %python %S/Inputs/expect.py 1 blockscale-run %s --entry=batches
// RUN: %python %S/Inputs/save.py %t/x_1.npy "full((1, 1, 32), 0x38, 'u1')" %t/s_1.npy "full((1, 1, 1), 127, 'u1')" %t/y_1.npy "full((1, 32, 1), 0x3c, 'u1')" %t/acc_1.npy "ones((1, 1, 1), 'f4')"
// RUN: %python %S/Inputs/save.py %t/x_3.npy "full((3, 1, 32), 0x38, 'u1')" %t/s_3.npy "full((3, 1, 1), 127, 'u1')" %t/y_3.npy "full((3, 32, 1), 0x3c, 'u1')" %t/acc_3.npy "ones((3, 1, 1), 'f4')"
// RUN: %python %S/Inputs/save.py %t/y_2.npy "full((2, 32, 1), 0x3c, 'u1')" %t/s_2.npy "full((2, 1, 1), 127, 'u1')"
// RUN: blockscale-run %s --entry=batches %t/x_1.npy %t/s_1.npy %t/y_3.npy %t/s_3.npy %t/acc_3.npy | FileCheck %s --check-prefix=BROADCAST --match-full-lines
// RUN: blockscale-run %s --entry=batches %t/x_3.npy %t/s_3.npy %t/y_1.npy %t/s_1.npy %t/acc_3.npy | FileCheck %s --check-prefix=BROADCAST --match-full-lines
// BROADCAST: {{\[\[\[33.0\]\], \[\[33.0\]\], \[\[33.0\]\]\]}}
// RUN: %{batches} %t/x_3.npy %t/s_3.npy %t/y_2.npy %t/s_2.npy %t/acc_3.npy 2>&1 | %{check} -DWHAT="the batches of x and y to be 1 or that of acc"
// RUN: %{batches} %t/x_3.npy %t/s_3.npy %t/y_3.npy %t/s_3.npy %t/acc_1.npy 2>&1 | %{check} -DWHAT="the batches of x and y to be 1 or that of acc"
// RUN: %{batches} %t/x_1.npy %t/s_1.npy %t/y_1.npy %t/s_1.npy %t/acc_3.npy 2>&1 | %{check} -DWHAT="acc to have the batch of x and y"
// RUN: %{batches} %t/x_3.npy %t/s_1.npy %t/y_3.npy %t/s_3.npy %t/acc_3.npy 2>&1 | %{check} -DWHAT="x_scale to have the batch of x"
func.func @batches(%x: tensor<?x1x32xf8E4M3FN>, %x_scale: tensor<?x1x1xf8E8M0FNU>,
                   %y: tensor<?x32x1xf8E5M2>, %y_scale: tensor<?x1x1xf8E8M0FNU>,
                   %acc: tensor<?x1x1xf32>) -> tensor<?x1x1xf32> {
  %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
       : tensor<?x1x32xf8E4M3FN>, tensor<?x1x1xf8E8M0FNU>,
         tensor<?x32x1xf8E5M2>, tensor<?x1x1xf8E8M0FNU>, tensor<?x1x1xf32>
  return %d : tensor<?x1x1xf32>
}

// DEFINE: %{unswizzle} = %python %S/Inputs/expect.py 1 blockscale-run %s --entry=unswizzle
// DEFINE: %{check_unswizzle} = FileCheck %s --check-prefix=UNSWIZZLE
// RUN: %python %S/Inputs/save.py %t/t.npy "arange(512, dtype='u1').reshape(1, 1, 32, 16)" %t/m2.npy "array(2)" %t/m129.npy "array(129)" %t/k3.npy "array(3)" %t/k5.npy "array(5)" %t/0.npy "array(0)" %t/-1.npy "array(-1)" %t/max.npy "array(2**63 - 1)"
// RUN: blockscale-run %s --entry=unswizzle %t/t.npy %t/m2.npy %t/k3.npy | FileCheck %s --check-prefix=UNSWIZZLED --match-full-lines
// UNSWIZZLED: {{\[\[0, 1, 2\], \[16, 17, 18\]\]}}
// RUN: %{unswizzle} %t/t.npy %t/m129.npy %t/k3.npy 2>&1 | %{check_unswizzle} -DWHAT="sizes that round up to the atoms of the source"
// RUN: %{unswizzle} %t/t.npy %t/m2.npy %t/k5.npy 2>&1 | %{check_unswizzle} -DWHAT="sizes that round up to the atoms of the source"
// RUN: %{unswizzle} %t/t.npy %t/max.npy %t/k3.npy 2>&1 | %{check_unswizzle} -DWHAT="sizes that round up to the atoms of the source"
// RUN: %{unswizzle} %t/t.npy %t/-1.npy %t/k3.npy 2>&1 | %{check_unswizzle} -DWHAT="sizes of at least 0, and K_s of at least 1"
// RUN: %{unswizzle} %t/t.npy %t/m2.npy %t/0.npy 2>&1 | %{check_unswizzle} -DWHAT="sizes of at least 0, and K_s of at least 1"
// UNSWIZZLE: {{^}}error: check failed at run time:
// UNSWIZZLE: blockscale.unswizzle_scales
// UNSWIZZLE: expected [[WHAT]]{{$}}
// UNSWIZZLE: run-checks.mlir
// UNSWIZZLE-NOT: error:
func.func @unswizzle(%t: tensor<?x?x32x16xf8E8M0FNU>, %m: index, %k: index)
    -> tensor<?x?xf8E8M0FNU> {
  %s = blockscale.unswizzle_scales %t sizes(%m, %k)
       : tensor<?x?x32x16xf8E8M0FNU> to tensor<?x?xf8E8M0FNU>
  return %s : tensor<?x?xf8E8M0FNU>
}

// Assertions of the program itself.
// RUN: %python %S/Inputs/save.py %t/true.npy "array(1, 'u1')" %t/false.npy "array(0, 'u1')"
// RUN: blockscale-run %s --entry=assertion %t/true.npy | count 1
// RUN: %python %S/Inputs/expect.py 1 blockscale-run %s --entry=assertion %t/false.npy 2>&1 | FileCheck %s --check-prefix=ASSERTION
// ASSERTION:      {{^}}error: check failed at run time:
// ASSERTION-NEXT: expected true
// ASSERTION-NOT:  {{.}}
func.func @assertion(%condition: i1) -> i1 {
  cf.assert %condition, "expected true"
  return %condition : i1
}
