// --seed draws ue4m3 scales without a sign bit, wherever they become scales;
// elements of the same type have one.

// RUN: rm -rf %t && mkdir %t
// RUN: blockscale-run %s --entry=scales --seed=1 -o %t/0.npy -o %t/1.npy -o %t/2.npy -o %t/3.npy -o %t/d.npy
// RUN: %python -c "import numpy; [print(i, numpy.load('%t/%%d.npy' %% i).max()) for i in range(4)]" | FileCheck %s
// CHECK:      0 126
// CHECK-NEXT: 1 126
// CHECK-NEXT: 2 126
// CHECK-NEXT: 3 254

!x = tensor<64x128xf4E2M1FN>
!xs = tensor<64x8xf8E4M3FN>
!y = tensor<128x64xf4E2M1FN>
!ys = tensor<8x64xf8E4M3FN>
!d = tensor<64x64xf32>

func.func private @product(%x: !x, %s: !xs, %y: !y, %t: !ys, %acc: !d) -> !d {
  %d = blockscale.mma_scaled %x, %s, %y, %t, %acc : !x, !xs, !y, !ys, !d
  return %d : !d
}

func.func @scales(%x: !x, %called: !xs, %y: !y, %rows: tensor<64x8xf8E4M3FN>, %acc: !d,
                  %swizzled: tensor<1x2x32x16xf8E4M3FN>, %elements: tensor<64x64xf8E4M3FN>)
    -> (!xs, tensor<64x8xf8E4M3FN>, tensor<1x2x32x16xf8E4M3FN>, tensor<64x64xf8E4M3FN>, !d) {
  %e = tensor.empty() : !ys
  %t = linalg.transpose ins(%rows : tensor<64x8xf8E4M3FN>) outs(%e : !ys) permutation = [1, 0]
  %c = call @product(%x, %called, %y, %t, %acc) : (!x, !xs, !y, !ys, !d) -> !d
  %u = blockscale.unswizzle_scales %swizzled : tensor<1x2x32x16xf8E4M3FN> to !xs
  %d = blockscale.mma_scaled %x, %u, %y, %t, %c : !x, !xs, !y, !ys, !d
  return %called, %rows, %swizzled, %elements, %d
      : !xs, tensor<64x8xf8E4M3FN>, tensor<1x2x32x16xf8E4M3FN>, tensor<64x64xf8E4M3FN>, !d
}
