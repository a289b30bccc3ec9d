"""Unusual installations: nothing can be written beside the package or in the home; the oldest Typer that is allowed."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from hegemon.compute.border import STOCK

ROOT = Path(__file__).parents[2]
HEGEMON = "from hegemon.cli.main import main; main()"


def test_the_commands_do_not_load_what_they_do_not_need():
    """What `--version` and `--help` need is light; `list` and `show` wait for no compiler."""
    for arguments, absent in (
        (["--version"], ("numpy", "rich", "numba", "scipy", "pandas")),
        (["run", "--help"], ("numpy", "numba", "scipy", "pandas", "matplotlib")),
        (["list"], ("numba", "scipy", "pandas", "matplotlib")),
        (["show", "pairwise"], ("numba", "scipy", "pandas", "matplotlib")),
        (["run", "pairwise", "--n", "9"], ("scipy.sparse", "scipy.special", "pandas", "matplotlib")),
    ):
        assert not set(absent) & loaded_by(arguments), arguments


@pytest.mark.skipif(STOCK, reason="stock Numba has no shortcuts: it loads the compiler with every kernel")
def test_kernels_that_are_compiled_already_need_no_compiler():
    for arguments in (["run", "pairwise", "--n", "9"], ["verify", "pairwise", "--n", "3"]):
        loaded_by(arguments)  # the first time, perhaps
        assert not {"numba.np.arraymath", "numba.np.linalg"} & loaded_by(arguments), arguments


def loaded_by(arguments):
    """The modules that a command has loaded when it is done."""
    program = f"import sys; from hegemon.cli.main import main; main({arguments!r}); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return set(done.stdout.splitlines()[-1].split())


@pytest.mark.full
def test_a_read_only_installation_without_a_home(tmp_path):
    """In a mount namespace of its own, where even root cannot write."""
    if shutil.which("unshare") is None:
        pytest.skip("unshare is needed to make a folder read-only")
    package = tmp_path / "installed"
    shutil.copytree(ROOT / "src", package, ignore=shutil.ignore_patterns("__pycache__"))
    script = f'mount --bind "{package}" "{package}" && mount -o remount,ro,bind "{package}" || exit 77; "$@"'
    environment = os.environ | {"HOME": "/proc/none", "XDG_CACHE_HOME": "/proc/none", "PYTHONPATH": str(package)}
    for arguments in (["list"], ["verify", "pairwise", "--n", "3"], ["run", "pairwise", "--n", "9", "--plot", "p.png"]):
        command = ["unshare", "-m", "sh", "-c", script, "sh", sys.executable, "-c", HEGEMON, *arguments]
        done = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=tmp_path, timeout=600)
        if done.returncode in (1, 77) and "unshare" in done.stderr or done.returncode == 77:
            pytest.skip("this machine allows no mount namespace")
        assert done.returncode == 0, done.stderr
        assert not [line for line in done.stderr.splitlines() if not line.startswith("…")]


@pytest.mark.full
def test_the_oldest_typer_works_with_the_newest_click(tmp_path):
    lowest = re.search(r'"typer>=([0-9.]+)', (ROOT / "pyproject.toml").read_text())[1]
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "old"], check=True, timeout=300)
    python = tmp_path / "old" / "bin" / "python"
    made = subprocess.run(
        [python, "-m", "pip", "install", "-q", f"typer=={lowest}.0" if lowest.count(".") == 1 else f"typer=={lowest}"],
        capture_output=True,
        timeout=600,
    )
    if made.returncode:
        pytest.skip("the oldest Typer cannot be fetched here")
    others = next(path for path in sys.path if path.endswith("site-packages"))
    program = (
        f"import sys; sys.path[:0] = [{str(ROOT / 'src')!r}]; sys.path.append({others!r})\n"
        "import typer; from hegemon.cli.main import main\n"
        f"assert typer.__version__.startswith({lowest!r})\n"
        "codes = [main(line.split()) for line in ('--version', '--help', 'list', 'run --help', "
        "'show pairwise --n 1e1', 'show pairwise --n x', 'nothing', "
        "'run pairwise --n 5 --json', 'lower-bound --exponents nan')]\n"
        "sys.exit(codes != [0, 0, 0, 0, 0, 2, 2, 0, 2] and str(codes))"
    )
    done = subprocess.run([python, "-c", program], capture_output=True, text=True, timeout=600)
    assert done.returncode == 0 and "Traceback" not in done.stderr, done.stderr


def completed(tmp_path, *arguments, **environment):
    """What a shell hears that asks for completions."""
    program = [sys.executable, "-c", "import sys; sys.argv[0] = 'hegemon'; " + HEGEMON, *arguments]
    environment = os.environ | {"SHELL": "/bin/bash", "HOME": str(tmp_path)} | environment
    return subprocess.run(program, capture_output=True, text=True, env=environment, timeout=120)


def test_a_shell_completes_commands_options_and_protocols(tmp_path):
    for words, found in (
        ("hegemon ru", "run"),
        ("hegemon run --tri", "--trials"),
        ("hegemon run --n 5 --n 6 --tri", "--trials"),  # whatever is wrong before it
        ("hegemon run pairw", "pairwise"),
        ("hegemon run ring --graph direc", "directed-ring:"),
        ("hegemon run timer --start no-", "no-leader"),
        ("hegemon run ring --until C_P", "C_PB"),
        ("hegemon run timer --set s", "s="),
    ):
        asked = {"_HEGEMON_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": str(words.count(" "))}
        done = completed(tmp_path, **asked)
        assert (done.returncode, done.stdout.split(), done.stderr) == (0, [found], "")


def test_the_script_of_completion_is_shown_without_complaint(tmp_path):
    done = completed(tmp_path, "--show-completion")
    assert "Traceback" not in done.stderr
    if not done.stdout:  # no shell is seen above this process, which is all that can be said
        assert "shell" in done.stderr.lower()
        return
    assert done.returncode == 0 and "_HEGEMON_COMPLETE" in done.stdout and done.stderr == ""
