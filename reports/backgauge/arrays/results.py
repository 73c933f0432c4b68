# SPDX-License-Identifier: Apache-2.0
"""What a function returned: a dict of arrays, a sequence of them, or one."""


def each(results, look):
    """The same structure with look(name, array) in place of each array; None stays None."""
    if results is None:
        return None
    if isinstance(results, dict):
        return {name: look(str(name), value) for name, value in results.items()}
    if isinstance(results, (tuple, list)):
        return [look(f"result {k}", value) for k, value in enumerate(results)]
    return look("the result", results)


def by_name(results, outputs):
    """A dict with the names of the op's outputs, which are in its order. Raises ValueError unless each is there."""
    if not isinstance(results, dict):
        given = list(results) if isinstance(results, (tuple, list)) else [results]
        if results is None or len(given) != len(outputs):
            raise ValueError(f"expected {len(outputs)} outputs: {', '.join(outputs)}; got "
                             f"{'None' if results is None else len(given)}")
        results = dict(zip(outputs, given))
    if results.keys() != outputs.keys():
        raise ValueError(f"expected the outputs {', '.join(outputs)}; got {', '.join(map(str, results)) or 'none'}")
    return results


def require_shape(name, shape, expected):
    if tuple(shape) != tuple(expected):
        raise ValueError(f"{name}: expected shape {list(expected)}, got {list(shape)}")


def require_dtype(name, dtype, expected):
    if dtype != expected:
        raise ValueError(f"{name}: expected {expected}, got {dtype}")
