"""A command that the rules do not allow."""


class Refused(Exception):
    """The command is not carried out and nothing changes; the log records that it was refused.

    `reason` is a sentence a dealer understands; `section` is the section of the Code behind it, or
    None where no rule of play is (a limit of the house, an account, an id that does not exist).
    """

    def __init__(self, reason: str, section: str | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.section = section


def passed_over(reason: str, skipped_by: str) -> str:
    """What a caller is told whose command could not be decided, and was passed over in the name of a person."""
    return f"This could not be decided. {skipped_by} passed over it, and nothing was carried out: {reason}"
