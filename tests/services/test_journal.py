"""What a service says of itself: one line for one thing, in either form, with what it is about beside it."""

import json
import logging
from collections.abc import Iterator

import pytest

from services.runtime import journal
from services.runtime.settings import SettingWrong, settings_from

NEEDED = {"ROUNDLOG_KAFKA": "k:1", "ROUNDLOG_POSTGRES": "postgresql:///r", "AUTH": "off"}


@pytest.fixture(autouse=True)
def as_it_was() -> Iterator[None]:
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield
    root.handlers[:], root.level = handlers, level
    journal.commands.setLevel(logging.NOTSET)


def said(capsys: pytest.CaptureFixture[str]) -> list[str]:
    return capsys.readouterr().out.splitlines()


def test_a_line_of_json_has_who_when_what_and_what_it_is_about(capsys: pytest.CaptureFixture[str]) -> None:
    journal.begin("json", "wagers", "wagers-2", each_command=True)
    about = {"command_id": "rounds/table-1/7/0", "follows": "key-7", "sent": ("wagers/table-1/9/0",), "offset": 41}
    journal.commands.info("decided %s", "it", extra=about)
    (line,) = said(capsys)
    read = json.loads(line)
    assert read.pop("time").endswith("+00:00")
    assert read == {
        "level": "INFO", "logger": "roundlog.commands", "service": "wagers", "instance": "wagers-2", "event": "decided it",
        "command_id": "rounds/table-1/7/0", "follows": "key-7", "sent": ["wagers/table-1/9/0"], "offset": 41,
    }  # fmt: skip


def test_an_error_is_one_line_of_json_with_its_traceback_in_it(capsys: pytest.CaptureFixture[str]) -> None:
    journal.begin("json", "wagers", "wagers-2", each_command=False)
    try:
        raise ValueError("two\nlines")
    except ValueError:
        logging.getLogger("services.wagers").exception("failed")
    (line,) = said(capsys)
    assert json.loads(line)["exception"].endswith("ValueError: two\nlines")


def test_a_sentence_has_what_it_is_about_behind_it(capsys: pytest.CaptureFixture[str]) -> None:
    journal.begin("text", "wagers", "wagers-2", each_command=True)
    about = {"sent": ("wagers/table-1/9/0", "wagers/table-1/9/1"), "command_id": "rounds/table-1/7/0", "follows": None}
    journal.commands.info("decided", extra=about | {"offset": 0})
    (line,) = said(capsys)
    assert line.endswith(
        " INFO     roundlog.commands: decided command_id=rounds/table-1/7/0 offset=0"
        " sent=wagers/table-1/9/0,wagers/table-1/9/1"
    )


def test_steps_of_commands_are_said_where_the_house_wants_them_only(capsys: pytest.CaptureFixture[str]) -> None:
    journal.begin("text", "wagers", "wagers-2", each_command=False)
    journal.commands.info("decided")
    logging.getLogger("services").info("began")
    (line,) = said(capsys)
    assert line.endswith("services: began")


def test_unless_told_a_service_writes_sentences_and_not_of_each_command() -> None:
    settings = settings_from(NEEDED, "wagers", 1)
    assert (settings.journal, settings.journal_commands) == ("text", False)
    told = settings_from(NEEDED | {"ROUNDLOG_LOG": "json", "ROUNDLOG_LOG_COMMANDS": "on"}, "wagers", 1)
    assert (told.journal, told.journal_commands) == ("json", True)


@pytest.mark.parametrize("name", ["ROUNDLOG_LOG", "ROUNDLOG_LOG_COMMANDS"])
def test_another_word_is_told_which_there_are(name: str) -> None:
    with pytest.raises(SettingWrong, match=f"{name}=yes: it is (text or json|off or on)"):
        settings_from(NEEDED | {name: "yes"}, "wagers", 1)
