// The types, attributes and enums of the svm dialect, and the dialect itself (svm.td has its operations).

#ifndef STRATA_SVM_TYPES_TD
#define STRATA_SVM_TYPES_TD

include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/BuiltinTypeInterfaces.td"

def Svm_Dialect : Dialect {
  let name = "svm";
  let cppNamespace = "::strata::svm";
  let summary = "Kernels, blocks, streams, moves and control on machines with explicit memories and processors";
  let description = [{
    The dialect orchestrates: what runs where, on which data, moved how, after what. A module passes through three
    stages, named by its `svm.stage` attribute: *logical* (no placement; every copy that the source implies is
    present), *placed* (every block, run and loop has a location on the machine) and *scheduled* (addresses are fixed).
    What a target makes of a scheduled one is *lowering*. Attributes that are no operation's own stand in attributes.def.
  }];
  let useDefaultTypePrinterParser = 1;
  let useDefaultAttributePrinterParser = 1;
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let hasRegionResultAttrVerify = 1;
  let extraClassDeclaration = [{
    /// The attributes of attributes.def: nameAttr, labelAttr, … .
#define SVM_ATTRIBUTE(identifier, name, value, places, stages, meaning, example)                                       \
  static constexpr AttributeName<attribute_value::value> identifier##Attr{name};
#include "compiler/ir/attributes.def"

    void registerTypes();
    void registerAttributes();
  }];
}

class Svm_Type<string name, string typeMnemonic, list<Trait> traits = []> : TypeDef<Svm_Dialect, name, traits> {
  let mnemonic = typeMnemonic;
}
class Svm_Attr<string name, string attrMnemonic> : AttrDef<Svm_Dialect, name> {
  let mnemonic = attrMnemonic;
}

// ---- enums ----

// One of a few words. In C++ it is an enum: symbolizeNAME reads its word, stringifyNAME gives it.
class Svm_Enum<string name, string summary, list<I32EnumAttrCase> cases> : I32EnumAttr<name, summary, cases> {
  let cppNamespace = "::strata::svm";
  let genSpecializedAttr = 0;
}

def Svm_Stage : Svm_Enum<"Stage", "a stage of a module (svm.stage), in order", [
  I32EnumAttrCase<"Logical", 0, "logical">, I32EnumAttrCase<"Placed", 1, "placed">,
  I32EnumAttrCase<"Scheduled", 2, "scheduled">, I32EnumAttrCase<"Lowering", 3, "lowering">]>;

def Svm_Access : Svm_Enum<"Access", "what is done to the elements of a block that is an argument (svm.access)", [
  I32EnumAttrCase<"Read", 0, "read">, I32EnumAttrCase<"Write", 1, "write">,
  I32EnumAttrCase<"ReadWrite", 2, "readwrite">]>;

def Svm_AtomicKind : Svm_Enum<"AtomicKind", "what svm.atomic does to an element", [
  I32EnumAttrCase<"Add", 0, "add">, I32EnumAttrCase<"Sub", 1, "sub">, I32EnumAttrCase<"And", 2, "and">,
  I32EnumAttrCase<"Or", 3, "or">, I32EnumAttrCase<"Xor", 4, "xor">, I32EnumAttrCase<"Min", 5, "min">,
  I32EnumAttrCase<"Max", 6, "max">, I32EnumAttrCase<"UMin", 7, "umin">, I32EnumAttrCase<"UMax", 8, "umax">,
  I32EnumAttrCase<"Exchange", 9, "exchange">, I32EnumAttrCase<"CompareExchange", 10, "compare_exchange">]>;

def Svm_AtomicKindAttr : EnumAttr<Svm_Dialect, Svm_AtomicKind, "atomic_kind"> {
  let assemblyFormat = "`<` $value `>`";
}

// ---- types ----

def Svm_StreamType : Svm_Type<"Stream", "stream"> {
  let summary = "a first-in first-out sequence of elements of one type";
  let description = "Capacity, flags and placement belong to the operation that makes the stream.";
  let parameters = (ins "::mlir::Type":$elementType);
  let assemblyFormat = "`<` $elementType `>`";
}

