// Operands that tensor maps cannot be of are copied first, with a remark.

// RUN: blockscale-opt %s --blockscale-attach-target=target=sm_90a --blockscale-select-path --blockscale-legalize --blockscale-select-schedule --blockscale-form-kernels -verify-diagnostics | FileCheck %s

// K is made contiguous, and 16 bytes of it are whole.

// CHECK-LABEL: func.func @padded_rows(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<30x20xbf16>, %[[Y:[a-z0-9]+]]: tensor<20x31xbf16>,
// CHECK-DAG:     %[[X_PADDED:.*]] = tensor.pad %[[X]] low[0, 0] high[0, 4]
// CHECK-DAG:     %[[YT:.*]] = blockscale.launch @{{.*}}::@padded_rows__transpose {{.*}} ins(%[[Y]] : tensor<20x31xbf16>) outs(%{{.*}} : tensor<31x20xbf16>)
// CHECK-DAG:     %[[Y_PADDED:.*]] = tensor.pad %[[YT]] low[0, 0] high[0, 4]
// CHECK:         blockscale.launch {{.*}} ins(%[[X_PADDED]], %[[Y_PADDED]], %{{.*}} : tensor<30x24xbf16>, tensor<31x24xbf16>,
func.func @padded_rows(%x: tensor<30x20xbf16>, %y: tensor<20x31xbf16>, %acc: tensor<30x31xf32>) -> tensor<30x31xf32> {
  // expected-remark@+2 {{x is copied first, for bulk copies: expected rows of a multiple of 16 bytes}}
  // expected-remark@+1 {{y is copied first, for bulk copies: expected rows of a multiple of 16 bytes}}
  %0 = linalg.matmul ins(%x, %y : tensor<30x20xbf16>, tensor<20x31xbf16>) outs(%acc : tensor<30x31xf32>) -> tensor<30x31xf32>
  return %0 : tensor<30x31xf32>
}

// CHECK-LABEL: func.func @constant(
// CHECK:         linalg.copy
// CHECK:         blockscale.launch
func.func @constant(%x: tensor<30x32xbf16>, %acc: tensor<30x32xf32>) -> tensor<30x32xf32> {
  %y = arith.constant dense<2.0> : tensor<32x32xbf16>
  // expected-remark@+1 {{y is copied first, for bulk copies: there are no tensor maps of constants}}
  %0 = linalg.matmul ins(%x, %y : tensor<30x32xbf16>, tensor<32x32xbf16>) outs(%acc : tensor<30x32xf32>) -> tensor<30x32xf32>
  return %0 : tensor<30x32xf32>
}

// Neither rows nor columns of each matrix are contiguous.

// CHECK-LABEL: func.func @batch_inside(
// CHECK:         blockscale.launch
func.func @batch_inside(%x: tensor<24x32x8xbf16>, %y: tensor<8x32x16xbf16>, %acc: tensor<8x24x16xf32>)
    -> tensor<8x24x16xf32> {
  %e = tensor.empty() : tensor<8x24x32xbf16>
  %t = linalg.transpose ins(%x : tensor<24x32x8xbf16>) outs(%e : tensor<8x24x32xbf16>) permutation = [2, 0, 1]
  // expected-remark@+1 {{x is copied first, for bulk copies: expected the rows or the columns of each matrix to be contiguous}}
  %0 = linalg.batch_matmul ins(%t, %y : tensor<8x24x32xbf16>, tensor<8x32x16xbf16>) outs(%acc : tensor<8x24x16xf32>)
       -> tensor<8x24x16xf32>
  return %0 : tensor<8x24x16xf32>
}

// Dynamic sizes that do not fit are found first, in front of all else.

// CHECK-LABEL: func.func @dynamic(
// CHECK:         cf.assert %{{.*}}, "{{.*}}expected size 0 of operand #1 to fit the loops over it
// CHECK:         cf.assert %{{.*}}, "{{.*}}expected size 0 of operand #2 to fit the loops over it
// CHECK:         cf.assert %{{.*}}, "{{.*}}expected size 1 of operand #2 to fit the loops over it
// CHECK-NOT:     index.
// CHECK:         blockscale.launch @kernels::@dynamic__matmul
func.func @dynamic(%x: tensor<?x?xbf16>, %y: tensor<?x?xbf16>, %acc: tensor<?x?xf32>) -> tensor<?x?xf32> {
  // expected-remark@+2 {{x is copied first, for bulk copies: expected rows of a multiple of 16 bytes}}
  // expected-remark@+1 {{y is copied first, for bulk copies: expected rows of a multiple of 16 bytes}}
  %0 = linalg.matmul ins(%x, %y : tensor<?x?xbf16>, tensor<?x?xbf16>) outs(%acc : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}
