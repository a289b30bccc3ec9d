"""Kernels as WebAssembly: the LLVM code that Numba makes of them, with another target.

`python -m hegemon.web.live.build` builds the module that the package ships. It needs `wasm-ld`: Debian's `lld`, or
`ziglang` from PyPI.
"""

import re
import shutil
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path

from llvmlite import binding

from hegemon.errors import InvalidInput

TARGET = "wasm32-unknown-unknown"
NO_LINKER = (
    "wasm-ld, the linker of WebAssembly, is not installed; `apt-get install lld`, or `pip install ziglang`, provides it"
)
# Memory for arrays that a function makes: one after the other from an address that its caller gives, and never freed.
# Numba's compiled code reads the address of the data 24 bytes behind that of the header.
ROOM = """
@room = internal global i32 0
define void @begin_room(i32 %0) {
  store i32 %0, ptr @room
  ret void
}
define internal ptr @NRT_MemInfo_alloc_aligned(i64 %size, i32 %alignment) {
  %top = load i32, ptr @room
  %above = add i32 %top, 63
  %header = and i32 %above, -64
  %data = add i32 %header, 64
  %length = trunc i64 %size to i32
  %end = add i32 %data, %length
  store i32 %end, ptr @room
  %place = add i32 %header, 24
  %field = inttoptr i32 %place to ptr
  %begin = inttoptr i32 %data to ptr
  store ptr %begin, ptr %field
  %result = inttoptr i32 %header to ptr
  ret ptr %result
}
"""
STACK = 1 << 16  # bytes


def linker() -> list[str]:
    """The command of wasm-ld; InvalidInput if there is none."""
    if found := shutil.which("wasm-ld"):
        return [found]
    if find_spec("ziglang") is not None:
        return [sys.executable, "-m", "ziglang", "wasm-ld"]
    raise InvalidInput(NO_LINKER)


def retargeted(name: str, code: str) -> bytes:
    """The object file of LLVM code whose one entry point, compiled by Numba, gets this name.

    The entry takes two addresses before its arguments, as Numba's own convention has it: for the result, and for an
    exception. What Numba adds for callers in C and in Python is dropped.
    """
    entry = re.search(r'@("?)cfunc\.([^"(\s]+)\1\(', code)
    if entry is None:
        raise InvalidInput(f"the LLVM code of {name} has no entry for C; was it made by compilation.llvm_of?")
    code = _without(code, f"cfunc.{entry[2]}")
    code = code.replace(f"@{entry[2]}(", f"@{name}(")
    if allocates := "@NRT_MemInfo_alloc_aligned(" in code:
        code = re.sub(r"^declare [^\n]*@NRT_MemInfo_alloc_aligned\([^\n]*\n", "", code, flags=re.MULTILINE) + ROOM
    for counting in ("NRT_incref", "NRT_decref"):  # of arrays that nobody else owns: what allocates is refused below
        if f"@{counting}(" in code:
            code = f"{_without(code, counting)}\ndefine internal void @{counting}(ptr %0) {{\n  ret void\n}}\n"
            code = re.sub(rf"^declare [^\n]*@{counting}\([^\n]*\n", "", code, flags=re.MULTILINE)
    code = re.sub(r'^target triple = ".*"$', f'target triple = "{TARGET}"', code, flags=re.MULTILINE)
    code = re.sub(r'^target datalayout = ".*"\n', "", code, flags=re.MULTILINE)
    code = code.replace("= common ", "= internal ").replace("define linkonce_odr ", "define internal ")
    binding.initialize_all_targets()
    binding.initialize_all_asmprinters()
    module = binding.parse_assembly(code)
    machine = binding.Target.from_triple(TARGET).create_target_machine(
        opt=3, reloc="static", features="+bulk-memory" * allocates
    )
    module.data_layout = str(machine.target_data)
    builder = binding.create_pass_builder(machine, binding.create_pipeline_tuning_options(speed_level=3))
    builder.getModulePassManager().run(module, builder)
    module.verify()
    declared = {function.name for function in module.functions if function.is_declaration}
    if foreign := sorted(one for one in declared if not one.startswith("llvm.") or one.startswith("llvm.x86")):
        raise InvalidInput(f"{name} needs {foreign[0]}, which a browser does not have")
    return bytes(machine.emit_object(module))


def _without(code: str, name: str) -> str:
    """LLVM code without the definition of this function."""
    begin = re.search(rf'^define [^\n]*@"?{re.escape(name)}"?\(', code, re.MULTILINE)
    if begin is None:
        return code
    return code[: begin.start()] + code[code.index("\n}\n", begin.start()) + 3 :]


def linked(objects: dict[str, bytes]) -> bytes:
    """One module of these objects, which exports the function of each name; it imports nothing."""
    with tempfile.TemporaryDirectory() as folder:
        files = []
        for name, content in objects.items():
            files.append(Path(folder) / f"{name}.o")
            files[-1].write_bytes(content)
        made = Path(folder) / "linked.wasm"
        command = [*linker(), "--no-entry", "--strip-all", "--export=__heap_base", "-z", f"stack-size={STACK}"]
        command += [f"--export={name}" for name in objects] + ["--export-if-defined=begin_room"]
        done = subprocess.run([*command, *map(str, files), "-o", str(made)], capture_output=True, text=True)
        if done.returncode:
            raise InvalidInput(f"{command[0]} refused the kernels: {done.stderr.strip()[:400]}")
        return made.read_bytes()
