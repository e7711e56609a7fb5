"""The service that keeps game accounts: `python -m services.accounts`."""

from services.accounts.api import FORMS, routes
from services.accounts.processor import PROCESSOR
from services.accounts.projection import ACCOUNTS, apply, figures
from services.flow import PORTS, stream_of
from services.runtime.parts import Definition
from services.runtime.service import run

DEFINITION = Definition(
    name="accounts",
    port=PORTS["accounts"],
    logs=(ACCOUNTS,),
    apply=apply,
    routes=routes,
    figures=figures,
    stream=stream_of("accounts"),
    processor=PROCESSOR,
    forms=FORMS,
    path="accounts",
)

if __name__ == "__main__":
    run(DEFINITION)
