"""`python -m hegemon.protocols` writes `__init__.pyi`, after a protocol was added."""

from hegemon.files import write_text
from hegemon.protocols.listing import FOLDER, stub

write_text(FOLDER / "__init__.pyi", stub())
