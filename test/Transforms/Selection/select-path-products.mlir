// Matmuls of linalg that an instruction computes directly; others have no
// path, and become loops.

// RUN: blockscale-opt %s --blockscale-attach-target=target=sm_90a --blockscale-select-path -split-input-file -verify-diagnostics | FileCheck %s -DPATH=wgmma
// RUN: sed "/^\/\/ -----/,$d" %s | blockscale-opt --blockscale-attach-target=target=sm_90a --blockscale-select-path=native-only | FileCheck %s -DPATH=wgmma
// RUN: sed "s/<wgmma>/<tcgen05>/; /^\/\/ -----/,$d" %s | blockscale-opt --blockscale-attach-target=target=sm_100a --blockscale-select-path -verify-diagnostics | FileCheck %s -DPATH=tcgen05
// RUN: sed "s/<wgmma>/<tcgen05>/; /^\/\/ -----/,$d" %s | blockscale-opt --blockscale-attach-target=target=sm_103f --blockscale-select-path=native-only | FileCheck %s -DPATH=tcgen05
// RUN: sed "/^func.func @asked/,$d" %s | blockscale-opt --blockscale-attach-target=target=sm_90 --blockscale-select-path | FileCheck %s --check-prefix=SYNC
// RUN: sed "/^func.func @asked/,$d" %s | blockscale-opt --blockscale-attach-target=target=sm_120a --blockscale-select-path=native-only 2>%t | FileCheck %s --check-prefix=SYNC
// RUN: FileCheck %s --check-prefix=REMARK < %t

// REMARK-COUNT-3: remark: computed by loops, not by tensor cores: expected f32 sums
// REMARK-NOT:     remark: computed

// CHECK-LABEL: func @taken(
// CHECK:         linalg.matmul {blockscale.path = #blockscale.path<[[PATH]]>} ins({{.*}} : tensor<5x7xbf16>, tensor<7x9xbf16>)
// CHECK:         linalg.matmul {blockscale.path = #blockscale.path<[[PATH]]>} ins({{.*}} : tensor<5x7xf16>, tensor<7x9xf16>)
// SYNC-LABEL:  func @taken(
// SYNC:          linalg.matmul {blockscale.path = #blockscale.path<dequant_mma>} ins({{.*}} : tensor<5x7xbf16>, tensor<7x9xbf16>)
// SYNC:          linalg.matmul {blockscale.path = #blockscale.path<dequant_mma>} ins({{.*}} : tensor<5x7xf16>, tensor<7x9xf16>)
func.func @taken(%x: tensor<5x7xbf16>, %y: tensor<7x9xbf16>, %v: tensor<5x7xf16>,
                 %w: tensor<7x9xf16>, %acc: tensor<5x9xf32>) -> tensor<5x9xf32> {
  %0 = linalg.matmul ins(%x, %y : tensor<5x7xbf16>, tensor<7x9xbf16>)
       outs(%acc : tensor<5x9xf32>) -> tensor<5x9xf32>
  %1 = linalg.matmul ins(%v, %w : tensor<5x7xf16>, tensor<7x9xf16>)
       outs(%0 : tensor<5x9xf32>) -> tensor<5x9xf32>
  return %1 : tensor<5x9xf32>
}

// CHECK-LABEL: func @batch(
// CHECK:         linalg.batch_matmul {blockscale.path = #blockscale.path<[[PATH]]>} ins({{.*}} : tensor<?x5x?xbf16>, tensor<?x?x9xbf16>)
func.func @batch(%x: tensor<?x5x?xbf16>, %y: tensor<?x?x9xbf16>, %acc: tensor<?x5x9xf32>)
    -> tensor<?x5x9xf32> {
  %0 = linalg.batch_matmul ins(%x, %y : tensor<?x5x?xbf16>, tensor<?x?x9xbf16>)
       outs(%acc : tensor<?x5x9xf32>) -> tensor<?x5x9xf32>
  return %0 : tensor<?x5x9xf32>
}

// Maps that transpose operands become transposes; other attributes of the op stay.

