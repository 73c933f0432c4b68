# SPDX-License-Identifier: Apache-2.0
"""The worker of an implementation in Python: `python -m backgauge.worker ...`, started by the judge and by the benchmark.

The loop that serves them is native; this opens the file.
"""
import importlib.util
import pathlib
import sys
import sysconfig
import warnings


def libraries():
    """The folders that this interpreter imports from, and loads its own libraries from."""
    paths = sysconfig.get_paths()
    return [*sys.path, *(paths[name] for name in ("stdlib", "platstdlib", "purelib", "platlib")), str(pathlib.Path(sys.base_prefix, "lib"))]


def module_of(name):
    """A Python file as a module."""
    file = pathlib.Path(name).resolve()
    if not file.is_file():
        raise FileNotFoundError(f"there is no file {file}")
    sys.path.insert(0, str(file.parent))  # what the file imports may lie next to it
    spec = importlib.util.spec_from_file_location(file.stem, file)
    module = importlib.util.module_from_spec(spec)
    sys.modules[file.stem] = module
    spec.loader.exec_module(module)
    return module


def open_file(name):
    """The description of the implementation in a file."""
    from backgauge.implementation import Description
    return Description(module_of(name), name)


if __name__ == "__main__":
    import _backgauge
    # Values may overflow in a case that is there to see them overflow. An implementation that prints is accused of it.
    warnings.simplefilter("ignore")
    _backgauge.serve(sys.argv[1:], open_file, libraries())
