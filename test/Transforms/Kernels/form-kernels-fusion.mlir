// Elementwise ops before and after an mma_scaled are part of its kernel.

// RUN: blockscale-opt %s --blockscale-legalize --blockscale-form-kernels -split-input-file | FileCheck %s

#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
#column = affine_map<(i, j) -> (j)>

// The accumulator is made from a value for each row; the result gets one for
// each column, and another type. Sizes are whole tiles.

// CHECK-LABEL: func.func @both(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<64x128xf8E4M3FN>, {{.*}}, %{{[a-z0-9]+}}: tensor<64x64xf32>, %[[R:[a-z0-9]+]]: tensor<64xf32>, %[[Q:[a-z0-9]+]]: tensor<64xf32>)
// CHECK-NOT:     linalg.generic
// CHECK:         blockscale.launch {{.*}} ins(%[[X]], %{{.*}}, %{{.*}}, %{{.*}}, %[[R]], %[[Q]] : {{.*}}) outs(%{{.*}} : tensor<64x64xf16>) -> tensor<64x64xf16>
// CHECK-NOT:     linalg.generic
// CHECK:       gpu.func @both__mma_scaled(
// CHECK-SAME:    %[[R:[a-z0-9]+]]: memref<64xf32>, %[[Q:[a-z0-9]+]]: memref<64xf32>, %[[D:[a-z0-9]+]]: memref<64x64xf16>)
// CHECK-DAG:     %[[SIZE:.*]] = arith.constant 64 : index
// CHECK:         %[[ACC:.*]] = blockscale.acc_generate at(%[[FIRST:.*]], %[[FIRST_N:.*]]) of(%[[SIZE]], %[[SIZE]]) in_bounds {
// CHECK-NEXT:    ^bb0(%[[ROW:.*]]: index, %[[COLUMN:.*]]: index):
// CHECK-NEXT:      %[[V:.*]] = memref.load %[[R]][%[[ROW]]]
// CHECK-NEXT:      %[[N:.*]] = arith.negf %[[V]] : f32
// CHECK-NEXT:      blockscale.yield %[[N]] : f32
// CHECK:         %[[SUM:.*]]:3 = scf.for {{.*}} iter_args(%{{.*}} = %[[ACC]],
// CHECK:         blockscale.acc_for_each %[[SUM]]#0 at(%[[FIRST]], %[[FIRST_N]]) of(%[[SIZE]], %[[SIZE]]) in_bounds aligned {
// CHECK-NEXT:    ^bb0(%[[E:.*]]: f32, %[[ROW:.*]]: index, %[[COLUMN:.*]]: index):
// CHECK-NEXT:      %[[V:.*]] = memref.load %[[Q]][%[[COLUMN]]]
// CHECK-NEXT:      %[[P:.*]] = arith.mulf %[[E]], %[[V]] : f32
// CHECK-NEXT:      %[[H:.*]] = arith.truncf %[[P]] : f32 to f16
// CHECK-NEXT:      memref.store %[[H]], %[[D]][%[[ROW]], %[[COLUMN]]]
// CHECK-NEXT:      blockscale.yield{{$}}
// CHECK-NOT:     blockscale.acc_store
func.func @both(
    %x: tensor<64x128xf8E4M3FN>, %sx: tensor<64x4xf8E8M0FNU>,
    %y: tensor<128x64xf8E5M2>, %sy: tensor<4x64xf8E8M0FNU>,
    %c: tensor<64x64xf32>, %r: tensor<64xf32>, %q: tensor<64xf32>) -> tensor<64x64xf16> {
  %empty = tensor.empty() : tensor<64x64xf32>
  %acc = linalg.generic
      {indexing_maps = [#row, #id],
       iterator_types = ["parallel", "parallel"]}
      ins(%r : tensor<64xf32>)
      outs(%empty : tensor<64x64xf32>) {
  ^bb0(%e: f32, %o: f32):
    %n = arith.negf %e : f32
    linalg.yield %n : f32
  } -> tensor<64x64xf32>
  %d = blockscale.mma_scaled %x, %sx, %y, %sy, %acc
       {blockscale.path = #blockscale.path<mma_sync>,
        blockscale.schedule = #blockscale.multistage_schedule<
            tile = [64, 64, 128], warps = [2, 2], stages = 1>}
       : tensor<64x128xf8E4M3FN>, tensor<64x4xf8E8M0FNU>,
         tensor<128x64xf8E5M2>, tensor<4x64xf8E8M0FNU>, tensor<64x64xf32>
  %half = tensor.empty() : tensor<64x64xf16>
  %f = linalg.generic
      {indexing_maps = [#id, #column, #id],
       iterator_types = ["parallel", "parallel"]}
      ins(%d, %q : tensor<64x64xf32>, tensor<64xf32>)
      outs(%half : tensor<64x64xf16>) {
  ^bb0(%e: f32, %v: f32, %o: f16):
    %p = arith.mulf %e, %v : f32
    %h = arith.truncf %p : f32 to f16
    linalg.yield %h : f16
  } -> tensor<64x64xf16>
  return %f : tensor<64x64xf16>
}

// -----

#id = affine_map<(i, j) -> (i, j)>

// Parts of tiles, a constant from around the op, and the position.

// CHECK-LABEL: gpu.func @guarded__mma_scaled(
// CHECK-DAG:     %[[M:.*]] = arith.constant 40 : index
// CHECK-DAG:     %[[N:.*]] = arith.constant 24 : index
// CHECK:         blockscale.acc_load %{{.*}}] :
// CHECK:         blockscale.acc_for_each %{{.*}} at(%{{.*}}, %{{.*}}) of(%[[M]], %[[N]]) {
// CHECK-NEXT:    ^bb0(%[[E:.*]]: f32, %[[ROW:.*]]: index, %[[COLUMN:.*]]: index):
// CHECK:           %[[I:.*]] = arith.index_castui %[[COLUMN]] : index to i32
// CHECK:           arith.uitofp %[[I]]
// CHECK:           %[[P:.*]] = arith.mulf %[[E]], %cst
// CHECK:           memref.store
func.func @guarded(
    %x: tensor<40x128xf8E4M3FN>, %sx: tensor<40x4xf8E8M0FNU>,
    %y: tensor<128x24xf8E5M2>, %sy: tensor<4x24xf8E8M0FNU>,
    %c: tensor<40x24xf32>) -> tensor<40x24xf32> {
  %half = arith.constant 0.5 : f32
  %d = blockscale.mma_scaled %x, %sx, %y, %sy, %c
       {blockscale.path = #blockscale.path<mma_sync>,
        blockscale.schedule = #blockscale.multistage_schedule<
            tile = [64, 64, 128], warps = [2, 2], stages = 1>}
       : tensor<40x128xf8E4M3FN>, tensor<40x4xf8E8M0FNU>,
         tensor<128x24xf8E5M2>, tensor<4x24xf8E8M0FNU>, tensor<40x24xf32>
  %empty = tensor.empty() : tensor<40x24xf32>
  %f = linalg.generic
      {indexing_maps = [#id, #id],
       iterator_types = ["parallel", "parallel"]}
      ins(%d : tensor<40x24xf32>)
      outs(%empty : tensor<40x24xf32>) {
  ^bb0(%e: f32, %o: f32):
    %j = linalg.index 1 : index
    %i = arith.index_castui %j : index to i32
    %k = arith.uitofp %i : i32 to f32
    %p = arith.mulf %e, %half : f32
    %s = arith.addf %p, %k : f32
    linalg.yield %s : f32
  } -> tensor<40x24xf32>
  return %f : tensor<40x24xf32>
}

// -----

#id = affine_map<(i, j, k) -> (i, j, k)>
#shared = affine_map<(i, j, k) -> (j, k)>

// In a batch, the position has the block's z.

// CHECK-LABEL: gpu.func @batch__mma_scaled(
// CHECK-SAME:    %[[Q:[a-z0-9]+]]: memref<32x32xf32>, %{{[a-z0-9]+}}: memref<3x32x32xf32>, %[[D:[a-z0-9]+]]: memref<3x32x32xf32>)
// CHECK-DAG:     %[[BATCH:.*]] = gpu.block_id z
// CHECK:         blockscale.acc_for_each
// CHECK-NEXT:    ^bb0(%{{.*}}: f32, %[[ROW:.*]]: index, %[[COLUMN:.*]]: index):
// CHECK-NEXT:      memref.load %[[Q]][%[[ROW]], %[[COLUMN]]]
// CHECK:           memref.store %{{.*}}, %[[D]][%[[BATCH]], %[[ROW]], %[[COLUMN]]]
func.func @batch(
    %x: tensor<3x32x128xf8E4M3FN>, %sx: tensor<3x32x4xf8E8M0FNU>,
    %y: tensor<128x32xf8E5M2>, %sy: tensor<4x32xf8E8M0FNU>,
    %c: tensor<3x32x32xf32>, %q: tensor<32x32xf32>) -> tensor<3x32x32xf32> {
  %d = blockscale.mma_scaled %x, %sx, %y, %sy, %c
       {blockscale.path = #blockscale.path<mma_sync>,
        blockscale.schedule = #blockscale.multistage_schedule<
            tile = [32, 32, 128], warps = [2, 2], stages = 1>}
       : tensor<3x32x128xf8E4M3FN>, tensor<3x32x4xf8E8M0FNU>,
         tensor<128x32xf8E5M2>, tensor<4x32xf8E8M0FNU>, tensor<3x32x32xf32>
  %empty = tensor.empty() : tensor<3x32x32xf32>
  %f = linalg.generic
      {indexing_maps = [#id, #shared, #id],
       iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%d, %q : tensor<3x32x32xf32>, tensor<32x32xf32>)
      outs(%empty : tensor<3x32x32xf32>) {
  ^bb0(%e: f32, %v: f32, %o: f32):
    %s = arith.addf %e, %v : f32
    linalg.yield %s : f32
  } -> tensor<3x32x32xf32>
  return %f : tensor<3x32x32xf32>
}

// -----

#id = affine_map<(i, j) -> (i, j)>

// The op reads what it replaces, a scalar operand and a scalar from around it.

// CHECK-LABEL: func.func @in_place(
// CHECK-SAME:    %[[C:[a-z0-9]+]]: tensor<64x64xf32>, %[[ALPHA:[a-z0-9]+]]: f32, %[[BETA:[a-z0-9]+]]: f32)
// CHECK:         blockscale.launch {{.*}} ins(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %[[ALPHA]], %[[C]], %[[BETA]] :
// CHECK-NOT:     linalg.generic
// CHECK:       gpu.func @in_place__mma_scaled(
// CHECK-SAME:    %[[ALPHA:[a-z0-9]+]]: f32, %[[C:[a-z0-9]+]]: memref<64x64xf32>, %[[BETA:[a-z0-9]+]]: f32, %[[D:[a-z0-9]+]]: memref<64x64xf32>)
// CHECK:         blockscale.acc_for_each
// CHECK-NEXT:    ^bb0(%[[E:.*]]: f32, %[[ROW:.*]]: index, %[[COLUMN:.*]]: index):
// CHECK-NEXT:      %[[O:.*]] = memref.load %[[C]][%[[ROW]], %[[COLUMN]]]
// CHECK-NEXT:      %[[P:.*]] = arith.mulf %[[E]], %[[ALPHA]] : f32
// CHECK-NEXT:      %[[Q:.*]] = arith.mulf %[[BETA]], %[[O]] : f32
// CHECK-NEXT:      %[[S:.*]] = arith.addf %[[P]], %[[Q]] : f32
// CHECK-NEXT:      memref.store %[[S]], %[[D]][%[[ROW]], %[[COLUMN]]]
func.func @in_place(
    %x: tensor<64x128xf8E4M3FN>, %sx: tensor<64x4xf8E8M0FNU>,
    %y: tensor<128x64xf8E5M2>, %sy: tensor<4x64xf8E8M0FNU>,
    %c: tensor<64x64xf32>, %alpha: f32, %beta: f32) -> tensor<64x64xf32> {
  %d = blockscale.mma_scaled %x, %sx, %y, %sy, %c
       {blockscale.path = #blockscale.path<mma_sync>,
        blockscale.schedule = #blockscale.multistage_schedule<
            tile = [64, 64, 128], warps = [2, 2], stages = 1>}
       : tensor<64x128xf8E4M3FN>, tensor<64x4xf8E8M0FNU>,
         tensor<128x64xf8E5M2>, tensor<4x64xf8E8M0FNU>, tensor<64x64xf32>
  %f = linalg.generic
      {indexing_maps = [#id, affine_map<(i, j) -> ()>, #id],
       iterator_types = ["parallel", "parallel"]}
      ins(%d, %alpha : tensor<64x64xf32>, f32)
      outs(%c : tensor<64x64xf32>) {
  ^bb0(%e: f32, %a: f32, %o: f32):
    %p = arith.mulf %e, %a : f32
    %q = arith.mulf %beta, %o : f32
    %s = arith.addf %p, %q : f32
    linalg.yield %s : f32
  } -> tensor<64x64xf32>
  return %f : tensor<64x64xf32>
}
