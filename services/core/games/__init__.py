"""The games that a table can deal."""

from services.core.games.cajun_stud import CAJUN_STUD
from services.core.games.caribbean_stud import CARIBBEAN_STUD
from services.core.games.game import Game
from services.core.games.mississippi_stud import MISSISSIPPI_STUD
from services.core.names import GameName

GAMES: dict[GameName, Game] = {game.name: game for game in (MISSISSIPPI_STUD, CARIBBEAN_STUD, CAJUN_STUD)}
