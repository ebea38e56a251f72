// Ops of tcgen05 in the NVVM dialect.

// RUN: blockscale-opt %s --blockscale-attach-target=target=sm_100a --convert-blockscale-to-nvvm --canonicalize -split-input-file | FileCheck %s
// RUN: blockscale-opt %s --blockscale-attach-target=target=sm_110f --convert-blockscale-to-nvvm --canonicalize -split-input-file | FileCheck %s

// Tensor memory is an address; a region is some columns further.

// CHECK-LABEL: gpu.func @allocation(
// CHECK-SAME:    %[[SLOT:[a-z0-9]+]]: memref<1xi32, #gpu.address_space<workgroup>>, %[[AT:[a-z0-9]+]]: index)
// CHECK-DAG:     %[[ZERO:.*]] = arith.constant 0 : index
// CHECK-DAG:     %[[COLUMNS:.*]] = arith.constant 256 : i32
// CHECK-DAG:     %[[C_64:.*]] = arith.constant 64 : i32
// CHECK:         %[[MEMORY:.*]] = builtin.unrealized_conversion_cast %[[SLOT]]
// CHECK-NEXT:    %[[POINTER:.*]] = llvm.extractvalue %[[MEMORY]][1]
// CHECK-NEXT:    nvvm.tcgen05.alloc %[[POINTER]], %[[COLUMNS]] : !llvm.ptr<3>, i32
// CHECK-NEXT:    nvvm.tcgen05.relinquish_alloc_permit
// CHECK-NEXT:    %[[BASE:.*]] = memref.load %[[SLOT]][%[[ZERO]]]
// CHECK-NEXT:    %[[ACC:.*]] = arith.addi %[[BASE]], %[[C_64]] : i32
// CHECK-NEXT:    builtin.unrealized_conversion_cast %[[ACC]] : i32 to !blockscale.tmem_acc<128x128>
// CHECK-NEXT:    %[[COLUMN:.*]] = arith.index_cast %[[AT]] : index to i32
// CHECK-NEXT:    %[[SCALES:.*]] = arith.addi %[[BASE]], %[[COLUMN]] : i32
// CHECK-NEXT:    builtin.unrealized_conversion_cast %[[SCALES]] : i32 to !blockscale.tmem_scales<128x4>
// CHECK:         %[[A:.*]] = arith.addi %[[BASE]], %{{.*}} : i32
// CHECK-NEXT:    builtin.unrealized_conversion_cast %[[A]] : i32 to !blockscale.tmem_a<128x8>
// CHECK:         %[[FREED:.*]] = llvm.inttoptr %[[BASE]] : i32 to !llvm.ptr<6>
// CHECK-NEXT:    nvvm.tcgen05.dealloc %[[FREED]], %[[COLUMNS]] : !llvm.ptr<6>, i32
!slot = memref<1xi32, #gpu.address_space<workgroup>>
!tmem = !blockscale.tmem<256>
gpu.module @kernels {
  gpu.func @allocation(%slot: !slot, %at: index)
      -> (!blockscale.tmem_acc<128x128>, !blockscale.tmem_scales<128x4>,
          !blockscale.tmem_a<128x8>) {
    %c64 = arith.constant 64 : index
    blockscale.tmem_alloc %slot {columns = 256 : i64} : !slot
    blockscale.tmem_relinquish
    %t = blockscale.tmem_base %slot : !slot -> !tmem
    %acc = blockscale.tmem_acc %t[%c64]
        : !tmem -> !blockscale.tmem_acc<128x128>
    %scales = blockscale.tmem_scales %t[%at]
        : !tmem -> !blockscale.tmem_scales<128x4>
    %a = blockscale.tmem_operand %t[%at] : !tmem -> !blockscale.tmem_a<128x8>
    blockscale.tmem_dealloc %t : !tmem
    gpu.return %acc, %scales, %a
        : !blockscale.tmem_acc<128x128>, !blockscale.tmem_scales<128x4>,
          !blockscale.tmem_a<128x8>
  }
}

// -----

// The terms of an address are divided by 16 each, and added one by one to the
// descriptor of the memory's start. 1073758272 is 2 << 29 | 1 << 14 | 64.

