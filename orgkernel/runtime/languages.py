"""Detects the language of a text that is not English, and shortens words of other languages.

Standard library only: this module also runs inside hosts.
"""

from __future__ import annotations

import re
from typing import Final

from .lazy_patterns import lazy_pattern
from .request_words import STOP_WORDS

_NAMES_OF_LANGUAGES: Final = {
    "German": ["der", "die", "das", "und", "ist", "nicht", "ein", "eine", "einen", "einem", "ich", "wir", "sie", "bitte", "mit", "fur", "auf", "den", "dem", "zu", "von", "im", "kannst", "kann", "wie", "was", "warum", "mir", "uns", "unsere", "unser", "bei", "wird", "werden", "sich", "aus", "hat", "haben", "oder", "zum", "zur", "dass", "noch", "mein", "meine", "schreibe", "mach", "mache", "finde", "neu", "neue", "neuen", "neuer", "neues", "schreib", "gib", "zeig", "sag", "hilf", "diese", "dieser", "dieses", "einer", "eines", "nach", "dann", "hier", "war", "du", "er", "es", "wer", "wem", "wo", "welche", "seit", "gibt", "alle", "kannst", "konntest", "ihn", "ihm", "ihr"],
    "French": ["le", "la", "les", "des", "un", "une", "est", "et", "pas", "je", "nous", "vous", "pour", "dans", "que", "qui", "sur", "avec", "ce", "cette", "mon", "ma", "mes", "notre", "nos", "au", "aux", "du", "sont", "quel", "quelle", "comment", "pourquoi", "peux", "peut", "merci", "bonjour", "faire", "fait", "trouve", "nouveau", "sans", "rien", "tout", "aussi", "etre", "avoir", "vous", "svp", "nouvelle", "il", "elle", "plus", "ce", "ces", "sa", "son", "ses", "tu", "moi", "dis", "donne", "fais", "ecris", "leur", "tous", "toutes", "ou", "par", "cet", "mais", "si"],
    "Spanish": ["el", "la", "los", "las", "un", "una", "es", "y", "no", "que", "por", "para", "con", "en", "del", "al", "se", "mi", "mis", "nuestro", "nuestra", "este", "esta", "como", "cual", "puede", "puedes", "gracias", "hola", "hacer", "esta", "donde", "cuando", "porque", "necesito", "quiero", "dime", "dame", "haz", "escribe", "encuentra", "nuevo", "nueva", "esto", "eso", "su", "sus", "tu", "me", "nos", "todos", "todas", "de", "lo", "mas", "pero", "si", "hay", "muy"],
    "Italian": ["il", "lo", "la", "gli", "le", "un", "una", "e", "non", "che", "per", "con", "di", "del", "della", "nel", "sono", "mio", "mia", "nostro", "nostra", "questo", "questa", "come", "puoi", "grazie", "ciao", "fare", "perche", "quando", "dove", "voglio"],
    "Portuguese": ["o", "os", "as", "um", "uma", "e", "nao", "que", "por", "para", "com", "em", "do", "da", "no", "na", "meu", "minha", "nosso", "nossa", "este", "esta", "como", "pode", "obrigado", "ola", "fazer", "quando", "onde", "porque", "preciso", "quero"],
    "Dutch": ["de", "het", "een", "en", "is", "niet", "ik", "wij", "we", "je", "voor", "op", "met", "van", "in", "dat", "die", "dit", "kan", "kunt", "hoe", "wat", "waarom", "mijn", "onze", "ons", "bij", "wordt", "zijn", "of", "naar", "alsjeblieft", "maak", "schrijf"],
}  # fmt: skip
_ENGLISH: Final = frozenset(
    """
    the and is are was of to in for with on at this that it our my please can could would how what why when where from
    by not we you i me us be have has do does did should will a an or
    """.split()  # noqa: SIM905
)
FOREIGN_STOP: Final = frozenset(
    word for words in _NAMES_OF_LANGUAGES.values() for word in words if word not in STOP_WORDS
)
_LANGUAGES: Final = {name: frozenset(words) for name, words in _NAMES_OF_LANGUAGES.items()}
_SCRIPTS: Final = (
    ("Russian or another Cyrillic language", lazy_pattern("[\u0400-\u04ff]{2}")),
    ("Greek", lazy_pattern("[\u0370-\u03ff]{3}")),
    ("Arabic", lazy_pattern("[\u0600-\u06ff]{2}")),
    ("Hebrew", lazy_pattern("[\u0590-\u05ff]{2}")),
    ("Japanese", lazy_pattern("[\u3040-\u30ff]")),
    ("Chinese", lazy_pattern("[\u4e00-\u9fff]")),
    ("Korean", lazy_pattern("[\u1100-\u11ff\uac00-\ud7af]")),
    ("Thai", lazy_pattern("[\u0e00-\u0e7f]")),
    ("Hindi", lazy_pattern("[\u0900-\u097f]")),
)  # fmt: skip


def begin(stem: str) -> str:
    """The beginning of a word, which replaces the stem in languages other than English."""
    if len(stem) > 6:
        return f"{stem[:6]}-"
    while len(stem) > 3 and stem[-1] in "aeinrst":
        stem = stem[:-1]
    return f"{stem}-"


def find_language(text: str) -> str | None:
    """The language of a text. None for English, and if neither the script nor the function words show the language."""
    for name, script in () if text.isascii() else _SCRIPTS:
        if script.search(text):
            return name
    words = re.findall(r"[a-z]+", text[:600].lower())
    word_set = set(words)
    english = sum(word in _ENGLISH for word in words)
    counts = {name: len(word_set & known) for name, known in _LANGUAGES.items()}
    best = max(counts, key=counts.__getitem__)
    return best if counts[best] >= 2 and counts[best] > english else None
