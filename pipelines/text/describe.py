"""Description of an article: keywords, summary, classes and harm, by one call."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final, Self

from ..document.document import Document
from . import keywords, model_file, summary
from .analysis import NO_LEXICON, analyse
from .classes import model as class_model
from .classes.model import ClassModel, TextClasses
from .classes.structure import place
from .classes.vectors import Text
from .frequencies import Frequencies
from .frequencies import shipped as shipped_frequencies
from .harmful import model as harm_model
from .harmful.judge import judge
from .harmful.model import HarmModel
from .harmful.records import CLEAN, HarmVerdict
from .lexicon import Lexicon

MOST_KEYWORDS: Final = 10
_MOST_CHARS: Final = 80
"""Characters of a keyword; a longer one is no word."""
_NO_CLASSES: Final = TextClasses()


@dataclass(frozen=True, slots=True)
class Description:
    """Description of an article; parts that are not wanted are empty.

    Attributes:
        keywords: the best first.
        summary: a few sentences of the text.
        classes: names and memberships.
        harm: the verdict.
    """

    keywords: tuple[str, ...] = ()
    summary: str = ""
    classes: TextClasses = _NO_CLASSES
    harm: HarmVerdict = CLEAN


@dataclass(frozen=True, slots=True, eq=False)
class Describer:
    """Everything that articles are described by; the shipped models by default.

    Attributes:
        keywords: the method; None for no keywords.
        summary: its parameters; None for none.
        classes: the model; None for no classes.
        harm: the model; None for no verdict.
        frequencies: how rare terms are.
        lexicon: Chinese words beside those of the dictionary.
    """

    keywords: keywords.Method | None = field(default_factory=keywords.method)
    summary: summary.Params | None = summary.DEFAULTS
    classes: ClassModel | None = field(default_factory=class_model.shipped)
    harm: HarmModel | None = field(default_factory=harm_model.shipped)
    frequencies: Frequencies = field(default_factory=shipped_frequencies)
    lexicon: Lexicon = NO_LEXICON

    def with_model(self, path: Path) -> Self:
        """Return the same with the model of a file, as `scrapy train` makes them, in place of its own of that kind.

        Raises:
            ModelError: it cannot be read, is no model, broken, or of another version.
        """
        found, name = model_file.load(path), str(path)
        match found["kind"]:
            case class_model.KIND:
                return replace(self, classes=class_model.read(found, name))
            case harm_model.KIND:
                return replace(self, harm=HarmModel.load(found, name))
            case _:
                return replace(self, keywords=keywords.read(found, name))

    def describe(
        self, title: str, text: str, language: str, anchors: Sequence[str] = (), document: Document | None = None
    ) -> Description:
        """Describe an article.

        Args:
            title: any string; may be empty.
            text: any string; the modules say how much of it they read.
            language: a code as "zh" or "en-GB"; empty if unknown.
            anchors: texts of the page's links, for the verdict.
            document: the page, where the classes were learned from pages.

        Returns:
            The description; empty parts where nothing can be told.

        Cost: O(characters) up to 20,000; some 4 ms for 1,000 Chinese ones.
        """
        words = analyse(title, text, language, self.lexicon) if self.keywords or self.summary else None
        found: list[tuple[str, float]] = self.keywords(words, self.frequencies) if self.keywords and words else []
        placed = Text(title, text) if document is None else place(document, title, text)
        return Description(
            tuple([term for term, _ in found if len(term) <= _MOST_CHARS][:MOST_KEYWORDS]),
            summary.summarise(words, self.frequencies, self.summary) if self.summary and words else "",
            self.classes.predict(placed) if self.classes else _NO_CLASSES,
            judge(title, text, anchors, self.harm) if self.harm else CLEAN,
        )
