"""`python -m hegemon.web.live.build`: the kernels of live pages, built anew into the package."""

import hashlib
import json
import os
from importlib.resources import files
from pathlib import Path

os.environ["NUMBA_OPT"] = "3"  # read by Numba when it is loaded: what is shipped is optimized, whoever builds it

COMMAND = "python -m hegemon.web.live.build"


def build() -> bytes:
    """The module with all kernels of pages."""
    from hegemon.web.live.building import linked, retargeted
    from hegemon.web.live.kernels import page_kernels

    return linked({name: retargeted(name, code) for name, code in page_kernels().items()})


def described(module: bytes) -> str:
    """What stands beside the module: its digest, and the command that builds it."""
    return json.dumps({"sha256": hashlib.sha256(module).hexdigest(), "bytes": len(module), "command": COMMAND}) + "\n"


if __name__ == "__main__":
    from hegemon.files import write_text

    folder = Path(str(files("hegemon.web.live")))
    made = build()
    (folder / "kernels.wasm").write_bytes(made)
    write_text(folder / "kernels.json", described(made))
    print(f"{folder / 'kernels.wasm'}: {len(made):,} bytes")