// CHECK-LABEL: gpu.func @swizzled(
// CHECK-SAME:    %[[M:[a-z0-9]+]]: memref<128x128xi8, #gpu.address_space<workgroup>>, %[[AT:[a-z0-9]+]]: index)
// CHECK-DAG:     %[[HIGH:.*]] = arith.constant 1073758272 : i32
// CHECK-DAG:     %[[SHIFT:.*]] = arith.constant 4 : i32
// CHECK:         %[[OFFSET:.*]] = arith.index_cast %[[AT]] : index to i32
// CHECK-NEXT:    %[[OFFSET_UNITS:.*]] = arith.shrui %[[OFFSET]], %[[SHIFT]] : i32
// CHECK:         %[[BASE:.*]] = llvm.ptrtoint %{{.*}} : !llvm.ptr<3> to i32
// CHECK-NEXT:    %[[FIELD:.*]] = arith.andi %[[BASE]], %c262143_i32{{.*}} : i32
// CHECK-NEXT:    %[[UNITS:.*]] = arith.shrui %[[FIELD]], %[[SHIFT]] : i32
// CHECK-NEXT:    %[[FIRST:.*]] = llvm.inline_asm "mov.b64 $0, {$1, $2};", "=l,r,r" %[[UNITS]], %[[HIGH]] : (i32, i32) -> i64
// CHECK-NEXT:    %[[PLUS:.*]] = arith.extui %[[OFFSET_UNITS]] : i32 to i64
// CHECK-NEXT:    %[[WORD:.*]] = arith.addi %[[FIRST]], %[[PLUS]] : i64
// CHECK-NEXT:    gpu.return %[[WORD]]
!m = memref<128x128xi8, #gpu.address_space<workgroup>>
gpu.module @kernels {
  gpu.func @swizzled(%m: !m, %at: index) -> i64 {
    %0 = blockscale.matrix_descriptor %m[%at] layout = <k, slots, swizzled> : !m
    gpu.return %0 : i64
  }
}

// -----

// Views are folded; operands of products and sums are divided before these are
// computed: 4096 / 16 = 256, (64 i + 1024) / 16 = 4 i + 64. The distance from
// one column to the next is in the lower half: 64 * 128 / 16 = 512, << 16.

// CHECK-LABEL: gpu.func @parts(
// CHECK-SAME:    %[[SHARED:[a-z0-9]+]]: memref<?xi8, #gpu.address_space<workgroup>>, %[[BYTE:[a-z0-9]+]]: index, %[[I:[a-z0-9]+]]: index)
// CHECK-DAG:     %[[HIGH:.*]] = arith.constant 1073758272 : i32
// CHECK-DAG:     %[[SHIFT:.*]] = arith.constant 4 : i32
// CHECK-DAG:     %[[COLUMN:.*]] = arith.constant 33554432 : i32
// CHECK-DAG:     %[[C_64:.*]] = arith.constant 64 : i32
// CHECK-NOT:     memref.view
// CHECK:         %[[BYTES:.*]] = arith.index_cast %[[BYTE]] : index to i32
// CHECK-NEXT:    %[[VIEW:.*]] = arith.shrui %[[BYTES]], %[[SHIFT]] : i32
// CHECK-NEXT:    %[[STEP:.*]] = arith.index_cast %[[I]] : index to i32
// CHECK-NEXT:    %[[STEPS:.*]] = arith.muli %[[STEP]], %[[SHIFT]] : i32
// CHECK-NEXT:    %[[OFFSET:.*]] = arith.addi %[[STEPS]], %[[C_64]] : i32
// CHECK-NEXT:    %[[SUM:.*]] = arith.addi %[[VIEW]], %[[OFFSET]] : i32
// CHECK-NEXT:    %[[MEMORY:.*]] = builtin.unrealized_conversion_cast %[[SHARED]]
// CHECK:         %[[BASE:.*]] = llvm.ptrtoint %{{.*}} : !llvm.ptr<3> to i32
// CHECK-NEXT:    %[[FIELD:.*]] = arith.andi %[[BASE]], %c262143_i32{{.*}} : i32
// CHECK-NEXT:    %[[UNITS:.*]] = arith.shrui %[[FIELD]], %[[SHIFT]] : i32
// CHECK-NEXT:    %[[LEADING:.*]] = arith.addi %[[UNITS]], %[[COLUMN]] : i32
// CHECK-NEXT:    %[[FIRST:.*]] = llvm.inline_asm {{.*}} %[[LEADING]], %[[HIGH]]
// CHECK-NEXT:    %[[PLUS:.*]] = arith.extui %[[SUM]] : i32 to i64
// CHECK-NEXT:    arith.addi %[[FIRST]], %[[PLUS]] : i64
!shared = memref<?xi8, #gpu.address_space<workgroup>>
!m = memref<2x64x128xi8, #gpu.address_space<workgroup>>
gpu.module @kernels {
  gpu.func @parts(%shared: !shared, %byte: index, %i: index) -> i64 {
    %c64 = arith.constant 64 : index
    %c1024 = arith.constant 1024 : index
    %m = memref.view %shared[%byte][] : !shared to !m
    %product = arith.muli %i, %c64 : index
    %at = arith.addi %product, %c1024 : index
    %0 = blockscale.matrix_descriptor %m[%at] layout = <mn, slots, swizzled>
         : !m
    gpu.return %0 : i64
  }
}

