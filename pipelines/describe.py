"""Describe articles: keywords, summary, classes, harm; the text is cut once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Final, Self

from .document.document import Document
from .metadata.language import detect
from .models import files
from .records import Description
from .text import harmful, keywords, vocabulary
from .text.analysis import AnalysedText, analyse
from .text.harmful import model as harm
from .text.harmful.records import HarmVerdict
from .text.summary import summarise
from .version import description_version

if TYPE_CHECKING:
    from .text.classes.model import ClassModel, TextClasses

SHIPPED: Final = "shipped"
MODELS: Final = ("classes", "keywords", "harmful", "lexicon")
MOST_KEYWORDS: Final = 10
MAX_CHARS: Final = 8_000
"""Characters of a text of which keywords, summary and classes are made: with more of them, the known keywords of papers
and of long news are met no better. Harm may stand below, and is sought there too."""
_MOST_CHARS: Final = 80
"""Characters of a keyword; a longer one is no word."""


@dataclass(frozen=True, slots=True)
class DescribeOptions:
    """Options for describing articles, the same for all.

    Attributes:
        keywords: name of the method; without one neither keywords nor summary.
        classes: path of a model, `SHIPPED`, or empty for no classes.
        harm_method: key of `pipelines.text.harmful.METHODS`.
        words: path of a user's dictionary or a learned vocabulary, or empty.
        models: paths of models in place of those, see `Describer.with_model`.
        gives_reasons: whether verdicts give reasons, by which URLs of harmful pages are flagged.
    """

    keywords: str = keywords.DEFAULT
    keyword_params: Mapping[str, object] = field(default_factory=dict, hash=False)
    classes: str = SHIPPED
    judges_harm: bool = True
    words: str = ""
    models: tuple[str, ...] = ()
    gives_reasons: bool = True
    harm_method: str = harmful.DEFAULT

    def version(self) -> str:
        """Return the version of all that they name; `OSError` if a file cannot be read."""
        values: tuple[object, ...] = (
            self.keywords,
            sorted(self.keyword_params.items()),
            self.judges_harm,
            self.gives_reasons,
        )
        if self.harm_method != harmful.DEFAULT:
            values += (self.harm_method,)
        files_of_keywords = [str(path) for name, path in self.keyword_params.items() if name in keywords.FILES]
        return description_version(self.keywords, values, (self.classes, self.words, *self.models, *files_of_keywords))


DEFAULT: Final = DescribeOptions()


@dataclass(frozen=True, slots=True, eq=False)
class Describer:
    """Methods and models that describe articles; None for what is not wanted."""

    method: keywords.Method | None
    classes: ClassModel | None
    harm: harm.HarmModel | None
    words: vocabulary.Vocabulary = field(default_factory=lambda: vocabulary.load(""))
    gives_reasons: bool = True
    version: str = ""
    harm_method: str = harmful.DEFAULT

    @classmethod
    def of(cls, options: DescribeOptions = DEFAULT) -> Self:
        """Load what the options name; `ValueError` says what to do."""
        describer = cls(
            keywords.method(options.keywords, options.keyword_params) if options.keywords else None,
            _load_classes(options.classes),
            harm.shipped() if options.judges_harm else None,
            vocabulary.load(options.words),
        )
        for path in options.models:
            describer = describer.with_model(Path(path))
        return replace(
            describer,
            gives_reasons=options.gives_reasons,
            version=options.version(),
            harm_method=options.harm_method,
        )

    def with_model(self, path: Path) -> Self:
        """Return the same with another model of its kind; `ValueError` if it is unusable."""
        file = files.read(path, *MODELS)
        if file.kind == "classes":
            from .text.classes.model import ClassModel  # noqa: PLC0415 - see `_load_classes`

            return replace(self, classes=file.build(ClassModel.of))
        if file.kind == "harmful":
            return replace(self, harm=file.build(harm.HarmModel.of))
        if file.kind == "lexicon":
            return replace(self, words=file.build(vocabulary.read))
        return replace(self, method=keywords.read(file))

    def describe(self, title: str, text: str, language: str = "", document: Document | None = None) -> Description:
        """Describe an article, with links and tree of its page if `document` is given.

        Cost: O(characters); with everything 5 ms for 1,000 Chinese ones on a busy machine.

        >>> story = "The new bridge of Hekou opened on Monday after three years."
        >>> description = Describer.of().describe("Bridge opened", story)
        >>> "bridge" in description.keywords, description.harm_kind
        (True, '')
        """
        terms: list[str] = []
        summary = ""
        analysed = None
        if self.method is not None:
            analysed = analyse(title, text[:MAX_CHARS], language, self.words.lexicon)
            ranked = self.method(analysed, self.words.frequencies)
            terms = without_nested(term for term, _ in ranked if len(term) <= _MOST_CHARS)
            summary = summarise(analysed, self.words.frequencies)
        text_classes = self.classify(title, text, document, analysed)
        judge = harmful.METHODS[self.harm_method]
        verdict = None if self.harm is None else judge(*judged(title, text, document), self.harm)
        return Description(
            keywords=tuple(terms),
            summary=summary,
            classes=text_classes.names,
            memberships=tuple((name, text_classes.memberships[name]) for name in text_classes.names),
            harm=None if verdict is None else round(verdict.score, 6),
            harm_kind="" if verdict is None else str(verdict.kind or ""),
            harm_reasons="" if verdict is None or not self.gives_reasons else _said(verdict),
            described_with=self.version,
        )

    def classify(
        self, title: str, text: str, document: Document | None = None, analysed: AnalysedText | None = None
    ) -> TextClasses:
        """Return the classes of a text, and its memberships in all of them.

        The language is that of the text itself, whatever its page declares; an unknown one has none.
        """
        from .text.classes import structure  # noqa: PLC0415 - see `_load_classes`
        from .text.classes.model import TextClasses  # noqa: PLC0415
        from .text.classes.vectors import Text  # noqa: PLC0415

        if self.classes is None:
            return TextClasses()
        text = text[:MAX_CHARS]
        article_text = Text(title, text)
        if document is not None and self.classes.method == structure.NAME:
            article_text = structure.place(document, title, text)
        return self.classes.predict(article_text._replace(language=detect(text or title), analysed=analysed))


def without_nested(terms: Iterable[str]) -> list[str]:
    """Return the first `MOST_KEYWORDS` terms, none of which is part of another.

    >>> without_nested(["harbour bridge", "Harbour bridge cost", "bridge", "ferry"])
    ['harbour bridge', 'ferry']
    """
    chosen: dict[str, str] = {}
    for term in terms:
        key = f" {term.casefold()} "
        if any("\u3400" <= char <= "\u9fff" for char in term):
            key = key.strip()
        if not any(key in other or other in key for other in chosen):
            chosen[key] = term
            if len(chosen) == MOST_KEYWORDS:
                break
    return list(chosen.values())


def judged(title: str, text: str, document: Document | None) -> tuple[str, str, tuple[str, ...]]:
    """Return what is judged of an article: its titles, its text, the texts of links.

    Hijackers change what search engines show, the title of the document, and leave the headline.
    """
    if document is None:
        return title, text, ()
    return f"{title} | {document.title}", text, tuple(dict.fromkeys(anchor for *_, anchor, _ in document.links))


def _said(verdict: HarmVerdict) -> str:
    """Join the reasons of a verdict.

    >>> from pipelines.text.harmful.records import HarmKind, HarmPart, HarmReason
    >>> _said(HarmVerdict(0.9, HarmKind.PORN, (HarmReason(HarmPart.TITLE, ("a", "b")),)))
    'title: a, b'
    """
    return "; ".join(f"{reason.part}: {', '.join(reason.words)}" for reason in verdict.reasons)


def _load_classes(name: str) -> ClassModel | None:
    if not name:
        return None
    from .text.classes import model  # noqa: PLC0415 - imports scipy, which the crawling process does without

    return model.shipped() if name == SHIPPED else files.read(Path(name), "classes").build(model.ClassModel.of)


def classes_need_pages(options: DescribeOptions) -> bool:
    """Tell whether pages are classified by more than their text."""
    if options.classes in {"", SHIPPED}:
        return False
    from .text.classes import structure  # noqa: PLC0415 - see `_load_classes`

    model = _load_classes(options.classes)
    return model is not None and model.method == structure.NAME


def class_names(options: DescribeOptions) -> tuple[str, ...]:
    """Return the classes of the options' model; `ValueError` if it cannot be used."""
    model = _load_classes(options.classes)
    return () if model is None else model.labels


