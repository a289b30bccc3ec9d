"""Opens a page in the browser without showing its address, which contains the token, to other users of the machine.

The arguments of a process are public, and a browser is started with what it should open. So it is given a file that
only this user may read, and the file leads to the page.
"""

import html
import os
import tempfile
import webbrowser
from pathlib import Path

PAGE = """<!doctype html>
<meta charset="utf-8">
<meta http-equiv="refresh" content="0; url={address}">
<title>hegemon</title>
<p><a href="{address}">The page of this run</a></p>
"""


def open_privately(url: str) -> Path:
    """Open the address in the browser; returns the file that leads there, which the caller removes."""
    handle, name = tempfile.mkstemp(prefix="hegemon-", suffix=".html", dir=_folder())  # with mode 0600
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(PAGE.format(address=html.escape(url, quote=True)))
    webbrowser.open(Path(name).as_uri())
    return Path(name)


def _folder() -> Path | None:
    """Browsers in a snap do not see the folder of temporary files, but the home folder."""
    home = Path.home()
    return home if (home / "snap").is_dir() and os.access(home, os.W_OK) else None
