"""The HTML of an answer, read as a person would find it whose browser got no script files."""

from __future__ import annotations

import re
from dataclasses import dataclass

from bs4 import BeautifulSoup, Comment, Tag

from pytest_lendbench.rules.errors import CandidateFault

_UNSEEN = ("script", "style", "template", "noscript", "head")

_REVEAL = re.compile(r'\$R([CRS])\("([^"]*)","([^"]*)"')
"""How React's inline scripts put what was streamed into its place: `$RC(boundary, content)` and `$RR` take the fallback
away for it, `$RS(content, place)` fills a gap (react-dom, `ReactDOMFizzInstructionSetShared`)."""
_BOUNDARY_BEGINS = ("$", "$?", "$!", "$~", "&")
_BOUNDARY_ENDS = ("/$", "/&")


@dataclass(frozen=True, slots=True)
class Text:
    """What an element says. How words are spread over elements is the candidate's choice."""

    apart: str
    """The text with a space between elements."""
    together: str
    """The text without one."""

    def __contains__(self, words: str) -> bool:
        return words in self.apart or words in self.together

    def __str__(self) -> str:
        return self.apart

    @classmethod
    def of(cls, element: Tag) -> Text:
        return cls(" ".join(element.get_text(" ").split()), " ".join(element.get_text("").split()))


@dataclass(frozen=True, slots=True)
class Card:
    """One item in the catalogue: an article with a heading."""

    name: str
    href: str | None
    link_name: str
    """What assistive technology calls the link."""
    listed: bool
    """Whether it is an entry of a list."""
    text: Text


class Document:
    """An HTML answer. Streamed parts stand in the place of their fallback; scripts and templates don't count."""

    def __init__(self, html: str) -> None:
        soup = BeautifulSoup(html, "html.parser")
        _reveal(soup)
        title = next((title for title in soup.find_all("title") if title.find_parent("svg") is None), None)
        self.title = title.get_text() if title else ""
        for unseen in soup.find_all(_UNSEEN):
            unseen.decompose()
        # React parts neighbouring texts by comments.
        for comment in soup.find_all(string=lambda text: isinstance(text, Comment)):
            comment.extract()
        soup.smooth()
        self.soup = soup
        self.text = Text.of(soup)

    def cards(self) -> list[Card]:
        """The articles, in the order of the page."""
        return [self._card(article) for article in self.soup.find_all("article")]

    def names(self) -> list[str]:
        """The headings of the articles, in the order of the page."""
        return [card.name for card in self.cards()]

    def link(self, words: str) -> str | None:
        """Where the link with these words leads; `None` without such a link."""
        found = (link for link in self.soup.find_all("a", href=True) if " ".join(link.get_text().split()) == words)
        return next((str(link["href"]) for link in found), None)

    def control(self, label: str) -> Tag:
        """The control with this label.

        Raises:
            CandidateFault: There is none.
        """
        for tag in self.soup.find_all("label"):
            if " ".join(tag.get_text().split()).startswith(label):
                named = self.soup.find(id=str(tag["for"])) if tag.get("for") else None
                found = named or tag.find(["input", "select", "textarea"])
                if isinstance(found, Tag):
                    return found
        found = self.soup.select_one(f'[aria-label="{label}"]')
        if isinstance(found, Tag):
            return found
        raise CandidateFault(f"The page that the server sends has no control with the label {label!r}.")

    def options(self, label: str) -> list[str]:
        """The texts of the options of the select with this label.

        Raises:
            CandidateFault: There is no such control.
        """
        return [" ".join(option.get_text().split()) for option in self.control(label).find_all("option")]

    def chosen(self, label: str) -> str:
        """The text of the option that is chosen at the start in the select with this label.

        Raises:
            CandidateFault: There is no such select, or it has no option.
        """
        options = self.control(label).find_all("option")
        if not options:
            raise CandidateFault(f"The control {label!r} has no options.")
        chosen = [option for option in options if option.has_attr("selected")]
        return " ".join((chosen or options)[0].get_text().split())

    def _card(self, article: Tag) -> Card:
        heading = article.find(["h1", "h2", "h3", "h4", "h5", "h6"])
        link = article.find("a", href=True)
        return Card(
            name=" ".join(heading.get_text().split()) if heading else "",
            href=str(link["href"]) if link else None,
            link_name=self._named(link) if link else "",
            listed=article.find_parent("li") is not None or article.find_parent(role="listitem") is not None,
            text=Text.of(article),
        )

    def _named(self, link: Tag) -> str:
        """The accessible name of a link that holds text only."""
        label = link.get("aria-label")
        by = [self.soup.find(id=one) for one in str(link.get("aria-labelledby") or "").split()]
        words = str(label) if label else " ".join(one.get_text() for one in by if one)
        return " ".join((words or link.get_text()).split())


def _reveal(soup: BeautifulSoup) -> None:
    """Does what the inline scripts would do, which need no script file."""
    for script in soup.find_all("script"):
        for kind, one, other in _REVEAL.findall(script.get_text()):
            place, content = soup.find(id=other if kind == "S" else one), soup.find(id=one if kind == "S" else other)
            if not isinstance(place, Tag) or not isinstance(content, Tag):
                continue
            if any(around is content for around in (place, *place.parents)):
                continue  # Nothing can stand within itself; React writes no such thing.
            if kind != "S":
                _remove_fallback(place)
            for part in list(content.contents):
                place.insert_before(part.extract())
            content.decompose()
            place.decompose()


def _remove_fallback(place: Tag) -> None:
    """Removes what stands from a boundary's beginning to its end."""
    fallback, inner = [], 0
    for sibling in place.next_siblings:
        if isinstance(sibling, Comment):
            if sibling in _BOUNDARY_ENDS and inner == 0:
                break
            inner += (sibling in _BOUNDARY_BEGINS) - (sibling in _BOUNDARY_ENDS)
        fallback.append(sibling)
    for part in fallback:
        part.extract()