// -----

// An atom is (128 rows) 4 columns, a word of 256 rows 8: word 1, atom 1 is 12
// columns further. 16392 is 1 << 14 | 8.

// CHECK-LABEL: gpu.func @copy(
// CHECK-DAG:     %[[HIGH:.*]] = arith.constant 16392 : i32
// CHECK-DAG:     %[[C_12:.*]] = arith.constant 12 : i32
// CHECK-DAG:     %[[C_96:.*]] = arith.constant 96 : i64
// CHECK:         %[[FIRST:.*]] = llvm.inline_asm {{.*}}, %[[HIGH]] : (i32, i32) -> i64
// CHECK-NEXT:    %[[WORD:.*]] = arith.addi %[[FIRST]], %[[C_96]] : i64
// CHECK-NEXT:    %[[BASE:.*]] = builtin.unrealized_conversion_cast %{{.*}} : !blockscale.tmem_scales<256x8> to i32
// CHECK-NEXT:    %[[ADDRESS:.*]] = arith.addi %[[BASE]], %[[C_12]] : i32
// CHECK-NEXT:    %[[TO:.*]] = llvm.inttoptr %[[ADDRESS]] : i32 to !llvm.ptr<6>
// CHECK-NEXT:    nvvm.tcgen05.cp %[[TO]], %[[WORD]] {multicast = #nvvm.tcgen05_cp_multicast<warpx4>, shape = #nvvm.tcgen05_cp_shape<shape_32x128b>}
!m = memref<4x512xi8, #gpu.address_space<workgroup>>
gpu.module @kernels {
  gpu.func @copy(%m: !m, %scales: !blockscale.tmem_scales<256x8>) {
    %c1536 = arith.constant 1536 : index
    blockscale.copy_scales %m[%c1536], %scales
        {row_atom = 1 : i64, word = 1 : i64}
        : !m, !blockscale.tmem_scales<256x8>
    gpu.return
  }
}

// -----

// Block 6 is in word 1, with scale id 2: 4 columns further for 128 rows, 8 for
// 256. The instruction descriptor: 0x08C00480 | 2 << 4 | 2 << 29, plus bits of
// an address that are 0.

