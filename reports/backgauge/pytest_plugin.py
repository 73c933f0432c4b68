# SPDX-License-Identifier: Apache-2.0
"""Tests of pytest, one for each case of a tier.

    @pytest.mark.backgauge(op="LSTMBlockCellGrad", dtypes=["f32"], use_peephole=[False])
    def test_gradient(case):
        case.assert_conforms(my_function(**case.inputs, **case.attributes))

The mark takes the arguments of backgauge.cases. The id of a test is the planned case line, the same in every process and on every
machine. pip installs this plug-in; from a build tree it is `pytest -p backgauge.pytest_plugin`.
"""
import pytest

from backgauge.cases import case_of_tier, planned_lines
from backgauge.errors import InputError

_OF_THE_PLAN = ("op", "tier", "dtypes", "seed")


def pytest_addoption(parser):
    parser.getgroup("backgauge").addoption("--backgauge-tier", choices=["smoke", "ci", "full"],
                                           help="tier of all tests that are marked backgauge, whatever their marks say")


def pytest_configure(config):
    config.addinivalue_line("markers", "backgauge(op, tier='smoke', dtypes=None, seed=1, **claims): one test for each case of a tier; "
                                       "the test takes the argument `case` (backgauge.cases)")


def pytest_generate_tests(metafunc):
    mark = metafunc.definition.get_closest_marker("backgauge")
    if mark is None:
        return
    where = metafunc.definition.nodeid
    if "case" not in metafunc.fixturenames:
        pytest.fail(f"{where}: a test that is marked backgauge takes an argument `case`", pytrace=False)
    arguments = {**mark.kwargs, **({"op": mark.args[0]} if len(mark.args) == 1 else {})}
    if "op" not in arguments or len(mark.args) > 1:
        pytest.fail(f"{where}: expected @pytest.mark.backgauge(op=..., ...)", pytrace=False)
    tier = metafunc.config.getoption("--backgauge-tier")
    try:
        lines = planned_lines(**{**arguments, **({"tier": tier} if tier else {})})
    except InputError as error:
        pytest.fail(f"{where}: {error}", pytrace=False)
    claims = {name: value for name, value in arguments.items() if name not in _OF_THE_PLAN}
    metafunc.parametrize("case", [(line, claims) for line in lines], ids=lines, indirect=True)


@pytest.fixture
def case(request):
    """A backgauge.Case. Its `line` may differ from the id of the test in its values: a planned case that proves nothing is redrawn."""
    if not hasattr(request, "param"):
        pytest.fail("the fixture `case` belongs to tests that are marked backgauge", pytrace=False)
    line, claims = request.param
    drawn = case_of_tier(line, **claims)
    if drawn.skip_reason:
        pytest.skip(drawn.skip_reason)
    return drawn


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    """Shows the case of a test that failed, whatever its error was."""
    report = (yield).get_result()
    drawn = getattr(item, "funcargs", {}).get("case")
    if report.failed and item.get_closest_marker("backgauge") and drawn is not None:
        report.sections.append(("backgauge", f"case = {drawn.repro}"))
