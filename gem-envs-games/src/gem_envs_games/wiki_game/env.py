"""The Wikipedia Game: get from one page to another by following links."""

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any

from gem.answers.parsing import boxed
from gem.checks import check_int
from gem.core import Step
from gem.errors import ConfigError, did_you_mean
from gem_envs_games.board_game import BoardGame
from gem_envs_games.replies import box
from gem_envs_games.wiki_game.graph import FARTHEST, shipped
from gem_envs_games.wiki_game.page import Page, Wiki, key

BACK = "<PREV_PAGE>"
"""A player's answer in place of a title to go back, as in gem-llm."""

_STEP, _UNKNOWN = -0.05, -0.2
_LONGEST_TITLE = 255
"""Characters of a title; MediaWiki allows as many bytes."""

_GOING_BACK = f"You may also answer \\boxed{{{BACK}}} to return to the page before"
_NO_LINKS_LOSE = "A page without links loses the game."
_NO_LINKS_RETURN = "From a page without links you are sent back, which takes another turn."
_VARIANTS = {
    "noregrets": f"You cannot go back, unless a page links to one that you have seen. {_NO_LINKS_LOSE}",
    "oneback": f"{_GOING_BACK}, but not twice in a row. {_NO_LINKS_RETURN}",
    "freenav": f"{_GOING_BACK}. {_NO_LINKS_RETURN}",
    "eidetic": f"You may also follow the links of all pages on which you have been before. {_NO_LINKS_LOSE}",
}
_UNITS = ("characters", "words", "sentences")
_BACKENDS = ("shipped", "mw", "kiwix")


