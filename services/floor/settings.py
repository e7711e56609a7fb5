"""What the floor is told: how much to play, where the services are, and how often something goes wrong."""

import argparse
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields

ENVIRONMENT = "ROUNDLOG_FLOOR_"


@dataclass(frozen=True, slots=True)
class Settings:
    """Every one is an option (`--seed`) and a variable (`ROUNDLOG_FLOOR_SEED`); the option wins.

    `rounds` is for all tables together, 0 until stopped; `pace` is rounds a minute at each table, 0 as fast as
    it goes. `tokens` is the folder with a token for everybody who acts, by name; without it X-Actor says who acts, for
    services with AUTH=off. Rates are chances: of a round for void, miscount and talk, of a player and round for leaving.
    """

    tables: int = 6
    rounds: int = 0
    pace: float = 6.0
    seed: int = 1
    tables_url: str = "http://127.0.0.1:8001"
    wagers_url: str = "http://127.0.0.1:8002"
    progressive_url: str = "http://127.0.0.1:8003"
    accounts_url: str = "http://127.0.0.1:8004"
    tokens: str = ""
    stub_every: int = 5
    miscount_rate: float = 0.004
    void_rate: float = 0.004
    talk_rate: float = 0.006
    withdraw_rate: float = 0.01
    leave_rate: float = 0.01
    patience_s: float = 60.0
    stop_s: float = 5.0
    progress_s: float = 10.0

    def shown(self) -> str:
        """What is played, in words."""
        pace = f"{self.pace:g} rounds a minute at each" if self.pace else "as fast as it goes"
        until = f"{self.rounds} rounds in all" if self.rounds else "until it is stopped"
        return f"{self.tables} tables, {pace}, {until}; seed {self.seed}"


def read(arguments: Sequence[str], environment: Mapping[str, str] = os.environ) -> Settings:
    """The settings from the command line, then the environment, then the defaults."""
    parser = argparse.ArgumentParser(
        prog="python -m services.floor", description="A simulated casino: plays rounds over the HTTP APIs."
    )
    for field in fields(Settings):
        value = environment.get(ENVIRONMENT + field.name.upper(), str(field.default))
        # argparse converts a default that is text by the same type as an argument, so both are checked alike.
        kind = type(field.default)
        parser.add_argument("--" + field.name.replace("_", "-"), type=kind, default=value)
    settings = Settings(**vars(parser.parse_args(arguments)))
    if settings.tables < 1:
        parser.error("--tables must be 1 or more")
    if settings.rounds < 0:
        parser.error("--rounds must be 0 (until it is stopped) or more")
    if not 0 <= settings.pace < float("inf"):
        parser.error("--pace must be 0 (as fast as it goes) or more rounds a minute")
    return settings
