"""Two or four numbers that one instruction works on, for sums in the fixed order of `kernels.sums`.

LLVM makes such instructions of loops over columns, though not of sums whose order is fixed, and to begin a loop takes
longer than a few columns. Lanes are added, subtracted, multiplied and divided as numbers are, each lane for itself, so
that the bits are those of numbers one by one. Where kernels run as Python, lanes are small arrays.
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
Lanes = Any  # of Numba's type below: Python has no name for it
_extending: Any = extending  # what Numba has no types for
_templates: Any = templates
_cgutils: Any = cgutils
_intrinsic: Any = extending.intrinsic
_DOUBLE, _BITS = ir.DoubleType(), ir.IntType(64)
_MANTISSA, _EXPONENT_OF_1, _SHIFT = (1 << 52) - 1, 1023 << 52, 52


class LanesType(types.Type):
    """Numba's type of `n` numbers in one register."""

    def __init__(self, n: int) -> None:
        self.n = n
        super().__init__(name=f"Lanes({n})")


@_extending.register_model(LanesType)
class _LanesModel(_extending.models.PrimitiveModel):  # type: ignore[misc] # of no type
    def __init__(self, manager: Any, of: LanesType) -> None:
        super().__init__(manager, of, ir.VectorType(_DOUBLE, of.n))


_TWO, _FOUR = LanesType(2), LanesType(4)


def _as_numbers(does: Callable[[Any, Any], Any], instruction: str) -> None:
    """Let an operator of Python work on lanes."""

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
    """Give a function of Python the code that it is compiled to: `compiler(*types)` gives types and a builder of it."""

    def decorate(plain: F) -> F:
        asked: Any = config  # Numba fills it in at run time
        if asked.DISABLE_JIT:
            return plain
        made: Any = _intrinsic(compiler)
        made.__doc__ = plain.__doc__
        return cast(F, made)

    return decorate


def _all(builder: Any, value: Any, n: int) -> Any:
    """A number in every lane."""
    lanes = ir.Constant(ir.VectorType(value.type, n), ir.Undefined)
    for i in range(n):
        lanes = builder.insert_element(lanes, value, ir.Constant(ir.IntType(32), i))
    return lanes


def _lane(builder: Any, lanes: Any, i: int) -> Any:
    return builder.extract_element(lanes, ir.Constant(ir.IntType(32), i))


def _place(context: Any, builder: Any, kind: Any, n: int, array: Any, at: Any) -> Any:
    """Where lanes lie in an array, counted through all its rows."""
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
        # Signed: of unsigned numbers AVX2 has no comparison
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
        # Below 2^52, an integer in the bits of the mantissa of 2^52 makes 2^52 more than itself
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
    """Two numbers of an array that lies in one piece, from `at` on, counted through all its rows."""
    return array.reshape(-1)[at : at + np.uint64(2)].copy()


@_compiled(_reader(_FOUR))
def four_at(array: Any, at: np.uint64) -> Lanes:
    """Four numbers of an array that lies in one piece, from `at` on, counted through all its rows."""
    return array.reshape(-1)[at : at + np.uint64(4)].copy()


@_compiled(_first_of_four)
def first_of_four(array: Any, at: np.uint64, count: np.uint64) -> Lanes:
    """As `four_at` where there are `count` of them left or more, else these and 0: what lies behind is not touched."""
    found = np.zeros(4)
    here = array.reshape(-1)[at : at + min(count, np.uint64(4))]
    found[: len(here)] = here
    return found


@_compiled(_put)
def put_lanes(array: Any, at: np.uint64, lanes: Lanes) -> None:
    """Write lanes into an array that lies in one piece, from `at` on, counted through all its rows."""
    array.reshape(-1)[at : at + np.uint64(len(lanes))] = lanes


@_compiled(_filler(_TWO))
def two_of(value: float) -> Lanes:
    """A number twice."""
    return np.full(2, value)


@_compiled(_filler(_FOUR))
def four_of(value: float) -> Lanes:
    """A number four times."""
    return np.full(4, value)


@_compiled(_lesser)
def lesser(a: Lanes, b: Lanes) -> Lanes:
    """a where it is less than b, else b: also where a is NaN."""
    return np.where(a < b, a, b)


@_compiled(_size)
def size_of(a: Lanes) -> Lanes:
    """The absolute value."""
    return np.abs(a)


@_compiled(_any_above)
def any_above(a: Lanes, b: Lanes, c: Lanes, d: Lanes) -> bool:
    """Whether a is greater than b, or c than d, in any lane."""
    return bool(((a > b) | (c > d)).any())


@_compiled(_mantissas)
def mantissas(a: Lanes) -> Lanes:
    """What is left of positive numbers when they are divided by powers of two: in [1, 2), and 1 of 0."""
    return ((a.view(np.uint64) & np.uint64(_MANTISSA)) | np.uint64(_EXPONENT_OF_1)).view(np.float64)


@_compiled(_exponents)
def exponents(a: Lanes) -> Lanes:
    """The exponents of positive numbers as they stand in the bits: 1023 of 1, 0 of 0."""
    return (a.view(np.uint64) >> np.uint64(_SHIFT)).astype(np.float64)


@_compiled(_folder("fadd"))
def sum_of_four(a: Lanes) -> float:
    """(0 + 1) + (2 + 3), the order of `kernels.sums`."""
    return float((a[0] + a[1]) + (a[2] + a[3]))


@_compiled(_folder("fmul"))
def product_of_four(a: Lanes) -> float:
    """(0 * 1) * (2 * 3)."""
    return float((a[0] * a[1]) * (a[2] * a[3]))
