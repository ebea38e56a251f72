// Sizes of results follow from those of the elements, and what they cannot say
// is checked at run time.

// RUN: blockscale-opt %s --resolve-ranked-shaped-type-result-dims --cse --canonicalize | FileCheck %s
// RUN: blockscale-opt %s --generate-runtime-verification | FileCheck %s --check-prefix=CHECKS

// CHECK-LABEL: func @sizes(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<?x?xf8E4M3FN>
// CHECK-DAG:     %[[ONE:.*]] = arith.constant 1 : index
// CHECK-DAG:     %[[M:.*]] = tensor.dim %[[X]], %c0
// CHECK-DAG:     %[[K:.*]] = tensor.dim %[[X]], %c1
// CHECK:         return %[[M]], %[[K]], %[[M]], %[[ONE]]

// CHECKS-LABEL: func @sizes(
// CHECKS:         cf.assert {{.*}}expected scales of blocks of 32 of the elements
// CHECKS:         cf.assert {{.*}}expected K to be at least 1
// CHECKS:         cf.assert {{.*}}expected scales of blocks of 32 of the elements
// CHECKS:         blockscale.rebase
func.func @sizes(%x: tensor<?x?xf8E4M3FN>, %s: tensor<?x?xf8E8M0FNU>)
    -> (index, index, index, index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r, %f = blockscale.rebase %x, %s {block_size = 32 : i64}
      : tensor<?x?xf8E4M3FN>, tensor<?x?xf8E8M0FNU>
      to tensor<?x?xf8E4M3FN>, tensor<?x1xf32>
  %rm = tensor.dim %r, %c0 : tensor<?x?xf8E4M3FN>
  %rk = tensor.dim %r, %c1 : tensor<?x?xf8E4M3FN>
  %fm = tensor.dim %f, %c0 : tensor<?x1xf32>
  %fk = tensor.dim %f, %c1 : tensor<?x1xf32>
  return %rm, %rk, %fm, %fk : index, index, index, index
}
