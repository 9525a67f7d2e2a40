// The svm dialect: the middle form that every notation becomes and every machine starts from. This file is its
// specification, with types.td for its types; docs/dialect.md explains the stages. Operations stand by subject.

#ifndef STRATA_SVM_TD
#define STRATA_SVM_TD

include "mlir/IR/SymbolInterfaces.td"
include "mlir/IR/RegionKindInterface.td"
include "mlir/Interfaces/CallInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/FunctionInterfaces.td"
include "mlir/Interfaces/LoopLikeInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "types.td"

class Svm_Op<string mnemonic, list<Trait> traits = []> : Op<Svm_Dialect, mnemonic, traits>;

// ---- kernels ----

def Svm_KernelOp : Svm_Op<"kernel", [AffineScope, AutomaticAllocationScope, IsolatedFromAbove, FunctionOpInterface,
                                     Symbol]> {
  let summary = "a piece of computation that runs on one processor";
  let description = [{
    Arguments are blocks, streams and scalars. A block argument carries `svm.access` ("read", "write" or
    "readwrite"); arguments do not alias when one of them is written, unless the kernel says `may_alias`: then nothing is
    known of what they share, and whatever they share, the body is executed as it stands. `extents`, when present, states for each argument an affine map from
    the kernel's sizes (symbols) to the argument's extents (empty for others); a size is known by an extent that is that symbol
    alone.

    The body is of one kind: *structured* (a region of scf, affine, memref, arith, math and stream operations), *llvm* (`llvm` names
    a function of an `svm.llvm_source`), *black box* (`blackbox` names one that the machine supports), or *equations* (a region with an `svm.equations`). All have one
    calling convention: for a block its pointer, its extents and its strides in elements; a scalar by value, but a record
    to an LLVM function by pointer.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, TypeAttrOf<FunctionType>:$function_type,
                       OptionalAttr<StrAttr>:$sym_visibility,
                       OptionalAttr<DictArrayAttr>:$arg_attrs, OptionalAttr<DictArrayAttr>:$res_attrs,
                       OptionalAttr<ArrayAttr>:$extents, OptionalAttr<SymbolRefAttr>:$llvm,
                       OptionalAttr<StrAttr>:$blackbox, UnitAttr:$may_alias);
  let regions = (region AnyRegion:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let skipDefaultBuilders = 1;
  let builders = [OpBuilder<(ins "llvm::StringRef":$name, "::mlir::FunctionType":$type)>];
  let extraClassDeclaration = [{
    ::mlir::Region* getCallableRegion() { return isStructured() ? &getBody() : nullptr; }
    llvm::ArrayRef<::mlir::Type> getArgumentTypes() { return getFunctionType().getInputs(); }
    llvm::ArrayRef<::mlir::Type> getResultTypes() { return getFunctionType().getResults(); }
    /// Never: a kernel without a region has its body elsewhere, and may be public.
    bool isDeclaration() { return false; }
    /// What its body is.
    KernelKind kind();
    bool isStructured() { return kind() == KernelKind::Structured; }
    /// Nothing for an argument that is not a block.
    std::optional<Access> access(unsigned argument);
    /// What messages call the argument.
    std::string argumentName(unsigned argument);
    /// The argument that tells the executing processor's number (`svm.instance`), or nothing.
    std::optional<unsigned> instanceArgument();
    /// Whether instances that run at once share what this kernel writes (`svm.shared`), or wait for each other.
    bool isShared();
    /// Whether a body contains an operation that can wait (streams): computed, never stated.
    bool canBlock();
  }];
}

def Svm_ReturnOp : Svm_Op<"return", [Pure, Terminator, HasParent<"KernelOp">]> {
  let summary = "ends a structured kernel";
  let assemblyFormat = "attr-dict";
}

def Svm_LLVMSourceOp : Svm_Op<"llvm_source", [Symbol]> {
  let summary = "LLVM IR of kernels that came through Clang, as text";
  let description = [{
    Kept as text so that nothing that Clang said is changed or dropped (MLIR's import refuses inline assembly and block addresses
    and drops operand bundles). Functions are referred to as @source::@function. The text is LLVM's assembly, not its bitcode; a logical program's
    is read when it is verified (llvm_source.h).
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, StrAttr:$text);
  let assemblyFormat = "$sym_name $text attr-dict";
}

def Svm_RunOp : Svm_Op<"run", [AttrSizedOperandSegments, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "runs a kernel";
  let description = [{
    Without a result the run ends before the next operation begins. With a token it goes on beside its starter. Block arguments may
    live in any memory that the processor reaches. `processor` is set by placement.
  }];
  let arguments = (ins FlatSymbolRefAttr:$kernel, Variadic<AnyType>:$arguments, Variadic<Svm_TokenType>:$after,
                       OptionalAttr<FlatSymbolRefAttr>:$processor);
  let results = (outs Optional<Svm_TokenType>:$token);
  let assemblyFormat = [{
    $kernel `(` $arguments `)` (`after` `(` $after^ `)`)? (`on` $processor^)? attr-dict
    `:` functional-type($arguments, $token)
  }];
}

// ---- kernels of equations ----

def Svm_EquationsOp : Svm_Op<"equations", [SingleBlock, NoTerminator, NoRegionArguments, HasParent<"KernelOp">]> {
  let summary = "a kernel's body as equations in single assignment, at affine indices";
  let description = [{
    Stands alone in a kernel, which is of kind *equations* by it, and holds svm.equation operations in no order: each says what instances of a variable, or elements of
    an output, are in which iterations. `iterators` are the names of the dimensions of the iteration space; `parameters` are the sizes that bounds and indices may mention,
    `names` theirs. `context` is what holds of them (sets over the iterators and parameters that do not mention the iterators).

    A variable's instances have as many numbers as it takes to tell them apart, at most one for each iterator. Every instance is defined once, every used one is defined,
    and some order computes each value before it is used; compiler/equations/ verifies it.
    So is every element of an output whose access is "write" and whose extents are stated; of one that is "readwrite", elements that no equation defines keep what they have.
    Arithmetic is the operations' own, and wraps around.

    Example: `svm.equations ["i"] (%n) ["N"] in [affine_set<(i)[N] : (N - 1 >= 0)>] { … }`
  }];
  let arguments = (ins StrArrayAttr:$iterators, Variadic<Index>:$parameters, StrArrayAttr:$names, ArrayAttr:$context);
  let regions = (region SizedRegion<1>:$body);
  let hasVerifier = 1;
  let assemblyFormat = "$iterators `(` $parameters `)` $names `in` $context $body attr-dict";
}

def Svm_EquationOp : Svm_Op<"equation", [SingleBlock, NoRegionArguments, HasParent<"EquationsOp">]> {
  let summary = "the instances of a variable, or the elements of an output, in the iterations of a domain";
  let description = [{
    The region computes one value for an iteration I and defines it: `variable`'s instance at `instance`(I), or at I itself where there is no map, or the element of
    `output` at `index`(I). The domain is a union of integer sets over the iterators and the parameters.

    Examples: `svm.equation "s" in [affine_set<(i, k)[N] : (k - 1 >= 0)>] { … svm.define %sum : f32 }`, and `svm.equation "v" at affine_map<(i, k)[N] -> (i)> in …` for
    one instance a row.
  }];
  let arguments = (ins OptionalAttr<StrAttr>:$variable, OptionalAttr<AffineMapAttr>:$instance, Optional<Svm_Block>:$output,
                       OptionalAttr<AffineMapAttr>:$index, ArrayAttr:$domain);
  let regions = (region SizedRegion<1>:$body);
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// From iterations to the variable's instances. REQUIRES: it defines a variable.
    ::mlir::AffineMap instanceMap();
  }];
  let assemblyFormat = [{
    ($variable^)? (`at` $instance^)? (`of` $output^ `at` $index `:` type($output))? `in` $domain $body attr-dict
  }];
}

def Svm_UseOp : Svm_Op<"use", [Pure, HasParent<"EquationOp">]> {
  let summary = "an instance of a variable, at an affine index of the iteration";
  let description = "Example: `%before = svm.use \"s\" at affine_map<(i, k)[N] -> (i, k - 1)> : f32`";
  let arguments = (ins StrAttr:$variable, AffineMapAttr:$index);
  let results = (outs AnyType:$value);
  let assemblyFormat = "$variable `at` $index attr-dict `:` type($value)";
}

def Svm_ElementOp : Svm_Op<"element", [Pure, HasParent<"EquationOp">]> {
  let summary = "an element of an input, at an affine index of the iteration";
  let description = "Example: `%x = svm.element %input at affine_map<(i, k)[N] -> (i - k)> : memref<?xf32, strided<[1], offset: ?>> -> f32`";
  let arguments = (ins Svm_Block:$input, AffineMapAttr:$index);
  let results = (outs AnyType:$value);
  let hasVerifier = 1;
  let assemblyFormat = "$input `at` $index attr-dict `:` type($input) `->` type($value)";
}

def Svm_DefineOp : Svm_Op<"define", [Pure, Terminator, HasParent<"EquationOp">]> {
  let summary = "ends an equation: the value that it defines";
  let arguments = (ins AnyType:$value);
  let assemblyFormat = "$value attr-dict `:` type($value)";
}

// ---- blocks and moves ----

def Svm_ScopeOp : Svm_Op<"scope", [NoTerminator, SingleBlock, RecursiveMemoryEffects, NoRegionArguments]> {
  let summary = "a region at whose end the blocks made in it are gone";
  let description = [{
    `label` is the name by which a mapping record refers to the place (a call site). `disjoint` is the front end's word that blocks which
    enter or leave the region by moves do not overlap where one of them is written.
  }];
  let arguments = (ins OptionalAttr<StrAttr>:$label, UnitAttr:$disjoint);
  let regions = (region SizedRegion<1>:$body);
  let hasVerifier = 1;
  let assemblyFormat = "($label^)? (`disjoint` $disjoint^)? $body attr-dict";
}

def Svm_BlockOp : Svm_Op<"block", [DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "makes a block that lives until the enclosing region ends";
  let description = [{
    One operand for each dimension. `max` holds static upper bounds of the extents (a negative one: none known), which explicit memories need.
    `label` is its name in the mapping record; `address` (bytes from the start of the memory's instance) is set by scheduling. The content is
    undefined.
  }];
  let arguments = (ins Variadic<Index>:$extents, OptionalAttr<DenseI64ArrayAttr>:$max, OptionalAttr<StrAttr>:$label,
                       OptionalAttr<I64Attr>:$address);
  let results = (outs Svm_Block:$block);
  let hasVerifier = 1;
  let assemblyFormat = "($label^)? `(` $extents `)` (`max` $max^)? (`at` $address^)? attr-dict `:` type($block)";
  let extraClassDeclaration = [{
    /// Bytes that the block takes at most, rows padded to `alignment` bytes; nothing when an extent has no bound.
    std::optional<int64_t> maxBytes(int64_t alignment);
  }];
}

def Svm_InPlaceOp : Svm_Op<"in_place", [Pure, AllTypesMatch<["block", "here"]>]> {
  let summary = "the elements of a part of a distributed block where they lie, if the processor reaches them there, else a block for a copy";
  let description = [{
    `part` lies in a virtual memory, `block` in the memory that it joins. If all elements of the part are in the instance that belongs to the executing
    processor, at even distances in each dimension, `here` is these elements, and nothing is to be moved between the two. Else it is `block`, and `is_apart` is true. Which of
    the two it is follows from the layout alone, and not from how many processes there are. Passes make it; stands in functions.

    Example: `%here, %apart = svm.in_place %block for %part : memref<?xf32, strided<[1], offset: ?>, #svm.mem<@memory>> for memref<?xf32, strided<[1], offset: ?>, #svm.mem<@space>>`
  }];
  let arguments = (ins Svm_Block:$block, Svm_Block:$part);
  let results = (outs Svm_Block:$here, I1:$is_apart);
  let hasVerifier = 1;
  let assemblyFormat = "$block `for` $part attr-dict `:` type($here) `for` type($part)";
}

def Svm_MemoryAtOp : Svm_Op<"memory_at", [DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "memory of the surrounding program, as a block";
  let description = [{
    So many elements, one after the other, of which the first is at the address. The surrounding program answers for them: that they are there for as long as the
    block is used. They may be elements of any other block as well; `svm.apart` tells. Stands in functions, where the processor
    that executes them loads and stores itself. `label` is its name in the mapping record.

    Example: `%block = svm.memory_at "frame" %address(%extent) : memref<?xf32, strided<[1], offset: ?>>`
  }];
  let arguments = (ins I64:$address, Index:$extent, OptionalAttr<StrAttr>:$label);
  let results = (outs Svm_Block:$block);
  let hasVerifier = 1;
  let assemblyFormat = "($label^)? $address `(` $extent `)` attr-dict `:` type($block)";
}

def Svm_ApartOp : Svm_Op<"apart", [DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "whether two blocks have no byte in common";
  let description = [{
    The stretches of memory are compared that reach from the first to the last element of each; a block without elements is apart from all. Stands in functions,
    and its processor addresses both.

    Example: `%is_apart = svm.apart %a, %b : memref<?xf32, strided<[1], offset: ?>>, memref<?xi32, strided<[1], offset: ?>>`
  }];
  let arguments = (ins Svm_Block:$first, Svm_Block:$second);
  let results = (outs I1:$is_apart);
  let assemblyFormat = "$first `,` $second attr-dict `:` type($first) `,` type($second)";
}

def Svm_MoveOp : Svm_Op<"move", [DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "copies a block to another of the same extents";
  let description = "Dense or strided, as the layouts say. The two do not overlap. With a token it goes on beside its starter.";
  let arguments = (ins Svm_Block:$source, Svm_Block:$destination, Variadic<Svm_TokenType>:$after);
  let results = (outs Optional<Svm_TokenType>:$token);
  let hasVerifier = 1;
  let assemblyFormat = [{
    $source `to` $destination (`after` `(` $after^ `)`)? attr-dict `:` type($source) `to` type($destination) (`->` type($token)^)?
  }];
}

class Svm_IndexedMoveOp<string mnemonic> : Svm_Op<mnemonic, [DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let results = (outs Optional<Svm_TokenType>:$token);
  let hasVerifier = 1;
}

def Svm_GatherOp : Svm_IndexedMoveOp<"gather"> {
  let summary = "copies parts of a block that a block of indices names to another block";
  let description = [{
    destination[k, …] = source[indices[k], …], for every k. The indices are of one dimension; they lie in [0, extent) of the source's
    first dimension, or the program ends with an error. The destination overlaps neither of the others. With a token it goes on beside
    its starter; the indices are read then, too.
  }];
  let arguments = (ins Svm_Block:$source, Svm_Block:$indices, Svm_Block:$destination, Variadic<Svm_TokenType>:$after);
  let assemblyFormat = [{
    $source `[` $indices `]` `to` $destination (`after` `(` $after^ `)`)? attr-dict
    `:` type($source) `[` type($indices) `]` `to` type($destination) (`->` type($token)^)?
  }];
}

def Svm_ScatterOp : Svm_IndexedMoveOp<"scatter"> {
  let summary = "copies a block to the parts of another that a block of indices names";
  let description = [{
    destination[indices[k], …] = source[k, …], for every k in order: of equal indices the last one's part stays. What no index names
    keeps its values. Else as svm.gather; here the indices lie within the destination's first dimension.
  }];
  let arguments = (ins Svm_Block:$source, Svm_Block:$destination, Svm_Block:$indices, Variadic<Svm_TokenType>:$after);
  let assemblyFormat = [{
    $source `to` $destination `[` $indices `]` (`after` `(` $after^ `)`)? attr-dict
    `:` type($source) `to` type($destination) `[` type($indices) `]` (`->` type($token)^)?
  }];
}

def Svm_ForgetOp : Svm_Op<"forget"> {
  let summary = "from here on the elements of a block count as not written; their values stay";
  let description = [{
    No effect on results: for values that a language promises so that programs are deterministic (zeros of an output that nobody
    writes), but that a program should not read. The interpreter finds such reads when it is asked to check; placement erases the operation.
  }];
  let arguments = (ins Svm_Block:$block);
  let assemblyFormat = "$block attr-dict `:` type($block)";
}

def Svm_WaitOp : Svm_Op<"wait"> {
  let summary = "waits for runs and moves";
  let description = "A region waits at its end for those that it has started and that nothing in it waits for.";
  let arguments = (ins Variadic<Svm_TokenType>:$tokens);
  let assemblyFormat = "$tokens attr-dict";
}

// ---- control ----

def Svm_CombinerAttr : Svm_Attr<"Combiner", "combiner"> {
  let summary = "how the private copies of a reduction are combined";
  let description = [{
    `function` takes (in T, inout T): a kernel or a function. `label` names its call in the mapping record; after placement `processor`
    runs it on operands in `memory` (both empty before).
  }];
  let parameters = (ins "::mlir::FlatSymbolRefAttr":$function, "::mlir::StringAttr":$label,
                        OptionalParameter<"::mlir::StringAttr">:$processor,
                        OptionalParameter<"::mlir::StringAttr">:$memory);
  let assemblyFormat = "`<` $function `,` $label (`,` `on` $processor^ `,` `in` $memory)? `>`";
}

def Svm_ParallelOp : Svm_Op<"parallel", [AttrSizedOperandSegments, AutomaticAllocationScope, SingleBlock, RecursiveMemoryEffects,
                                         NoTerminator, DeclareOpInterfaceMethods<LoopLikeOpInterface>]> {
  let summary = "a parallel loop of one dimension or more";
  let description = [{
    The region is one iteration: its first arguments are the iteration's indices, one a dimension, from `lower` up to but without
    `upper`. *Independent* iterations may run one after another; *concurrent* ones all make progress, and there
    are no more than maximumInstances of them (svm.h), or the program ends with an error. Each reduction operand has a
    region argument behind the indices, the private copy (in `private_memory`, which placement sets); which copy an iteration sees and
    the tree that combines them are fixed by program and mapping, never by the number of threads. An incoming value is counted once.

    Placement says on which processors (`on`), in how many parts each dimension is distributed (`parts`) and how many iterations at a
    time (`chunk`, block-cyclic; 0: one contiguous share each). Several dimensions make a grid of parts, numbered row by row. Without
    `parts` the processor that executes the code around carries out all iterations. Distribution leaves none of these loops.

    Example: `svm.parallel "rows" (%i) = (%zero) to (%n) on @core parts 4 chunk 1 { … }`
  }];
  let arguments = (ins Variadic<Index>:$lower, Variadic<Index>:$upper, Variadic<Svm_Block>:$reductions,
                       OptionalAttr<TypedArrayAttrBase<Svm_CombinerAttr, "combiners">>:$combiners,
                       OptionalAttr<StrAttr>:$label, OptionalAttr<FlatSymbolRefAttr>:$processor,
                       OptionalAttr<FlatSymbolRefAttr>:$private_memory, OptionalAttr<DenseI64ArrayAttr>:$parts,
                       OptionalAttr<DenseI64ArrayAttr>:$chunk, UnitAttr:$concurrent);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let skipDefaultBuilders = 1;
  let builders = [OpBuilder<(ins "::mlir::ValueRange":$lower, "::mlir::ValueRange":$upper, "::mlir::ValueRange":$reductions,
                                 "::mlir::ArrayAttr":$combiners, "::mlir::StringAttr":$label)>];
  let extraClassDeclaration = [{
    unsigned dimensions() { return static_cast<unsigned>(getLower().size()); }
    ::mlir::BlockArgument iteration(unsigned dimension = 0) { return getBody().front().getArgument(dimension); }
    ::mlir::BlockArgument privateCopy(unsigned reduction) { return getBody().front().getArgument(dimensions() + reduction); }
    /// Of one dimension; 1 and 0 (contiguous) where nothing is said.
    int64_t partsOf(unsigned dimension) { return getParts() ? (*getParts())[dimension] : 1; }
    int64_t chunkOf(unsigned dimension) { return getChunk() ? (*getChunk())[dimension] : 0; }
    /// Of all dimensions together. REQUIRES: the operation verifies.
    int64_t allParts();
  }];
}

def Svm_InstancesOp : Svm_Op<"instances", [AutomaticAllocationScope, SingleBlock, RecursiveMemoryEffects, NoTerminator,
                                           DeclareOpInterfaceMethods<LoopLikeOpInterface>]> {
  let summary = "processors of a class, each of which executes the region once";
  let description = [{
    What distribution makes of parallel loops. The region's argument is the number of the instance, from `lower` up to but without
    `upper`. They are distributed over the processors that the code around has, in `parts` equal parts (without it: as many as there are instances);
    *concurrent* ones all make progress.

    Example: `svm.instances "rows" (%p) = (%zero) to (%busy) on @core parts 4 { … }`
  }];
  let arguments = (ins Index:$lower, Index:$upper, FlatSymbolRefAttr:$processor, OptionalAttr<StrAttr>:$label,
                       OptionalAttr<I64Attr>:$parts, UnitAttr:$concurrent);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let skipDefaultBuilders = 1;
  let builders = [OpBuilder<(ins "::mlir::Value":$lower, "::mlir::Value":$upper, "::mlir::FlatSymbolRefAttr":$processor,
                                 "::mlir::StringAttr":$label)>];
  let extraClassDeclaration = [{
    ::mlir::BlockArgument instance() { return getBody().front().getArgument(0); }
  }];
}

def Svm_OnOp : Svm_Op<"on", [AutomaticAllocationScope, SingleBlock, RecursiveMemoryEffects, NoTerminator, NoRegionArguments]> {
  let summary = "code that another processor executes while this one waits";
  let description = [{
    Made by placement where control moves: to the first of the processors of that class that the code around has.

    Example: `svm.on @worker { svm.run @k(%a) on @worker : (…) -> () }`
  }];
  let arguments = (ins FlatSymbolRefAttr:$processor);
  let regions = (region SizedRegion<1>:$body);
  let hasVerifier = 1;
  let skipDefaultBuilders = 1;
  let builders = [OpBuilder<(ins "::mlir::FlatSymbolRefAttr":$processor)>];
  let assemblyFormat = "$processor $body attr-dict";
}

// ---- checks and figures ----

def Svm_CheckOp : Svm_Op<"check", [DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "a rule of the source language that holds when the program runs, or ends it with an error";
  let description = [{
    `code` is the rule's name, in kebab case. The message holds {0}, {1}, … for the values, and no number without a value; `help` is printed as it
    stands. The place is the operation's location.

    Example: `svm.check %fits, "value-too-large", "the value is {0}; {1} fits" help "take less" (%n, %most : i64, index)`
  }];
  let arguments = (ins I1:$condition, StrAttr:$code, StrAttr:$message, OptionalAttr<StrAttr>:$help, Variadic<Svm_Counted>:$values);
  let assemblyFormat = "$condition `,` $code `,` $message (`help` $help^)? (`(` $values^ `:` type($values) `)`)? attr-dict";
  let hasVerifier = 1;
  let hasCanonicalizeMethod = 1;
}

def Svm_IndexOp : Svm_Op<"index", [DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "checks that an index lies in [0, extent)";
  let description = [{
    Stands before an access that is not known to be in range. The range analysis erases what it proves; what stays is
    checked when the program runs. `array` and `dimension` (from 0) are for the message.
  }];
  let arguments = (ins Index:$index, Index:$extent, StrAttr:$array, I64Attr:$dimension);
  let hasVerifier = 1;
  let assemblyFormat = "$index `in` $extent `of` $array `,` $dimension attr-dict";
}

def Svm_CountOp : Svm_Op<"count", [DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "adds to a figure of the run; no effect on results";
  let arguments = (ins StrAttr:$counter, Svm_Counted:$amount);
  let hasVerifier = 1;
  let assemblyFormat = "$counter `by` $amount `:` type($amount) attr-dict";
}

def Svm_SpanOp : Svm_Op<"span", [SingleBlock, RecursiveMemoryEffects, NoTerminator, NoRegionArguments]> {
  let summary = "a stretch of execution that a trace shows under a name; no effect on results";
  let description = [{
    `of` says how many instances of a node it executes, for figures that are made of a trace; a negative number counts as none. Front ends put one around
    each node of a graph, and a pass around runs and waits of scheduled programs. It stands in functions; its region is as that of a scope.

    Example: `svm.span "soften" of %count { … }`
  }];
  let arguments = (ins StrAttr:$name, Optional<Index>:$instances);
  let regions = (region SizedRegion<1>:$body);
  let hasVerifier = 1;
  let assemblyFormat = "$name (`of` $instances^)? $body attr-dict";
}

// ---- what concurrent instances do to each other ----

def Svm_PauseOp : Svm_Op<"pause"> {
  let summary = "lets other concurrent instances go on; stands in a loop that waits for one";
  let assemblyFormat = "attr-dict";
}

def Svm_PollOp : Svm_Op<"poll", [AttrSizedOperandSegments]> {
  let summary = "lets other concurrent instances go on, and says what this one waits with";
  let description = [{
    Ends a round of a loop that waits, as svm.pause does. `changed`: since its last poll the instance may have given what others read another
    value, or done what nobody can tell. `state` holds every value of its own that decides how it goes on. An instance that comes back to a poll
    with the same state goes in circles until another one changes something; when all that have not ended do so, the program
    cannot go on, which is the error "runtime-deadlock". `instance` is its number for messages.
  }];
  let arguments = (ins Optional<Index>:$instance, I1:$changed, Variadic<AnyTypeOf<[Index, AnyInteger, AnyFloat]>>:$state);
  let assemblyFormat = "(`of` $instance^)? `changed` $changed (`state` `(` $state^ `:` type($state) `)`)? attr-dict";
}

def Svm_FenceOp : Svm_Op<"fence"> {
  let summary = "orders the memory accesses of an instance: those before it are done before those after it";
  let description = [{
    An instance that has read what another wrote after a fence, and then passes a fence, sees all that the other wrote before its fence.
  }];
  let assemblyFormat = "attr-dict";
}

def Svm_BarrierOp : Svm_Op<"barrier"> {
  let summary = "waits until every instance of the innermost concurrent loop has come here";
  let description = [{
    Stands in kernels. What instances have done before it, all of them see behind it. All instances of the loop come to the same barriers, or the
    program ends with an error. A kernel that no concurrent loop runs waits for nobody.
  }];
  let assemblyFormat = "attr-dict";
}

def Svm_AtomicOp : Svm_Op<"atomic", [AttrSizedOperandSegments, DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
                                     TypesMatchWith<"the value is an element", "block", "value",
                                                    "::llvm::cast<::mlir::MemRefType>($_self).getElementType()">,
                                     TypesMatchWith<"the result is an element", "block", "before",
                                                    "::llvm::cast<::mlir::MemRefType>($_self).getElementType()">]> {
  let summary = "changes an element in one step, and gives what it was before";
  let description = [{
    `kind` is add, sub, and, or, xor, min, max, umin, umax or exchange, of the element and the value; or compare_exchange, which stores the value where
    the element is equal to `expected`, and has that operand alone. Elements are integers of 32 or 64 bits. Instances that run at once may do so to one element; nothing else is
    ordered by it. Stands in kernels.

    Example: `%before = svm.atomic "add" %one to %counts[%bin] : memref<?xi32, strided<[1], offset: ?>>`
  }];
  let arguments = (ins Svm_AtomicKindAttr:$kind, AnyInteger:$value, Svm_Block:$block, Variadic<Index>:$indices,
                       Optional<AnyInteger>:$expected);
  let results = (outs AnyInteger:$before);
  let hasVerifier = 1;
  let assemblyFormat = [{
    custom<AtomicKind>($kind) $value `to` $block `[` $indices `]` (`if` $expected^ `:` type($expected))? attr-dict `:` type($block)
  }];
}

def Svm_StayOp : Svm_Op<"stay"> {
  let summary = "an effect that nobody sees: keeps a loop that may go on for ever and does nothing else";
  let assemblyFormat = "attr-dict";
}

def Svm_PrintOp : Svm_Op<"print"> {
  let summary = "writes a line, or a part of one, to the standard output";
  let description = [{
    `format` is C's; conversions take 64-bit integers (%d %i %u %x %c) and doubles (%f %e %g), in order. Output is kept until the entry point has
    ended and then comes out sorted by `order`, for equal ones in the order in which it was written: the same at any number of threads as long as
    no two instances that run at once print under one number.
  }];
  let arguments = (ins Index:$order, StrAttr:$format, Variadic<AnyTypeOf<[I64, F64]>>:$values);
  let assemblyFormat = "$order `,` $format (`(` $values^ `:` type($values) `)`)? attr-dict";
  let hasVerifier = 1;
}

// ---- records ----

def Svm_RecordOp : Svm_Op<"record", [Pure]> {
  let summary = "a record from its fields, in order";
  let arguments = (ins Variadic<AnyType>:$fields);
  let results = (outs Svm_RecordType:$record);
  let hasVerifier = 1;
  let assemblyFormat = "`(` $fields `)` attr-dict `:` functional-type($fields, $record)";
}

def Svm_FieldOp : Svm_Op<"field", [Pure]> {
  let summary = "one field of a record";
  let arguments = (ins Svm_RecordType:$record, I64Attr:$field);
  let results = (outs AnyType:$value);
  let hasVerifier = 1;
  let assemblyFormat = "$record `[` $field `]` attr-dict `:` type($record) `->` type($value)";
}

def Svm_WithFieldOp : Svm_Op<"with_field", [Pure, TypesMatchWith<"result is the record", "record", "result", "$_self">]> {
  let summary = "a record with one field replaced";
  let arguments = (ins Svm_RecordType:$record, AnyType:$value, I64Attr:$field);
  let results = (outs Svm_RecordType:$result);
  let hasVerifier = 1;
  let assemblyFormat = "$record `[` $field `]` `=` $value attr-dict `:` type($value) `in` type($record)";
}

def Svm_FieldsOp : Svm_Op<"fields", [Pure]> {
  let summary = "one field of all records of a block, as a block of the same extents";
  let description = [{
    `path` names a field of the record, then one of that field where it is a record itself, down to a number. Strides and offset are counted in elements
    of its type. Stands in kernels: `svm-tile-loops` makes it for LLVM's code; the interpreter, which has each record as a whole, does not take it.

    Example: `%im = svm.fields %x[1] : memref<?x!svm.record<"complex", re: f32, im: f32>, strided<[1], offset: ?>> -> memref<?xf32, strided<[2], offset: ?>>`
  }];
  let arguments = (ins Svm_Block:$block, DenseI64ArrayAttr:$path);
  let results = (outs Svm_Block:$fields);
  let hasVerifier = 1;
  let assemblyFormat = "$block $path attr-dict `:` type($block) `->` type($fields)";
  let extraClassDeclaration = [{
    /// Where a field begins in a record, in bytes, and its type; nothing where the path leads to none.
    static std::optional<std::pair<uint64_t, ::mlir::Type>> placeOf(::mlir::Type record, ::llvm::ArrayRef<int64_t> path);
    /// The result's type; null where the path leads to no number, or records are no multiple of it apart.
    static ::mlir::MemRefType typeOf(::mlir::MemRefType block, ::llvm::ArrayRef<int64_t> path);
  }];
}

// ---- streams ----

def Svm_StreamOp : Svm_Op<"stream", [DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "makes a stream that lives until the enclosing region ends";
  let description = [{
    `label` is its name in the mapping record. Placement says in which memory its elements lie, or through which class of FIFOs they go;
    `address` (bytes from the start of the memory's instance) is set by scheduling.
  }];
  let arguments = (ins Index:$capacity, OptionalAttr<StrAttr>:$label, OptionalAttr<FlatSymbolRefAttr>:$memory,
                       OptionalAttr<FlatSymbolRefAttr>:$fifo, OptionalAttr<I64Attr>:$address);
  let results = (outs Svm_StreamType:$stream);
  let hasVerifier = 1;
  let assemblyFormat = [{
    ($label^)? `(` $capacity `)` (`in` $memory^)? (`through` $fifo^)? (`at` $address^)? attr-dict `:` type($stream)
  }];
}

def Svm_PushOp : Svm_Op<"push"> {
  let summary = "appends an element; waits while the stream is full";
  let description = "With several streams (multicast) it waits until each has room and then pushes to all.";
  let arguments = (ins AnyType:$element, Variadic<Svm_StreamType>:$streams);
  let hasVerifier = 1;
  let assemblyFormat = "$element `to` $streams attr-dict `:` type($element) `to` type($streams)";
}

def Svm_PopOp : Svm_Op<"pop"> {
  let summary = "removes the next element; waits while the stream is empty and has not ended";
  let description = "`more` is false when the stream has ended; the element is then zero.";
  let arguments = (ins Svm_StreamType:$stream);
  let results = (outs AnyType:$element, I1:$more);
  let hasVerifier = 1;
  let assemblyFormat = "$stream attr-dict `:` type($stream) `->` type($element)";
}

def Svm_PeekOp : Svm_Op<"peek"> {
  let summary = "the element `offset` places behind the next one, which stays in the stream";
  let arguments = (ins Svm_StreamType:$stream, Index:$offset);
  let results = (outs AnyType:$element, I1:$more);
  let hasVerifier = 1;
  let assemblyFormat = "$stream `[` $offset `]` attr-dict `:` type($stream) `->` type($element)";
}

def Svm_EndOp : Svm_Op<"end"> {
  let summary = "ends a stream: nothing more is pushed";
  let arguments = (ins Svm_StreamType:$stream);
  let assemblyFormat = "$stream attr-dict `:` type($stream)";
}

#endif
