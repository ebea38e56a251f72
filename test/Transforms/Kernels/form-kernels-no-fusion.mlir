// Elementwise ops that stay beside the kernel.

// RUN: blockscale-opt %s --blockscale-legalize --blockscale-form-kernels -split-input-file | FileCheck %s

#id = affine_map<(i, j) -> (i, j)>

// The result is used by another op, too.

// CHECK-LABEL: func.func @used_twice(
// CHECK:         %[[D:.*]] = blockscale.launch
// CHECK:         linalg.generic {{.*}} ins(%[[D]]
// CHECK:       gpu.func @used_twice__mma_scaled(
// CHECK:         blockscale.acc_store
func.func @used_twice(
    %x: tensor<64x128xf8E4M3FN>, %sx: tensor<64x4xf8E8M0FNU>,
    %y: tensor<128x64xf8E5M2>, %sy: tensor<4x64xf8E8M0FNU>,
    %c: tensor<64x64xf32>) -> (tensor<64x64xf32>, tensor<64x64xf32>) {
  %d = blockscale.mma_scaled %x, %sx, %y, %sy, %c
       {blockscale.path = #blockscale.path<mma_sync>,
        blockscale.schedule = #blockscale.multistage_schedule<
            tile = [64, 64, 128], warps = [2, 2], stages = 1>}
       : tensor<64x128xf8E4M3FN>, tensor<64x4xf8E8M0FNU>,
         tensor<128x64xf8E5M2>, tensor<4x64xf8E8M0FNU>, tensor<64x64xf32>
  %empty = tensor.empty() : tensor<64x64xf32>
  %f = linalg.generic
      {indexing_maps = [#id, #id],
       iterator_types = ["parallel", "parallel"]}
      ins(%d : tensor<64x64xf32>)
      outs(%empty : tensor<64x64xf32>) {
  ^bb0(%e: f32, %o: f32):
    %s = arith.addf %e, %e : f32
    linalg.yield %s : f32
  } -> tensor<64x64xf32>
  return %f, %d : tensor<64x64xf32>, tensor<64x64xf32>
}

// -----

#id = affine_map<(i, j) -> (i, j)>

// Memory holds narrow floats as bytes.

// CHECK-LABEL: func.func @narrow(
// CHECK:         %[[D:.*]] = blockscale.launch
// CHECK:         linalg.generic {{.*}} ins(%[[D]]
// CHECK:       gpu.func @narrow__mma_scaled(
// CHECK:         blockscale.acc_store
func.func @narrow(
    %x: tensor<64x128xf8E4M3FN>, %sx: tensor<64x4xf8E8M0FNU>,
    %y: tensor<128x64xf8E5M2>, %sy: tensor<4x64xf8E8M0FNU>,
    %c: tensor<64x64xf32>) -> tensor<64x64xf8E5M2> {
  %d = blockscale.mma_scaled %x, %sx, %y, %sy, %c
       {blockscale.path = #blockscale.path<mma_sync>,
        blockscale.schedule = #blockscale.multistage_schedule<
            tile = [64, 64, 128], warps = [2, 2], stages = 1>}
       : tensor<64x128xf8E4M3FN>, tensor<64x4xf8E8M0FNU>,
         tensor<128x64xf8E5M2>, tensor<4x64xf8E8M0FNU>, tensor<64x64xf32>
  %narrow = tensor.empty() : tensor<64x64xf8E5M2>
  %f = linalg.generic
      {indexing_maps = [#id, #id],
       iterator_types = ["parallel", "parallel"]}
      ins(%d : tensor<64x64xf32>)
      outs(%narrow : tensor<64x64xf8E5M2>) {
  ^bb0(%e: f32, %o: f8E5M2):
    %s = arith.truncf %e : f32 to f8E5M2
    linalg.yield %s : f8E5M2
  } -> tensor<64x64xf8E5M2>
  return %f : tensor<64x64xf8E5M2>
}

// -----

#id = affine_map<(i, j) -> (i, j)>

#transposed = affine_map<(i, j) -> (j, i)>

// A lane does not hold the element that belongs there.

// CHECK-LABEL: func.func @transposed(
// CHECK:         %[[D:.*]] = blockscale.launch
// CHECK:         linalg.generic {{.*}} ins(%[[D]]
// CHECK:       gpu.func @transposed__mma_scaled(
// CHECK:         blockscale.acc_store
func.func @transposed(
    %x: tensor<64x128xf8E4M3FN>, %sx: tensor<64x4xf8E8M0FNU>,
    %y: tensor<128x64xf8E5M2>, %sy: tensor<4x64xf8E8M0FNU>,
    %c: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %d = blockscale.mma_scaled %x, %sx, %y, %sy, %c
       {blockscale.path = #blockscale.path<mma_sync>,
        blockscale.schedule = #blockscale.multistage_schedule<
            tile = [64, 64, 128], warps = [2, 2], stages = 1>}
       : tensor<64x128xf8E4M3FN>, tensor<64x4xf8E8M0FNU>,
         tensor<128x64xf8E5M2>, tensor<4x64xf8E8M0FNU>, tensor<64x64xf32>
  %empty = tensor.empty() : tensor<64x64xf32>
  %f = linalg.generic
      {indexing_maps = [#transposed, #id],
       iterator_types = ["parallel", "parallel"]}
      ins(%d : tensor<64x64xf32>)
      outs(%empty : tensor<64x64xf32>) {
  ^bb0(%e: f32, %o: f32):
    %s = arith.addf %e, %e : f32
    linalg.yield %s : f32
  } -> tensor<64x64xf32>
  return %f : tensor<64x64xf32>
}

// -----

#id = affine_map<(i, j) -> (i, j)>

#row = affine_map<(i, j) -> (i)>

// A reduction needs the elements of other lanes.

// CHECK-LABEL: func.func @reduction(
// CHECK:         %[[D:.*]] = blockscale.launch
// CHECK:         linalg.generic {{.*}} ins(%[[D]]
// CHECK:       gpu.func @reduction__mma_scaled(
// CHECK:         blockscale.acc_store
func.func @reduction(
    %x: tensor<64x128xf8E4M3FN>, %sx: tensor<64x4xf8E8M0FNU>,
    %y: tensor<128x64xf8E5M2>, %sy: tensor<4x64xf8E8M0FNU>,
    %c: tensor<64x64xf32>) -> tensor<64xf32> {
  %d = blockscale.mma_scaled %x, %sx, %y, %sy, %c
       {blockscale.path = #blockscale.path<mma_sync>,
        blockscale.schedule = #blockscale.multistage_schedule<
            tile = [64, 64, 128], warps = [2, 2], stages = 1>}
       : tensor<64x128xf8E4M3FN>, tensor<64x4xf8E8M0FNU>,
         tensor<128x64xf8E5M2>, tensor<4x64xf8E8M0FNU>, tensor<64x64xf32>
  %sums = tensor.empty() : tensor<64xf32>
  %f = linalg.generic
      {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%d : tensor<64x64xf32>) outs(%sums : tensor<64xf32>) {
  ^bb0(%e: f32, %o: f32):
    %s = arith.addf %e, %o : f32
    linalg.yield %s : f32
  } -> tensor<64xf32>
  return %f : tensor<64xf32>
}

// -----

#id = affine_map<(i, j) -> (i, j)>

// The accumulator is used by another op, too.

// CHECK-LABEL: func.func @accumulator_used_twice(
// CHECK:         %[[ACC:.*]] = linalg.generic
// CHECK:         blockscale.launch {{.*}} ins(%{{.*}}, %[[ACC]] :
// CHECK:       gpu.func @accumulator_used_twice__mma_scaled(
// CHECK:         blockscale.acc_load
func.func @accumulator_used_twice(
    %x: tensor<64x128xf8E4M3FN>, %sx: tensor<64x4xf8E8M0FNU>,
    %y: tensor<128x64xf8E5M2>, %sy: tensor<4x64xf8E8M0FNU>,
    %c: tensor<64x64xf32>) -> (tensor<64x64xf32>, tensor<64x64xf32>) {
  %empty = tensor.empty() : tensor<64x64xf32>
  %acc = linalg.generic
      {indexing_maps = [#id, #id],
       iterator_types = ["parallel", "parallel"]}
      ins(%c : tensor<64x64xf32>)
      outs(%empty : tensor<64x64xf32>) {
  ^bb0(%e: f32, %o: f32):
    %s = arith.negf %e : f32
    linalg.yield %s : f32
  } -> tensor<64x64xf32>
  %d = blockscale.mma_scaled %x, %sx, %y, %sy, %acc
       {blockscale.path = #blockscale.path<mma_sync>,
        blockscale.schedule = #blockscale.multistage_schedule<
            tile = [64, 64, 128], warps = [2, 2], stages = 1>}
       : tensor<64x128xf8E4M3FN>, tensor<64x4xf8E8M0FNU>,
         tensor<128x64xf8E5M2>, tensor<4x64xf8E8M0FNU>, tensor<64x64xf32>
  return %d, %acc : tensor<64x64xf32>, tensor<64x64xf32>
}

// -----

#id = affine_map<(i, j) -> (i, j)>

// Plain kernels take nothing over.

// CHECK-LABEL: func.func @decompose(
// CHECK:         %[[D:.*]] = blockscale.launch
// CHECK:         linalg.generic {{.*}} ins(%[[D]]
func.func @decompose(
    %x: tensor<64x128xf8E4M3FN>, %sx: tensor<64x4xf8E8M0FNU>,
    %y: tensor<128x64xf8E5M2>, %sy: tensor<4x64xf8E8M0FNU>,
    %c: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %d = blockscale.mma_scaled %x, %sx, %y, %sy, %c
       {blockscale.path = #blockscale.path<decompose>}
       : tensor<64x128xf8E4M3FN>, tensor<64x4xf8E8M0FNU>,
         tensor<128x64xf8E5M2>, tensor<4x64xf8E8M0FNU>, tensor<64x64xf32>
  %empty = tensor.empty() : tensor<64x64xf32>
  %f = linalg.generic
      {indexing_maps = [#id, #id],
       iterator_types = ["parallel", "parallel"]}
      ins(%d : tensor<64x64xf32>)
      outs(%empty : tensor<64x64xf32>) {
  ^bb0(%e: f32, %o: f32):
    %s = arith.addf %e, %e : f32
    linalg.yield %s : f32
  } -> tensor<64x64xf32>
  return %f : tensor<64x64xf32>
}
