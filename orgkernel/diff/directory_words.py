"""A change of an entry of the directory, as a sentence."""

from __future__ import annotations

from orgkernel.diagnostics.wording import quote
from orgkernel.diff.changes import Change
from orgkernel.diff.value_words import list_words, say_difference


def say_somebody(change: Change, subject: str) -> str:
    """What changes about the entry, and which policies match it because of that."""
    before, after = change.before or {}, change.after or {}
    kind, _, name = subject.partition(":")
    who = f"{kind.replace('system', 'system origin')} {name}"
    if change.kind != "changed":
        matching = (after or before)["policies"]
        matched = f", matched by {list_words(list(map(quote, matching)))}" if matching else ""
        return f"{change.org_id} {'gains' if change.kind == 'gained' else 'loses'} {who}{matched}"
    said = [
        say_difference(field, before.get(field), after.get(field))
        for field in dict.fromkeys((*before, *after))
        if field != "policies" and before.get(field) != after.get(field)
    ]
    come = [quote(each) for each in after["policies"] if each not in before["policies"]]
    gone = [quote(each) for each in before["policies"] if each not in after["policies"]]
    said += [f"now matched by {list_words(come)}"] if come else []
    said += [f"no longer matched by {list_words(gone)}"] if gone else []
    return f"{who} of {change.org_id}: {', '.join(said)}"