// CHECK-LABEL: gpu.func @multiply(
// CHECK-SAME:    %[[ACC:[a-z0-9]+]]: !blockscale.tmem_acc<128x256>, %[[A:[a-z0-9]+]]: i64, %[[B:[a-z0-9]+]]: i64, %[[SA:[a-z0-9]+]]: !blockscale.tmem_scales<128x8>, %[[SB:[a-z0-9]+]]: !blockscale.tmem_scales<256x8>, %[[MORE:[a-z0-9]+]]: i1)
// CHECK-DAG:     %[[C_4:.*]] = arith.constant 4 : i32
// CHECK-DAG:     %[[C_8:.*]] = arith.constant 8 : i32
// CHECK-DAG:     %[[CONSTANT:.*]] = arith.constant 1220543648 : i32
// CHECK-DAG:     %[[C_30:.*]] = arith.constant 30 : i32
// CHECK-DAG:     %[[ACC_ADDRESS:.*]] = builtin.unrealized_conversion_cast %[[ACC]] : {{.*}} to i32
// CHECK-DAG:     %[[ZERO:.*]] = arith.shrui %[[ACC_ADDRESS]], %[[C_30]] : i32
// CHECK-DAG:     %[[WORD:.*]] = arith.addi %[[ZERO]], %[[CONSTANT]] : i32
// CHECK-DAG:     %[[ACC_POINTER:.*]] = llvm.inttoptr %[[ACC_ADDRESS]] : i32 to !llvm.ptr<6>
// CHECK-DAG:     %[[SA_ADDRESS:.*]] = builtin.unrealized_conversion_cast %[[SA]] : {{.*}} to i32
// CHECK-DAG:     %[[SA_WORD:.*]] = arith.addi %[[SA_ADDRESS]], %[[C_4]] : i32
// CHECK-DAG:     %[[SA_POINTER:.*]] = llvm.inttoptr %[[SA_WORD]] : i32 to !llvm.ptr<6>
// CHECK-DAG:     %[[SB_ADDRESS:.*]] = builtin.unrealized_conversion_cast %[[SB]] : {{.*}} to i32
// CHECK-DAG:     %[[SB_WORD:.*]] = arith.addi %[[SB_ADDRESS]], %[[C_8]] : i32
// CHECK-DAG:     %[[SB_POINTER:.*]] = llvm.inttoptr %[[SB_WORD]] : i32 to !llvm.ptr<6>
// CHECK:         nvvm.tcgen05.mma.block_scale %[[ACC_POINTER]], %[[A]], %[[B]], %[[WORD]], %[[MORE]], %[[SA_POINTER]], %[[SB_POINTER]]
// CHECK-SAME:      {blockScale = #nvvm.tcgen05_mma_block_scale<block32>, ctaGroup = #nvvm.cta_group<cta_1>, kind = #nvvm.block_scale_kind<mxf4>}
!acc = !blockscale.tmem_acc<128x256>
!sa = !blockscale.tmem_scales<128x8>
!sb = !blockscale.tmem_scales<256x8>
gpu.module @kernels {
  gpu.func @multiply(%acc: !acc, %a: i64, %b: i64, %sa: !sa, %sb: !sb,
                     %more: i1) {
    blockscale.tcgen05_mma <tcgen05, 128x256x64, mxf4, e2m1, e2m1, ue8m0, 2>
        %acc, %a, %b, %sa[6], %sb[6], %more : !acc, i64, !sa, !sb
    gpu.return
  }
}

// -----

// A in tensor memory, blocks of 16, and different blocks of A and B; then
// transposed operands of different types.
// 134349952 is 0x08020480; 1753549840 is 0x08840C00 | 1 << 16 | 3 << 29 | 1 << 4.

// CHECK-LABEL: gpu.func @kinds(
// CHECK-DAG:     %[[C_NVFP4:.*]] = arith.constant 134349952 : i32
// CHECK-DAG:     %[[C_MIXED:.*]] = arith.constant 1753549840 : i32
// CHECK:         %[[NVFP4:.*]] = arith.addi %{{.*}}, %[[C_NVFP4]] : i32
// CHECK:         nvvm.tcgen05.mma.block_scale %{{.*}}, %{{.*}}, %{{.*}}, %[[NVFP4]], {{.*}} {blockScale = #nvvm.tcgen05_mma_block_scale<block16>, {{.*}}kind = #nvvm.block_scale_kind<mxf4nvf4>} : (!llvm.ptr<6>, !llvm.ptr<6>, i64, i32, i1, !llvm.ptr<6>, !llvm.ptr<6>)
// CHECK:         %[[MIXED:.*]] = arith.addi %{{.*}}, %[[C_MIXED]] : i32
// CHECK:         nvvm.tcgen05.mma.block_scale %{{.*}}, %{{.*}}, %{{.*}}, %[[MIXED]], {{.*}}block32>, {{.*}}kind = #nvvm.block_scale_kind<mxf8f6f4>} : (!llvm.ptr<6>, i64, i64,
!acc = !blockscale.tmem_acc<128x8>
!acc16 = !blockscale.tmem_acc<128x16>
!scales = !blockscale.tmem_scales<128x8>
gpu.module @kernels {
  gpu.func @kinds(%acc: !acc, %acc16: !acc16, %a: !blockscale.tmem_a<128x8>,
                  %b: i64, %sa: !scales, %sb: !scales, %more: i1) {
    blockscale.tcgen05_mma <tcgen05, 128x8x64, mxf4nvf4, e2m1, e2m1, ue4m3, 4>
        %acc, %a, %b, %sa[4], %sb[0], %more
        : !acc, !blockscale.tmem_a<128x8>, !scales, !scales
    blockscale.tcgen05_mma <tcgen05, 128x16x32, mxf8f6f4, e4m3, e2m3, ue8m0, 1>
        %acc16, %b, %b, %sa[3], %sb[5], %more {transpose_b}
        : !acc16, i64, !scales, !scales
    gpu.return
  }
}

