"""What guides only show: their commands exist with these options, and their settings are accepted."""

import re
import shlex
import tomllib

import click
import pytest

from cranfield import open_system
from cranfield.cli.commands import program
from cranfield.systems.project import read_project
from tests.pages import ROOT, blocks
from tests.systems.server import Server, elastic

GUIDES = sorted((ROOT / "docs" / "guides").glob("*.md"))
PAGES = [*GUIDES, *(ROOT / "docs" / f"{name}.md" for name in ("systems", "formats", "judging", "start"))]
FENCED = re.compile(r"^ *```.*?^ *```", re.M | re.S)


def commands(page):
    """The commands in the sentences of a page."""
    text = FENCED.sub("", page.read_text(encoding="utf-8"))
    for typed in re.findall(r"`(cranfield [a-z][^`]*)`", text):
        words = shlex.split(typed)[1:]
        if "…" not in typed:
            yield words


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_commands_in_sentences_exist(page):
    for name, *arguments in commands(page):
        context = click.Context(program, info_name="cranfield")
        command = program.get_command(context, name)
        assert command is not None, name
        options = {"--help"} | {
            option for parameter in command.params for option in (*parameter.opts, *parameter.secondary_opts)
        }
        named = {
            argument.partition("=")[0] for argument in arguments if re.fullmatch(r"--?[a-z][\w-]*(=.*)?", argument)
        }
        assert named <= options, (name, arguments)


def test_a_command_with_an_option_that_is_not_there_is_found(tmp_path):
    (tmp_path / "page.md").write_text(
        "Run `cranfield gate --colour` or\n`cranfield judge\n--port 1`.\n```\n`cranfield x`\n```\n"
    )
    assert list(commands(tmp_path / "page.md")) == [["gate", "--colour"], ["judge", "--port", "1"]]
    with pytest.raises(AssertionError, match="--colour"):
        test_commands_in_sentences_exist(tmp_path / "page.md")


SHOWN = [
    pytest.param(block.text, id=f"{page.name}:{block.line}")
    for page in GUIDES
    for block in blocks(page.read_text(encoding="utf-8"))
    if block.language == "toml" and not block.title and "[assessors" not in block.text
]


@pytest.mark.parametrize("text", SHOWN)
def test_settings_that_are_only_shown_are_accepted(text, tmp_path, monkeypatch):
    settings = tomllib.loads(text)
    whole = 'collection = "builtin"\n' * ("collection" not in settings) + text
    whole += '[systems.sqlite]\ntype = "sqlite"\n' * ("systems" not in settings)
    for name in ("weights", "segments"):
        if name in settings:
            (tmp_path / settings[name]).write_text(
                f"query_id,{name[:-1]}\n" + "".join(f"q{n:02},1\n" for n in range(1, 61))
            )
    (tmp_path / "cranfield.toml").write_text(whole)
    project = read_project(tmp_path / "cranfield.toml")
    project.limits({f"q{n:02}": "" for n in range(1, 61)})
    monkeypatch.setenv("SEARCH_API_KEY", "s3cret")
    answers = {
        "http": {"items": [{"sku": "red-shoes", "title": "Red"}]},
        "elasticsearch": elastic([("red-shoes", 1.0)]),
    }
    for described in settings.get("systems", {}).values():
        if described["type"] not in answers:
            continue
        server = Server(lambda query, attempt, kind=described["type"]: answers[kind])
        try:
            url = described["url"].partition("example.com")[2]
            system = open_system({**described, "url": server.url + url}, name="shown")
            assert system.search("shoes", 3)[0][0] == "red-shoes"
            system.close()
        finally:
            server.close()
