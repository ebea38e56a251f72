// What an argument says of its dynamic sizes is asserted, and then believed:
// bulk copies bring rows that are whole 16 bytes as they are.

// RUN: blockscale-opt %s --split-input-file --blockscale-select-path --blockscale-legalize --blockscale-select-schedule --blockscale-form-kernels --canonicalize -verify-diagnostics | FileCheck %s

// CHECK-LABEL: func.func @said(
// CHECK-SAME:    %[[X:.*]]: tensor<?x?xf16> {blockscale.multiples = array<i64: 1, 8>}, %[[Y:.*]]: tensor<?x?xf16> {blockscale.multiples = array<i64: 1, 16>},
// CHECK-DAG:     %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG:     %[[C8:.*]] = arith.constant 8 : index
// CHECK-DAG:     %[[C1:.*]] = arith.constant 1 : index
// CHECK:         %[[K:.*]] = tensor.dim %[[X]], %[[C1]]
// CHECK:         %[[REST:.*]] = arith.remui %[[K]], %[[C8]]
// CHECK:         %[[IS:.*]] = arith.cmpi eq, %[[REST]], %[[C0]]
// CHECK:         cf.assert %[[IS]], "argument #0 of 'said': expected a multiple of 8 as size of dimension 1"
// CHECK:         cf.assert %{{.*}}, "argument #1 of 'said': expected a multiple of 16 as size of dimension 1"
// CHECK-NOT:     tensor.pad
// CHECK:         blockscale.launch {{.*}} ins(%[[X]], %[[Y]],

module attributes {blockscale.target = #blockscale.target<sm_90a>} {
  func.func @said(%x: tensor<?x?xf16> {blockscale.multiples = array<i64: 1, 8>},
                  %y: tensor<?x?xf16> {blockscale.multiples = array<i64: 1, 16>}, %acc: tensor<?x?xf32>) -> tensor<?x?xf32> {
    %d = linalg.matmul ins(%x, %y : tensor<?x?xf16>, tensor<?x?xf16>) outs(%acc : tensor<?x?xf32>) -> tensor<?x?xf32>
    return %d : tensor<?x?xf32>
  }
}

// -----

// Rows of 8 bytes are copied.

// CHECK-LABEL: func.func @too_little(
// CHECK:         tensor.pad

module attributes {blockscale.target = #blockscale.target<sm_90a>} {
  func.func @too_little(%x: tensor<?x?xf16> {blockscale.multiples = array<i64: 1, 4>},
                        %y: tensor<?x64xf16>, %acc: tensor<?x64xf32>) -> tensor<?x64xf32> {
    // expected-remark@+1 {{x is copied first, for bulk copies: expected rows of a multiple of 16 bytes}}
    %d = linalg.matmul ins(%x, %y : tensor<?x?xf16>, tensor<?x64xf16>) outs(%acc : tensor<?x64xf32>) -> tensor<?x64xf32>
    return %d : tensor<?x64xf32>
  }
}

// -----

module attributes {blockscale.target = #blockscale.target<sm_90a>} {
  // expected-error@+1 {{argument #1: expected 'blockscale.multiples' to have a number of at least 1 for each dimension, such as array<i64: 1, 32>, got array<i64: 8> for 'tensor<?x8xf32>'}}
  func.func @rank(%x: f32, %y: tensor<?x8xf32> {blockscale.multiples = array<i64: 8>}) {
    return
  }
}

// -----

module attributes {blockscale.target = #blockscale.target<sm_90a>} {
  // expected-error@+1 {{argument #0: expected 'blockscale.multiples' to have a number of at least 1 for each dimension, such as array<i64: 1, 32>, got array<i64: 0, 1> for 'tensor<?x8xf32>'}}
  func.func @zero(%x: tensor<?x8xf32> {blockscale.multiples = array<i64: 0, 1>}) {
    return
  }
}

// -----

module attributes {blockscale.target = #blockscale.target<sm_90a>} {
  // expected-error@+1 {{argument #0: expected 'blockscale.multiples' to have a number of at least 1 for each dimension, such as array<i64: 1, 32>, got 8 : i64 for 'f32'}}
  func.func @scalar(%x: f32 {blockscale.multiples = 8 : i64}) {
    return
  }
}

// -----

module attributes {blockscale.target = #blockscale.target<sm_90a>} {
  // expected-error@+1 {{argument #0: expected a multiple of 32 as size of dimension 1, got 40}}
  func.func @static(%x: tensor<?x40xf32> {blockscale.multiples = array<i64: 1, 32>}) {
    return
  }
}