def check(options: DescribeOptions) -> None:
    """Check options, loading nothing that is shipped; raises as `Describer.of`."""
    if options.keywords:
        keywords.method(options.keywords, options.keyword_params)
    if options.classes != SHIPPED:
        _load_classes(options.classes)
    if options.words:
        vocabulary.load(options.words)
    for path in options.models:
        Describer(None, None, None).with_model(Path(path))


@lru_cache(maxsize=4)
def describer(options: DescribeOptions = DEFAULT) -> Describer:
    """Return the describer of some options, once a process; see `Describer.of`."""
    return Describer.of(options)


def describe(
    options: DescribeOptions | None, title: str, text: str, language: str, document: Document | None = None
) -> Description:
    """Describe an article by the describer of some options; None: not at all."""
    return Description() if options is None else describer(options).describe(title, text, language, document)


def judge_harm(
    options: DescribeOptions | None, title: str, text: str, language: str, document: Document | None = None
) -> Description:
    """Judge the harm of an article; all else that describes it is left for later."""
    if options is None:
        return Description()
    judged_now = describe(replace(options, keywords="", classes=""), title, text, language, document)
    return replace(judged_now, described_with="")


def describe_rest(options: DescribeOptions, title: str, text: str, language: str) -> Description:
    """Describe an article whose harm was judged before, by `judge_harm`."""
    rest = describe(replace(options, judges_harm=False), title, text, language)
    return replace(rest, described_with=describer(options).version)