// -----

// CHECK-LABEL: gpu.func @commit(
// CHECK-SAME:    %[[BARRIERS:[a-z0-9]+]]: memref<4xi64, #gpu.address_space<workgroup>>, %[[I:[a-z0-9]+]]: index)
// CHECK:         %[[MEMORY:.*]] = builtin.unrealized_conversion_cast %[[BARRIERS]]
// CHECK-NEXT:    %[[BASE:.*]] = llvm.extractvalue %[[MEMORY]][1]
// CHECK-NEXT:    %[[NUMBER:.*]] = arith.index_castui %[[I]] : index to i32
// CHECK-NEXT:    %[[BARRIER:.*]] = llvm.getelementptr %[[BASE]][%[[NUMBER]]] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i64
// CHECK-NEXT:    nvvm.tcgen05.commit %[[BARRIER]] : !llvm.ptr<3>
!barriers = memref<4xi64, #gpu.address_space<workgroup>>
gpu.module @kernels {
  gpu.func @commit(%barriers: !barriers, %i: index) {
    blockscale.tcgen05_commit %barriers[%i] : !barriers
    gpu.return
  }
}

// -----

// Thread t of a block is in warp t div 32; lanes start at 32 (t div 32 mod 4),
// which is t with a mask of 0x60.

// CHECK-LABEL: gpu.func @moves(
// CHECK-SAME:    %[[ACC:[a-z0-9]+]]: !blockscale.tmem_acc<128x64>, %[[V:[a-z0-9]+]]: vector<16xf32>,
// CHECK-DAG:     %[[SHIFT:.*]] = arith.constant 16 : i32
// CHECK-DAG:     %[[MASK:.*]] = arith.constant 96 : i32
// CHECK-DAG:     %[[C_24:.*]] = arith.constant 24 : i32
// CHECK:         %[[BASE:.*]] = builtin.unrealized_conversion_cast %[[ACC]] : !blockscale.tmem_acc<128x64> to i32
// CHECK-NEXT:    %[[FIRST:.*]] = arith.addi %[[BASE]], %[[C_24]] : i32
// CHECK-NEXT:    %[[THREAD:.*]] = gpu.thread_id x
// CHECK-NEXT:    %[[NUMBER:.*]] = arith.index_cast %[[THREAD]] : index to i32
// CHECK-NEXT:    %[[LANE:.*]] = arith.andi %[[NUMBER]], %[[MASK]] : i32
// CHECK-NEXT:    %[[UPPER:.*]] = arith.shli %[[LANE]], %[[SHIFT]] : i32
// CHECK-NEXT:    %[[ADDRESS:.*]] = arith.addi %[[FIRST]], %[[UPPER]] : i32
// CHECK-NEXT:    %[[POINTER:.*]] = llvm.inttoptr %[[ADDRESS]] : i32 to !llvm.ptr<6>
// CHECK-NEXT:    %[[LOADED:.*]] = nvvm.tcgen05.ld %[[POINTER]] {shape = #nvvm.tcgen05_ldst_shape<shape_32x32b>} : vector<32xi32>
// CHECK-NEXT:    arith.bitcast %[[LOADED]] : vector<32xi32> to vector<32xf32>
// CHECK:         %[[ONE:.*]] = nvvm.tcgen05.ld {{.*}} : i32
// CHECK-NEXT:    vector.broadcast %[[ONE]] : i32 to vector<1xi32>
// CHECK-NEXT:    nvvm.tcgen05.wait <load>
// CHECK:         %[[BITS:.*]] = arith.bitcast %[[V]] : vector<16xf32> to vector<16xi32>
// CHECK-NEXT:    nvvm.tcgen05.st %{{.*}}, %[[BITS]] {shape = #nvvm.tcgen05_ldst_shape<shape_32x32b>} : vector<16xi32>
// CHECK:         nvvm.tcgen05.st %{{.*}}, %{{.*}} {shape = {{.*}}} : i32
// CHECK-NEXT:    nvvm.tcgen05.wait <store>
// CHECK-NEXT:    nvvm.tcgen05.fence <before>
// CHECK-NEXT:    nvvm.tcgen05.fence <after>
!acc = !blockscale.tmem_acc<128x64>
!a = !blockscale.tmem_a<128x8>
gpu.module @kernels {
  gpu.func @moves(%acc: !acc, %v: vector<16xf32>, %a: !a, %at: index)
      -> (vector<32xf32>, vector<1xi32>) {
    %c24 = arith.constant 24 : index
    %0 = blockscale.tmem_load %acc[%c24] : !acc -> vector<32xf32>
    %1 = blockscale.tmem_load %a[%at] : !a -> vector<1xi32>
    blockscale.tmem_wait load
    blockscale.tmem_store %v, %acc[%at] : vector<16xf32>, !acc
    blockscale.tmem_store %1, %a[%at] : vector<1xi32>, !a
    blockscale.tmem_wait store
    blockscale.tcgen05_fence before
    blockscale.tcgen05_fence after
    gpu.return %0, %1 : vector<32xf32>, vector<1xi32>
  }
}

