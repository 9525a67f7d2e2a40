"""Kernels of random programs that write lists of indices, each index below a number that they are given. Some indices repeat."""
from kernels import Body

ELEMENTS = ["i32", "i64", "index"]
KINDS = ["wrap", "back", "same", "data"]


def list_type(element, spaced=False):
    return f"memref<?x{element}, strided<[{'?' if spaced else 1}], offset: ?>>"


def name_of(kind, element, rank):
    return f"list_{kind}_{element}{'' if rank is None else rank}"


def formula(let, kind, element, place, extent, number, value=None):
    """The index in one place, as an element of the list. `value`: an index made of data."""
    if kind == "wrap":
        three = let("arith.constant 3 : index")
        index = let(f"arith.muli {place}, {three} : index")
        index = let(f"arith.addi {index}, {number} : index")
        index = let(f"arith.remui {index}, {extent} : index")
    elif kind == "back":
        one = let("arith.constant 1 : index")
        index = let(f"arith.remui {place}, {extent} : index")
        last = let(f"arith.subi {extent}, {one} : index")
        index = let(f"arith.subi {last}, {index} : index")
    elif kind == "same":
        index = let(f"arith.remui {number}, {extent} : index")
    else:
        index = let(f"arith.addi {value}, {number} : index")
        index = let(f"arith.remui {index}, {extent} : index")
    return index if element == "index" else let(f"arith.index_cast {index} : index to {element}")


def kernel(elements, kind, element, rank):
    body = Body(elements, [] if rank is None else [rank])
    (place,) = body.loops([body.let(f"memref.dim %l, %c0 : {list_type(element)}")])
    value = None
    if rank is not None:
        value = body.fitted(0, [place])
        if elements.fields:
            value = body.let(f"svm.field {value}[0] : {elements.type} -> i32")
        value = body.let(f"arith.index_cast {value} : {elements.fields[0] if elements.fields else elements.type} to index")
    index = formula(body.let, kind, element, place, "%n", "%m", value)
    body.add(f"memref.store {index}, %l[{place}] : {list_type(element)}")
    body.close(1)
    data = "" if rank is None else f'%b0: {elements.block(rank)} {{svm.access = "read"}}, '
    return [f'svm.kernel @{name_of(kind, element, rank)}({data}%l: {list_type(element)} {{svm.access = "write"}}, %n: index, %m: index) {{',
            *body.lines, "  svm.return", "}"]
