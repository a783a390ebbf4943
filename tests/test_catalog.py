"""The catalog: its text, its order, its hash; and that the committed one is what the markers say."""

from __future__ import annotations

import pytest
from gradings import catalog_of
from hypothesis import given
from hypothesis import strategies as st

from pytest_lendbench.rules.catalog import Catalog
from pytest_lendbench.rules.checks import CheckError, CheckSpec
from pytest_lendbench.suite import default_suite

names = st.from_regex(r"[a-z0-9]+(-[a-z0-9]+)*", fullmatch=True)
sentences = st.text(st.characters(exclude_categories=("Cs", "Cc")), min_size=1).filter(str.strip)


@st.composite
def specs(draw: st.DrawFn) -> CheckSpec:
    kind = draw(st.sampled_from(["check", "probe", "advisory"]))
    domain = {"check": draw(st.sampled_from("ABC")), "probe": "P", "advisory": "ADV"}[kind]
    tier = {"check": draw(st.sampled_from([0, 1, 2])), "probe": draw(st.sampled_from([1, 2])), "advisory": None}[kind]
    weight = draw(st.sampled_from([1, 0.25, 3.5]))
    spec = "A.1, A.2" if kind == "check" else ""
    return CheckSpec(f"{domain}.{draw(names)}", kind, domain, tier, weight, spec, draw(sentences), draw(sentences))  # type: ignore[arg-type]


A_CHECK = CheckSpec("A.first", "check", "A", 0, 1, "A.1", "A sentence.", "it is so")
catalogs = st.lists(specs(), max_size=8, unique_by=lambda spec: spec.id).map(
    lambda found: Catalog.of([A_CHECK, *(spec for spec in found if spec.id != A_CHECK.id)])
)


@given(catalogs)
def test_the_text_holds_all_of_a_catalog(catalog: Catalog) -> None:
    again = Catalog.from_text(catalog.to_text())
    assert again == catalog
    assert again.sha256 == catalog.sha256


@given(catalogs, st.randoms())
def test_the_order_of_collection_does_not_matter(catalog: Catalog, random: object) -> None:
    shuffled = list(catalog)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert Catalog.of(shuffled).to_text() == catalog.to_text()


def test_another_weight_is_another_hash() -> None:
    heavier = CheckSpec("A.first", "check", "A", 0, 2, "A.1", "A sentence.", "it is so")
    assert Catalog.of([A_CHECK]).sha256 != Catalog.of([heavier]).sha256


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("= 1", "not TOML"),
        ("[[probe]]", "nothing else"),
        ("", "no completion check"),
        (Catalog.of([A_CHECK]).to_text() * 2, "Two entries have one id: A.first"),
        ('[[check]]\nid = "A.x"\n', "A.x: .*kind"),
        (Catalog.of([A_CHECK]).to_text().replace("tier = 0", 'tier = "0"'), "tier cannot be '0'"),
        (Catalog.of([A_CHECK]).to_text() + "colour = 3\n", "colour"),
    ],
)
def test_a_broken_catalog_says_what_is_wrong(text: str, words: str) -> None:
    with pytest.raises(CheckError, match=words):
        Catalog.from_text(text)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"id": "first"}, "DOMAIN.some-name"),
        ({"id": "B.first"}, "begin with its domain"),
        ({"id": "P.first", "domain": "P"}, "cannot be in domain P"),
        ({"kind": "probe"}, "cannot be in domain A"),
        ({"kind": "probe", "id": "P.x", "domain": "P", "spec": "", "tier": 0}, "tier of a probe is 1 or 2"),
        ({"kind": "advisory", "id": "ADV.x", "domain": "ADV", "spec": "", "tier": 1}, "tier of a advisory is none"),
        ({"kind": "test"}, "is none of"),
        ({"tier": 3}, "0 or 1 or 2"),
        ({"tier": None}, "not None"),
        ({"weight": 0}, "above 0"),
        ({"weight": float("nan")}, "above 0"),
        ({"spec": ""}, "cites a sentence"),
        ({"why": " "}, "say why"),
    ],
)
def test_a_check_that_contradicts_itself_is_refused(change: dict[str, object], words: str) -> None:
    with pytest.raises(CheckError, match=words):
        CheckSpec(**{**vars(A_CHECK), **change})


def test_the_committed_catalog_is_what_the_markers_say() -> None:
    suite = default_suite()
    assert suite.catalog.read_text("utf-8") == catalog_of(suite).to_text(), "run `lendbench checks --write`"