// -----

// CHECK-LABEL: gpu.func @word()
// CHECK:         %[[WORD:.*]] = arith.constant 144703488 : i32
// CHECK-NEXT:    gpu.return %[[WORD]]
gpu.module @kernels {
  gpu.func @word() -> i32 {
    %0 = blockscale.instruction_descriptor
         <tcgen05, 128x128x32, mxf8f6f4, e4m3, e4m3, ue8m0, 1>
    gpu.return %0 : i32
  }
}

// -----

// Instructions of one thread have elect.sync as their predicate: no branch.

// CHECK-LABEL: gpu.func @elected(
// CHECK:         %[[ELECTED:.*]] = nvvm.elect.sync -> i1
// CHECK-NOT:     scf.if
// CHECK:         nvvm.inline_ptx "tcgen05.cp.cta_group::1.32x128b.warpx4 [$0], $1;" ro({{.*}} : i32, i64), predicate = %[[ELECTED]]
// CHECK:         nvvm.inline_ptx "tcgen05.mma.cta_group::1.kind::mxf4nvf4.block_scale.block16 [$0], $1, $2, $3, [$4], [$5], $6;" ro({{.*}} : i32, i64, i64, i32, i32, i32, i1), predicate = %[[ELECTED]]
// CHECK:         nvvm.inline_ptx "tcgen05.mma.cta_group::1.kind::mxf4nvf4.block_scale.block16 [$0], [$1], $2, $3, [$4], [$5], $6;" ro({{.*}} : i32, i32, i64, i32, i32, i32, i1), predicate = %[[ELECTED]]
// CHECK:         nvvm.inline_ptx "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [$0];" ro({{.*}} : i32), predicate = %[[ELECTED]]
// CHECK:         nvvm.mbarrier.arrive.expect_tx {{.*}}, predicate = %[[ELECTED]]
// CHECK:         nvvm.cp.async.bulk.tensor.shared.cluster.global {{.*}} predicate = %[[ELECTED]]
// CHECK-NEXT:    gpu.return
!acc = !blockscale.tmem_acc<128x8>
!scales = !blockscale.tmem_scales<128x8>
!m = memref<4x512xi8, #gpu.address_space<workgroup>>
!barriers = memref<4xi64, #gpu.address_space<workgroup>>
gpu.module @kernels {
  gpu.func @elected(%m: !m, %barriers: !barriers, %map: !llvm.ptr, %acc: !acc,
                    %ta: !blockscale.tmem_a<128x8>, %a: i64, %b: i64,
                    %sa: !scales, %sb: !scales, %more: i1) {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0 : i32
    %elected = nvvm.elect.sync -> i1
    scf.if %elected {
      blockscale.copy_scales %m[%c0], %sa {row_atom = 0 : i64, word = 0 : i64}
          : !m, !scales
      blockscale.tcgen05_mma <tcgen05, 128x8x64, mxf4nvf4, e2m1, e2m1, ue4m3, 4>
          %acc, %a, %b, %sa[0], %sb[0], %more : !acc, i64, !scales, !scales
      blockscale.tcgen05_mma <tcgen05, 128x8x64, mxf4nvf4, e2m1, e2m1, ue4m3, 4>
          %acc, %ta, %b, %sa[0], %sb[0], %more
          : !acc, !blockscale.tmem_a<128x8>, !scales, !scales
      blockscale.tcgen05_commit %barriers[%c0] : !barriers
      blockscale.barrier_arrive %barriers[%c0] expect 2048 : !barriers
      blockscale.tensor_load %map[%zero, %zero] to %m[%c0], %barriers[%c0]
          : !m, !barriers
    }
    gpu.return
  }
}

