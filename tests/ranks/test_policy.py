"""Policy settings are declared once: a new one appears everywhere."""

import re
from dataclasses import dataclass
from typing import get_args, get_type_hints

import click
import pytest
from click.testing import CliRunner

import cranfield
from cranfield import Policy, PolicyError
from cranfield.cli import compare, evaluate, explain, gate, plot, report, stability
from cranfield.cli.input_options import policy_options
from cranfield.cli.options import command as declare
from cranfield.ranks.policy import setting, settings_of
from docs.site.tables import policies
from tests.program import SOURCE


@dataclass(frozen=True, slots=True)
class Wider(Policy):
    order: str = setting("Queries are listed", {"as_judged": "as in the judgments", "by_value": "the worst first"})
    quietly: bool = setting("Nothing is said of warnings", default=False, quiet=True)


def test_a_new_setting_is_checked():
    assert Wider().order == "as_judged"
    for given, hint in (({"order": "x"}, "order may be 'as_judged', 'by_value'"), ({"quietly": 1}, "True, False")):
        with pytest.raises(PolicyError) as caught:
            Wider(**given)
        assert hint in caught.value.hint


def test_a_new_setting_is_in_the_signature():
    assert str(Wider()) == f"{Policy()}|order:as_judged"
    assert str(Wider(order="by_value", quietly=True)) == f"{Policy()}|order:by_value|quietly:yes"


def test_a_new_setting_is_an_option():
    @declare("measure", given=policy_options(Wider))
    def command(given):
        click.echo(repr({name: value for name, value in vars(given).items() if value is not None}))

    shown = " ".join(CliRunner().invoke(command, ["--help"]).output.split())
    assert "--order CHOICE Queries are listed: as_judged, by_value." in shown
    assert "--quietly Nothing is said of warnings." in shown
    assert CliRunner().invoke(command, []).output == "{}\n"
    assert CliRunner().invoke(command, ["--quietly"]).output == "{'quietly': True}\n"


def test_a_new_setting_is_in_the_table_of_the_docs():
    rows = {row[0]: row for row in policies(Wider)}
    assert rows["`order`"][1:3] == ("`--order`", "Queries are listed")
    assert rows["`order`"][3].startswith("**`as_judged`** as in the judgments")
    assert {rows[f"`{name}`"][4] for name in ("order", "depth")} == {"no"}
    assert rows["`ties`"][4] == "yes"


def test_every_command_with_a_policy_has_all_settings():
    for module in (compare, evaluate, explain, gate, plot, report, stability):
        named = {parameter.name for parameter in module.command.params}
        assert set(settings_of()) <= named, module.__name__
    assert set(settings_of()) <= set(gate.SETTINGS)


def test_types_match_the_documented_choices():
    hints = get_type_hints(Policy)
    for name, known in settings_of().items():
        if known.choices:
            assert get_args(hints[name]) == tuple(known.choices), name
        assert f"    {name}: {known.meaning}" in Policy.__doc__


def test_settings_in_signatures():
    assert str(Policy(depth=1)).endswith("depth:1|same_id:keep")
    result = cranfield.evaluate({"q": {"a": 1}}, {"q": ["a"]}, "RR", policy=Policy(negative="nonrelevant"))
    assert "|same_id:keep|negative:nonrelevant|rel:1|" in result.signature
    assert result.to_dict()["policy"]["negative"] == "nonrelevant"


def test_values_of_settings_in_texts_exist():
    # Read from the source, because hints name settings, and not every hint is shown by some test.
    settings = {name: known.choices for name, known in settings_of().items() if known.choices}
    options = "|".join(name.replace("_", "-") for name in settings)
    named = rf"""\b({"|".join(settings)})=['"](\w+)['"]|--({options}) (\w+)"""
    found = [match.groups() for path in SOURCE.rglob("*.py") for match in re.finditer(named, path.read_text())]
    named_values = {(name or option.replace("-", "_"), value or given) for name, value, option, given in found}
    unknown = {(name, value) for name, value in named_values if value not in settings[name]}
    assert unknown == {("missing", "ignore")}  # the example of an error
