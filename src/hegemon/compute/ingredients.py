"""Functions that only kernels call, compiled once with each kernel and never by themselves.

Numba makes every compiled function callable from Python and from C, and turns it into machine code by itself; then it
links that function into each of its callers and optimizes it there again. Along a chain of small functions the same
code is so optimized once for every link. An *ingredient* gets no such doors, and waits unoptimized until a kernel is
finished that contains it: the kernel's machine code is the same, and takes a fraction of the time.
"""

import threading

from numba import types
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numba.core.environment import lookup_environment
from numba.core.errors import NumbaError
from numba.core.registry import CPUDispatcher
from numba.core.untyped_passes import IRProcessing

_NUMBERS = types.IntegerLiteral, types.BooleanLiteral
_opening = threading.Lock()  # trials run in threads
_CLOSED = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}


class _Raw(JITCodeLibrary):
    """An ingredient's code with that of all that it calls: linked, nothing more."""

    def finalize(self):
        for library in dict.fromkeys(self._linking_libraries):
            if hasattr(library, "_reload_init"):  # newer than the oldest Numba that is allowed
                self._reload_init.update(library._reload_init)
            self._final_module.link_in(library._get_module_for_linking(), preserve=True)
        self._finalized = True

    def get_pointer_to_function(self, name):
        return 0  # nowhere yet

    @property
    def codegen(self):
        return self

    def set_env(self, name, environment):
        """Nothing here runs: the kernel does it (see `_Finished`)."""


class _Finished(JITCodeLibrary):
    """A kernel's code. Its ingredients get their environments, which hold what their exceptions say."""

    def _finalize_final_module(self):
        super()._finalize_final_module()
        for variable in self._final_module.global_variables:
            environment = lookup_environment(variable.name)
            if environment is not None:
                self._codegen.set_env(variable.name, environment)


def _compiler(library, checked=False) -> type[Compiler]:
    class Into(Compiler):
        def define_pipelines(self):
            self.state.library = library(self.state.targetctx.codegen(), self.state.func_id.func_qualname)
            self.state.library.enable_object_caching()
            (pipeline,) = super().define_pipelines()
            if checked:
                from hegemon.compute.checked import CheckArithmetic

                pipeline.add_pass_after(CheckArithmetic, IRProcessing)
                pipeline.finalize()
            return [pipeline]

    return Into


KernelCompiler = _compiler(_Finished)
_IngredientCompiler = _compiler(_Raw)
_AuthorsCompiler = _compiler(_Raw, checked=True)


class Ingredient(CPUDispatcher):
    """A function for kernels. Called from Python it is compiled once more, as a kernel: its door."""

    door = None

    def open_door(self):
        from hegemon.compute.compilation import specialize  # which stands on this module

        return specialize(self.py_func, allocates=self.targetoptions.get("_nrt", True))

    def get_call_template(self, arguments, named):
        """As for any number, where that is possible: not compiled again for every literal that it is given."""
        given = tuple(types.unliteral(kind) if isinstance(kind, _NUMBERS) else kind for kind in arguments)
        try:
            return super().get_call_template(given, named)
        except NumbaError:
            if given == tuple(arguments):
                raise
            return super().get_call_template(arguments, named)

    def add_overload(self, result) -> None:
        self.overloads[tuple(result.signature.args)] = result

    def _compile_for_args(self, *arguments, **named):
        with _opening:
            if self.door is None:
                self.door = self.open_door()
        entry = self.door._compile_for_args(*arguments, **named)
        if not named:  # from now on Python calls it without a detour
            self._insert([self.typeof_pyval(value)._code for value in arguments], entry, False)
        return entry


def ingredient(checked=False, **options):
    """The decorator of ingredients, with options of `numba.njit`; `checked`: see `checked`."""

    def decorate(function) -> Ingredient:
        targetoptions = {"nopython": True, "boundscheck": None, **_CLOSED, **options}
        return Ingredient(function, {}, targetoptions, _AuthorsCompiler if checked else _IngredientCompiler)

    return decorate
