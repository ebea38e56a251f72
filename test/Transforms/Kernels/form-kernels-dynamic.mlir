// Dynamic sizes: checks on the host, sizes in the kernel, and two paths of
// which all blocks take the same.

// RUN: blockscale-opt %s --blockscale-legalize --blockscale-form-kernels -split-input-file | FileCheck %s

// CHECK-LABEL: func.func @two_paths(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<?x?xf8E4M3FN>, %[[X_SCALE:[a-z0-9]+]]: tensor<?x?xf8E8M0FNU>, %[[Y:[a-z0-9]+]]: tensor<?x32xf8E5M2>, %[[Y_SCALE:[a-z0-9]+]]: tensor<?x32xf8E8M0FNU>, %[[C:[a-z0-9]+]]: tensor<?x32xf32>)
// CHECK:         cf.assert %{{.*}}, "ERROR: Runtime op verification failed\0A{{.*}}\0A^ expected K to be at least 1\0ALocation: loc({{.*}})"
// CHECK:         cf.assert %{{.*}}, "{{.*}}expected x_scale to have the M of x
// CHECK:         cf.assert %{{.*}}, "{{.*}}expected y to have the K of x
// CHECK:         cf.assert %{{.*}}, "{{.*}}expected y_scale to have the K_s of x_scale
// CHECK:         cf.assert %{{.*}}, "{{.*}}expected acc to have the M of x
// CHECK:         cf.assert %{{.*}}, "{{.*}}expected K to be K_s times the block size, 32
// CHECK:         %[[M:.*]] = tensor.dim %[[X]], %c0
// CHECK:         %[[BLOCKS:.*]] = arith.ceildivui %[[M]], %c64
// CHECK:         %[[EMPTY:.*]] = tensor.empty(%[[M]]) : tensor<?x32xf32>
// CHECK:         blockscale.launch @kernels::@two_paths__mma_scaled blocks = [%[[BLOCKS]], 1, 1] threads = [64, 1, 1] ins(%[[X]], %[[X_SCALE]], %[[Y]], %[[Y_SCALE]], %[[C]] : {{.*}}) outs(%[[EMPTY]] :

// CHECK:       gpu.func @two_paths__mma_scaled(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: memref<?x?xi8>, %[[X_SCALE:[a-z0-9]+]]: memref<?x?xi8>, %[[Y:[a-z0-9]+]]: memref<?x32xi8>, %[[Y_SCALE:[a-z0-9]+]]: memref<?x32xi8>, %[[C:[a-z0-9]+]]: memref<?x32xf32>, %[[D:[a-z0-9]+]]: memref<?x32xf32>) workgroup(
// CHECK-DAG:     %[[M:.*]] = memref.dim %[[X]], %c0
// CHECK-DAG:     %[[K:.*]] = memref.dim %[[X]], %c1
// CHECK-DAG:     %[[STEPS:.*]] = arith.ceildivui %[[K]], %c128
// CHECK-DAG:     %[[REST_M:.*]] = arith.remui %[[M]], %c64
// CHECK-DAG:     %[[IS_M:.*]] = arith.cmpi eq, %[[REST_M]], %c0
// CHECK-DAG:     %[[REST_K:.*]] = arith.remui %[[K]], %c128
// CHECK-DAG:     %[[IS_K:.*]] = arith.cmpi eq, %[[REST_K]], %c0
// CHECK:         %[[ALIGNED:.*]] = arith.andi %[[IS_M]], %[[IS_K]]
// CHECK:         scf.if %[[ALIGNED]] {

// N is known. Four scales at once, for K is a multiple of the tile's; nothing
// is compared with sizes.
// CHECK:           blockscale.acc_load %[[C]][{{.*}}] in_bounds
// CHECK:           nvgpu.device_async_copy %[[X]][%{{.*}}, %{{.*}}], %{{.*}}[%{{.*}}, %{{.*}}], 16 {bypassL1} : memref<?x?xi8>
// CHECK:           nvgpu.device_async_copy %[[Y]][%{{.*}}, %{{.*}}], %{{.*}}[%{{.*}}, %{{.*}}], 16 {bypassL1} : memref<?x32xi8>
// CHECK:           nvgpu.device_async_copy %[[X_SCALE]][%{{.*}}, %{{.*}}], %{{.*}}[%{{.*}}, %{{.*}}, %{{.*}}], 4 : memref<?x?xi8>
// CHECK:           scf.for %[[STEP:.*]] = %c0 to %[[STEPS]] step
// CHECK:             %[[AHEAD:.*]] = arith.addi %[[STEP]], %c1
// CHECK:             %[[IS_AHEAD:.*]] = arith.cmpi ult, %[[AHEAD]], %[[STEPS]]
// CHECK:             scf.if %[[IS_AHEAD]]
// CHECK:             blockscale.tile_mma
// CHECK:           blockscale.acc_store %{{.*}}, %[[D]][{{.*}}] in_bounds
// CHECK:         } else {