// CHECK-LABEL: func @maps(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<7x5xbf16>, %[[Y:[a-z0-9]+]]: tensor<9x7xbf16>,
// CHECK:         %[[XT:.*]] = linalg.transpose ins(%[[X]] : tensor<7x5xbf16>) outs(%{{.*}} : tensor<5x7xbf16>) permutation = [1, 0]
// CHECK:         %[[YT:.*]] = linalg.transpose ins(%[[Y]] : tensor<9x7xbf16>) outs(%{{.*}} : tensor<7x9xbf16>) permutation = [1, 0]
// CHECK:         linalg.matmul {blockscale.path = #blockscale.path<[[PATH]]>, note = 1 : i64} ins(%[[XT]], %[[YT]] :
// SYNC-LABEL:  func @maps(
// SYNC-COUNT-2:  linalg.transpose
// SYNC:          linalg.matmul {blockscale.path = #blockscale.path<dequant_mma>, note = 1 : i64}
func.func @maps(%x: tensor<7x5xbf16>, %y: tensor<9x7xbf16>, %acc: tensor<5x9xf32>) -> tensor<5x9xf32> {
  %0 = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (n, k)>,
                                      affine_map<(m, n, k) -> (m, n)>]
       {note = 1 : i64} ins(%x, %y : tensor<7x5xbf16>, tensor<9x7xbf16>)
       outs(%acc : tensor<5x9xf32>) -> tensor<5x9xf32>
  return %0 : tensor<5x9xf32>
}

// CHECK-LABEL: func @batch_maps(
// CHECK:         linalg.transpose ins(%{{.*}} : tensor<3x9x?xf16>) outs(%{{.*}} : tensor<3x?x9xf16>) permutation = [0, 2, 1]
// CHECK:         linalg.batch_matmul {blockscale.path = #blockscale.path<[[PATH]]>}
func.func @batch_maps(%x: tensor<3x5x?xf16>, %y: tensor<3x9x?xf16>, %acc: tensor<3x5x9xf32>) -> tensor<3x5x9xf32> {
  %0 = linalg.batch_matmul indexing_maps = [affine_map<(b, m, n, k) -> (b, m, k)>,
         affine_map<(b, m, n, k) -> (b, n, k)>, affine_map<(b, m, n, k) -> (b, m, n)>]
       ins(%x, %y : tensor<3x5x?xf16>, tensor<3x9x?xf16>) outs(%acc : tensor<3x5x9xf32>) -> tensor<3x5x9xf32>
  return %0 : tensor<3x5x9xf32>
}

// CHECK-LABEL: func @not_taken(
// CHECK-NOT:     blockscale.path
// SYNC-LABEL:  func @not_taken(
// SYNC-NOT:      blockscale.path
func.func @not_taken(%x: tensor<5x7xbf16>, %y: tensor<7x9xf16>, %v: tensor<5x7xf32>, %w: tensor<7x9xf32>,
                     %h: tensor<5x7xf16>, %acc: tensor<5x9xf32>, %f16: tensor<5x9xf16>,
                     %row: tensor<7xbf16>, %b: tensor<7x9xbf16>, %a: memref<5x7xbf16>, %c: memref<7x9xbf16>,
                     %d: memref<5x9xf32>, %e: tensor<0x7xbf16>, %n: tensor<0x9xf32>)
    -> (tensor<5x9xf32>, tensor<5x9xf32>, tensor<5x9xf16>, tensor<5x9xf32>, tensor<0x9xf32>) {
  %mixed = linalg.matmul ins(%x, %y : tensor<5x7xbf16>, tensor<7x9xf16>)
           outs(%acc : tensor<5x9xf32>) -> tensor<5x9xf32>
  %f32 = linalg.matmul ins(%v, %w : tensor<5x7xf32>, tensor<7x9xf32>)
         outs(%acc : tensor<5x9xf32>) -> tensor<5x9xf32>
  // expected-remark@+1 {{computed by loops, not by tensor cores: expected f32 sums, each of M, N and K in two operands, and no size of 0}}
  %sums = linalg.matmul ins(%h, %y : tensor<5x7xf16>, tensor<7x9xf16>)
          outs(%f16 : tensor<5x9xf16>) -> tensor<5x9xf16>
  // expected-remark@+1 {{computed by loops, not by tensor cores: expected f32 sums, each of M, N and K in two operands}}
  %broadcast = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (k)>, affine_map<(m, n, k) -> (k, n)>,
                                              affine_map<(m, n, k) -> (m, n)>]
               ins(%row, %b : tensor<7xbf16>, tensor<7x9xbf16>) outs(%acc : tensor<5x9xf32>) -> tensor<5x9xf32>
  linalg.matmul ins(%a, %c : memref<5x7xbf16>, memref<7x9xbf16>) outs(%d : memref<5x9xf32>)
  // expected-remark@+1 {{computed by loops, not by tensor cores: expected f32 sums, each of M, N and K in two operands, and no size of 0}}
  %empty = linalg.matmul ins(%e, %b : tensor<0x7xbf16>, tensor<7x9xbf16>) outs(%n : tensor<0x9xf32>)
           -> tensor<0x9xf32>
  return %mixed, %f32, %sums, %broadcast, %empty
      : tensor<5x9xf32>, tensor<5x9xf32>, tensor<5x9xf16>, tensor<5x9xf32>, tensor<0x9xf32>
}

