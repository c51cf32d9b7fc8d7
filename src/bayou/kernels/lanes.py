"""SIMD vectors of two or four numbers (lanes), for sums in the fixed order of `kernels.sums`.

LLVM vectorises loops over columns, though not sums whose order is fixed, and starting a loop takes longer than a few
columns. Lanes are added, subtracted, multiplied and divided elementwise, so that the bits are those of the same
operations on single numbers. Where kernels run as Python (NUMBA_DISABLE_JIT), lanes are small arrays.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, ClassVar, TypeVar, cast

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils, config, extending
from numba.core.typing import templates

F = TypeVar("F", bound=Callable[..., Any])
Lanes = Any  # of the Numba type below, which has no name in Python's typing
_extending: Any = extending  # parts of Numba without type annotations
_templates: Any = templates
_cgutils: Any = cgutils
_intrinsic: Any = extending.intrinsic
_DOUBLE, _BITS = ir.DoubleType(), ir.IntType(64)
_MANTISSA, _EXPONENT_OF_1, _SHIFT = (1 << 52) - 1, 1023 << 52, 52


class LanesType(types.Type):
    """The Numba type of `n` numbers in one SIMD register."""

    def __init__(self, n: int) -> None:
        self.n = n
        super().__init__(name=f"Lanes({n})")


@_extending.register_model(LanesType)
class _LanesModel(_extending.models.PrimitiveModel):  # type: ignore[misc] # of no type
    def __init__(self, manager: Any, of: LanesType) -> None:
        super().__init__(manager, of, ir.VectorType(_DOUBLE, of.n))


_TWO, _FOUR = LanesType(2), LanesType(4)


def _as_numbers(does: Callable[[Any, Any], Any], instruction: str) -> None:
    """Define an operator of Python on lanes by the instruction of LLVM."""

    @_templates.infer_global(does)
    class Typed(_templates.ConcreteTemplate):  # type: ignore[misc] # of no type
        cases: ClassVar[list[Any]] = [_templates.signature(lanes, lanes, lanes) for lanes in (_TWO, _FOUR)]

    @_extending.lower_builtin(does, LanesType, LanesType)  # type: ignore[untyped-decorator] # of no type
    def _lower(context: Any, builder: Any, types_: Any, args: Any) -> Any:
        return getattr(builder, instruction)(*args)


for _does, _instruction in (
    (operator.add, "fadd"), (operator.sub, "fsub"), (operator.mul, "fmul"), (operator.truediv, "fdiv"),
):  # fmt: skip
    _as_numbers(_does, _instruction)


def _compiled(compiler: Callable[..., Any]) -> Callable[[F], F]:
    """Replace a Python function by an intrinsic: `compiler(*types)` returns its signature and a builder of its code."""

    def decorate(plain: F) -> F:
        asked: Any = config  # Numba fills it in at run time
        if asked.DISABLE_JIT:
            return plain
        made: Any = _intrinsic(compiler)
        made.__doc__ = plain.__doc__
        return cast(F, made)

    return decorate


def _all(builder: Any, value: Any, n: int) -> Any:
    """Broadcast a number to all lanes."""
    lanes = ir.Constant(ir.VectorType(value.type, n), ir.Undefined)
    for i in range(n):
        lanes = builder.insert_element(lanes, value, ir.Constant(ir.IntType(32), i))
    return lanes


def _lane(builder: Any, lanes: Any, i: int) -> Any:
    return builder.extract_element(lanes, ir.Constant(ir.IntType(32), i))


def _place(context: Any, builder: Any, kind: Any, n: int, array: Any, at: Any) -> Any:
    """A pointer to the lanes at a flat index of an array."""
    data = context.make_array(kind)(context, builder, array).data
    return builder.bitcast(builder.gep(data, [at]), ir.VectorType(_DOUBLE, n).as_pointer())


def _reader(lanes: LanesType) -> Callable[..., Any]:
    def read(typing_context: Any, array: Any, at: Any) -> Any:
        def build(context: Any, builder: Any, types_: Any, args: Any) -> Any:
            return builder.load(_place(context, builder, types_.args[0], lanes.n, *args), align=8)

        return lanes(array, types.uint64), build

    return read


def _first_of_four(typing_context: Any, array: Any, at: Any, count: Any) -> Any:
    def build(context: Any, builder: Any, types_: Any, args: Any) -> Any:
        place = _place(context, builder, types_.args[0], 4, *args[:2])
        numbers = ir.Constant(ir.VectorType(_BITS, 4), [0, 1, 2, 3])
        # Signed, since AVX2 cannot compare unsigned integers
        there = builder.icmp_signed("<", numbers, _all(builder, args[2], 4))
        lanes = ir.VectorType(_DOUBLE, 4)
        kind = ir.FunctionType(lanes, [place.type, ir.IntType(32), there.type, lanes])
        load = _cgutils.get_or_insert_function(builder.module, kind, "llvm.masked.load.v4f64.p0")
        return builder.call(
            load, [place, ir.Constant(ir.IntType(32), 8), there, ir.Constant(lanes, [0.0] * 4)]
        )

    return _FOUR(array, types.uint64, types.uint64), build


def _put(typing_context: Any, array: Any, at: Any, lanes: Any) -> Any:
    def build(context: Any, builder: Any, types_: Any, args: Any) -> Any:
        place = _place(context, builder, types_.args[0], lanes.n, *args[:2])
        builder.store(args[2], place, align=8)
        return context.get_dummy_value()

    return types.void(array, types.uint64, lanes), build


def _filler(lanes: LanesType) -> Callable[..., Any]:
    def fill(typing_context: Any, value: Any) -> Any:
        def build(context: Any, builder: Any, types_: Any, args: Any) -> Any:
            return _all(builder, args[0], lanes.n)

        return lanes(types.float64), build

    return fill


def _lesser(typing_context: Any, a: Any, b: Any) -> Any:
    def build(context: Any, builder: Any, types_: Any, args: Any) -> Any:
        return builder.select(builder.fcmp_ordered("<", *args), *args)

    return a(a, a), build


def _where_above(typing_context: Any, a: Any, b: Any, x: Any, y: Any) -> Any:
    def build(context: Any, builder: Any, types_: Any, args: Any) -> Any:
        return builder.select(builder.fcmp_ordered(">", *args[:2]), *args[2:])

    return a(a, a, a, a), build


def _size(typing_context: Any, a: Any) -> Any:
    def build(context: Any, builder: Any, types_: Any, args: Any) -> Any:
        bits = ir.VectorType(_BITS, a.n)
        unsigned = _all(builder, ir.Constant(_BITS, (1 << 63) - 1), a.n)
        return builder.bitcast(builder.and_(builder.bitcast(args[0], bits), unsigned), args[0].type)

    return a(a), build


def _any_above(typing_context: Any, a: Any, b: Any, c: Any, d: Any) -> Any:
    def build(context: Any, builder: Any, types_: Any, args: Any) -> Any:
        above = builder.or_(builder.fcmp_ordered(">", *args[:2]), builder.fcmp_ordered(">", *args[2:]))
        bits = ir.IntType(a.n)
        return builder.icmp_unsigned("!=", builder.bitcast(above, bits), ir.Constant(bits, 0))

    return types.boolean(a, a, a, a), build


def _mantissas(typing_context: Any, a: Any) -> Any:
    def build(context: Any, builder: Any, types_: Any, args: Any) -> Any:
        bits = builder.bitcast(args[0], ir.VectorType(_BITS, a.n))
        kept = builder.and_(bits, _all(builder, ir.Constant(_BITS, _MANTISSA), a.n))
        in_1_to_2 = builder.or_(kept, _all(builder, ir.Constant(_BITS, _EXPONENT_OF_1), a.n))
        return builder.bitcast(in_1_to_2, args[0].type)

    return a(a), build


def _exponents(typing_context: Any, a: Any) -> Any:
    def build(context: Any, builder: Any, types_: Any, args: Any) -> Any:
        bits = builder.bitcast(args[0], ir.VectorType(_BITS, a.n))
        found = builder.lshr(bits, _all(builder, ir.Constant(_BITS, _SHIFT), a.n))
        # The bits of an integer below 2^52, put into the mantissa of 2^52, give 2^52 plus the integer
        above = builder.or_(found, _all(builder, ir.Constant(_BITS, (1023 + _SHIFT) << _SHIFT), a.n))
        return builder.fsub(
            builder.bitcast(above, args[0].type), _all(builder, ir.Constant(_DOUBLE, 2.0**_SHIFT), a.n)
        )

    return a(a), build


def _folder(instruction: str) -> Callable[..., Any]:
    def fold(typing_context: Any, a: Any) -> Any:
        def build(context: Any, builder: Any, types_: Any, args: Any) -> Any:
            join = getattr(builder, instruction)
            lanes = [_lane(builder, args[0], i) for i in range(4)]
            return join(join(*lanes[:2]), join(*lanes[2:]))

        return types.float64(a), build

    return fold


@_compiled(_reader(_TWO))
def two_at(array: Any, at: np.uint64) -> Lanes:
    """Load two numbers of a contiguous array, from the flat index `at` on."""
    return array.reshape(-1)[at : at + np.uint64(2)].copy()


@_compiled(_reader(_FOUR))
def four_at(array: Any, at: np.uint64) -> Lanes:
    """Load four numbers of a contiguous array, from the flat index `at` on."""
    return array.reshape(-1)[at : at + np.uint64(4)].copy()


@_compiled(_first_of_four)
def first_of_four(array: Any, at: np.uint64, count: np.uint64) -> Lanes:
    """Load the first `count` of four numbers as `four_at` does, with 0 in the other lanes, whose memory is not read."""
    found = np.zeros(4)
    here = array.reshape(-1)[at : at + min(count, np.uint64(4))]
    found[: len(here)] = here
    return found


@_compiled(_put)
def put_lanes(array: Any, at: np.uint64, lanes: Lanes) -> None:
    """Store lanes into a contiguous array, from the flat index `at` on."""
    array.reshape(-1)[at : at + np.uint64(len(lanes))] = lanes


@_compiled(_filler(_TWO))
def two_of(value: float) -> Lanes:
    """Two lanes, both with the same number."""
    return np.full(2, value)


@_compiled(_filler(_FOUR))
def four_of(value: float) -> Lanes:
    """Four lanes, all with the same number."""
    return np.full(4, value)


@_compiled(_lesser)
def lesser(a: Lanes, b: Lanes) -> Lanes:
    """The elementwise minimum: a where it is less than b, else b, also where a is NaN."""
    return np.where(a < b, a, b)


@_compiled(_where_above)
def where_above(a: Lanes, b: Lanes, x: Lanes, y: Lanes) -> Lanes:
    """x where a is greater than b, else y."""
    return np.where(a > b, x, y)


@_compiled(_size)
def size_of(a: Lanes) -> Lanes:
    """The elementwise absolute value."""
    return np.abs(a)


@_compiled(_any_above)
def any_above(a: Lanes, b: Lanes, c: Lanes, d: Lanes) -> bool:
    """Whether a is greater than b, or c than d, in any lane."""
    return bool(((a > b) | (c > d)).any())


@_compiled(_mantissas)
def mantissas(a: Lanes) -> Lanes:
    """The mantissas, in [1, 2), of positive numbers; 1 for 0."""
    return ((a.view(np.uint64) & np.uint64(_MANTISSA)) | np.uint64(_EXPONENT_OF_1)).view(np.float64)


@_compiled(_exponents)
def exponents(a: Lanes) -> Lanes:
    """The biased exponents of positive numbers, as floats: 1023 for 1, 0 for 0."""
    return (a.view(np.uint64) >> np.uint64(_SHIFT)).astype(np.float64)


@_compiled(_folder("fadd"))
def sum_of_four(a: Lanes) -> float:
    """Sum of four lanes as (0 + 1) + (2 + 3), the order of `kernels.sums`."""
    return float((a[0] + a[1]) + (a[2] + a[3]))


@_compiled(_folder("fmul"))
def product_of_four(a: Lanes) -> float:
    """Product of four lanes as (0 * 1) * (2 * 3)."""
    return float((a[0] * a[1]) * (a[2] * a[3]))