// K is a multiple of 32, so that 16 bytes of x are still one copy, of 0 bytes
// where they are outside; scales are read one by one.
// CHECK:           blockscale.acc_load %[[C]][{{[^]]*}}] :
// CHECK:           %[[BYTES:.*]] = arith.select %{{.*}}, %c16, %c0
// CHECK:           nvgpu.device_async_copy %[[X]][%{{.*}}, %{{.*}}], %{{.*}}[%{{.*}}, %{{.*}}], 16, %[[BYTES]] {bypassL1}
// CHECK:           memref.load %[[X_SCALE]]
// CHECK:           scf.for
// CHECK:             blockscale.tile_mma
// CHECK:           blockscale.acc_store %{{.*}}, %[[D]][{{[^]]*}}] :
func.func @two_paths(%x: tensor<?x?xf8E4M3FN>, %sx: tensor<?x?xf8E8M0FNU>,
                     %y: tensor<?x32xf8E5M2>, %sy: tensor<?x32xf8E8M0FNU>,
                     %c: tensor<?x32xf32>) -> tensor<?x32xf32> {
  %d = blockscale.mma_scaled %x, %sx, %y, %sy, %c
       {block_size = 32, blockscale.path = #blockscale.path<mma_sync>,
        blockscale.schedule = #blockscale.multistage_schedule<
            tile = [64, 32, 128], warps = [2, 1], stages = 2>}
       : tensor<?x?xf8E4M3FN>, tensor<?x?xf8E8M0FNU>, tensor<?x32xf8E5M2>,
         tensor<?x32xf8E8M0FNU>, tensor<?x32xf32>
  return %d : tensor<?x32xf32>
}

// -----

// A size that is known and not a multiple leaves one path.

// CHECK-LABEL: gpu.func @one_path__mma_scaled(
// CHECK-NOT:     in_bounds
// CHECK-COUNT-1: blockscale.tile_mma
// CHECK-NOT:     blockscale.tile_mma
func.func @one_path(%x: tensor<?x32xf8E4M3FN>, %sx: tensor<?x1xf8E8M0FNU>,
                    %y: tensor<32x20xf8E5M2>, %sy: tensor<1x20xf8E8M0FNU>,
                    %c: tensor<?x20xf32>) -> tensor<?x20xf32> {
  %d = blockscale.mma_scaled %x, %sx, %y, %sy, %c
       {blockscale.path = #blockscale.path<mma_sync>,
        blockscale.schedule = #blockscale.multistage_schedule<
            tile = [32, 32, 128], warps = [1, 1], stages = 1>}
       : tensor<?x32xf8E4M3FN>, tensor<?x1xf8E8M0FNU>, tensor<32x20xf8E5M2>,
         tensor<1x20xf8E8M0FNU>, tensor<?x20xf32>
  return %d : tensor<?x20xf32>
}

// -----

// A batch that may be 1: the kernel does not read beyond it. N of a packed
// operand counts elements.

// CHECK-LABEL: func.func @batch(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<?x?x32xf8E4M3FN>, %{{.*}}, %[[Y:[a-z0-9]+]]: tensor<?x32x?xi8>, %{{.*}}, %[[C:[a-z0-9]+]]: tensor<?x?x?xf32>)
// CHECK:         %[[BYTES:.*]] = tensor.dim %[[Y]], %c2
// CHECK:         %[[N:.*]] = arith.muli %[[BYTES]], %c2
// CHECK:         "{{.*}}expected the batches of x and y to be 1 or that of acc
// CHECK:         %[[BATCH:.*]] = tensor.dim %[[C]], %c0
// CHECK:         %[[BLOCKS_N:.*]] = arith.ceildivui %[[N]], %c32
// CHECK:         blockscale.launch {{.*}} blocks = [%{{.*}}, %[[BLOCKS_N]], %[[BATCH]]]

// CHECK:       gpu.func @batch__mma_scaled(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: memref<?x?x32xi8>
// CHECK:         %[[BLOCK:.*]] = gpu.block_id  z
// CHECK:         %[[SIZE:.*]] = memref.dim %[[X]], %c0
// CHECK:         %[[LAST:.*]] = arith.subi %[[SIZE]], %c1
// CHECK:         %[[MATRIX:.*]] = arith.minui %[[BLOCK]], %[[LAST]]
// CHECK:         nvgpu.device_async_copy %[[X]][%[[MATRIX]],
func.func @batch(%x: tensor<?x?x32xf8E4M3FN>, %sx: tensor<?x?x1xf8E8M0FNU>,
                 %bytes: tensor<?x32x?xi8>, %sy: tensor<?x1x?xf8E8M0FNU>,
                 %c: tensor<?x?x?xf32>) -> tensor<?x?x?xf32> {
  %y = blockscale.unpack %bytes : tensor<?x32x?xi8> to tensor<?x32x?xf4E2M1FN>
  %d = blockscale.mma_scaled %x, %sx, %y, %sy, %c
       {blockscale.path = #blockscale.path<mma_sync>,
        blockscale.schedule = #blockscale.multistage_schedule<
            tile = [32, 32, 128], warps = [1, 1], stages = 1>}
       : tensor<?x?x32xf8E4M3FN>, tensor<?x?x1xf8E8M0FNU>,
         tensor<?x32x?xf4E2M1FN>, tensor<?x1x?xf8E8M0FNU>, tensor<?x?x?xf32>
  return %d : tensor<?x?x?xf32>
}

