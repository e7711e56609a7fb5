"""The service that decides what happens at a table: `python -m services.tables`."""

from services.flow import PORTS, stream_of
from services.runtime.parts import Definition
from services.runtime.service import run
from services.tables.api import FORMS, feed, routes, stamp
from services.tables.processor import PROCESSOR
from services.tables.projection import JACKPOTS, ROUNDS, apply

DEFINITION = Definition(
    name="tables",
    port=PORTS["tables"],
    logs=(ROUNDS, JACKPOTS),
    apply=apply,
    routes=routes,
    stream=stream_of("rounds"),
    processor=PROCESSOR,
    forms=FORMS,
    path="tables",
    feed=feed,
    stamp=stamp,
    linked=True,
)

if __name__ == "__main__":
    run(DEFINITION)
