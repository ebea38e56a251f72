// Without a workspace, the kernel of a grouped product quantizes its result: there
// are none among which the launch would choose.

// RUN: blockscale-compile %s --target=sm_120a --no-workspace 2>/dev/null | FileCheck %s
// CHECK-COUNT-2: .visible .entry main
// CHECK-NOT:     .visible .entry

func.func @main(%x: tensor<?x128xf8E4M3FN>, %xs: tensor<?x4xf8E8M0FNU>, %y: tensor<4x128x128xf8E4M3FN>,
                %ys: tensor<4x4x128xf8E8M0FNU>, %o: tensor<4xi32>, %acc: tensor<?x128xf32>)
    -> (tensor<?x128xf8E4M3FN>, tensor<?x4xf8E8M0FNU>) {
  %d = blockscale.grouped_mma_scaled %x, %xs, %y, %ys, %o, %acc {block_size = 32}
      : tensor<?x128xf8E4M3FN>, tensor<?x4xf8E8M0FNU>, tensor<4x128x128xf8E4M3FN>, tensor<4x4x128xf8E8M0FNU>,
        tensor<4xi32>, tensor<?x128xf32>
  %c, %s = blockscale.quantize %d {block_size = 32 : i64}
      : tensor<?x128xf32> to tensor<?x128xf8E4M3FN>, tensor<?x4xf8E8M0FNU>
  return %c, %s : tensor<?x128xf8E4M3FN>, tensor<?x4xf8E8M0FNU>
}