// Loops, if the program requests them.

// CHECK-LABEL: func @asked(
// CHECK:         linalg.matmul ins(
// CHECK:         linalg.matmul {blockscale.path = #blockscale.path<[[PATH]]>} ins(
func.func @asked(%x: tensor<5x7xbf16>, %y: tensor<7x9xbf16>, %acc: tensor<5x9xf32>) -> tensor<5x9xf32> {
  %0 = linalg.matmul {blockscale.path = #blockscale.path<decompose>}
       ins(%x, %y : tensor<5x7xbf16>, tensor<7x9xbf16>) outs(%acc : tensor<5x9xf32>) -> tensor<5x9xf32>
  %1 = linalg.matmul {blockscale.path = #blockscale.path<wgmma>}
       ins(%x, %y : tensor<5x7xbf16>, tensor<7x9xbf16>) outs(%0 : tensor<5x9xf32>) -> tensor<5x9xf32>
  return %1 : tensor<5x9xf32>
}

// -----

func.func @path(%x: tensor<5x7xbf16>, %y: tensor<7x9xbf16>, %acc: tensor<5x9xf32>) -> tensor<5x9xf32> {
  // expected-error@+1 {{'linalg.matmul' op expected a path that has an instruction for it on sm_90a, got mma_sync}}
  %0 = linalg.matmul {blockscale.path = #blockscale.path<mma_sync>}
       ins(%x, %y : tensor<5x7xbf16>, tensor<7x9xbf16>) outs(%acc : tensor<5x9xf32>) -> tensor<5x9xf32>
  return %0 : tensor<5x9xf32>
}

// -----

func.func @types(%x: tensor<5x7xbf16>, %y: tensor<7x9xf16>, %acc: tensor<5x9xf32>) -> tensor<5x9xf32> {
  // expected-error@+1 {{'linalg.matmul' op expected a path that has an instruction for it on sm_90a, got wgmma}}
  %0 = linalg.matmul {blockscale.path = #blockscale.path<wgmma>}
       ins(%x, %y : tensor<5x7xbf16>, tensor<7x9xf16>) outs(%acc : tensor<5x9xf32>) -> tensor<5x9xf32>
  return %0 : tensor<5x9xf32>
}

// -----

func.func @attribute(%x: tensor<5x7xbf16>, %y: tensor<7x9xbf16>, %acc: tensor<5x9xf32>) -> tensor<5x9xf32> {
  // expected-error@+1 {{'linalg.matmul' op expected the attribute 'blockscale.path' to be a #blockscale.path, got "wgmma"}}
  %0 = linalg.matmul {blockscale.path = "wgmma"}
       ins(%x, %y : tensor<5x7xbf16>, tensor<7x9xbf16>) outs(%acc : tensor<5x9xf32>) -> tensor<5x9xf32>
  return %0 : tensor<5x9xf32>
}
