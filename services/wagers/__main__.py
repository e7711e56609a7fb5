"""The service that settles wagers: `python -m services.wagers`."""

from services.core.sheets import WagerSheet
from services.flow import PORTS, stream_of
from services.runtime.parts import Definition
from services.runtime.service import run
from services.wagers.api import routes
from services.wagers.processor import PROCESSOR
from services.wagers.projection import WAGERS, apply

DEFINITION = Definition(
    name="wagers",
    port=PORTS["wagers"],
    logs=(WAGERS,),
    apply=apply,
    routes=routes,
    stream=stream_of("wagers"),
    processor=PROCESSOR,
    shapes=(WagerSheet,),
)

if __name__ == "__main__":
    run(DEFINITION)
