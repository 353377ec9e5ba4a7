"""Splits a text into words and their stems: one stem for `deploy`, `deployed` and `deployment`, `colour` and `color`.

The kernel and hosts must cut words in the same way, and hosts have the standard library only, so this module contains
a small stemmer. Both sides of a comparison use it. A stem does not have to be a word. It only has to be the same for
related words.

Standard library only: this module also runs inside hosts.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import Final, NamedTuple

from .lazy_patterns import lazy_pattern

_UNSEEN: Final = lazy_pattern(
    "[\u0000-\u0008\u000e-\u001f\u007f\u00ad\u061c\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]"
)
_MARKS: Final = lazy_pattern("[\u0300-\u036f]")
_APOSTROPHES: Final = str.maketrans(
    {"\u2019": "'", "\u2018": "'", "\u02bc": "'", "`": " ", "\u201c": '"', "\u201d": '"'}
)
# Scripts without spaces between words. Pairs of characters are used as words.
_UNSPACED: Final = lazy_pattern("[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff]+")
_PARTS: Final = lazy_pattern(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_a-zA-Z]+")
_NUMBERED: Final = lazy_pattern(r"[A-Za-z]{1,6}[0-9]{1,4}")
_TOKEN: Final = lazy_pattern(r"\w+(?:['+#]+\w*)*(?:[-_./]+\w+(?:['+#]\w*)*)*")

# Several words that are one.
_JOINED: Final = (
    ("log", lazy_pattern(r"\b(?:log|sign)(?:ged|ging|s)?[ -](?:in|into|on)\b", re.I), "login"),
    ("sign", lazy_pattern(r"\b(?:log|sign)(?:ged|ging|s)?[ -](?:in|into|on)\b", re.I), "login"),
    ("set", lazy_pattern(r"\bset(?:ting|s)?[ -]up\b", re.I), "setup"),
    ("back", lazy_pattern(r"\bback(?:ing|ed|s)?[ -]up\b", re.I), "backup"),
    ("mail", lazy_pattern(r"\be-?mail", re.I), "email"),
    ("web", lazy_pattern(r"\bweb ?(site|page)", re.I), r"web\1"),
    ("board", lazy_pattern(r"\bon-?boarding\b|\bonboard(?:ed|s)?\b", re.I), "onboarding"),
    ("wi", lazy_pattern(r"\bwi-?fi\b", re.I), "wifi"),
    ("k8s", lazy_pattern(r"\bk8s\b", re.I), "kubernetes"),
    ("ci/cd", lazy_pattern(r"\bci/cd\b", re.I), "cicd"),
    ("a/b", lazy_pattern(r"\ba/b[ -]test", re.I), "abtest"),
    ("p&l", lazy_pattern(r"\bp&l\b", re.I), "profitloss"),
    ("q&a", lazy_pattern(r"\bq&a\b", re.I), "questions"),
    ("r&d", lazy_pattern(r"\br&d\b", re.I), "research"),
    ("c++", lazy_pattern(r"\bc\+\+", re.I), "cpp"),
    ("c#", lazy_pattern(r"\bc#", re.I), "csharp"),
    ("net", lazy_pattern(r"(?<!\w)\.net\b", re.I), "dotnet"),
    ("node", lazy_pattern(r"\bnode\.js\b", re.I), "nodejs"),
    ("pick", lazy_pattern(r"\b(?:pick|picks|picking|picked)[ -]up\b", re.I), "collect"),
    ("sick", lazy_pattern(r"\bsick (?:note|leave|day)", re.I), "sickleave leave"),
    ("follow", lazy_pattern(r"\bfollow(?:ing|s|ed)?[ -]up\b", re.I), "followup"),
    ("check", lazy_pattern(r"\bcheck(?:ing|s|ed)?[ -]in\b", re.I), "checkin"),
    ("check", lazy_pattern(r"\bcheck(?:ing|s|ed)?[ -]out\b", re.I), "checkout"),
    ("lay", lazy_pattern(r"\blay(?:ing|s)? ?-?out\b", re.I), "layout"),
    ("take", lazy_pattern(r"\btake[ -]?down\b", re.I), "takedown"),
    ("social", lazy_pattern(r"\bsocial media\b", re.I), "socialmedia"),
    ("open", lazy_pattern(r"\bopen[ -]source\b", re.I), "opensource"),
    ("pull", lazy_pattern(r"\bpull request", re.I), "pullrequest"),
    ("'", lazy_pattern(r"\b(?:[ldmjcnst]|qu)'(?=\w{3})", re.I), ""),  # of French words
)  # fmt: skip
"""A substring that the text must contain, the pattern, and its replacement."""

_SPELLING: Final = (
    (
        lazy_pattern(r"^(col|fav|lab|neighb|hon|behavi|harb|flav|hum|rum|vap|arm|endeav|sav|od|tum)our"),
        r"\1or",
    ),
    (lazy_pattern(r"(is)(ation|e|ed|es|ing|er|ers)$"), r"iz\2"),
    (lazy_pattern(r"ys(e|ed|es|ing|er|ers)$"), r"yz\1"),
    (lazy_pattern(r"(cen|me|thea|li|fib|calib)tre(s?)$"), r"\1ter\2"),
    (lazy_pattern(r"logue(s?)$"), r"log\1"),
    (lazy_pattern(r"^(an|h|p|f|gyn|orthop|encyclop)(?:ae|oe)(?=[dsmtcl])"), r"\1e"),
)
_FAMILIES: Final = """
analy: analyze analyzes analyzed analyzing analyzer analyse analyses analysed analysing analysis analyst analysts analytic analytics analytical
buy: bought buying buyer buyers buys
write: wrote written writing writer writers writes
sell: sold sells selling seller sellers sale sales
pay: paid pays paying payment payments payable payables payer
ship: shipped ships shipping shipment shipments
build: built builds building builder builders
teach: taught teaches teaching teacher teachers
produce: produced produces producing production producer producers
receive: received receives receiving receipt receipts receivable receivables
decide: decided decides deciding decision decisions
describe: describes described describing description descriptions
subscribe: subscribed subscribes subscribing subscription subscriptions subscriber subscribers
prescribe: prescribed prescribing prescription prescriptions
apply: applied applies applying application applications applicant applicants
supply: supplied supplies supplying supplier suppliers
maintain: maintained maintains maintaining maintenance maintainer
diagnose: diagnosed diagnoses diagnosing diagnosis diagnostic diagnostics
steal: stole stolen theft thefts thief
complain: complained complaining complaint complaints complains
break: broke broken breaks breaking breakage
fly: flew flies flying flight flights flown
drive: drove driven drives driving driver drivers
grow: grew grown grows growing growth grower growers
speak: spoke spoken speaks speaking speech speeches speaker
meet: met meets meeting meetings
ad: ads advert adverts advertise advertised advertising advertisement advertisements advertiser
photo: photos photograph photographs photography photographer photographing picture pictures
medicine: medicines medical medication medications medicinal
law: laws legal lawyer lawyers legally
document: documents documentation documenting documented docs doc
translate: translates translated translating translation translations translator
interpret: interprets interpreting interpreter interpretation
recruit: recruits recruiting recruiter recruiters recruitment
hire: hires hired hiring
negotiate: negotiates negotiated negotiating negotiation negotiations negotiator
schedule: schedules scheduled scheduling scheduler
manage: manages managed managing
account: accounts
accounting: accountant accountants accountancy
officer: officers
office: offices
manager: managers
bookkeeping: bookkeeper bookkeepers books
audit: audits audited auditing auditor auditors
tax: taxes taxed taxation taxing
budget: budgets budgeting budgeted budgetary
forecast: forecasts forecasting forecasted forecaster
invoice: invoices invoiced invoicing
bill: bills billing billed biller
market: markets marketing marketed marketer marketers
campaign: campaigns campaigning
design: designs designed designing designer designers
test: tests tested testing tester testers
develop: develops developed developing developer developers development
code: codes coded coding coder coders codebase
program: programs programmed programming programmer programmers programme programmes
script: scripts scripting scripted
deploy: deploys deployed deploying deployment deployments
integrate: integrates integrated integrating integration integrations
install: installs installed installing installation installations installer
configure: configures configured configuring configuration configurations config configs
secure: secures secured securing security securely
encrypt: encrypts encrypted encryption encrypting
investigate: investigates investigated investigating investigation investigations investigator investigative
inspect: inspects inspected inspecting inspection inspections inspector inspectors
review: reviews reviewed reviewing reviewer reviewers
edit: edits edited editing editor editors editorial
publish: publishes published publishing publication publications publisher
print: prints printed printing printer printers
clean: cleans cleaned cleaning cleaner cleaners cleanup cleanse cleansing
repair: repairs repaired repairing
cook: cooks cooked cooking chef chefs
nurse: nurses nursing
doctor: doctors physician physicians
pharmacy: pharmacist pharmacists pharmaceutical pharmacies
farm: farms farming farmer farmers
garden: gardens gardening gardener gardeners
animate: animates animated animating animation animations animator
illustrate: illustrates illustrated illustration illustrations illustrator
museum: museums
music: musical musician musicians
compose: composes composed composing composer composition
perform: performs performed performing performance performances
present: presents presented presenting presentation presentations presenter
report: reports reported reporting reporter reporters
estimate: estimates estimated estimating estimation estimator
measure: measures measured measuring measurement measurements
calculate: calculates calculated calculating calculation calculations
optimize: optimizes optimized optimizing optimization optimizations
visualize: visualizes visualized visualizing visualization visualizations
monitor: monitors monitored monitoring
insure: insures insured insuring insurance insurer
invest: invests invested investing investment investments investor investors
donate: donates donated donating donation donations donor donors
volunteer: volunteers volunteering volunteered
register: registers registered registering registration registrations registry
enroll: enrol enrols enrolled enrolling enrollment enrolment enrolls
admit: admits admitted admission admissions
educate: education educational educating educator
train: trains trained training trainer trainers trainings
learn: learns learned learning learner learners
employ: employs employed employing employee employees employment employer
lease: leases leased leasing
rent: rents rented renting rental rentals
purchase: purchases purchased purchasing purchaser
procure: procures procured procuring procurement
deliver: delivers delivered delivering delivery deliveries
transport: transports transported transporting transportation transporter
store: stores stored storing storage storeroom
warehouse: warehouses warehousing
reserve: reserves reserved reserving reservation reservations
book: booked booking bookings
cancel: cancels canceled cancelled canceling cancelling cancellation cancellations
refund: refunds refunded refunding
summarize: summarizes summarized summarizing summary summaries summarization
predict: predicts predicted predicting prediction predictions predictive predictor
science: sciences scientist scientists scientific
statistic: statistics statistical statistician
chemistry: chemical chemicals chemist chemists
biology: biological biologist biologists
physic: physics physicist
engineer: engineers engineering engineered
mechanic: mechanics mechanical
electric: electrical electrician electricians electricity electrics
plumb: plumbing plumber plumbers
construct: constructs constructed constructing construction
architect: architects architecture architectural
permit: permits permitted permitting
license: licence licences licenses licensed licensing
certify: certified certifies certification certifications certificate certificates
comply: complies complied complying compliance compliant
regulate: regulates regulated regulation regulations regulatory regulator regulators
govern: governs governance governing
protect: protects protected protecting protection
private: privacy privately
fraud: frauds fraudulent
detect: detects detected detecting detection detector
attack: attacks attacked attacking attacker attackers
vulnerable: vulnerability vulnerabilities
migrate: migrates migrated migrating migration migrations
access: accessed accessing accessible accessibility
person: persons personnel
guest: guests
tourism: tourist tourists tour tours touring
travel: travels traveled travelled traveling travelling traveler traveller
sponsor: sponsors sponsored sponsoring sponsorship sponsorships
therapy: therapies therapist therapists therapeutic
surgery: surgeries surgeon surgeons surgical
diet: diets dietary dietitian dietician dietitians
nutrition: nutritional nutritionist nutritious
patient: patients
veterinary: veterinarian vet vets
dental: dentist dentists dentistry
vaccinate: vaccine vaccines vaccination vaccinations
allergy: allergies allergic allergen allergens
library: libraries librarian librarians
archive: archives archived archiving archivist archivists archival
journal: journalism journalist journalists
advise: advises advised advising advisor adviser advisory advice
consult: consults consulted consulting consultant consultation
assist: assists assisted assisting assistant assistance
secretary: secretaries secretarial
reception: receptionist
administrate: administer administers administration administrative administrator administrators admin admins
strategy: strategies strategic strategist
innovate: innovation innovations innovative
plan: plans planned planning planner planners
theater: theatrical theatre
act: acts acting actor actors
dance: dances dancing dancer choreography choreographer
weld: welds welding welder
paint: paints painted painting painter
drill: drills drilling
machine: machines machining machinist machinery
assemble: assembles assembled assembling assembly
inventory: inventories
pollute: pollution polluting pollutant
recycle: recycles recycling recycled
emit: emits emission emissions
energy: energies energetic
evaluate: evaluates evaluated evaluating evaluation evaluations
compare: compares compared comparing comparison comparisons
classify: classifies classified classification classifier
verify: verifies verified verifying verification
approve: approves approved approving approval approvals
authorize: authorizes authorized authorization
authenticate: authenticates authentication auth
automate: automates automated automating automation
synchronize: sync syncs synchronizes synchronization synchronise
reconcile: reconciles reconciled reconciling reconciliation
depreciate: depreciation
expense: expenses
salary: salaries
wage: wages
reimburse: reimburses reimbursed reimbursement reimbursements
profit: profits profitable profitability
collect: collects collected collecting collection collections collector
research: researches researched researching researcher researchers
survey: surveys surveyed surveying surveyor
interview: interviews interviewed interviewing interviewer
moderate: moderates moderated moderating moderation moderator
communicate: communicates communicated communicating communication communications
respond: responds responded responding response responses
reply: replies replied replying
notify: notifies notified notifying notification notifications
restore: restores restored restoring restoration
recover: recovers recovered recovering recovery
update: updates updated updating
remove: removes removed removing removal
delete: deletes deleted deleting deletion
assess: assesses assessed assessing assessment assessments
allocate: allocates allocated allocating allocation
distribute: distributes distributed distributing distribution distributor
import: imports imported importing importer
export: exports exported exporting exporter
ticket: tickets ticketing
dispute: disputes disputed
arbitrate: arbitration arbitrator
mediate: mediates mediation mediator
litigate: litigation litigator
sue: sued suing lawsuit lawsuits
contract: contracts contractual contracting contractor contractors
customer: customers
custom: customs
compute: computer computers computing computation
serve: serves served serving service services
server: servers
number: numbers numbered numbering
letter: letters
paper: papers
order: orders ordered ordering
offer: offers offered offering
cover: covers covered coverage covering
power: powers powered
container: containers containerize containerized
character: characters
chapter: chapters
parameter: parameters
member: members membership
partner: partners partnership partnerships
filter: filters filtered filtering
folder: folders
answer: answers answered answering
letterhead: letterheads
newsletter: newsletters
poster: posters
counter: counters
lead: leads leading
head: heads
water: waters
weather: weathers
paperwork: paperworks
data: dataset datasets datum
database: databases db dbs
spreadsheet: spreadsheets xlsx xls excel
image: images
log: logs logging logged
address: addresses
process: processes processed processing
business: businesses
news: newspaper newspapers
class: classes
glass: glasses glazing glazier
gas: gases
bus: buses
lens: lenses
virus: viruses viral
status: statuses
campus: campuses
bonus: bonuses
menu: menus
tyre: tires tire tyres
color: colors colored coloring
gray: grey
aluminum: aluminium
jewelry: jewellery
mold: mould molds moulds
inquiry: enquiry enquiries inquiries inquire enquire
judgment: judgement
artifact: artefact artefacts artifacts
cheque: cheques
storey: storeys
story: stories
die: dies died
child: children childcare
woman: women
man: men
tooth: teeth
foot: feet
mouse: mice
shelf: shelves shelving
leave: leaves
sick: sickness
ill: illness illnesses
safe: safely safety
hot: heat heats heating heated heater
cool: cools cooled cooling cooler
fail: fails failed failing failure failures
error: errors erroneous
crash: crashes crashed crashing
bug: bugs buggy
regression: regressions regressed
universe: universal
university: universities
general: generally generals
generate: generates generated generating generation generator
organic: organics
organize: organizes organized organizing organizer
organization: organizations organizational
option: options optional
operate: operates operated operating operation operations operational operator operators ops
nation: nations national
ration: rations
station: stations
relation: relations
relate: related relates relating
relationship: relationships
public: publicly
policy: policies
police: policing
""".strip()
_KEPT_ER: Final = frozenset(
    """letter water matter center winter summer dinner butter leather border corner quarter tower flower master career carrier
    cluster laser fiber timber rubber copper silver finger shower river lumber cover hammer ladder router buffer
    trigger layer outlier frontier banner sticker webinar grammar calendar seminar error mirror color floor door
    donor tutor mentor doctor visitor vendor sensor motor tractor sector factor vector author major minor""".split()  # noqa: SIM905
)
_VOWEL: Final = lazy_pattern("[aeiouy]")
_DOUBLED: Final = lazy_pattern(r"(bb|dd|ff|gg|kk|ll|mm|nn|pp|rr|tt|zz)$")
_ENDINGS: Final = (
    ("izations", ""), ("ization", ""), ("izers", ""), ("izing", ""), ("ized", ""), ("izes", ""), ("izer", ""), ("ize", ""),
    ("ations", ""), ("ation", ""), ("ators", ""), ("ator", ""), ("ating", ""), ("ated", ""), ("ates", ""), ("ate", ""),
    ("ically", ""), ("ical", ""), ("iveness", ""), ("ments", ""), ("ment", ""), ("nesses", ""), ("ness", ""),
    ("ships", ""), ("ship", ""), ("fully", ""), ("ful", ""), ("less", ""), ("abilities", ""), ("ability", ""),
    ("able", ""), ("ible", ""), ("ances", ""), ("ance", ""), ("ences", ""), ("ence", ""), ("ists", ""), ("ist", ""),
    ("isms", ""), ("ism", ""), ("ities", ""), ("ity", ""), ("ives", ""), ("ive", ""), ("ous", ""), ("ions", "ion"),
)  # fmt: skip


_ENDINGS_BY_LETTER: Final = {
    letter: tuple(each for each in _ENDINGS if each[0][-1] == letter)
    for letter in {each[0][-1] for each in _ENDINGS}
}
_MAYBE_BRITISH: Final = lazy_pattern(
    r"our|is(?:ation|e|ed|es|ing|er|ers)$|ys(?:e|ed|es|ing|er|ers)$|tres?$|logues?$|ae|oe"
)


class TextWord(NamedTuple):
    """A word of a text."""

    text: str
    """The word in lower case."""
    stem: str
    start: int
    """Offset of the word in the cleaned text."""
    end: int
    part: bool
    """Whether the word is part of an identifier such as `parse_invoice`."""


def clean(text: str, most: int) -> str:
    """The text without invisible characters, in normalized Unicode, cut to a number of characters."""
    text = text[: 2 * most]
    if text.isascii():  # most texts, in which nothing is to be normalized
        return _UNSEEN.sub("", text).replace("`", " ")[:most]
    text = _UNSEEN.sub("", unicodedata.normalize("NFKC", text)).translate(_APOSTROPHES)
    return _MARKS.sub("", unicodedata.normalize("NFKD", text))[:most]


def find_tokens(text: str, parts: bool = True) -> list[TextWord]:
    """The words of a cleaned text in order. Identifiers are split into their parts, and folders of a path are
    skipped.
    """
    lowered = text.lower()
    if len(lowered) != len(text):  # a few characters have no single lower-case form
        text = lowered
    tokens = []
    for match in _TOKEN.finditer(text):
        start, word = match.start(), match.group()
        if "/" in word or (start and text[start - 1] in "/\\~"):
            word, start = _find_last_of_path(word, start)
        tokens += (
            _split(word, start)
            if parts
            else [TextWord(word.lower(), stem(word.lower()), start, start + len(word), False)]
        )
    return tokens


def join_words(text: str) -> str:
    """Join words such as `log in` into `login`."""
    lowered = text.lower()
    for part, pattern, joined in _JOINED:
        if part in lowered:
            text = pattern.sub(joined, text)
    return text


def _find_last_of_path(word: str, start: int) -> tuple[str, int]:
    """The last name of a path. Folders describe a location, not a task. `and/or` is not a path."""
    pieces = word.split("/")
    if len(pieces) == 2 and "." not in word and "_" not in word:
        return word, start
    last = pieces[-1]
    return last, start + len(word) - len(last)


def _split(word: str, start: int) -> list[TextWord]:
    lowered = word.lower()
    if lowered == word and word.isascii() and word.isalpha():  # most words
        return [TextWord(word, stem(word), start, start + len(word), False)]
    if not word.isascii() and _UNSPACED.search(lowered):
        pairs = [lowered[at : at + 2] for at in range(max(1, len(lowered) - 1))]
        return [TextWord(pair, pair, start, start + len(word), False) for pair in pairs]
    if _NUMBERED.fullmatch(word) or (
        lowered.isalpha() and (word.islower() or word.isupper() or word.istitle())
    ):
        return [TextWord(lowered, stem(lowered), start, start + len(word), False)]
    lowered = lowered.removesuffix("'s").rstrip("'")
    if "'" in lowered:
        return [TextWord(lowered, lowered.replace("'", ""), start, start + len(word), False)]
    hyphened = "-" in lowered and not any(mark in lowered for mark in "_./")
    pieces = [
        (each.group().lower(), start + each.start()) for each in _PARTS.finditer(word.removesuffix("'s"))
    ]
    # Any part of a hyphened word is an ordinary word; a part of an identifier is a hint only.
    return [
        TextWord(piece, stem(piece), at, at + len(piece), not hyphened and len(pieces) > 1)
        for piece, at in pieces
        if len(piece) > 1 and not (len(pieces) > 1 and piece.isdigit())
    ]


@lru_cache(maxsize=65_536)
def stem(word: str) -> str:
    """The stem of a word in lower case."""
    known = _FAMILY.get(word)
    if known is not None:
        return known
    if len(word) <= 3 or not word.isascii():
        return word
    if _MAYBE_BRITISH.search(word):
        word = _spell_american(word)
        if word in _FAMILY:
            return _FAMILY[word]
    word = _strip_plural(word)
    if word in _FAMILY:
        return _FAMILY[word]
    word = _strip_tense(word)
    if word in _FAMILY:
        return _FAMILY[word]
    for ending, instead in _ENDINGS_BY_LETTER.get(word[-1], ()):
        if word.endswith(ending) and len(word) - len(ending) >= 4:
            word = word[: len(word) - len(ending)] + instead
            break
    if word.endswith("ly") and len(word) > 5:
        word = word[:-2]
    if word.endswith("ion") and len(word) > 6 and word[-4] in "st":
        word = word[:-3]
    elif len(word) > 6 and word[-2:] in ("er", "or") and word not in _KEPT_ER:
        word = word[:-2]
    if _DOUBLED.search(word) and len(word) > 4:
        word = word[:-1]
    if (len(word) > 3 and word[-1] in "ey") or (len(word) > 4 and word[-1] == "i"):
        word = word[:-1]
    return word


def _spell_american(word: str) -> str:
    for pattern, replacement in _SPELLING:
        changed = pattern.sub(replacement, word)
        if changed != word:
            return changed
    return word


def _strip_plural(word: str) -> str:
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("sses", "xes", "ches", "shes", "zes")):
        return word[:-2]
    if word[-1] == "s" and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


def _strip_tense(word: str) -> str:
    if word.endswith("ied") and len(word) > 4:
        return word[:-3] + "y"
    for ending in ("ing", "ed"):
        left = word[: -len(ending)]
        if word.endswith(ending) and len(left) >= 3 and _VOWEL.search(left):
            # `eed` in `feed` and `need` is not an ending, and the stem of `bring` would have no vowel.
            if ending == "ed" and left[-1] == "e":
                return word
            if len(left) == 4 and left[-2:] in (
                "ll",
                "ss",
                "ff",
                "zz",
            ):  # `calling` is of `call`, `running` of `run`
                return left
            return left[:-1] if _DOUBLED.search(left) and len(left) > 3 else left
    return word


def _read_families() -> dict[str, str]:
    heads_by_word: dict[str, str] = {}
    for line in _FAMILIES.splitlines():
        head, _, members = line.partition(":")
        heads_by_word[head] = head
        for member in members.split():
            heads_by_word.setdefault(member, head)
    return heads_by_word


_FAMILY: Final = _read_families()
# A regular form without its last `e` leads to the same stem: `code`, `coding`.
for _word, _head in list(_FAMILY.items()):
    if _word == _head and _word.endswith("e"):
        _FAMILY.setdefault(_word[:-1], _head)
