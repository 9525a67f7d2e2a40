; Doubles each element of a vector and adds the number of its instance, in HPVM IR as LLVM 9 wrote it.
source_filename = "scale.c"
target datalayout = "e-m:e-i64:64-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-gnu"

%struct.out = type <{ i64 }>
%struct.args = type <{ float*, i64, i64, %struct.out }>

@format = private constant [10 x i8] c"%g %g %g\0A\00"

; A leaf: one element an instance.
define %struct.out @scale(float* in out %data, i64 %bytes) {
entry:
  %node = call i8* @llvm.hpvm.getNode()
  %x = call i64 @llvm.hpvm.getNodeInstanceID.x(i8* %node)
  %at = getelementptr float, float* %data, i64 %x
  %old = load float, float* %at
  %number = sitofp i64 %x to float
  %twice = fmul float %old, 2.0
  %new = fadd float %twice, %number
  store float %new, float* %at
  %result = insertvalue %struct.out undef, i64 %bytes, 0
  ret %struct.out %result
}

; The root: as many instances as it is told.
define %struct.out @root(float* in out %data, i64 %bytes, i64 %n) {
  %node = call i8* @llvm.hpvm.createNode1D(i8* bitcast (%struct.out (float*, i64)* @scale to i8*), i64 %n)
  call void @llvm.hpvm.bind.input(i8* %node, i32 0, i32 0, i1 false)
  call void @llvm.hpvm.bind.input(i8* %node, i32 1, i32 1, i1 false)
  call void @llvm.hpvm.bind.output(i8* %node, i32 0, i32 0, i1 false)
  ret %struct.out undef
}

define i32 @main(i32 %argc, i8** %argv) {
  %data = alloca [3 x float]
  %first = getelementptr [3 x float], [3 x float]* %data, i64 0, i64 0
  %second = getelementptr float, float* %first, i64 1
  %third = getelementptr float, float* %first, i64 2
  store float 1.0, float* %first
  store float 2.0, float* %second
  store float 3.0, float* %third
  %args = alloca %struct.args
  %p0 = getelementptr %struct.args, %struct.args* %args, i32 0, i32 0
  store float* %first, float** %p0
  %p1 = getelementptr %struct.args, %struct.args* %args, i32 0, i32 1
  store i64 12, i64* %p1
  %p2 = getelementptr %struct.args, %struct.args* %args, i32 0, i32 2
  store i64 3, i64* %p2
  %memory = bitcast float* %first to i8*
  %packed = bitcast %struct.args* %args to i8*
  call void @llvm.hpvm.init()
  call void @llvm.hpvm.trackMemory(i8* %memory, i64 12)
  %graph = call i8* @llvm.hpvm.launch(i8* bitcast (%struct.out (float*, i64, i64)* @root to i8*), i8* %packed, i1 false)
  call void @llvm.hpvm.wait(i8* %graph)
  call void @llvm.hpvm.requestMemory(i8* %memory, i64 12)
  call void @llvm.hpvm.untrackMemory(i8* %memory)
  call void @llvm.hpvm.cleanup()
  %a = load float, float* %first
  %b = load float, float* %second
  %c = load float, float* %third
  %da = fpext float %a to double
  %db = fpext float %b to double
  %dc = fpext float %c to double
  %format = getelementptr [10 x i8], [10 x i8]* @format, i64 0, i64 0
  %said = call i32 (i8*, ...) @printf(i8* %format, double %da, double %db, double %dc)
  %extra = sub i32 %argc, 1
  ret i32 %extra
}

declare i32 @printf(i8*, ...)
declare i8* @llvm.hpvm.getNode()
declare i64 @llvm.hpvm.getNodeInstanceID.x(i8*)
declare i8* @llvm.hpvm.createNode1D(i8*, i64)
declare void @llvm.hpvm.bind.input(i8*, i32, i32, i1)
declare void @llvm.hpvm.bind.output(i8*, i32, i32, i1)
declare void @llvm.hpvm.init()
declare void @llvm.hpvm.cleanup()
declare void @llvm.hpvm.trackMemory(i8*, i64)
declare void @llvm.hpvm.untrackMemory(i8*)
declare void @llvm.hpvm.requestMemory(i8*, i64)
declare i8* @llvm.hpvm.launch(i8*, i8*, i1)
declare void @llvm.hpvm.wait(i8*)

!hpvm_hint_cpu = !{!0, !1}
!0 = !{%struct.out (float*, i64)* @scale}
!1 = !{%struct.out (float*, i64, i64)* @root}
