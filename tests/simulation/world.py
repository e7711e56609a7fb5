"""One seed, one world: a house is opened, played in and hurt, calms down, is started again, and reckoned up."""

import logging
from collections.abc import Callable
from hashlib import sha256
from unittest import mock

from services.runtime import stepping
from tests.simulation import clients
from tests.simulation.house import House
from tests.simulation.reckoning import reckon

STEPS = 60
"""How many commands the clients of a world send, repeats included, unless told."""
PLAY_SECONDS, QUIET_SECONDS = 3_600.0, 120.0
"""Of the world's own time."""
HISTORY_SHOWN = 40
PERSONS_REMEMBERED = 16
"""How many of the last commands of people a key remembers here."""


class Broken(AssertionError):
    """Something that must hold does not; it says which seed shows it, and what happened last."""

    def __init__(self, seed: int, steps: int, why: BaseException, house: House) -> None:
        last = "\n".join(house.network.history[-HISTORY_SHOWN:])
        super().__init__(
            f"seed {seed}: {why or type(why).__name__}\n{last}\nThe same again: make simulate SEED={seed} STEPS={steps}"
        )
        self.seed = seed


def live(seed: int, steps: int = STEPS, hurt: Callable[[House], None] = lambda house: None) -> House:
    """A whole world, to its end. `hurt` may replace parts of the house by worse ones. Raises Broken."""
    house = House(seed)
    hurt(house)
    logging.disable(logging.CRITICAL)
    # So short that the memory of the API, which has seven days, is needed in a world of minutes.
    remembered = mock.patch.object(stepping, "PERSONS_REMEMBERED", PERSONS_REMEMBERED)
    remembered.start()
    try:
        told, playing = clients.begin(house, steps)
        house.open()
        house.run(lambda: all(task.done() for task in playing), PLAY_SECONDS)
        for task in playing:
            task.result()
        house.calm_down()
        house.run(house.quiet, QUIET_SECONDS)
        house.restart()
        house.run(house.saved, QUIET_SECONDS)
        reckon(house, told)
    except Exception as error:
        raise Broken(seed, steps, error, house) from error
    finally:
        remembered.stop()
        logging.disable(logging.NOTSET)
        house.loop.close()
    return house


def digest(house: House) -> str:
    """The SHA-256 of everything that the topics hold: the same for the same seed, on every machine."""
    hashed = sha256()
    for place, held in sorted(house.broker.topics.items()):
        hashed.update(repr((place, [(each.at_ms, each.key, each.value) for each in held])).encode())
    return hashed.hexdigest()
