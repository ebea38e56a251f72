// Two stages of 24 KiB are as much shared memory as a kernel may have itself on
// every chip. With the barriers it is more, so that the launch gives it.

// DEFINE: %{stages} =
// DEFINE: %{form} = blockscale-opt %s --blockscale-attach-target=target=sm_100a --blockscale-select-path --blockscale-legalize --blockscale-select-schedule=schedule=tile=128x32x256,stages=%{stages},accumulators=1,persistent=0 --blockscale-form-kernels
// REDEFINE: %{stages} = 2
// RUN: %{form} | FileCheck %s --check-prefix=LAUNCH
// REDEFINE: %{stages} = 1
// RUN: %{form} | FileCheck %s --check-prefix=OWN

// LAUNCH: blockscale.launch @kernels::@f__mma_scaled {{.*}} shared = 49152
// LAUNCH: gpu.dynamic_shared_memory

// OWN-NOT: shared =
// OWN:     workgroup(%{{.*}} : memref<24576xi8, #gpu.address_space<workgroup>> {llvm.align = 128 : i64}
func.func @f(%x: tensor<128x256xf4E2M1FN>, %sx: tensor<128x16xf8E4M3FN>,
             %y: tensor<256x32xf4E2M1FN>, %sy: tensor<16x32xf8E4M3FN>,
             %c: tensor<128x32xf32>) -> tensor<128x32xf32> {
  %d = blockscale.mma_scaled %x, %sx, %y, %sy, %c
       : tensor<128x256xf4E2M1FN>, tensor<128x16xf8E4M3FN>, tensor<256x32xf4E2M1FN>, tensor<16x32xf8E4M3FN>,
         tensor<128x32xf32>
  return %d : tensor<128x32xf32>
}