class WikiGame(BoardGame):
    r"""Reach the target page from the start page; each turn follows one link of the current page.

    The first observation has the rules, and each one has the target, the page with its links, and the turns left. An
    action is `\boxed{Title}`, the title of a link; case, accents and underscores for spaces do not matter.

    The rules are those of Wikipedia's game (https://en.wikipedia.org/wiki/Wikipedia:Wiki_Game), with the variants of
    gem-llm:

    - `noregrets`: only the links of the page. A page without links loses.
    - `oneback`: `\boxed{<PREV_PAGE>}` returns to the page before, but not twice in a row. A page without links sends
      the player back, which takes another turn.
    - `freenav`: the same, as often as the player likes.
    - `eidetic`: every link that has been seen in the episode may be followed. A page without links loses.

    Rewards, as in gem-llm: reaching the target earns 1; another page costs 0.05 (nothing on the last turn), and being
    sent back 0.1. A reply without a title costs 0.2 and a turn, and so does a title that is not a link, or going back
    where that is not allowed; the game continues. So a game that is lost early can return more than one that is won
    late.

    The pages that ship with the pack (see data/WIKI.md) have no dead ends, a seed gives the same pair of pages on every
    machine, and the expert follows a shortest path. A live wiki (`mw`, `kiwix`) draws the start itself, whatever the
    seed, and the target is the end of a walk of random links; its pages change, so that neither a seed nor a recording
    reproduces an episode. A snapshot holds the pages of the episode so far, and other pages are requested when they are
    visited. A wiki that does not answer raises `gem_envs_games.wiki_game.live.WikiUnavailable`.

    `reset(options={"start": ..., "target": ...})` sets the titles of both pages, on every backend.

    Args:
        max_turns: links in an episode.
        backend: `shipped` for the pages of the pack, `mw` for a MediaWiki, `kiwix` for kiwix-serve.
        trawler_kwargs: arguments of the live wiki, `url` among them; see `wiki_game.live.LiveWiki`.
        page_summary_length: how much of a page is shown, a number of `characters`, `words` or `sentences`.
        variant: one of the above.
        min_distance: the fewest links of the shortest path from start to target, 1 to 6; on a live wiki of the walk.
        max_distance: the most links of that path; at most 6, and at most `max_turns`.

    Raises:
        ConfigError: an argument is out of range, or `options` name a page that is not there.
    """

    reset_options = ("start", "target")
    _unsaved = BoardGame._unsaved | {"_wiki"}

    turn: int

    def __init__(
        self,
        max_turns: int = 10,
        backend: str = "shipped",
        trawler_kwargs: Mapping[str, Any] | None = None,
        page_summary_length: Sequence[Any] = (100, "characters"),
        variant: str = "noregrets",
        min_distance: int = 2,
        max_distance: int = 4,
    ) -> None:
        super().__init__(max_turns=check_int("max_turns", max_turns, 1))
        self.variant = _one_of("variant", variant, _VARIANTS)
        self.max_distance = check_int("max_distance", max_distance, 1, min(FARTHEST, max_turns))
        self.min_distance = check_int("min_distance", min_distance, 1, self.max_distance)
        if len(page_summary_length) != 2:
            raise ConfigError(f"page_summary_length is a number and a unit, not {page_summary_length!r}")
        self._shown = check_int("page_summary_length[0]", page_summary_length[0], 1)
        self._unit = _one_of("page_summary_length[1]", page_summary_length[1], _UNITS)
        self._wiki = _wiki(_one_of("backend", backend, _BACKENDS), dict(trawler_kwargs or {}))

    def close(self) -> None:
        self._wiki.close()

    def _reset(self, options: Mapping[str, Any]) -> str:
        start, self.target = self._ends(options)
        self.trail = [start]
        """The pages that going back returns to, and the current one."""
        self.known = dict.fromkeys(start.links)
        """The links seen so far."""
        self._went_back = False
        return self._ask(
            "You are playing the Wikipedia Game. You start on one page of an encyclopedia and must reach the target "
            f"page by following links from page to page. You have {self.max_turns} turns.\n"
            "Each turn, choose one of the links of the page on which you are, and give its title inside \\boxed{}, for "
            "example \\boxed{Solar System}. It takes you to the page of that title.\n"
            f"{_VARIANTS[self.variant]}\n"
            "A title that is not among the links takes a turn and leaves you where you are, and so does a reply "
            "without a title. The game is lost when the turns are used up.\n"
            "You may say what you like; the last title inside \\boxed{} counts. What you know about the world "
            "tells you which pages are likely to link to the target."
        )

    def _ends(self, options: Mapping[str, Any]) -> tuple[Page, Page]:
        if not options:
            return self._wiki.draw(self.rng, self.min_distance, self.max_distance)
        if set(options) != {"start", "target"}:
            raise ConfigError(f"options are the titles 'start' and 'target', not {sorted(options)}")
        start, target = (self._wiki.page(options[name]) for name in ("start", "target"))
        if start is None or target is None:
            raise ConfigError(f"there is no page {options['start' if start is None else 'target']!r}")
        if start.title == target.title:
            raise ConfigError("start and target are two pages, not the same one")
        return start, target

    def _step(self, action: str) -> Step:
        title = (boxed(action) or "").strip()
        if not title:
            step = self._ongoing(f"At turn {self.turn}, you did not give a title inside \\boxed{{}}.", _UNKNOWN)
            return step._replace(info={**step.info, "malformed": True})
        if title == BACK and self.variant in ("oneback", "freenav"):
            return self._return()
        link = self._link(title)
        if link is None:
            return self._ongoing(self._no_link(title), _UNKNOWN)
        page = self._wiki.page(link)
        if page is None:
            self._forget(link)
            return self._ongoing(f"At turn {self.turn}, you followed {link}, but there is no such page.", _STEP)
        if page.title == self.target.title:
            self.trail.append(page)
            turns = "1 turn" if self.turn == 1 else f"{self.turn} turns"
            return self._ended(f"Congratulations! You reached the target page in {turns}.", 1.0, success=True)
        if not page.links:
            return self._dead_end(page)
        self.trail.append(page)
        self._went_back = False
        self.known |= dict.fromkeys(page.links)
        return self._ongoing(
            f"At turn {self.turn}, you followed the link to {page.title}.", 0.0 if self.last_turn else _STEP
        )

    @property
    def page(self) -> Page:
        """The current page."""
        return self.trail[-1]

    def _links(self) -> tuple[str, ...]:
        return tuple(self.known) if self.variant == "eidetic" else self.page.links

    def _link(self, title: str) -> str | None:
        """The link that the player means, or None."""
        links = self._links()
        if title in links:
            return title
        wanted = key(title[: _LONGEST_TITLE + 1])
        return next((link for link in links if key(link) == wanted), None)

    def _no_link(self, title: str) -> str:
        shown = "".join(c if c.isprintable() else "?" for c in title[:80]) + ("..." if len(title) > 80 else "")
        return (
            f"At turn {self.turn}, you stay on {self.page.title}: it has no link '{shown}'."
            f"{did_you_mean(shown, self._links())}"
        )

    def _forget(self, link: str) -> None:
        """Remove a link that leads to no page."""
        self.known.pop(link, None)
        self.trail[-1] = self.page._replace(links=tuple(other for other in self.page.links if other != link))

    def _return(self) -> Step:
        if len(self.trail) == 1:
            return self._ongoing(f"At turn {self.turn}, there is no page before this one.", _UNKNOWN)
        if self.variant == "oneback" and self._went_back:
            return self._ongoing(f"At turn {self.turn}, you cannot go back twice in a row.", _UNKNOWN)
        self.trail.pop()
        self._went_back = True
        return self._ongoing(f"At turn {self.turn}, you went back to {self.page.title}.", _STEP)

    def _dead_end(self, page: Page) -> Step:
        message = f"At turn {self.turn}, you followed the link to {page.title}, which has no links"
        if self.variant not in ("oneback", "freenav"):
            self.trail.append(page)
            return self._ended(f"{message}. You lose.", 0.0, success=False)
        self._went_back = True
        self.turn += 1
        return self._ongoing(f"{message}. You are sent back to {self.page.title}, which takes another turn.", 2 * _STEP)

    def _board(self) -> str:
        listed = [f"You are on: {self._about(self.page)}", "Links of this page:", *self.page.links]
        if self.variant == "eidetic":
            earlier = [link for link in self.known if link not in self.page.links]
            listed += ["Links seen before:", *earlier] if earlier else []
        left = max(0, self.turn_limit - self.turn)
        return "\n".join([f"Target page: {self._about(self.target)}", *listed, f"Turns left: {left}"])

    def _about(self, page: Page) -> str:
        text = _beginning(page.text, self._shown, self._unit)
        return f"{page.title} ({text})" if text else page.title

    def sample_action(self) -> str:
        """A random link that may be followed, or going back if there is none."""
        links = self._links()
        return box(self.action_rng.choice(links) if links else BACK)

    def expert_action(self) -> str | None:
        """The link from which a shortest path leads to the target; None on a live wiki, where it is not known."""
        link = self._wiki.nearest(self._links(), self.target.title)
        return None if link is None else box(link)


