// RUN: blockscale-opt %s | blockscale-opt | FileCheck %s
// RUN: blockscale-opt %s --mlir-print-op-generic | blockscale-opt | FileCheck %s

// CHECK-LABEL: func.func @row
func.func @row(%x: tensor<4x96xf6E2M3FN>, %s: tensor<4x3xf8E8M0FNU>)
    -> (tensor<4x96xf8E4M3FN>, tensor<4x1xf32>) {
  // CHECK: %[[REBASED:.*]], %[[ROWS:.*]] = blockscale.rebase %{{.*}}, %{{.*}} {block_size = 32 : i64}
  // CHECK-SAME: : tensor<4x96xf6E2M3FN>, tensor<4x3xf8E8M0FNU> to tensor<4x96xf8E4M3FN>, tensor<4x1xf32>
  // CHECK: return %[[REBASED]], %[[ROWS]]
  %r, %f = blockscale.rebase %x, %s {block_size = 32 : i64}
      : tensor<4x96xf6E2M3FN>, tensor<4x3xf8E8M0FNU>
      to tensor<4x96xf8E4M3FN>, tensor<4x1xf32>
  return %r, %f : tensor<4x96xf8E4M3FN>, tensor<4x1xf32>
}

// CHECK-LABEL: func.func @dynamic_batch
func.func @dynamic_batch(%x: tensor<?x?x?xf8E5M2>, %s: tensor<?x?x?xf8E8M0FNU>)
    -> (tensor<?x?x?xf8E5M2>, tensor<?x?x1xf32>) {
  // CHECK: blockscale.rebase %{{.*}}, %{{.*}} {block_size = 16 : i64}
  %r, %f = blockscale.rebase %x, %s {block_size = 16 : i64}
      : tensor<?x?x?xf8E5M2>, tensor<?x?x?xf8E8M0FNU>
      to tensor<?x?x?xf8E5M2>, tensor<?x?x1xf32>
  return %r, %f : tensor<?x?x?xf8E5M2>, tensor<?x?x1xf32>
}

// The last block is partial.
// CHECK-LABEL: func.func @partial_block
func.func @partial_block(%x: tensor<4x40xf4E2M1FN>, %s: tensor<4x1xf8E8M0FNU>)
    -> (tensor<4x40xf8E4M3FN>, tensor<4x1xf32>) {
  // CHECK: blockscale.rebase %{{.*}}, %{{.*}} {block_size = 64 : i64}
  %r, %f = blockscale.rebase %x, %s {block_size = 64 : i64}
      : tensor<4x40xf4E2M1FN>, tensor<4x1xf8E8M0FNU>
      to tensor<4x40xf8E4M3FN>, tensor<4x1xf32>
  return %r, %f : tensor<4x40xf8E4M3FN>, tensor<4x1xf32>
}
