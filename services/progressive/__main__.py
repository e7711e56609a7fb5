"""The service that controls progressives: `python -m services.progressive`."""

from services.core.sheets import JackpotSheet
from services.flow import PORTS, stream_of
from services.progressive.api import FORMS, MERGED, OPEN_READS, UNSAID, feed, routes, stamp
from services.progressive.processor import PROCESSOR
from services.progressive.projection import JACKPOTS, apply, figures
from services.runtime.parts import Definition
from services.runtime.service import run

DEFINITION = Definition(
    name="progressive",
    port=PORTS["progressive"],
    logs=(JACKPOTS,),
    apply=apply,
    routes=routes,
    figures=figures,
    stream=stream_of("jackpots"),
    processor=PROCESSOR,
    forms=FORMS,
    path="progressives",
    feed=feed,
    merged=MERGED,
    unsaid=UNSAID,
    stamp=stamp,
    open_reads=OPEN_READS,
    shapes=(JackpotSheet,),
)

if __name__ == "__main__":
    run(DEFINITION)
