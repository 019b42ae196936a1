"""The verdict in a word: whether links that a fit had not seen confirm its clusters.

They do where they are predicted better than by a guess that knows only how often each source says
may, by more than chance.
"""

from __future__ import annotations

from maylink.tuning.scores import HeldOut

CONFIRMED, WEAK, UNCLEAR, REFUTED, UNTESTED, UNLINKED = (
    "confirmed", "weak", "unclear", "not confirmed", "not tested", "no links",
)  # fmt: skip
CLEAR = 2.0  # standard errors by which a difference is more than chance
# Share of a guess's log loss that clusters must take away to say something. Right clusters take
# away .12 where links are right seven times in ten, .53 where they are nine times in ten.
LEAST_SHARE = 0.1
HEADLINES = {
    CONFIRMED: "Links that the fit had not seen confirm these clusters.",
    WEAK: "Links that the fit had not seen confirm these clusters only weakly.",
    UNCLEAR: "The links cannot tell yet whether these clusters are right.",
    REFUTED: "Do not trust these clusters: they do not predict links that the fit had not seen.",
    UNTESTED: "Nothing has tested these clusters: no links were held out.",
    UNLINKED: "Nothing outside the data confirms these clusters: there are no links.",
}


def level_of(held_out: HeldOut | None, has_links: bool) -> str:
    """Return how far held-out links confirm the clusters, in a word."""
    if held_out is None:
        return UNTESTED if has_links else UNLINKED
    ahead, margin = held_out.score - held_out.guess, CLEAR * held_out.error
    enough = -LEAST_SHARE * held_out.guess
    if ahead > margin:
        return CONFIRMED if ahead >= enough else WEAK
    return UNCLEAR if ahead + margin >= enough else REFUTED


def beside_guess(held_out: HeldOut) -> str:
    """Return how well held-out links were predicted, beside a guess."""
    return (
        f"Of {held_out.n_links:,} links that were held out {held_out.right:.0%} were predicted "
        f"right; a guess from what is usually said gets {held_out.guess_right:.0%} (mean log "
        f"probability {held_out.score:.3f}, guess {held_out.guess:.3f}, difference ± "
        f"{CLEAR * held_out.error:.3f})."
    )
