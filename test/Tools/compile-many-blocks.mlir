// A kernel of hundreds of blocks, many of which have equal ops, compiles in
// seconds: merging these blocks would take hours.

// RUN: blockscale-compile %s --target=sm_90a --schedule=tile=64x128x128,warps=2x2,stages=2 2>/dev/null | FileCheck %s
// CHECK: .visible .entry main(

func.func @main(%x: tensor<?x?xf8E4M3FN>, %x_scale: tensor<?x?xf8E8M0FNU>, %y: tensor<?x?x?xf8E4M3FN>,
                %y_scale: tensor<?x?x?xf8E8M0FNU>, %offsets: tensor<?xi32>, %acc: tensor<?x?xf32>)
    -> tensor<?x?xf32> {
  %d = blockscale.grouped_mma_scaled %x, %x_scale, %y, %y_scale, %offsets, %acc {block_size = 32}
      : tensor<?x?xf8E4M3FN>, tensor<?x?xf8E8M0FNU>, tensor<?x?x?xf8E4M3FN>, tensor<?x?x?xf8E8M0FNU>,
        tensor<?xi32>, tensor<?x?xf32>
  return %d : tensor<?x?xf32>
}