// -----

// Elementwise ops of dynamic sizes are taken over, and their sizes checked.

// CHECK-LABEL: func.func @fused(
// CHECK-SAME:    %[[BIAS:[a-z0-9]+]]: tensor<?xf32>)
// CHECK:         %[[SIZE:.*]] = tensor.dim %[[BIAS]], %c0
// CHECK:         %[[IS_N:.*]] = arith.cmpi eq, %[[SIZE]],
// CHECK:         cf.assert %[[IS_N]], "{{.*}}expected sizes of operand #1 that fit those of the result
// CHECK-NOT:     linalg.generic
// CHECK:       blockscale.acc_for_each
func.func @fused(%x: tensor<?x32xf8E4M3FN>, %sx: tensor<?x1xf8E8M0FNU>,
                 %y: tensor<32x?xf8E5M2>, %sy: tensor<1x?xf8E8M0FNU>,
                 %c: tensor<?x?xf32>, %bias: tensor<?xf32>) -> tensor<?x?xf32> {
  %d = blockscale.mma_scaled %x, %sx, %y, %sy, %c
       {blockscale.path = #blockscale.path<mma_sync>,
        blockscale.schedule = #blockscale.multistage_schedule<
            tile = [32, 32, 128], warps = [1, 1], stages = 1>}
       : tensor<?x32xf8E4M3FN>, tensor<?x1xf8E8M0FNU>, tensor<32x?xf8E5M2>,
         tensor<1x?xf8E8M0FNU>, tensor<?x?xf32>
  %r = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>,
                       affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%d, %bias : tensor<?x?xf32>, tensor<?xf32>)
      outs(%c : tensor<?x?xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %sum = arith.addf %a, %b : f32
    linalg.yield %sum : f32
  } -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// -----

// CHECK-LABEL: func.func @swizzle(
// CHECK-SAME:    %[[S:[a-z0-9]+]]: tensor<?x?xf8E8M0FNU>)
// CHECK-DAG:     %[[ROWS:.*]] = tensor.dim %[[S]], %c0
// CHECK-DAG:     %[[COLUMNS:.*]] = tensor.dim %[[S]], %c1
// CHECK-DAG:     %[[X:.*]] = arith.ceildivui %[[ROWS]], %c128
// CHECK-DAG:     %[[Y:.*]] = arith.ceildivui %[[COLUMNS]], %c32
// CHECK:         blockscale.launch @kernels::@swizzle__swizzle_scales blocks = [%[[X]], %[[Y]], 1] threads = [512, 1, 1]
func.func @swizzle(%s: tensor<?x?xf8E8M0FNU>) -> tensor<?x?x32x16xf8E8M0FNU> {
  %t = blockscale.swizzle_scales %s : tensor<?x?xf8E8M0FNU> to tensor<?x?x32x16xf8E8M0FNU>
  return %t : tensor<?x?x32x16xf8E8M0FNU>
}

// -----

// Plain arithmetic.

// CHECK-LABEL: func.func @plain(
// CHECK:         blockscale.launch {{.*}} blocks = [%{{.*}}, 1, 1] threads = [32, 8, 1]
// CHECK:       gpu.func @plain__mma_scaled(
// CHECK:         %[[M:.*]] = memref.dim %{{.*}}, %c0
// CHECK:         arith.cmpi ult, %{{.*}}, %[[M]]
func.func @plain(%x: tensor<?x32xf8E4M3FN>, %sx: tensor<?x1xf8E8M0FNU>,
                 %y: tensor<32x20xf8E5M2>, %sy: tensor<1x20xf8E8M0FNU>,
                 %c: tensor<?x20xf32>) -> tensor<?x20xf32> {
  %d = blockscale.mma_scaled %x, %sx, %y, %sy, %c
       {blockscale.path = #blockscale.path<decompose>}
       : tensor<?x32xf8E4M3FN>, tensor<?x1xf8E8M0FNU>, tensor<32x20xf8E5M2>,
         tensor<1x20xf8E8M0FNU>, tensor<?x20xf32>
  return %d : tensor<?x20xf32>
}
