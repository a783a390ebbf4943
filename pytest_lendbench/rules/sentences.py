"""The numbered sentences of the spec, which checks cite."""

import re

_SENTENCE = re.compile(r"^- \*\*(?P<number>[A-Z]\.\d+)\*\* (?P<text>.*(?:\n(?!- |#|$).*)*)", re.MULTILINE)


def sentences(spec: str) -> dict[str, str]:
    """The sentences by number, each on one line, of a spec that writes them as `- **C.11** The sentence.`."""
    return {found["number"]: " ".join(found["text"].split()) for found in _SENTENCE.finditer(spec)}


def cited(numbers: str, spec: dict[str, str]) -> str:
    """The sentences of `numbers`, one number or several with commas between.

    Raises:
        LookupError: The spec has no such sentence; the argument says which.
    """
    wanted = [number.strip() for number in numbers.split(",")]
    if missing := [number for number in wanted if number not in spec]:
        raise LookupError(f"The spec has no sentence {', '.join(missing)}.")
    return " ".join(spec[number] for number in wanted)
