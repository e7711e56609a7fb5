"""What a service says of itself while it runs: sentences for people, or JSON lines for a machine that collects them.

The libraries beneath say what they say by `logging`, so these are formatters of it. What a line is about stands beside
its sentence, in fields whose names are the same everywhere.
"""

import logging
import sys
from typing import Any

from pythonjsonlogger.orjson import OrjsonFormatter

FORMS = ("text", "json")
ABOUT = (
    "command_id", "follows", "command", "key", "topic", "partition", "offset", "actor", "sequence", "events", "sent",
    "status", "seconds",
)  # fmt: skip
"""What a line may be about, in the order in which it is written behind a sentence.

`command_id` is that of the command at hand, `follows` that of the command from which it followed, `sent` those that
follow from it: by these one command is followed through all services.
"""

commands = logging.getLogger("roundlog.commands")
"""A line for each step of each command, where the house wants that."""


class _Sentences(logging.Formatter):
    def __init__(self) -> None:
        super().__init__("%(asctime)s %(levelname)-8s %(name)s: %(message)s")

    def formatMessage(self, record: logging.LogRecord) -> str:
        about = vars(record)
        fields = [f"{name}={_worded(about[name])}" for name in ABOUT if about.get(name) not in (None, (), [])]
        return " ".join([super().formatMessage(record), *fields])


def _worded(value: Any) -> str:
    return ",".join(value) if isinstance(value, list | tuple) else str(value)


def begin(form: str, service: str, instance: str, each_command: bool) -> None:
    """Everything that is logged from now on goes to the standard output, in that form."""
    writing = logging.StreamHandler(sys.stdout)
    writing.setFormatter(_Sentences() if form == "text" else _lines(service, instance))
    logging.basicConfig(level=logging.INFO, handlers=[writing], force=True)
    commands.setLevel(logging.INFO if each_command else logging.WARNING)


def _lines(service: str, instance: str) -> logging.Formatter:
    return OrjsonFormatter(
        "{levelname}{name}{message}",
        style="{",
        timestamp="time",
        static_fields={"service": service, "instance": instance},
        rename_fields={"levelname": "level", "name": "logger", "message": "event", "exc_info": "exception"},
        rename_fields_keep_missing=False,
    )
