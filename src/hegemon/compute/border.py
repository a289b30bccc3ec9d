"""All use of Numba's private names: here, and in `intrinsics` and `arithmetic`.

The shortcuts make a first start faster. On a release of Numba on which they were not tried, or with
HEGEMON_STOCK_NUMBA=1, plain `njit` and `cfunc` take their place: the same numbers, after a longer first compilation.

*Ingredients.* Numba makes every compiled function callable from Python and from C, and turns it into machine code by
itself; then it links that function into each of its callers and optimizes it there again. An ingredient is not callable
by itself, and is optimized once, inside the kernel that uses it.

*Loading.* Compiled code on disk is loaded without the compiler, which takes as long to import as Numba itself.
"""

import contextlib
import gc
import importlib
import os
import threading
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import numba
from numba import cfunc, njit, types
from numba.core.compiler import Compiler
from numba.core.dispatcher import Dispatcher as Dispatcher
from numba.core.errors import NumbaError as NumbaError
from numba.extending import intrinsic

TRIED = ("0.62", "0.64", "0.65", "0.66", "0.67", "0.68")  # releases on which the shortcuts were tried
STOCK = bool(os.environ.get("HEGEMON_STOCK_NUMBA")) or not numba.__version__.startswith(
    tuple(f"{release}." for release in TRIED)
)
CHECKED = bool(os.environ.get("HEGEMON_CHECK_INDICES"))  # a debug mode: kernels compare every index with a length
if CHECKED:
    settings: Any = numba.config
    settings.BOUNDSCHECK = 1
PRIVATE = ("_nrt", "no_rewrites")  # options that stock Numba may not have
_opening = threading.Lock()  # trials run in threads


@intrinsic
def _example(typing_context: Any) -> Any:
    return types.void(), lambda context, builder, signature, arguments: context.get_dummy_value()


def is_compiled(function: Any) -> bool:
    return isinstance(function, Dispatcher) or hasattr(function, "stands_for")


def is_intrinsic(function: Any) -> bool:
    return isinstance(function, type(_example))


def plain(function: Any) -> Callable[..., Any]:
    """The Python function behind a compiled one or an intrinsic."""
    if hasattr(function, "stands_for"):
        return function.stands_for
    return function.py_func if is_compiled(function) else function._defn if is_intrinsic(function) else function


def options_of(function: Any) -> dict[str, Any]:
    """The options that a function was compiled with."""
    return getattr(function, "targetoptions", {})


def _forgiving(kernel: Any, method: str, prepare: Callable[[], None] = lambda: None) -> Any:
    """Treat cached files that cannot be loaded as absent: those of an older version may name types that are gone.

    The method `_load_overload` does not import the compiler first, which takes a fifth of a command's start.
    """
    cache: Any = getattr(kernel, "_cache", None)
    load: Any = getattr(cache, method, None)

    def load_overload(signature: Any, context: Any) -> Any:
        try:
            prepare()
            return load(signature, context)
        except Exception:  # an archive of any other version: it is removed, and compiled again
            cache.flush()
            return None

    if load is not None:
        cache.load_overload = load_overload
    return kernel


