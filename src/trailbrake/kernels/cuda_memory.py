"""How kernels of a graphics card read tables: parameters from constant memory, and lines in whole vectors.

Everything that the package needs of numba-cuda beyond its public interface is here.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from trailbrake.errors import UsageError

ALIGNMENT = 16  # bytes, the longest load of a thread; tables on the card begin on multiples of 256
_SPARE = 0.1  # share of the memory that stays free, for roads and whatever the card's libraries need


def is_simulated() -> bool:
    """Return whether numba simulates the card (NUMBA_ENABLE_CUDASIM): there are no kinds of memory then."""
    import numba

    config: Any = numba.config
    return bool(config.ENABLE_CUDASIM)


def _import_compiler() -> Any:
    """Return LLVM's instructions, numba-cuda's types, and its decorator of intrinsics."""
    from llvmlite import ir  # type: ignore[import-untyped]
    from numba.cuda import extending, types

    return ir, types, extending.intrinsic


def pad_columns(columns: int, dtype: DTypeLike) -> int:
    """Return the least number of columns from `columns` on with which every line of a table is aligned."""
    whole = ALIGNMENT // np.dtype(dtype).itemsize
    return -(-columns // whole) * whole


def make_aligned_view(columns: int) -> Any:
    """Return a function of the card that returns a table with its number of columns known to the compiler.

    With that, neighbours in a line are read up to four at a time. `columns` must be what `pad_columns` returns.
    """
    if is_simulated():
        return _return_table
    ir, types, intrinsic = _import_compiler()

    def view(typingctx: Any, table: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            kind = signature.args[0]
            width = context.get_abi_sizeof(context.get_data_type(kind.dtype))
            old = context.make_array(kind)(context, builder, args[0])
            word = context.get_value_type(types.intp)
            low = builder.and_(builder.ptrtoint(old.data, word), ir.Constant(word, ALIGNMENT - 1))
            builder.assume(builder.icmp_unsigned("==", low, ir.Constant(word, 0)))
            new = context.make_array(kind)(context, builder)
            sizes = [context.get_constant(types.intp, size) for size in (columns, columns * width, width)]
            context.populate_array(
                new, data=old.data, shape=[builder.extract_value(old.shape, 0), sizes[0]], strides=sizes[1:],
                itemsize=sizes[2], meminfo=None,
            )  # fmt: skip
            return new._getvalue()

        return table(table), codegen

    return intrinsic(view)


def _return_table(table: Any) -> Any:
    return table


def make_constant_array(name: str, size: int, single: bool) -> Any:
    """Return a function of the card, without arguments, that returns an array in constant memory.

    An instruction takes a number from there as it takes one from a register, if all threads read the same number. The
    array is 0 until `write_constants` fills it.

    Args:
        name: of the array in the machine code.
        size: how many numbers.
        single: whether they are float32; otherwise float64.
    """
    ir, types, intrinsic = _import_compiler()

    kind = types.Array(types.float32 if single else types.float64, 1, "C")

    def constants(typingctx: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            number = context.get_data_type(kind.dtype)
            row = ir.ArrayType(number, size)
            # Not declared constant: the compiler would compute with the zeros.
            kept = ir.GlobalVariable(builder.module, row, name, addrspace=4)
            kept.initializer, kept.align = ir.Constant(row, None), ALIGNMENT
            generic = builder.addrspacecast(kept, row.as_pointer(), "generic")
            array = context.make_array(kind)(context, builder)
            width = context.get_constant(types.intp, context.get_abi_sizeof(number))
            context.populate_array(
                array, data=builder.bitcast(generic, array.data.type), shape=[context.get_constant(types.intp, size)],
                strides=[width], itemsize=width, meminfo=None,
            )  # fmt: skip
            return array._getvalue()

        return kind(), codegen

    return intrinsic(constants)


def write_constants(kernel: Any, name: str, values: NDArray[Any]) -> None:
    """Write `values` to a constant array of a kernel, after what the card was given to do before.

    Args:
        kernel: specialized for its argument types (`specialize`).
        name: of the array, as in `make_constant_array`.
        values: as many and of the same type as its numbers.

    Raises:
        ValueError: the array has another size.
    """
    from numba.cuda.cudadrv import driver

    card: Any = driver
    (compiled,) = kernel.overloads.values()
    place, size = compiled._codelibrary.get_cufunc().module.get_global_symbol(name)
    if size != values.nbytes:
        raise ValueError(f"write_constants: {name} has {size} bytes, expected {values.nbytes}")
    card.host_to_device(place, values, values.nbytes)


def stack_tables(tables: Sequence[NDArray[Any]], dtype: DTypeLike) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Return tables (rows, ...) one below the other, and the first row of each and the end, (tables + 1,)."""
    starts = np.cumsum([0, *(len(table) for table in tables)])
    return np.concatenate(tables).astype(dtype), starts.astype(np.int64)


def check_memory(n: int, car_bytes: int) -> None:
    """Raise UsageError if `n` cars of `car_bytes` each do not fit in the free memory of the card."""
    import numba.cuda

    cuda: Any = numba.cuda
    free = cuda.current_context().get_memory_info()[0]
    fitting = free / (car_bytes * (1.0 + _SPARE))
    if n > fitting:
        raise UsageError(
            "too many cars for the memory of the graphics card", where="n", expected=f"at most {int(fitting)}",
            got=f"{n}, {car_bytes} B each; {free / 2**20:.0f} MiB are free",
        )  # fmt: skip


def take_array(values: Any, dtype: DTypeLike) -> Any:
    """Return an array of the card, of any library, as numba takes it, without a copy; one of the processor is copied.

    Args:
        values: with the `__cuda_array_interface__`, or for the processor.
        dtype: of the copy.
    """
    import numba.cuda

    cuda: Any = numba.cuda
    if hasattr(values, "__cuda_array_interface__"):
        return cuda.as_cuda_array(values, sync=False)
    if hasattr(values, "__cuda_ndarray__"):  # of the simulator
        return values
    return cuda.to_device(np.ascontiguousarray(values, dtype))