// -----

// If another op is in the branch, all of them keep the branch.

// CHECK-LABEL: gpu.func @branch(
// CHECK:         scf.if
// CHECK:           nvvm.tcgen05.commit
// CHECK:           nvvm.mbarrier.arrive
!barriers = memref<4xi64, #gpu.address_space<workgroup>>
gpu.module @kernels {
  gpu.func @branch(%barriers: !barriers) {
    %c0 = arith.constant 0 : index
    %elected = nvvm.elect.sync -> i1
    scf.if %elected {
      blockscale.tcgen05_commit %barriers[%c0] : !barriers
      blockscale.barrier_arrive %barriers[%c0] : !barriers
    }
    gpu.return
  }
}

// -----

// Without scales, one CTA and two, with branches and without.
// 136316048 is 0x08200490; 272728080 is 0x10400010 | 1 << 15 | 1 << 16.

// CHECK-LABEL: gpu.func @unscaled(
// CHECK-DAG:     %[[C_BF16:.*]] = arith.constant 136316048 : i32
// CHECK-DAG:     %[[C_F16:.*]] = arith.constant 272728080 : i32
// CHECK:         %[[BF16:.*]] = arith.addi %{{.*}}, %[[C_BF16]] : i32
// CHECK:         %[[B:.*]] = llvm.inline_asm {{.*}}"mov.b64 $0, $1;", "=l,l" %{{.*}} : (i64) -> i64
// CHECK:         nvvm.tcgen05.mma %{{.*}}, %{{.*}}, %[[B]], %[[BF16]], %{{.*}} {ctaGroup = #nvvm.cta_group<cta_1>, kind = #nvvm.tcgen05_mma_kind<f16>} : (!llvm.ptr<6>, i64, i64, i32, i1)
// CHECK:         %[[F16:.*]] = arith.addi %{{.*}}, %[[C_F16]] : i32
// CHECK:         nvvm.tcgen05.mma %{{.*}}, %{{.*}}, %{{.*}}, %[[F16]], %{{.*}} {ctaGroup = #nvvm.cta_group<cta_2>, kind = #nvvm.tcgen05_mma_kind<f16>} : (!llvm.ptr<6>, i64, i64, i32, i1)
// CHECK:         %[[ELECTED:.*]] = nvvm.elect.sync -> i1
// CHECK:         nvvm.inline_ptx "tcgen05.mma.cta_group::2.kind::f16 [$0], $1, $2, $3, $4;" ro({{.*}} : i32, i64, i64, i32, i1), predicate = %[[ELECTED]]
// CHECK:         nvvm.inline_ptx "tcgen05.mma.cta_group::1.kind::f16 [$0], [$1], $2, $3, $4;" ro({{.*}} : i32, i32, i64, i32, i1), predicate = %[[ELECTED]]
!acc = !blockscale.tmem_acc<128x128>
!pair = !blockscale.tmem_acc<256x256, group = 2>
gpu.module @kernels {
  gpu.func @unscaled(%acc: !acc, %pair: !pair, %ta: !blockscale.tmem_a<128x8>,
                     %a: i64, %b: i64, %more: i1) {
    blockscale.tcgen05_mma <tcgen05, 128x128x16, unscaled, bf16, bf16, none, 0>
        %acc, %a, %b, %more : !acc, i64
    blockscale.tcgen05_mma <tcgen05, 256x256x16, unscaled, f16, f16, none, 0>
        %pair, %a, %b, %more {group = 2 : i64, transpose_a, transpose_b}
        : !pair, i64
    %elected = nvvm.elect.sync -> i1
    scf.if %elected {
      blockscale.tcgen05_mma <tcgen05, 256x256x16, unscaled, f16, f16, none, 0>
          %pair, %a, %b, %more {group = 2 : i64} : !pair, i64
      blockscale.tcgen05_mma <tcgen05, 128x128x16, unscaled, bf16, bf16, none, 0>
          %acc, %ta, %b, %more : !acc, !blockscale.tmem_a<128x8>
    }
    gpu.return
  }
}
