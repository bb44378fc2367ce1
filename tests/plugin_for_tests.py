"""A package with entry points, as pip would install it."""

import sys
from contextlib import contextmanager

from venire import plugins


@contextmanager
def installed(folder, group, points, code, module="venire_plugin_of_tests"):
    """Install ``code`` as a module, with ``points`` (name -> attribute) in a group."""
    info = folder / f"{module}-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {module}\nVersion: 1.0\n")
    lines = "".join(f"{name} = {module}:{attribute}\n" for name, attribute in points.items())
    (info / "entry_points.txt").write_text(f"[{group}]\n{lines}")
    (folder / f"{module}.py").write_text(code)
    sys.path.insert(0, str(folder))
    _forget()
    try:
        yield
    finally:
        sys.path.remove(str(folder))
        sys.modules.pop(module, None)
        _forget()


def _forget():
    for function in (plugins._all_points, plugins._points, plugins._load):
        function.cache_clear()
