"""`python -m tests.law` writes RULES.md anew; `python -m tests.law --check` says whether it is right, and writes nothing."""

import sys

from tests.law.answers import gaps, held_here, submitted
from tests.law.citing import NotCollected, held
from tests.law.page import PAGE, differences, page
from tests.law.paragraphs import sections


def main(check: bool) -> int:
    """The exit status: 0 where every paragraph has its row and its tests, and the page is the present one."""
    try:
        tests = held()
    except NotCollected as error:
        print(f"The tests cannot be collected, so nobody knows what they hold:\n{error}")
        return 1
    law, answers = sections(), held_here()
    wrong = gaps(law, answers, tests, submitted())
    for line in wrong:
        print(line)
    written = page(law, answers, tests)
    present = PAGE.read_text() if PAGE.exists() else ""
    if check and present != written:
        print("RULES.md is not what would be written now: make rules.")
        for line in differences(present, written):
            print(f"  {line:.160}")
        return 1
    if not check:
        PAGE.write_text(written)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(check="--check" in sys.argv[1:]))
