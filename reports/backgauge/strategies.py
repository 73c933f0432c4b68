# SPDX-License-Identifier: Apache-2.0
"""Strategies of Hypothesis that draw cases and shrink them: to small sizes, plain values and few settings.

    from hypothesis import given
    from backgauge import strategies

    @given(strategies.cases("LSTMBlockCellGrad", dtypes=["f32"]))
    def test_gradient(case):
        case.assert_conforms(my_function(**case.inputs, **case.attributes))
"""
from hypothesis import strategies as st

from backgauge.cases import case_of_tier
from backgauge.implementation import claim_words
from backgauge.native import asked, native

# Simple ones first: Hypothesis shrinks to those.
_PROFILES = ("plain", "strat", "linear", "constant", "zeros", "large", "saturated", "scales", "tiny", "huge", "blank", "alike", "exact",
             "lone", "nan", "inf")
_DEMANDING = ("nan", "inf")  # not with relu, whose gate they leave undecided


@st.composite
def lines(draw, op, *, dtypes=None, most_steps=6, most_samples=4, most_units=8, most_layers=3, **claims):
    """Case lines of `op`, with sizes up to the given ones. dtypes and claims as of backgauge.cases. Raises InputError."""
    words, about = claim_words("strategies", op, dtypes=dtypes, **claims), asked(native().describe, op)

    def one_of(values):
        return draw(st.sampled_from(values))

    def size(most):
        return draw(st.integers(1, most))

    def claimed(name):
        return words[name][dtype] if isinstance(words[name], dict) else words[name]

    dtype = one_of(sorted((word for word in about["dtypes"] if dtypes is None or word in dtypes), key=lambda word: word != "f32"))
    most = {"t": most_steps, "b": most_samples, "i": most_units, "h": most_units, "layers": most_layers}
    sizes = {key: size(most[key]) for key in ("t", "i", "h") if key in about["sizes"]}
    settings = []
    for attribute in about["attributes"]:
        key = attribute["key"]
        if "words" in attribute:
            value = one_of([word for name, word in attribute["words"].items() if name in claimed(attribute["set"])])
        else:
            least, greatest = attribute["least"], attribute["greatest"]
            value = one_of([least, (least + greatest) / 2, greatest] if claimed(attribute["name"]) else [least, greatest])
        if value != attribute.get("least"):
            settings.append(f"{key}={value:g}" if isinstance(value, float) else f"{key}={value}")
    if "layers" in about["sizes"]:
        settings.append(f"layers={size(most['layers'])}")
    if "in=skip" in settings:
        sizes["i"] = sizes["h"]
    gate_may_be_undecided = "mode=relu" in settings
    if "seq" in about["sizes"]:
        settings.append(f"seq={sizes['t'] - draw(st.integers(0, sizes['t']))}")
    sizes["b"] = size(most["b"])
    dims = "".join(f"{key}{sizes[key]}" for key in ("t", "b", "i", "h") if key in sizes)
    profile = one_of([word for word in _PROFILES if not (gate_may_be_undecided and word in _DEMANDING)])
    seed = draw(st.integers(0, 2**32 - 1))
    return " ".join([about["word"], dims, *settings, f"dt={dtype}", f"data={profile}:{seed:#x}"])


def cases(op, **options):
    """Cases, as backgauge.cases has them, with the options of lines(). Cases that prove nothing are not drawn."""
    sizes = ("dtypes", "most_steps", "most_samples", "most_units", "most_layers")
    claims = {name: value for name, value in options.items() if name not in sizes}
    return lines(op, **options).map(lambda line: case_of_tier(line, **claims)).filter(lambda case: not case.skip_reason)