if STOCK:

    def ingredient(**options: Any) -> Any:
        """The decorator of functions that only kernels call, with options of `numba.njit`."""
        return njit(**_public(options))

    def by_types(function: Callable[..., Any], version: Callable[[tuple[Any, ...]], Any]) -> Any:
        """What kernels call instead of a function: `version(types)` is its ingredient for arguments of these types."""

        def stand_in(*given: Any) -> None:
            """Never called from Python."""

        from numba.extending import overload

        made: Any = stand_in
        made.stands_for = function
        overload(stand_in, strict=False)(lambda *given: version(given).py_func)
        return stand_in

    def make_kernel(function: Callable[..., Any], options: dict[str, Any], cache: bool = False) -> Any:
        return _forgiving(njit(cache=cache, **_public(options))(_apart(function)), "load_overload")

    def make_callback(function: Callable[..., Any], signature: Any, cache: bool = False) -> Any:
        try:
            return cfunc(signature, cache=cache)(_apart(function))
        except (AttributeError, ImportError):  # of files that an older version of the code has left
            return cfunc(signature)(function)

    def compile_alone(kernel: Any, held: Callable[..., Any]) -> None:
        """Nothing to do: stock Numba compiles in every process that needs a kernel."""

    def _public(options: dict[str, Any]) -> dict[str, Any]:
        return {name: value for name, value in options.items() if name not in PRIVATE}

    def _apart(function: Callable[..., Any]) -> Callable[..., Any]:
        """Keep the files of compiled code apart from those made with the shortcuts."""
        function.__qualname__ = f"{function.__qualname__.removesuffix('_stock')}_stock"
        return function

