"""Par sheets: what a house must know of every wager of a Rules Submission before it files it, as exact fractions.

Nothing here reads a clock or draws a card: every deal is counted. The kernels (`streets`, `caribbean`) need numba and
are imported only when best play is computed, since a service that merely loads its submissions has no time for it.
"""
