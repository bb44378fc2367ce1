"""Characters that are not what they look like, made visible."""

from __future__ import annotations

_BREAKS = ("\r\n", "\r", "\x0b", "\x0c", "\x85", "\u2028", "\u2029")
_TABLE: dict[int, str] = {
    **{code: chr(0x2400 + code) for code in range(0x20) if code not in (0x09, 0x0A)},
    0x7F: "\u2421",
    **dict.fromkeys(range(0x80, 0xA0), "\ufffd"),
    **dict.fromkeys(range(0xD800, 0xE000), "\ufffd"),
    # Marks of reading direction that turn round what is written after them.
    **{
        code: f"[U+{code:04X}]"
        for code in (*range(0x202A, 0x202F), *range(0x2066, 0x206A), 0x206A, 0x206B)
    },
    **dict.fromkeys(range(0xE0000, 0xE0080), "\ufffd"),
    0xFEFF: "",
    0xFFFE: "\ufffd",
    0xFFFF: "\ufffd",
}


def harmless(text: str) -> str:
    r"""Return a text in which no character hides or turns round others; all line ends are ``\n``.

    Control characters become their pictures (NUL is ``␀``), those of the second block, halves
    of surrogates and invisible tags become U+FFFD, and the characters that embed, override or
    isolate a reading direction become their names, ``[U+202E]``. Right-to-left letters, and the
    marks that only say which way they run, stay. A byte order mark is taken out.

    Examples
    --------
    >>> harmless("a\x00b\u202ec\r\nd")
    'a␀b[U+202E]c\nd'
    """
    if text.isascii() and text.isprintable():
        return text
    for line_end in _BREAKS:
        if line_end in text:
            text = text.replace(line_end, "\n")
    return text.translate(_TABLE)
