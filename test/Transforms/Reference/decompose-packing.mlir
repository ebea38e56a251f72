// The semantics of pack and unpack: rows are little-endian streams of bits.

// RUN: blockscale-opt %s --blockscale-decompose -split-input-file | FileCheck %s

// CHECK-LABEL: func @unpack_fp4(
// CHECK-SAME:    %[[BYTES:.*]]: tensor<3x16xi8>)
// CHECK-DAG:     %[[LESS_BYTES:.*]] = arith.constant -8 : index
// CHECK-DAG:     %[[BITS:.*]] = arith.constant 4 : index
// CHECK-DAG:     %[[PER_BYTE:.*]] = arith.constant 2 : index
// CHECK:         linalg.generic {{.*}} outs(%{{.*}} : tensor<3x32xf4E2M1FN>)
// CHECK:           %[[ROW:.*]] = linalg.index 0
// CHECK:           %[[COLUMN:.*]] = linalg.index 1
// CHECK:           %[[AT:.*]] = arith.divui %[[COLUMN]], %[[PER_BYTE]]
// CHECK:           %[[BIT:.*]] = arith.muli %[[COLUMN]], %[[BITS]]
// CHECK:           %[[BEFORE:.*]] = arith.muli %{{.*}}, %[[LESS_BYTES]]
// CHECK-NEXT:      %[[IN_BYTE:.*]] = arith.addi %[[BIT]], %[[BEFORE]]
// CHECK:           tensor.extract %[[BYTES]][%[[ROW]], %[[AT]]]
// CHECK:           %[[SHIFT:.*]] = arith.index_castui %[[IN_BYTE]]
// CHECK-NEXT:      arith.shrui %{{.*}}, %[[SHIFT]]
// CHECK:           %[[CODE:.*]] = arith.trunci %{{.*}} : i8 to i4
// CHECK-NEXT:      %[[ELEMENT:.*]] = arith.bitcast %[[CODE]] : i4 to f4E2M1FN
// CHECK-NEXT:      linalg.yield %[[ELEMENT]]
func.func @unpack_fp4(%bytes: tensor<3x16xi8>) -> tensor<3x32xf4E2M1FN> {
  %x = blockscale.unpack %bytes : tensor<3x16xi8> to tensor<3x32xf4E2M1FN>
  return %x : tensor<3x32xf4E2M1FN>
}

// -----

// A code of six bits may extend over two bytes.

// CHECK-LABEL: func @unpack_fp6(
// CHECK-SAME:    %[[BYTES:.*]]: tensor<3x24xi8>)
// CHECK-COUNT-2:   tensor.extract %[[BYTES]]
// CHECK:           arith.trunci %{{.*}} : i8 to i6
// CHECK-NEXT:      arith.bitcast %{{.*}} : i6 to f6E2M3FN
func.func @unpack_fp6(%bytes: tensor<3x24xi8>) -> tensor<3x32xf6E2M3FN> {
  %x = blockscale.unpack %bytes : tensor<3x24xi8> to tensor<3x32xf6E2M3FN>
  return %x : tensor<3x32xf6E2M3FN>
}

// -----

// A byte holds two fp4 elements, the even one in the low nibble.

// CHECK-LABEL: func @pack_fp4(
// CHECK-SAME:    %[[X:.*]]: tensor<3x32xf4E2M1FN>)
// CHECK-DAG:     %[[ONE:.*]] = arith.constant 1 : index
// CHECK-DAG:     %[[TWO:.*]] = arith.constant 2 : index
// CHECK:           %[[COLUMN:.*]] = linalg.index 1
// CHECK-NEXT:      %[[EVEN:.*]] = arith.muli %[[COLUMN]], %[[TWO]]
// CHECK-NEXT:      %[[TWICE:.*]] = arith.muli %[[COLUMN]], %[[TWO]]
// CHECK-NEXT:      %[[ODD:.*]] = arith.addi %[[TWICE]], %[[ONE]]
// CHECK:           tensor.extract %[[X]][%{{.*}}, %[[EVEN]]]
// CHECK:           %[[LOW:.*]] = arith.extui %{{.*}} : i4 to i16
// CHECK:           tensor.extract %[[X]][%{{.*}}, %[[ODD]]]
// CHECK:           %[[HIGH:.*]] = arith.extui %{{.*}} : i4 to i16
// CHECK:           %[[MOVED:.*]] = arith.shli %[[HIGH]],
// CHECK-NEXT:      arith.ori %{{.*}}, %[[MOVED]]
func.func @pack_fp4(%x: tensor<3x32xf4E2M1FN>) -> tensor<3x16xi8> {
  %bytes = blockscale.pack %x : tensor<3x32xf4E2M1FN> to tensor<3x16xi8>
  return %bytes : tensor<3x16xi8>
}
