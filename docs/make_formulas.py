"""Typesets the formulas of all pages: what stands between $` and `$ becomes MathML when MkDocs builds (`hooks`)."""

import re

from hegemon.claims.formulas import in_text, mathml

FENCED = re.compile(r"(^ *```.*?^ *```[^\S\n]*$)", re.S | re.M)


def on_page_markdown(markdown: str, **_: object) -> str:
    """MkDocs calls this for every page. Blocks of code stay as they are."""
    parts = FENCED.split(markdown)
    return "".join(part if k % 2 else in_text(part, str, mathml) for k, part in enumerate(parts))
