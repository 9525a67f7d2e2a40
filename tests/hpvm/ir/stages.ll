; Two stages of a pipeline on a grid of two dimensions, with an atomic sum, a barrier and an edge, in HPVM IR with opaque pointers.
%sums = type <{ i64 }>
%both = type { ptr, i64 }

@format = private constant [11 x i8] c"%d %d: %d\0A\00"

; Writes the number of each instance, and adds it to a sum.
define %both @number(ptr out %cells, i64 %cellBytes, ptr in out %sum, i64 %sumBytes) {
  %node = call ptr @llvm.hpvm.getNode()
  %x = call i64 @llvm.hpvm.getNodeInstanceID.x(ptr %node)
  %y = call i64 @llvm.hpvm.getNodeInstanceID.y(ptr %node)
  %nx = call i64 @llvm.hpvm.getNumNodeInstances.x(ptr %node)
  %row = mul i64 %y, %nx
  %at = add i64 %row, %x
  %value = trunc i64 %at to i32
  %cell = getelementptr i32, ptr %cells, i64 %at
  store i32 %value, ptr %cell
  call void @llvm.hpvm.barrier()
  %old = call i32 @llvm.hpvm.atomic.add(ptr %sum, i32 %value)
  %one = insertvalue %both undef, ptr %cells, 0
  %two = insertvalue %both %one, i64 %cellBytes, 1
  ret %both %two
}

; Doubles each, behind the first.
define %sums @double(ptr in out %cells, i64 %cellBytes) {
  %node = call ptr @llvm.hpvm.getNode()
  %x = call i64 @llvm.hpvm.getNodeInstanceID.x(ptr %node)
  %cell = getelementptr i32, ptr %cells, i64 %x
  %old = load i32, ptr %cell
  %new = shl i32 %old, 1
  store i32 %new, ptr %cell
  %result = insertvalue %sums undef, i64 %cellBytes, 0
  ret %sums %result
}

define %sums @root(ptr in out %cells, i64 %cellBytes, ptr in out %sum, i64 %sumBytes, i64 %nx, i64 %ny) {
  %first = call ptr @llvm.hpvm.createNode2D(ptr @number, i64 %nx, i64 %ny)
  %all = mul i64 %nx, %ny
  %second = call ptr @llvm.hpvm.createNode1D(ptr @double, i64 %all)
  call void @llvm.hpvm.bind.input(ptr %first, i32 0, i32 0, i1 false)
  call void @llvm.hpvm.bind.input(ptr %first, i32 1, i32 1, i1 false)
  call void @llvm.hpvm.bind.input(ptr %first, i32 2, i32 2, i1 false)
  call void @llvm.hpvm.bind.input(ptr %first, i32 3, i32 3, i1 false)
  %pointer = call ptr @llvm.hpvm.createEdge(ptr %first, ptr %second, i1 true, i32 0, i32 0, i1 false)
  %size = call ptr @llvm.hpvm.createEdge(ptr %first, ptr %second, i1 true, i32 1, i32 1, i1 false)
  call void @llvm.hpvm.bind.output(ptr %second, i32 0, i32 0, i1 false)
  ret %sums poison
}

define i32 @main() {
entry:
  %cells = alloca [12 x i32]
  %sum = alloca i32
  store i32 0, ptr %sum
  %args = alloca <{ ptr, i64, ptr, i64, i64, i64, %sums }>
  store ptr %cells, ptr %args
  %a1 = getelementptr i8, ptr %args, i64 8
  store i64 48, ptr %a1, align 1
  %a2 = getelementptr i8, ptr %args, i64 16
  store ptr %sum, ptr %a2, align 1
  %a3 = getelementptr i8, ptr %args, i64 24
  store i64 4, ptr %a3, align 1
  %a4 = getelementptr i8, ptr %args, i64 32
  store i64 4, ptr %a4, align 1
  %a5 = getelementptr i8, ptr %args, i64 40
  store i64 3, ptr %a5, align 1
  call void @llvm.hpvm.init()
  call void @llvm.hpvm.trackMemory(ptr %cells, i64 48)
  call void @llvm.hpvm.trackMemory(ptr %sum, i64 4)
  %graph = call ptr @llvm.hpvm.launch(ptr @root, ptr %args, i1 false)
  call void @llvm.hpvm.wait(ptr %graph)
  call void @llvm.hpvm.requestMemory(ptr %cells, i64 48)
  call void @llvm.hpvm.cleanup()
  %last = getelementptr i32, ptr %cells, i64 11
  %a = load i32, ptr %cells
  %b = load i32, ptr %last
  %c = load i32, ptr %sum
  %said = call i32 (ptr, ...) @printf(ptr @format, i32 %a, i32 %b, i32 %c)
  switch i32 %c, label %wrong [
    i32 66, label %right
    i32 67, label %wrong
  ]
right:
  ret i32 0
wrong:
  ret i32 1
}

declare i32 @printf(ptr, ...)
declare ptr @llvm.hpvm.getNode()
declare i64 @llvm.hpvm.getNodeInstanceID.x(ptr)
declare i64 @llvm.hpvm.getNodeInstanceID.y(ptr)
declare i64 @llvm.hpvm.getNumNodeInstances.x(ptr)
declare ptr @llvm.hpvm.createNode1D(ptr, i64)
declare ptr @llvm.hpvm.createNode2D(ptr, i64, i64)
declare ptr @llvm.hpvm.createEdge(ptr, ptr, i1, i32, i32, i1)
declare void @llvm.hpvm.bind.input(ptr, i32, i32, i1)
declare void @llvm.hpvm.bind.output(ptr, i32, i32, i1)
declare i32 @llvm.hpvm.atomic.add(ptr, i32)
declare void @llvm.hpvm.barrier()
declare void @llvm.hpvm.init()
declare void @llvm.hpvm.cleanup()
declare void @llvm.hpvm.trackMemory(ptr, i64)
declare void @llvm.hpvm.requestMemory(ptr, i64)
declare ptr @llvm.hpvm.launch(ptr, ptr, i1)
declare void @llvm.hpvm.wait(ptr)