else:
    from numba.core.ccallback import CFunc
    from numba.core.codegen import JITCodeLibrary
    from numba.core.compiler_lock import global_compiler_lock
    from numba.core.environment import lookup_environment
    from numba.core.registry import CPUDispatcher
    from numba.core.sigutils import normalize_signature

    _NUMBERS = types.IntegerLiteral, types.BooleanLiteral
    _CLOSED = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}

    class _Raw(JITCodeLibrary):
        """An ingredient's code, linked with the code of all that it calls, and not optimized."""

        def finalize(self) -> None:
            for library in dict.fromkeys(self._linking_libraries):
                if hasattr(library, "_reload_init"):  # newer than the oldest Numba that is allowed
                    self._reload_init.update(library._reload_init)
                self._final_module.link_in(library._get_module_for_linking(), preserve=True)
            self._finalized = True

        def get_pointer_to_function(self, name: str) -> int:
            return 0  # nowhere yet

        @property
        def codegen(self) -> "_Raw":
            return self

        def set_env(self, name: str, environment: Any) -> None:
            """Nothing to do: this code does not run by itself, and the kernel sets it (see `_Finished`)."""

    class _Finished(JITCodeLibrary):
        """A kernel's code. Its ingredients get their environments, which hold the messages of their exceptions."""

        def _finalize_final_module(self) -> None:
            super()._finalize_final_module()
            codegen: Any = self._codegen
            for variable in self._final_module.global_variables:
                environment = lookup_environment(variable.name)
                if environment is not None:
                    codegen.set_env(variable.name, environment)

    def _compiler(library: type[JITCodeLibrary]) -> type[Compiler]:
        class Into(Compiler):
            def define_pipelines(self) -> list[Any]:
                self.state.library = library(self.state.targetctx.codegen(), self.state.func_id.func_qualname)
                self.state.library.enable_object_caching()
                return super().define_pipelines()

        return Into

    _KernelCompiler = _compiler(_Finished)
    _IngredientCompiler = _compiler(_Raw)

    class Ingredient(CPUDispatcher):
        """A function for kernels. Called from Python it is compiled once more, as a kernel: its `door`."""

        door = None

        def open_door(self) -> Any:
            from hegemon.compute.compilation import specialize  # which imports this module

            return specialize(self.py_func, allocates=self.targetoptions.get("_nrt", True))

        def get_call_template(self, arguments: Any, named: Any) -> Any:
            """Take numbers without their literal values where possible: a new literal then needs no new compilation."""
            kinds = tuple(types.unliteral(kind) if isinstance(kind, _NUMBERS) else kind for kind in arguments)
            try:
                return super().get_call_template(kinds, named)
            except NumbaError:
                if kinds == tuple(arguments):
                    raise
                return super().get_call_template(arguments, named)

        def add_overload(self, result: Any) -> None:
            self.overloads[tuple(result.signature.args)] = result

        def _compile_for_args(self, *arguments: Any, **named: Any) -> Any:
            with _opening:
                if self.door is None:
                    self.door = self.open_door()
            entry = self.door._compile_for_args(*arguments, **named)
            if not named:  # from now on Python calls the compiled entry directly
                inner: Any = self  # made in C, which type checkers do not see
                inner._insert([inner.typeof_pyval(value)._code for value in arguments], entry, False)
            return entry

    class ByTypes(Ingredient):
        """A function with another text for other types of its arguments, made when a kernel is compiled."""

        version: Callable[[tuple[Any, ...]], Ingredient]

        def get_call_template(self, arguments: Any, named: Any) -> Any:
            given = tuple(map(types.unliteral, arguments))
            inner = self.version(given)
            made = inner.get_call_template(given, named)
            self.overloads.update(inner.overloads)
            return made

    def ingredient(**options: Any) -> Any:
        """The decorator of functions that only kernels call, with options of `numba.njit`."""

        def decorate(function: Callable[..., Any]) -> Ingredient:
            return Ingredient(function, {}, _target(options), _IngredientCompiler)

        return decorate

    def by_types(function: Callable[..., Any], version: Callable[[tuple[Any, ...]], Any]) -> Any:
        """What kernels call instead of a function: `version(types)` is its ingredient for arguments of these types."""
        made = ByTypes(function, {}, _target({}), _IngredientCompiler)
        made.version = version
        return made

    def _target(options: dict[str, Any]) -> dict[str, Any]:
        return {"nopython": True, "boundscheck": None, **_CLOSED, **options}

    def make_kernel(function: Callable[..., Any], options: dict[str, Any], cache: bool = False) -> Any:
        shortcuts: dict[str, Any] = {"no_cfunc_wrapper": True, "pipeline_class": _KernelCompiler}
        return _forgiving(njit(cache=cache, **(options | shortcuts))(function), "_load_overload", _load_runtime)

    def make_callback(function: Callable[..., Any], signature: Any, cache: bool = False) -> Any:
        with global_compiler_lock, _uncollected():
            made = CFunc(function, normalize_signature(signature), {}, {}, pipeline_class=_KernelCompiler)
            if cache:
                made.enable_caching()
                _forgiving(made, "_load_overload", _load_runtime)
            made.compile()
            return made

    @cache
    def _load_runtime() -> None:
        """Declare what compiled kernels call by name. Numba itself would load its compiler for that."""
        from llvmlite import binding

        runtime = importlib.import_module("numba.core.runtime._nrt_python")
        for name, address in runtime.c_helpers.items():
            binding.add_symbol(name if name.startswith("_") else f"NRT_{name}", address)

    def compile_alone(kernel: Any, held: Callable[..., Any]) -> None:
        """Let one process at a time compile a kernel, or load what another process has compiled meanwhile.

        Two processes that compile it for different types would otherwise give their files the same name. `held(path)`
        is a context that holds the lock in this file.
        """
        path = getattr(kernel._cache, "_cache_path", None)
        if path is None:
            return  # nothing is kept
        compile_for, save = kernel.compile, kernel._cache.save_overload
        lock = os.path.join(path, f".{kernel.py_func.__qualname__}.lock")

        def compile_kernel(signature: Any) -> Any:
            # The compiler's own lock first: no thread may hold the file while another waits with the compiler's lock.
            with global_compiler_lock, held(lock), _uncollected():
                return compile_for(signature)

        def save_overload(signature: Any, data: Any) -> None:
            with contextlib.suppress(OSError):  # if the disk is full, the run takes longer but does not fail
                save(signature, data)

        kernel.compile, kernel._cache.save_overload = compile_kernel, save_overload

    @contextlib.contextmanager
    def _uncollected() -> Iterator[None]:
        """Pause garbage collection: the compiler keeps most of its objects, and a search costs a tenth of its time."""
        looking = gc.isenabled()
        gc.disable()
        try:
            yield
        finally:
            if looking:
                gc.enable()