def _wiki(backend: str, settings: dict[str, Any]) -> Wiki:
    if backend == "shipped":
        if settings:
            raise ConfigError("trawler_kwargs are for the backends 'mw' and 'kiwix'; the shipped pages take none")
        return shipped()
    if backend == "mw":
        from gem_envs_games.wiki_game.mediawiki import MediaWiki as Live
    else:
        from gem_envs_games.wiki_game.kiwix import Kiwix as Live
    try:
        return Live(**settings)
    except TypeError as error:
        raise ConfigError(f"trawler_kwargs of the backend {backend!r}: {error}") from error


def _one_of(name: str, value: Any, known: Sequence[str] | Mapping[str, Any]) -> str:
    if value not in known:
        raise ConfigError(f"{name} is one of {', '.join(known)}, not {value!r}")
    return value


def _beginning(text: str, most: int, unit: str) -> str:
    """The first characters, words or sentences of a text, on one line, with dots if more follows."""
    text = " ".join(text.split())
    if unit == "characters":
        kept = text[:most].rstrip()
    elif unit == "words":
        kept = " ".join(text.split()[:most])
    else:
        ends = (at + 1 for at, mark in enumerate(text) if mark in ".!?" and text[at + 1 : at + 2] in ("", " "))
        kept = text[: next(chain((end for count, end in enumerate(ends, 1) if count == most), [len(text)]))]
    return kept if len(kept) == len(text) else f"{kept}..."
