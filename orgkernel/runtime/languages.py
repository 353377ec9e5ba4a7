"""Detects the language of a text that is not English, and shortens words of other languages.

Standard library only: this module also runs inside hosts.
"""

from __future__ import annotations

import re
from typing import Final

from .lazy_patterns import lazy_pattern
from .request_words import STOP_WORDS

_FUNCTION_WORDS: Final = {
    "German": """
        der die das den dem des ein eine einen einem einer eines kein keine keinen dies diese diesen dieser dieses jede jeder jedes alle
        in im ins an am ans auf aus bei beim mit nach seit von vom vor zu zum zur fur durch gegen ohne um uber unter zwischen hinter neben
        bis ab wegen trotz ich du er sie es wir ihr mich dich ihn uns euch mir dir ihm ihnen sich man mein meine meinen unser unsere sein
        seine ihre und oder aber denn sondern weil dass ob wenn als damit wie was wer wem wen wo wann warum welche welcher welches ist sind
        bin bist war waren hat habe haben hast hatte wird werden wurde kann kannst konnen konntest soll sollte muss will wollen darf
        alles allem allen heute gestern morgen immer nie nicht auch nur noch schon mal bitte hier dort jetzt dann sehr doch ja nein gibt neu neue neuen neuer neues""",
    "French": """
        le la les un une des du de au aux en dans sur sous avec sans pour par chez vers entre apres avant depuis pendant contre je tu
        il elle on nous vous ils elles me te se lui leur leurs moi toi eux ce cet cette ces mon ma mes ton ta tes son sa ses
        notre nos votre vos et ou mais donc car ni si que qu qui quoi dont quel quelle quels quelles comment pourquoi quand est sont
        suis es etes etait sera etre ai as avons avez ont avait avoir peux peut pouvez doit faut ne pas plus tres tout tous toute
        toutes aujourd'hui hier demain maintenant toujours jamais aussi encore deja ici rien merci bonjour svp nouveau nouvelle""",
    "Spanish": """
        el la los las lo un una unos unas del de al ante bajo con contra desde en entre hacia hasta para por segun sin sobre tras yo
        ella ellos ellas usted nosotros me te se nos le les mi mis tu tus su sus nuestro nuestra este esta estos estas ese esa esos
        esas esto eso ni pero sino aunque si que quien quienes cual cuales como cuando donde porque es son soy eres era fue
        ser estan estoy hay ha han he has tengo tiene puedo puede puedes debe no ya mas muy tambien solo aqui todo todos todas cada
        otro otra hoy ayer manana ahora siempre nunca gracias hola nuevo nueva""",
    "Italian": """
        il lo la gli le un una di del della dei delle al alla da dal in nel nella con su sul per tra fra io tu lui lei noi voi loro mi
        ti si ci vi mio mia tuo tua suo sua nostro nostra questo questa quello quella ma se che chi come quando dove perche cosa
        sono sei siamo ho hai ha hanno puoi non anche grazie ciao voglio""",
    "Portuguese": """
        os as um uma de do da dos das em no na nos nas com por para sem sobre entre eu ele ela nos voce eles me se meu minha seu sua
        nosso nossa este esta isso isto ou mas se que quem como quando onde porque sao foi estou esta tem tenho pode nao mais muito
        tambem obrigado ola preciso quero""",
    "Dutch": """
        de het een en in van op met voor naar bij uit over onder tegen door om aan te ik jij je hij zij ze wij we jullie mijn jouw
        onze ons dit dat die deze is zijn was heb hebt heeft hebben wordt worden kan kunt kunnen of maar want als omdat hoe wat waarom
        wie waar niet ook nog alsjeblieft""",
}  # fmt: skip
"""Words without a meaning of their own: articles, prepositions, pronouns, conjunctions, auxiliary verbs."""
_VERBS_WITHOUT_WORK: Final = {
    "German": "mach mache machen macht machst gib sag hilf",
    "French": "faire fait fais font faites dis donne",
    "Spanish": "hacer haz hace hacen haces dime dame necesito quiero",
    "Italian": "fare",
    "Portuguese": "fazer",
    "Dutch": "maak",
}
"""Orders to make, give or tell, which any task can begin with."""
_VERBS_OF_ANY_WORK: Final = {
    "German": "schreib schreibe finde zeig",
    "French": "ecris trouve",
    "Spanish": "escribe encuentra",
    "Dutch": "schrijf",
}
"""Orders to write, find or show, which say a little about the work."""
_RELATIVES: Final = {
    "German": lazy_pattern(
        r",\s*(?:(?:in|mit|von|zu|auf|aus|fur) )?(?:der|die|das|den|dem|deren|dessen|denen|dass|damit|weil|wenn|wo)\b"
    ),
    "French": lazy_pattern(r"(?<=\w )(?:qui|que|dont|parce)\b"),
    "Spanish": lazy_pattern(r"(?<=\w )(?:que|porque|cuando|donde)\b"),
}
"""Words that begin a clause about what was named before."""
_ENGLISH: Final = frozenset(
    """
    the and is are was of to in for with on at this that it our my please can could would how what why when where from
    by not we you i me us be have has do does did should will a an or am as so if but he she they his her them their your no all
    about also into then there which who were had been over under
    """.split()  # noqa: SIM905
)
_LANGUAGES: Final = {
    name: frozenset(f"{words} {_VERBS_WITHOUT_WORK.get(name, '')} {_VERBS_OF_ANY_WORK.get(name, '')}".split())
    for name, words in _FUNCTION_WORDS.items()
}
_WORDS_OF_ANY_LANGUAGE: Final = frozenset().union(*_LANGUAGES.values())
FOREIGN_WEAK: Final = frozenset(" ".join(_VERBS_OF_ANY_WORK.values()).split())
"""Words of other languages that weigh as little as `write` does in English."""
FOREIGN_STOP: Final = _WORDS_OF_ANY_LANGUAGE - FOREIGN_WEAK - STOP_WORDS
"""Words of other languages that do not describe work."""
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


def find_relative_clauses(text: str, language: str | None) -> list[int]:
    """Where the clauses of a text begin that only describe what was named before: `ein Skript, das …`."""
    relative = _RELATIVES.get(language or "")
    return [match.end() for match in relative.finditer(text.lower())] if relative is not None else []


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
    if len(word_set & _WORDS_OF_ANY_LANGUAGE) < 2:  # fewer than any language needs
        return None
    english = sum(word in _ENGLISH for word in words)
    counts = {name: len(word_set & known) for name, known in _LANGUAGES.items()}
    best = max(counts, key=counts.__getitem__)
    certain = not word_set & _LANGUAGES[best] <= STOP_WORDS
    return best if certain and counts[best] >= 2 and counts[best] > english else None
