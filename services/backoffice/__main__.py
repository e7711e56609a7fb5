"""The service that looks at all of it: `python -m services.backoffice`."""

from services.backoffice.api import routes
from services.backoffice.figures import figures
from services.backoffice.projection import LOGS, apply
from services.flow import PORTS
from services.runtime.parts import Definition
from services.runtime.service import run

DEFINITION = Definition(
    name="backoffice", port=PORTS["backoffice"], logs=LOGS, apply=apply, routes=routes, figures=figures
)

if __name__ == "__main__":
    run(DEFINITION)