def Svm_TokenType : Svm_Type<"Token", "token"> {
  let summary = "the end of a run or a move that goes on beside its starter";
}

def Svm_RecordType : Svm_Type<"Record", "record", [DeclareTypeInterfaceMethods<MemRefElementTypeInterface>]> {
  let summary = "a struct of a source language, laid out as C lays it out";
  let description = "Fields are integers, floating-point numbers or records. The name is the program's; two records are the same "
                    "type when name and fields agree.";
  let parameters = (ins "::mlir::StringAttr":$name, ArrayRefParameter<"::mlir::StringAttr">:$fieldNames,
                        ArrayRefParameter<"::mlir::Type">:$fieldTypes);
  let hasCustomAssemblyFormat = 1;
  let extraClassDeclaration = [{
    /// The position of a field, or nothing.
    std::optional<unsigned> fieldIndex(llvm::StringRef field) const;
    /// C's sizeof and alignof, in bytes.
    static uint64_t sizeInBytes(::mlir::Type type);
    static uint64_t alignmentInBytes(::mlir::Type type);
  }];
}

def Svm_MemoryAttr : Svm_Attr<"Memory", "mem"> {
  let summary = "a class of memory of the machine, used as a memref's memory space";
  let description = [{
    Names a class (every processing element's own local store is one class). The instance meant is that of the executing
    processor, or instance 0 where the executing processor owns none.
  }];
  let parameters = (ins "::mlir::FlatSymbolRefAttr":$memory);
  let assemblyFormat = "`<` $memory `>`";
}

def Svm_DistributionAttr : Svm_Attr<"Distribution", "dist"> {
  let summary = "one array over many instances of a memory, used as a memref's memory space";
  let description = [{
    A block in such a space is indexed as a whole; `instance` says which instance of `memory` holds an element (indices to
    the number of the instance; no result: every instance has all of it), `offset` at which element it lies there. Both maps take one index for
    each dimension of the block and no symbols. `memory` is a class of the machine that the
    program was written for. `per_processor` instances belong to each processor, in order; 0: the memory belongs to none. An access is
    local, remote or global by the processor that executes the kernel (its argument with `svm.instance`). Such blocks are made by `svm.block`, moved as a
    whole and given to kernels; control code neither takes views of them nor touches their elements. Placement keeps the space on a machine
    that has these memories, and gathers the array into one memory on any other.
  }];
  let parameters = (ins "::mlir::StringAttr":$memory, "int64_t":$instances, "int64_t":$per_processor,
                        "::mlir::AffineMap":$instance, "::mlir::AffineMap":$offset);
  let assemblyFormat = "`<` $memory `[` $instances `]` `per` $per_processor `,` $instance `at` $offset `>`";
  let genVerifyDecl = 1;
}

def Svm_TunableAttr : Svm_Attr<"Tunable", "tunable"> {
  let summary = "a tunable of an instance, as a mapping names the two";
  let parameters = (ins "::mlir::StringAttr":$name, "::mlir::StringAttr":$instance);
  let assemblyFormat = "`<` $name `of` $instance `>`";
}

def Svm_DeclarationAttr : Svm_Attr<"Declaration", "declaration"> {
  let summary = "a type of the program in C";
  let description = [{
    `name` is what C calls it ("struct point"); `definition`, `typedefs` and `assertions` are C text. The assertions say that it lies in
    memory as the program takes it to. Enumerators and typedefs alone have no name.
  }];
  let parameters = (ins "::mlir::StringAttr":$name, "::mlir::StringAttr":$definition,
                        OptionalParameter<"::mlir::StringAttr">:$typedefs,
                        OptionalParameter<"::mlir::StringAttr">:$assertions);
  let assemblyFormat = "`<` struct(params) `>`";
}

def Svm_Block : Type<CPred<"::llvm::isa<::mlir::MemRefType>($_self)">, "block (a ranked memref)", "::mlir::MemRefType">;
def Svm_Counted : Type<Or<[Index.predicate, I64.predicate]>, "index or 64-bit integer">;

#endif
