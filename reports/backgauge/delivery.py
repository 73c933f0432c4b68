# SPDX-License-Identifier: Apache-2.0
"""Delivers a function of this process to the worker process in which `backgauge verify` runs it.

A function at the top level of a file is loaded from there again: its module is imported, a script under another name than
`__main__`. What was changed in the module since is not seen. Everything else - a lambda, a function inside another one, one of a
notebook, an object with `__call__` - is copied by the package cloudpickle, if that is installed.
"""
import importlib
import importlib.util
import pathlib
import sys

from backgauge.errors import InputError
from backgauge.implementation import Function

_STUB = '''"""{description}"""
from backgauge.delivery import receive
locals().update(receive({path!r}, {functions!r}))
'''


def send(functions, folder):
    """Writes a file of implementations, for --impl, into `folder`. functions: list of Function. Raises InputError."""
    sent = {f"function_{k}": {"op": each.op, "claims": each.claims, "name": each.name, "staged": each.staged,
                              "refuses": each.refuses, "device": each.device, "arrays": each.arrays,
                              "reserve": each.reserve_space_length and _packed(each.reserve_space_length),
                              "function": _packed(each.function)} for k, each in enumerate(functions)}
    last = functions[-1].name
    file = pathlib.Path(folder) / f"{last if last.isidentifier() else 'function'}.py"
    path = [str(pathlib.Path(each).resolve()) for each in sys.path]
    file.write_text(_STUB.format(description=f"{last} of Python", path=path, functions=sent), encoding="utf-8")
    return file


def _packed(function):
    source = _source_of(function)
    return {"source": source} if source else {"pickle": _pickled(function)}


def _source_of(function):
    """(module, file, qualified name) of a function that its file has at the top level; else None."""
    name, module = getattr(function, "__qualname__", None), sys.modules.get(getattr(function, "__module__", None))
    file = getattr(module, "__file__", None)
    if name is None or file is None or not pathlib.Path(file).is_file():
        return None
    return (module.__name__, str(pathlib.Path(file).resolve()), name) if _found(module, name) is function else None


def _found(module, name):
    found = module
    for part in name.split("."):
        found = getattr(found, part, None)
    return found.function if isinstance(found, Function) else found


def _pickled(function):
    name = getattr(function, "__name__", None) or type(function).__name__
    try:
        import cloudpickle
    except ImportError:
        raise InputError(f"{name}: a worker process cannot load it, because it is not at the top level of a file: move it there, or "
                         "install cloudpickle, which copies it") from None
    try:
        return cloudpickle.dumps(function)
    except Exception as error:  # whatever an object in its closure raises
        raise InputError(f"{name}: cannot be copied to a worker process: {type(error).__name__}: {error}") from None


def receive(path, functions):
    """In the worker: the implementations by name, as a module has them. `path`: sys.path of the sender."""
    sys.path[:] += [each for each in path if each not in sys.path]
    out = {}
    for name, sent in functions.items():
        function = Function(_unpacked(sent["function"]), sent["op"], sent["claims"], sent["reserve"] and _unpacked(sent["reserve"]),
                            sent["staged"], sent["refuses"], sent["device"], sent["arrays"])
        function.name = sent["name"]
        out[name] = function
    return out


def _unpacked(packed):
    if "pickle" in packed:
        import pickle
        return pickle.loads(packed["pickle"])
    module, file, name = packed["source"]
    return _found(_module(module, file), name)


def _module(name, file):
    """The module again, by its name where that leads to the same file, so that it can import its neighbours."""
    try:
        spec = importlib.util.find_spec(name) if name != "__main__" else None
    except (ImportError, ValueError):
        spec = None
    if spec is not None and spec.origin is not None and pathlib.Path(spec.origin).resolve() == pathlib.Path(file):
        return importlib.import_module(name)
    other = f"backgauge_{name.strip('_')}"
    if other not in sys.modules:
        spec = importlib.util.spec_from_file_location(other, file)
        sys.modules[other] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[other])
    return sys.modules[other]
