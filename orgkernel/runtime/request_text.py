"""Read a request: which of its words say what is to be done, and how much each of them counts.

What is forbidden ("do not deploy"), merely mentioned ("a poem about git", "as the reviewer said"), quoted or polite does
not say what is to be done. A role that is asked by name takes the request ("ask the tester to ...").

Standard library only: this module also runs inside hosts.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Container, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from .word_forms import TextWord, clean, find_tokens, join_words, stem
from .word_topics import GAP, groups_by_stem, known_words, phrases_by_first_stem, trades_by_stem

MOST_CHARACTERS: Final = 4_000
"""How many characters are read: the request comes before pasted text."""
MOST_TOKENS: Final = 160
MAKE: Final = "~make"
"""Stands for the order to write a program."""
LEAD: Final = "~lead"
"""Stands for the order to divide work, to coordinate it, or to decide what comes first."""
COMMAND: Final = "~command"
"""Stands for the order to take charge of the whole."""
LOG: Final = "~log"
"""Stands for pasted lines of a log."""
FAULT: Final = "~fault"
"""Stands for words that say that something does not work."""
_PHRASE: Final = 1.2
"""What a phrase counts."""
_LONGEST_GAP: Final = 6


REQUEST, QUESTION, STATEMENT = "request", "question", "statement"
_LAST_TOKENS: Final = 60
_BEFORE: Final = 0.4
"""What words count that stand in another sentence than the request."""
_VERB: Final = 1.25
"""What the word counts that opens a sentence."""
_MOST_CORRECTED: Final = 16
_TOLD: Final = 0.5
"""What the words of a text count that asks for nothing and reports no fault."""
_PERSONAL: Final = 0.35
"""The same where somebody tells of himself."""
_TROUBLED: Final = 0.8
"""The same where it may tell of trouble."""


class Term(NamedTuple):
    """A word of the request that counts."""

    stem: str
    word: str
    """The word as it is written."""
    weight: float
    """How much it counts: 1 for an ordinary word."""


@dataclass(frozen=True, slots=True)
class RequestText:
    """What a text asks for."""

    terms: tuple[Term, ...] = ()
    """Each word once, in the order of the text."""
    addressed: tuple[int, ...] = ()
    """Roles that the text asks by name, by number."""
    factor: float = 1.0
    """Below 1 for a question of general knowledge and for small talk."""
    creative: bool = False
    """Whether a poem, a joke or the like is wanted: only a role that says so takes it."""
    small_talk: bool = False
    """Whether it is small talk, a greeting and nothing else, or a question of general knowledge."""
    language: str | None = None
    """The language, where it is recognized and is not English."""
    whole: tuple[str, ...] = field(default=())
    """All stems that are no function words, for the comparison with examples."""
    private: tuple[str, ...] = ()
    """Stems of words of private life."""


_STOP_TEXT: Final = """
a about above across actually after again against ago all almost along already also although always am among an and another any anybody
anyone anything anyway are arent around as aside at away back be became because become been before being below
beside besides between beyond both but by bye came can cannot cant come comes coming could couldnt did didnt do does
doesnt doing done dont down due during each either else enough especially etc even ever every everybody everyone everything
everywhere except far few first for from further gave get gets getting give given gives giving go goes going gone
gonna good got had hadnt half has hasnt have havent having he hello help her here hers herself hey hi him himself his
hopefully how however i id if ill im in indeed instead into is isnt it its itself ive just keep keeps kind kindly
know last least left less let lets like likely little lot lots made make makes making many may maybe me meanwhile
might mine mom moment more most mostly much must my myself near nearly need needed needs neither never nice no
nobody none nor not nothing now of off often oh ok okay on once one ones only onto or other others otherwise our
ours ourselves out over own per perhaps please pls probably put quite rather really same say saying says second see
seem seems seen several shall she should shouldnt since so some somebody somehow someone something sometimes
somewhere soon still told stuff such sure take taken takes taking tell than thank thanks that thats the their theirs them
themselves then there theres these they theyre thing things think this those though through throughout thus till to
together too took toward towards try trying two under unless until up upon us use used uses using usually ve very
via want wanted wants was wasnt way we well went were werent what whatever whats when whenever where wheres whether
which while who whoever whole whom whose why will with within without wont would wouldnt yes yet you youd youll your
youre yours yourself able urgently asap quick quickly immediately today tomorrow yesterday tonight morning evening
afternoon week month year day days weeks months years monday tuesday wednesday thursday friday saturday sunday hour hours
minute minutes ago next previous current currently new old recent recently hopefully guy guys team folks somebody
wonder wondering hope possible possibly basically currently dear regards cheers sorry greetings
three four five six seven eight nine ten hundred thousand million dozen
""".split()  # noqa: SIM905
STOP: Final = frozenset(each for each in _STOP_TEXT if each not in ("second",))
# Words of any trade: they tell roles apart only a little.
_WEAK: Final = frozenset(
    """
    ask asked call check change look looking find found show shows start started stop work working works run running set send
    sent handle handled bring bringing turn right wrong big small large great best better bad long short high low full
    open close closed end point part place time case number name group people person company organization business world life
    problem issue task job question answer idea reason result example list item detail information thing matter fact kind
    type sort form line side area level different important available main major special general certain clear simple
    real true sure ready free easy hard early late happen happens happened feel seem leave hold move live believe
    include continue provide lead allow add spend expect stay reach remain suggest consider appear wait order
    create prepare produce complete finish complete please ensure support improve update manage review plan write read
    our own between across inside outside good exactly currently everything look existing several various correct properly
    nobody people everybody word words customer client user users whole half top bottom middle daily weekly monthly
    yearly annual regular regularly latest final completely
    """.split()  # noqa: SIM905
)
_GREETING: Final = re.compile(
    r"""(?:^|(?<=[.!?,\n]))\s*(?:
      (?:hello|hi|hey|yo|hallo|howdy|greetings|moin|hiya|good\ (?:morning|afternoon|evening|night|day)|dear\ \w+)(?:\ (?:there|all|team|everyone|everybody|folks|guys))?\b
    | (?:many\ )?thank(?:s|\ you|s\ a\ lot)\b[^.!?,\n]* | cheers\b | bye(?:\ bye)?\b[^.!?\n]* | sleep\ (?:well|tight) | talk\ to\ you\ (?:later|soon)[^.!?\n]* | see\ you\b[^.!?\n]* | good\s?bye\b
    | (?:well\ done|nice\ work|good\ work(?:\ yesterday|\ today)?|(?:ok(?:ay)?\ )?sounds\ (?:good|great|fine)(?:\ to\ me)?|sorry|wrong\ (?:window|chat|tab|person)|great\ job|good\ job|awesome|perfect|cool|great|wonderful|sounds\ good|no\ problem|never\ mind|you'?re\ welcome|lol|haha\w*)\b(?=\s*(?:[.!?,\n]|$))
    | have\ a\ (?:nice|good|great|lovely)\ \w+ | happy\ (?:birthday|new\ year|holidays|friday)\b | merry\ christmas | congrat\w+[^.!?\n]*
    | how(?:'s|\ is|\ are)\ (?:you|it\ going|things|everything|life|your\ day)\b[^.!?,\n]* | how\ have\ you\ been\b | how\ do\ you\ do\b | what'?s\ up\b
    | how\ was\ (?:your|the)\ (?:day|weekend|evening|holiday|vacation|trip|night|morning|(?:\w+\ )?party|concert|game|movie|meeting|interview)\b[^.!?\n]*
    | (?:i\ )?hope\ you(?:'re|\ are|\ had|\ have)\b[^.!?,\n]*
    )""",
    re.X | re.I,
)
_SMALL_TALK: Final = re.compile(
    r"""
      \b(?:who|what)\ are\ you\b | \bwhat(?:'s|\ is)\ your\ (?:name|favou?rite|age|opinion|hobby|dream|job|purpose)\b | \bhow\ old\ are\ you\b
    | \bare\ you\ (?:an?\b|real|human|alive|sentient|there|ok|okay|sure|serious|happy|tired|busy|awake|married|single|conscious|bored|listening|kidding)
    | \b(?:do|did|have|would|could)\ you\ (?:ever\ |really\ |also\ |sometimes\ )?(?:like|love|believe|feel|dream|sleep|eat|enjoy|hate|watch|prefer|miss|see\ the|hear\ about|celebrate|play|get\ tired|get\ bored|have\ (?:a\ )?(?:feelings?|friends?|famil|hobb|favou?rite|name|brothers?|sisters?|kids|children|pets?|dreams?|plans|fun|nice|good))
    | \bcan\ you\ (?:feel|dream|love|hear\ me|believe|sing|dance|laugh|cry|smell|taste|think)\b | \bwhere\ are\ you\b
    | \bwhat\ can\ you\ do\b | \bwhat\ do\ you\ (?:like|do\ (?:for\ fun|all\ day|in\ your)|eat|enjoy|dream)\b
    | \btell\ me\ (?:about\ yourself|something|a\ (?:fun|funny|interesting|random)|a\ bedtime) | \bentertain\ me\b | \bi'?m\ bored\b | \bsurprise\ me\b
    | \bi(?:'m|\ am|\ feel|\ was|'ve\ been|\ am\ feeling)\ (?:(?:so|very|really|a\ bit|just|quite|too|feeling|still|already)\ )*(?:tired|happy|sad|bored|hungry|lonely|excited|fine|good|great|sorry|glad|thirsty|sleepy|exhausted|nervous|in\ love|proud|curious|back|home|here|kidding|joking|cold|hot)\b
    | \b(?:it'?s|it\ is|it\ was|is\ it)\ (?:(?:so|very|really|such\ a|a|going\ to)\ )*(?:raining|rain|sunny|snow\w*|hot|cold|nice|lovely|beautiful|windy|friday|monday|weekend|late|cloudy|warm|freezing)\b
    | \bwhat\ a\ (?:nice|lovely|beautiful|long|great|day|week|game|match|terrible|weird|strange|funny)\b
    | \b(?:what|how)(?:'s|\ is|\ will|\ was)\ the\ weather\b | \bweather\ (?:like|today|tomorrow|forecast\ for|this) | \bwhat\ (?:time|day|date)\ is\ (?:it|today)\b | \bwhat(?:'s|\ is)\ the\ (?:time|date)\b
    | ^\W*i\ (?:(?:really|just|also|absolutely)\ )?(?:love|like|hate|enjoy|enjoyed|loved|miss|adore|prefer)\b | \bguess\ what\b | \bi\ (?:\w+\ )?(?:figured|worked|sorted)\ (?:it|that|this)\ out\b | \bi\ (?:\w+\ )?(?:solved|fixed|found)\ it\ (?:myself|already|now)\b | \blike\ i'?m\ (?:five|5)\b | \bforget\ (?:it|about\ it)\b | \bwill\ it\ (?:rain|snow)\b | \bi\ wonder\ (?:if|whether|why)\b | \btongue\ twister
    | \bdid\ you\ (?:know|hear|see|watch|sleep|have|enjoy|catch)\b
    | \bwho\ (?:won|wins|is\ winning|will\ win|scored)\b | \bmeaning\ of\ life\b | \bflip\ a\ coin\b | \broll\ (?:a|the)\ dice?\b | \bpick\ a\ (?:number|card)\b | \bknock,?\ knock\b
    | \brecommend\ (?:me\ )?(?:a|an|some|any)\ (?:good\ |nice\ |great\ |cheap\ )?(?:movies?|films?|books?|songs?|series|shows?|restaurants?|games?|wines?|recipes?|novels?|places?|podcasts?|bands?|albums?)
    | \b(?:what|which)\ (?:\w+\ )?should\ i\ (?:eat|cook|wear|watch|read|have\ for|drink|name|listen|play)\b | \bany\ (?:good\ )?(?:movie|book|film|series|music|restaurant)\ (?:tips|recommend\w+|suggest\w+)
    | \blet'?s\ (?:chat|talk|play|have\ (?:a\ chat|lunch|coffee|a\ coffee|a\ beer|fun))\b | \bplay\ (?:a\ game|chess|tic)\b
    | \bmy\ (?:favou?rite|crush|girlfriend|boyfriend|grandma|grandmother|birthday|weekend|dream|horoscope|zodiac)\b | \bhoroscope\b | ^\W*my\ (?:neighbou?r|friend|uncle|aunt|cousin|roommate)\ (?:bought|has|is|was|went|got|says|said|had|likes|loves|just)\b | ^\W*ok(?:ay)?,?\ fine\b
    | \b(?:had|have|having|ate|eating)\ (?:\w+\ ){0,2}(?:for\ )?(?:breakfast|lunch|dinner)\b(?!\ (?:meeting|menu|event))
    """,
    re.X | re.I,
)
_PRIVATE: Final = frozenset(
    """
    cat dog puppy kitten pet kid kids son daughter baby wife husband girlfriend boyfriend fiance mom mum dad mother father
    brother sister cousin uncle aunt grandma grandpa grandmother grandfather niece nephew friend roommate neighbor neighbour
    birthday weekend holiday vacation movie film book novel concert song guitar piano football soccer basketball tennis gym
    dinner lunch breakfast pizza beer wine coffee tea cake recipe garden kitchen bedroom bathroom couch sushi suit shoes shoe tv television taxes flight hotel sofa shower bed bike bicycle
    highway beach family gardener weather game team lunch neighbourhood vacation train bus party wedding church school summer winter christmas easter headache sleep mood dream yard
    """.split()  # noqa: SIM905
)
_THINGS: Final = frozenset(
    """
    button menu dialog dropdown popup page screen form field login logout export import upload download file app application
    program script function api endpoint test tests table search list email notification chart image images pdf report link checkout
    cart order orders price prices total totals sum date dates job cron query autocomplete editor site website response request
    session cookie cache filter sort sorting map icon tooltip sidebar header footer tab window input checkbox slider calendar
    invoice invoices password token parser importer exporter worker queue thread process ui frontend backend widget click
    """.split()  # noqa: SIM905
)
"""What programs are made of: a text that only tells something of them tells of a fault."""
_PERSONS: Final = frozenset(("i", "im", "ive", "he", "hes", "she", "shes", "somebody", "someone"))
_MEETS: Final = (["get"], ["click"], ["see"], ["press"], ["receive"], ["type"], ["open"], ["enter"])
_FEATURE: Final = re.compile(
    r"""\b(?:let|allow)\ (?:the\ |our\ )?(?:users?|customers?|admins?|people|visitors|players|\w+\ (?:box|page|app|form|cli|list|table|menu|field|button|dialog))\b
    | \b(?:users?|customers?|admins?|visitors)\ (?:should|must|need\ to|want\ to)\ (?:be\ able\ to\ )?\w+ | \bwants?\ (?:the|our|my)\ (?:\w+\ )?(?:cli|app|page|form|site|website|tool|program|script|bot|editor|game|api)\ to\b
    | \b(?:could|can)\ we\ have\ \w+ | \bcode\ that\b""",
    re.X | re.I,
)
_TROUBLE: Final = frozenset(
    """not no cannot cant nobody without lost late since too left never none isnt arent wasnt werent dont doesnt didnt hasnt havent
    only low high empty missing threatens threatening blocks blocking hurts refuses refused denied lacks needs asks cases""".split()  # noqa: SIM905
)
_WISH: Final = re.compile(
    r"""\b(?:please|pls|plz|plaese|pleese|kindly|can\ (?:you|someone|somebody|anyone|we)|could\ (?:you|someone|somebody|we)|(?:will|would)\ you|would\ it\ be\ possible
    | (?:i|we)(?:'d|\ would|'ll|\ will)?\ (?:really\ |just\ |also\ |now\ |only\ |still\ )?(?:need|want|like\ (?:to|a|an|some|you|it|that)|wish|have\ to|must|prefer)
    | i'd\ like | (?:wants?|needs?|want)\ (?:a|an|to|some|the|me|us|you)\b | would\ like | needs?\ | should | must | has\ to | have\ to | let'?s | help | make\ sure | how\ about | what\ about | time\ to | looking\ for | your\ (?:task|job)\ is | it\ would\ be\ (?:great|nice|good))\b""",
    re.X | re.I,
)
_CREW: Final = r"(?:people|teams?|staff|crew|subordinates|developers?|programmers?|coders?|engineers?|researchers?|analysts?|specialists?|experts?|guys?|folks|person|sources|collectors|branch(?:es)?|departments?|divisions|officers?|executives?|units?|sections?|sides|xos?)"
_LEADS: Final = re.compile(
    rf"""\byour\ (?:\w+\ )?{_CREW}\b | \b(?:have|let|get|tell|ask|task|put)\ (?:the|both|all|each|every|two|three)\ (?:\w+\ )?{_CREW}\b(?!\ (?:if|whether|what|how|about))
    | \b(?:divid|distribut|delegat|assign|reassign|allocat|share|split|spread|hand)\w*\ (?:\S+\ ){{0,7}}(?:among|between|over|across|out|up|to)\ (?:\w+\ ){{0,2}}(?:\w+\ and\ )?(?:the\ )?(?:\w+\ )?(?:{_CREW}|programmer|tester|jobs?|tasks?|work|pieces)\b
    | \b(?:divide|distribute|delegate|assign|hand\ out|dole\ out|farm\ out|parcel\ out)\ (?:\w+\ ){{0,4}}(?:work|jobs?|tasks?|pieces|parts|tickets?|questions|roles|them|it)\b
    | \b(?:break|cut|split|carve|slice)\ (?:\S+\ ){{1,8}}(?:into|down|up)\b(?:\ \w+){{0,2}}\ (?:tasks?|subtasks?|work\ packages?|packages|jobs|steps|tickets|assignments|and\ (?:assign|distribute|hand|give|delegate))\b
    | \bwork\ (?:packages?|breakdown)\b | \bsubtasks?\b | \bwho\ (?:does|should\ do|takes|is\ doing|will\ do|handles|works\ on)\ (?:what|which|it|this|the)\b
    | \b(?:which|what)\ (?:one\ |of\ \w+\ |\w+\ ){{0,3}}(?:gets|goes|comes|is\ (?:built|done)|to\ (?:build|do)|should\ (?:be\ built|be\ done|come|go)|has\ to\ (?:be|come|go))\ (?:\w+\ )?first\b
    | \bwho\ \w+\ what\b | \bwhat\ (?:to\ do|gets\ done|is\ done|has\ to\ be\ done)\ first\b | \b(?:coordinate|coordinating|reprioriti[sz]e|oversee|supervise|orchestrate|delegate|prioriti[sz]e|reassign)\b(?!\ system) | \b(?:settle|set|sort\ out|decide(?:\ on)?)\ (?:\w+\ ){{0,4}}priorit\w+
    | \bkeep\ (?:an\ eye\ on|track\ of)\ (?:it|them|progress|the\ progress|who|everyone|everybody)\b | \b(?:plan|run|lead|manage|head|organi[sz]e|direct|steer)\ (?:\w+\ ){{0,3}}(?:sprint|project|effort|investigation|study|campaign|operation|migration\ project|team|work\ of|initiative|programme|mission|rollout\ of\ the\ project)\b
    | \b(?:combine|fuse|sum\ up|put\ together|bring|pull\ together|reconcile)\ (?:\S+\ ){{0,7}}(?:reports?|findings|answers|sources|assessments?|pictures?|specialists)\b | \b(?:in|into|as|with|me)\ (?:one|a\ single|an\ overall)\ (?:\w+\ |well-founded\ )?(?:answer|assessment|report|estimate|picture|recommendation)\b
    | \b(?:weigh|compare|reconcile)\ (?:both|the\ (?:two|three)|all)\ (?:\w+\ )?(?:reports|findings|results)\b | \b(?:research|collection)\ plan\b | \b(?:intelligence|information)\ requirements?\b | \bcollection\ tasks?\b | \bintelligence\ (?:assessment|estimate|picture)\b | \b(?:what|as)\ (?:our|all|the)\ (?:three\ |four\ |different\ )?sources\ (?:say|report|tell)
    | \b(?:specialist|developer|programmer|analyst|researcher|engineer|one\ of\ (?:them|your\ \w+))\ (?:\w+\ ){{0,2}}(?:is|got|gets|has\ been|seems)\ (?:stuck|blocked|overloaded|lost|busy) | \bgive\ (?:it|this|that|the\ \w+)\ to\ (?:someone|somebody)\ else\b | \bwho\ (?:should|shall|is\ best|can\ best)\b | \bstep\ in\b
    | \b(?:next|this|coming)\ (?:sprint|iteration|milestone)\b""",
    re.X | re.I,
)
_COMMANDS: Final = re.compile(
    r"""\btake\ (?:over\ )?(?:charge|command|the\ lead|responsibility|overall)\b | \bin\ (?:command|charge)\b | \b(?:head|chief|leader|boss|commander)\ of\ the\ (?:team|mission|whole|project|operation)
    | \b(?:whole|overall|entire)\ (?:\w+\ ){0,2}(?:mission|project|operation|effort|relaunch|campaign|company|organi[sz]ation|picture) | \bend[- ]to[- ]end\ responsib\w+ | \breport\ (?:back\ )?to\ me\b
    | \b(?:both|all|the\ two|each|which|between\ the)\ (?:\w+\ )?(?:departments?|divisions?|wings?|sides|executives|xos|teams)\b | \b(?:both|all|each)\ of\ your\ \w+ | \byour\ (?:two\ |three\ |both\ )?(?:executives|xos|wings|branches|departments|divisions)\b | \b(?:keep\ me\ posted|brief\ me|report\ back)\b | \buse\ everybody\b | \bwhich\ team\b | \bboth\ branches\b | \bwhich\ branch\ (?:\w+\ )?(?:first|goes|gets|comes|takes)\b | \b(?:responsible|accountable|answers?)\ (?:to\ me\ )?for\ (?:all|everything|the\ whole|it\ all)\b
    | \b(?:new|our|the)\ (?:mission|objective)\b | \bone\ (?:person|head|owner)\ (?:who|that|for)\b | \btake\ (?:this|it|everything)\ over\b | \bplease\ take\ over\b""",
    re.X | re.I,
)
_PASTED: Final = re.compile(
    r"""^(?:\s*File\ "[^\n]*|\s+at\ [\w$.<>/]+[(:][^\n]*|Traceback\ [^\n]*|goroutine\ \d+[^\n]*|\s*\^[~^\s]*$|(?:>>>|\$)\ [^\n]*|[\w.-]+\s+\|\ [^\n]*
    | (?:\[?\d{4}-\d\d-\d\d[T\ ]\d\d:\d\d|(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)\ +\d+\ \d\d:\d\d|\d+\.\d+\.\d+\.\d+\ |\[?\d\d:\d\d:\d\d)[^\n]*
    | (?:ERROR|WARN(?:ING)?|INFO|DEBUG|FATAL)\b[^\n]*|\w*(?:Error|Exception):[^\n]*|panic:[^\n]*)$""",
    re.X | re.M,
)
_TRACE: Final = re.compile(r"Traceback \(most|\bFile \"[^\"\n]+\", line \d|\n\s+at [\w$.<>/]+[(:]|\b\w+(?:Error|Exception)\b|\bpanic:|segmentation fault|core dumped", re.I)
_LOG_LINES: Final = re.compile(
    r"^(?:\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d|(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) +\d+ \d\d:\d\d|\d+\.\d+\.\d+\.\d+ .*\[|\[?\d\d:\d\d:\d\d)", re.M
)
_QUESTION: Final = re.compile(
    r"""^\W*(?:(?:so|and|but|ok|okay|please|hey|hi|well|can\ you\ tell\ me|could\ you\ tell\ me|tell\ me|do\ you\ know|i\ wonder|explain)\W+)*(?:
      (?P<define>what(?:'s|\ is|\ are|\ was|\ were)\ (?:an?\ |the\ (?:difference|capital|meaning|definition|purpose|point|history|population|largest|biggest|tallest|highest|longest|fastest|oldest|smallest|best|most|largest|speed|distance|boiling|chemical|formula|square|name)\b)?
        | define\b | what\ does\ [\w\s-]{1,40}\ (?:mean|stand\ for)\b | who(?:'s|\ is|\ was|\ are|\ were|\ invented|\ discovered|\ wrote|\ painted|\ founded|\ directed|\ sang|\ composed|\ created|\ built|\ developed)\b
        | how\ (?:tall|old|far|big|deep|heavy|high|fast|long|many|much)\ (?:is|are|was|were|does|do|did|can|could|\w+\ (?:are|is|were|does|do|did|can))\b | when\ (?:was|did|were|is|are)\b | where\ (?:is|are|was|were)\b | (?:in\ )?(?:what|which)\ (?:year|country|city)\b
        | how\ (?:do|does|did)\ (?:\w+\ ){1,3}work\b | why\ (?:is|are|do|does|did|was|were)\b | which\ (?:country|planet|animal|city|river|president|king|language|year)\b | how\ do\ (?:you|i|we|people)\b | can\ (?:dogs|cats|people|humans|fish|birds|you)\b)
    )""",
    re.X | re.I,
)
_FAULT: Final = re.compile(
    r"""(?:'s|\bis|\bare)\ off\b | \b(?:does(?:n't|\ not)|do(?:n't|\ not)|did(?:n't|\ not)|won't|will\ not|can't|cannot|never|no\ longer)\ (?:\w+\ )?(?:work|start|load|open|show|appear|arrive|print|respond|connect|run|build|compile|save|update|react|stop|turn|move|match|close|fit|fire|finish|return|render|come|update|sync|refresh|boot|answer|display|scroll|play)\w*\b(?!\ (?:me|us)\b)
    | \b(?:no\ longer|nothing\ (?:happens|is\ (?:saved|stored|shown|sent|displayed|printed))|does\ nothing|not\ working|out\ of\ order|(?:is|are|was|looks?)\ (?:wrong|broken|off|missing|garbled|empty|blank|cut\ off|doubled|duplicated|swapped|corrupt\w*|rotated|flaky|red|stuck|frozen|dead|slow|unresponsive|upside\ down|inconsistent)|went\ wrong|goes\ wrong|what\ is\ wrong
    | too\ (?:early|late)\b(?=\W*$)|returns?\ (?:no|nothing|an?\ (?:error|empty)|null|undefined|nan|the\ wrong)|shows?\ (?:no|nothing|the\ wrong|an?\ error|nan|up\ twice|\w+\ \w+\ twice)|shown\ (?:\w+\ ){0,3}(?:wrong|too|twice)|stopped\ working|gets?\ (?:stuck|killed|cut\ off|lost)|is\ stuck|keeps?\ (?!an\b)\w+ing|hangs?|freezes?|froze|misbehav\w+|chokes?|dies|blows\ up|goes\ blank|grows\ until|stays\ (?:gr[ae]y|blank|empty|black|white|dark|the\ same|on)
    | (?:wrong|incorrect|weird|strange|duplicate|double|negative|missing)\ (?:\w+\ )?(?:vat|total|totals|sum|amount|result|results|value|values|number|numbers|order|date|dates|name|price|prices|output|page|time|user|data|address)\b|although\ it\ should|even\ though\ it|(?:logs|kicks|throws|signs)\ \w+\ out|off\ by\ (?:one|a)|instead\ of\ (?:the\ )?(?:right|correct|expected)|as\ nan|never\ \w+s|got\ (?:\w+\ )?(?:slow|slower)|cuts?\ off|from\ time\ to\ time|somehow|(?:answers?|returns?|throws?|gives?)\ (?:with\ )?[45]\d\d|no\ space\ left|an?\ empty\ \w+|(?:at|in|by|to)\ \d+\ instead\ of|charged\ twice|keeps\ \w+ing|twice\b(?=\W*$))\b""",
    re.X | re.I,
)
_ORDERS: Final = frozenset(
    """
    reassign introduce resample recap tabulate strip enter tidy weed rework polish adopt obtain investigate conduct compile supply add adjust adapt come exchange follow followup analyse analyze answer archive arrange ask assemble assess assign assume attach audit automate back backup batch
    begin block book boot break bring build bump buy calculate call cancel capture catch change chart check cherry choose clarify
    classify clean clear clone close code collect combine comment commit compare compile compose compress compute configure
    connect consolidate construct contact containerize continue convert coordinate copy correct correlate count cover crawl create cross
    cut date debrief debug decide decode decrypt deduplicate define delegate delete deliver deploy describe design detect
    determine develop diagnose diff dig disable discard dispatch distribute divide do document double download draft draw drop dump
    edit eliminate email enable encode encrypt enforce ensure enumerate establish estimate evaluate examine exclude execute
    expand explain export expose extend extract fetch figure fill filter finalize find finish fix flag flatten follow forecast
    format forward free freeze gather generate geolocate get give go google grab group grow guess hand handle harden have
    help hide highlight hook host identify ignore implement import improve include increase index inform inline insert
    inspect install integrate interpret interview investigate isolate join judge keep kill label launch lay lead learn let
    limit link list listen load locate lock log look lower make manage map mark match measure merge migrate minimize mirror
    mock modify monitor mount move name narrow negotiate normalize note notify open optimize order organize outline overhaul
    package pack parse pass paste patch pause perform pick pin ping pivot place plan play plot point poll port post predict
    prepare present print prioritize probe process produce profile program prove provide provision prune publish pull push
    put query quit raise rank rate read reboot rebase rebuild recommend reconcile reconstruct record recover redeploy redirect reduce
    refactor reformat refresh register release reload remind remove rename render reorder reorganize repair repeat replace
    reply report reproduce request research reserve reset reshape resize resolve restart restore restructure retrieve return
    revert review revise rewrite roll rotate route run save scaffold scale scan schedule score scrape search secure see
    select send separate serve set setup settle ship shorten show shrink shut simplify simulate size sketch skip solve sort spin
    split squash stage standardize start stash stop store stream strip structure subscribe sum summarize supply support
    swap switch sync synchronize tabulate tag tail take talk task teach tell test throw tidy tighten trace track train
    transcribe transfer transform translate transpose triage trim troubleshoot try tune turn type undo unify uninstall
    unlock unpack untangle update upgrade upload use validate verify visualize walk warn watch weigh wire work wrap write zip
    """.split()  # noqa: SIM905
)
"""Verbs that order something where they open a clause."""
_ASKS: Final = frozenset(
    """what whats which who whos whose where when why how is are was were do does did can could would should has have will""".split()  # noqa: SIM905
)
_LEADING: Final = frozenset(
    """please pls plz hey hi hello ok okay so and then now also just first next finally well right yes but or only simply again
    maybe kindly quickly instead alright afterwards you""".split()  # noqa: SIM905
)
_OPENS_STATEMENT: Final = frozenset(
    """i im ive we were weve my our the a an this these that those it its there theres he shes she they his her their in on at after
    before yesterday since when today last every everybody everyone somebody someone nobody people some two three four half
    all both no nothing another as while one if because although once during until most many here you youre your""".split()  # noqa: SIM905
)
_CREATING: Final = frozenset(
    """write create make build code program implement develop scaffold generate need want like give extend add put design
    programm provide prototype rewrite port writing creating making building coding implementing developing adding""".split()  # noqa: SIM905
)
_PROGRAMMING: Final = frozenset(("program", "code", "implement", "programming", "develop"))
_MADE_FOR: Final = frozenset(("me", "us", "something", "it", "a", "an", "the", "this", "that"))
_CREATED: Final = frozenset(
    """
    script program programme tool app application cli bot game website webpage page form component widget extension plugin
    addon regex regexp decorator iterator parser scraper crawler spider calculator converter generator encoder decoder decryptor
    handler helper endpoint feature option flag mode button toggle test tests unittest unittests limiter client wrapper validator checker viewer
    editor counter formatter importer exporter algorithm struct interface function functions class classes module method subroutine
    procedure library snippet code prototype stopwatch timer loader reader writer simulator visualizer scheduler tracker cache stub
    mock fixture server service daemon utility command macro hook userscript hints support keyboard shortcut translator sorter cleaner
    """.split()  # noqa: SIM905
)
_ENDS_OBJECT: Final = frozenset(
    """that which who to for from with where when of on in into so and or using via by as than before after if because whenever
    without within over under about between against""".split()  # noqa: SIM905
)
_PEOPLE: Final = frozenset(
    """developer developers programmer programmers researcher researchers analyst analysts specialist specialists engineer engineers
    tester testers designer designers colleague colleagues intern interns expert experts guy person coworker fixer""".split()  # noqa: SIM905
)
_OURS: Final = frozenset(
    """
    our ours my we us this these those your i me mine here that
    """.split()  # noqa: SIM905
)
_GENRE: Final = frozenset(
    """poem poems haiku limerick joke jokes riddle riddles story stories song songs rap sonnet ballad verse verses pun puns fable
    rhyme fairytale tale lullaby ode anecdote quote""".split()  # noqa: SIM905
)
_MAKING: Final = frozenset(
    """
    write tell compose make give create sing read recite invent need want like love share know hear generate
    """.split()  # noqa: SIM905
)
_WORKING_STORY: Final = frozenset(
    """
    user success customer news cover instagram case lead front feature brand job
    """.split()  # noqa: SIM905
)
_TOPIC_WORDS: Final = frozenset(
    """
    about on of for with where that in regarding like
    """.split()  # noqa: SIM905
)
_ENDS_NEGATION: Final = frozenset(
    """
    but just only instead rather however then because since as
    """.split()  # noqa: SIM905
)
_BEFORE_ORDER: Final = frozenset(
    """
    please but and just also you so to simply or must should shall may can though
    """.split()  # noqa: SIM905
)
_NO_NEGATION: Final = frozenset(
    """
    forget hesitate worry mind know understand see have work only think remember get
    """.split()  # noqa: SIM905
)
_SUBORDINATE: Final = frozenset(
    """
    because since although though while whereas when after before until unless if who whose which where
    """.split()  # noqa: SIM905
)
_ARTICLES: Final = frozenset(
    """
    the our a an my this your their his her another some any that please one
    """.split()  # noqa: SIM905
)
_ASKING: Final = frozenset(
    """
    ask tell have let get want need involve assign instruct request remind task ping message contact call hire find
    fetch summon consult notify
    """.split()  # noqa: SIM905
)
_HANDING: Final = frozenset(
    """
    hand assign delegate route escalate refer transfer pass forward connect talk speak over through belongs goes
    dispatch direct redirect turn reassign
    """.split()  # noqa: SIM905
)
_REPORTING: Final = frozenset(
    """said told asked wants wanted says mentioned suggested recommended noticed found thinks needs complained reported requested wrote
    asks has had is was will would did does sent gave made left quit resigned needed tells explained pointed thought claims insisted warned""".split()  # noqa: SIM905
)
_JOBS: Final = frozenset(
    """
    task job question one work something this that ticket assignment matter issue
    """.split()  # noqa: SIM905
)
_PERSON: Final = re.compile(
    r"(?:er|or|ist|ant|ian|eer|man|woman|agent|chief|lead|head|clerk|chef|nurse|attorney|pilot|concierge|coach|host|cook|officer|expert|superintendent|analyst|architect|counsel|secretary|paralegal|controller|xo|co|vet|buyer|guard|specialist|assistant|manager|engineer|developer|director|partner|executive|scientist|advocate|mechanic|intern|aide|guide|scout|master|captain|steward|president|technologist|dba|sre|cfo|cto|ceo|representative|rep)$"
)
_NAMES_OF_LANGUAGES: Final = {
    "German": ["der", "die", "das", "und", "ist", "nicht", "ein", "eine", "einen", "einem", "ich", "wir", "sie", "bitte", "mit", "fur", "auf", "den", "dem", "zu", "von", "im", "kannst", "kann", "wie", "was", "warum", "mir", "uns", "unsere", "unser", "bei", "wird", "werden", "sich", "aus", "hat", "haben", "oder", "zum", "zur", "dass", "noch", "mein", "meine", "schreibe", "mach", "mache", "finde", "neu", "neue", "neuen", "neuer", "neues", "schreib", "gib", "zeig", "sag", "hilf", "diese", "dieser", "dieses", "einer", "eines", "nach", "dann", "hier", "war", "du", "er", "es", "wer", "wem", "wo", "welche", "seit", "gibt", "alle", "kannst", "konntest", "ihn", "ihm", "ihr"],
    "French": ["le", "la", "les", "des", "un", "une", "est", "et", "pas", "je", "nous", "vous", "pour", "dans", "que", "qui", "sur", "avec", "ce", "cette", "mon", "ma", "mes", "notre", "nos", "au", "aux", "du", "sont", "quel", "quelle", "comment", "pourquoi", "peux", "peut", "merci", "bonjour", "faire", "fait", "trouve", "nouveau", "nouvelle", "il", "elle", "plus", "ce", "ces", "sa", "son", "ses", "tu", "moi", "dis", "donne", "fais", "ecris", "leur", "tous", "toutes", "ou", "par", "cet", "mais", "si"],
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
    word for words in _NAMES_OF_LANGUAGES.values() for word in words if word not in STOP
)
_LANGUAGES: Final = {name: frozenset(words) for name, words in _NAMES_OF_LANGUAGES.items()}
_SCRIPTS: Final = (
    ("Russian or another Cyrillic language", re.compile("[\u0400-\u04ff]{2}")),
    ("Greek", re.compile("[\u0370-\u03ff]{3}")),
    ("Arabic", re.compile("[\u0600-\u06ff]{2}")),
    ("Hebrew", re.compile("[\u0590-\u05ff]{2}")),
    ("Japanese", re.compile("[\u3040-\u30ff]")),
    ("Chinese", re.compile("[\u4e00-\u9fff]")),
    ("Korean", re.compile("[\u1100-\u11ff\uac00-\ud7af]")),
    ("Thai", re.compile("[\u0e00-\u0e7f]")),
    ("Hindi", re.compile("[\u0900-\u097f]")),
)  # fmt: skip
_CODE: Final = re.compile(r"```.*?(?:```|$)", re.S)
_URL: Final = re.compile(r"\b(?:https?://|www\.)\S+", re.I)
_QUOTED: Final = re.compile(r"\"[^\"\n]{3,300}\"")
_BREAK: Final = re.compile(r"[.!?;:,](?=[\s\"')]|$)|\n|\s[-\u2013\u2014]\s|[()]")
_SENTENCE_END: Final = re.compile(r"[.!?](?=[\s\"')])|\n")

NamedRoles = Mapping[str, tuple[tuple[tuple[str, ...], int], ...]]
"""NamedRoles of roles by their first word: all words, and the number of the role."""


def read_request(text: str, names: NamedRoles, terms: Container[str] = ()) -> RequestText:
    """What a text asks for. `terms` are the stems that roles use. Never raises, and takes bounded time for any text."""
    text = join_words(_URL.sub(" ", clean(text, MOST_CHARACTERS)))
    language = find_language(text)
    pasted = [match.span() for pattern in (_CODE, _PASTED) for match in pattern.finditer(text)]
    quoted = [match.span() for match in _QUOTED.finditer(text)]
    polite = [match.span() for match in _GREETING.finditer(text)]
    tokens = find_tokens(text)
    if len(tokens) > MOST_TOKENS:  # a story ends in what is asked for
        tokens = tokens[: MOST_TOKENS - _LAST_TOKENS] + tokens[-_LAST_TOKENS:]
    if not tokens:
        return RequestText(language=language, small_talk=bool(polite))
    if language is None:
        tokens = _correct(tokens, text, terms)
    words = [token.text.replace("'", "") for token in tokens]
    clauses, sentences = _number_clauses(text, tokens)
    weights = [0.0 if _inside(token, polite) else 1.0 for token in tokens]
    _mask_negations(words, clauses, weights)
    addressed = _mask_names(words, clauses, weights, names, text, tokens)
    creative = _mask_topic_of_poem(words, sentences, weights)
    rest = " ".join(_between(text, polite))
    fault = _FAULT.search(rest)
    traced = _TRACE.search(rest)
    logged = _LOG_LINES.search(rest)
    moods = _find_moods(text, tokens, words, clauses, sentences, weights)
    made = _weigh_by_place(words, clauses, sentences, weights, moods)
    feature = None if made else _FEATURE.search(rest)
    if feature is not None:
        made = feature.group().lower()
    factor, private, told, personal = 1.0, (), False, False
    small_talk = bool(polite) and len(re.findall(r"\w+", rest)) < 2
    if _SMALL_TALK.search(rest):
        factor, small_talk = 0.2, True
    question = _QUESTION.match(rest)
    if question is not None and not set(words) & _OURS:
        loose = len(words) > 9 or re.search(r"how (?:much|many|do|does|did)|why", question.group(), re.I)
        factor, small_talk = min(factor, 0.5 if loose else 0.25), True
    elif not {REQUEST, QUESTION} & set(moods.values()) and not (fault or traced or logged or addressed):
        told = True
        personal = words[0] in _PERSONS and words[1:2] not in _MEETS
        factor = min(factor, _PERSONAL if personal else _TROUBLED if (_TROUBLE | _THINGS) & set(words) else _TOLD)
    if not (made or fault or traced or logged):
        private = tuple(
            token.stem
            for token, word in zip(tokens, words, strict=True)
            if word in _PRIVATE or word.removesuffix("s") in _PRIVATE
        )
    kept: dict[str, Term] = {}
    whole = []
    for token, word, placed in zip(tokens, words, weights, strict=True):
        if word in STOP or (len(word) < 2 and word.isascii()) or word.isdigit() or _inside(token, polite):
            continue
        if language is not None and word in FOREIGN_STOP:
            continue
        whole.append(token.stem)
        weight = placed * (0.6 if token.part else 1.0)
        weight *= 0.3 if _inside(token, pasted) else 0.5 if _inside(token, quoted) else 1.0
        if weight <= 0:
            continue
        if word in _WEAK:
            weight *= 0.45
        known = begin(token.stem) if language is not None and begin(token.stem) in terms else token.stem
        before = kept.get(known)
        if before is None or before.weight < weight:
            kept[known] = Term(known, text[token.start : token.end].lower(), weight)
    for phrase, spoken, weight in _find_phrases(tokens, words, sentences, weights):
        kept[phrase] = Term(phrase, spoken, weight)
    commands, leads = _COMMANDS.search(rest), _LEADS.search(rest)
    if (commands or leads) and {REQUEST, QUESTION} & set(moods.values()):
        for name, match in ((COMMAND, commands), (LEAD, leads or commands)):
            if match is not None:
                kept[name] = Term(name, match.group().strip().lower(), 2.0 if name == COMMAND else 1.0)
    elif made:
        kept[MAKE] = Term(MAKE, made, 1.6)
    if traced is not None:
        kept[FAULT] = Term(FAULT, traced.group().strip(), 1.2)
    elif fault is not None:
        kept[FAULT] = Term(FAULT, fault.group().lower(), 1.3)
    elif told and not personal:
        for word, weight in zip(words, weights, strict=True):
            if word in _THINGS and weight:
                kept[FAULT] = Term(FAULT, word, 0.7)
    if logged is not None:
        kept[LOG] = Term(LOG, logged.group(), 1.0)
    return RequestText(
        tuple(kept.values()),
        addressed,
        factor,
        creative,
        small_talk or creative,
        language,
        tuple(whole),
        private,
    )


def _correct(tokens: list[TextWord], text: str, terms: Container[str]) -> list[TextWord]:
    """The words with those replaced that differ in one letter from a word of the lists or of roles."""
    left = _MOST_CORRECTED
    found = list(tokens)
    for at, token in enumerate(tokens):
        word = token.text
        if not 3 <= len(word) <= 20 or token.part or not (word.isascii() and word.isalpha()) or not left:
            continue
        if (
            word in STOP
            or word in _COMMON
            or token.stem in terms
            or token.stem in groups_by_stem()
            or token.stem in trades_by_stem()
            or (at and text[token.start].isupper() and not text[token.start : token.end].isupper())
        ):
            continue
        left -= 1
        meant = _nearest(word, terms)
        if meant is not None:
            found[at] = token._replace(text=meant, stem=stem(meant))
    return found


def _nearest(word: str, terms: Container[str]) -> str | None:
    """The known word that differs in two letters exchanged, or in a letter too many or too few."""

    def known(other: str) -> bool:
        return other in _COMMON or other in STOP or other in known_words() or stem(other) in terms

    for at in range(len(word) - 1):
        other = word[:at] + word[at + 1] + word[at] + word[at + 2 :]
        if other != word and (other in STOP or (len(word) > 3 and known(other))):
            return other
    if len(word) < 5:
        return None
    for at in range(len(word)):
        if known(word[:at] + word[at + 1 :]):
            return word[:at] + word[at + 1 :]
    for at in range(1, len(word) + 1):
        for letter in "etaoinsrlcdupmhgbyfvkwxqjz":
            other = word[:at] + letter + word[at:]
            if known(other):
                return other
    return None


def _find_moods(
    text: str,
    tokens: list[TextWord],
    words: list[str],
    clauses: list[int],
    sentences: list[int],
    weights: list[float],
) -> dict[int, str]:
    """Which sentences ask for something, which are questions, and which only tell something."""
    moods: dict[int, str] = {}
    for number in dict.fromkeys(sentences):
        places = [at for at, sentence in enumerate(sentences) if sentence == number]
        first, last = places[0], places[-1]
        said = text[tokens[first].start : tokens[last].end + 2]
        opened = {clauses[at]: at for at in reversed(places)}
        starts = [_skip(words, at, last) for at in opened.values()]
        after_and = [at + 1 for at in places[:-1] if words[at] in ("and", "then", "but", "just", "only", "so")]
        if _WISH.search(said) or any(
            words[at] in _ORDERS and weights[at] and not (at < last and words[at + 1] in ("is", "was", "are"))
            for at in (*starts, *after_and)
        ):
            moods[number] = REQUEST
        elif words[first] in ("only", "just", "not", "rather"):
            moods[number] = REQUEST
        elif "?" in said[-3:] or words[first] in _ASKS:
            moods[number] = QUESTION
        elif words[starts[0]] in _OPENS_STATEMENT or len(places) > 7:
            moods[number] = STATEMENT
        else:
            moods[number] = REQUEST if any(word not in STOP for word in words[first : last + 1]) else STATEMENT
    return moods


def _skip(words: list[str], at: int, last: int) -> int:
    while at < last and words[at] in _LEADING:
        at += 1
    return at


def begin(stem: str) -> str:
    """How a word begins: what stands for its stem in other languages than English."""
    return f"{stem[:6]}-"


def find_language(text: str) -> str | None:
    """The language of a text, where it is not English and is recognized by its script or its function words."""
    for name, script in _SCRIPTS:
        if script.search(text):
            return name
    words = re.findall(r"[a-z]+", text[:600].lower())
    said = set(words)
    english = sum(word in _ENGLISH for word in words)
    counts = {name: len(said & known) for name, known in _LANGUAGES.items()}
    best = max(counts, key=counts.__getitem__)
    return best if counts[best] >= 2 and counts[best] > english else None


def _number_clauses(text: str, tokens: list[TextWord]) -> tuple[list[int], list[int]]:
    clauses, sentences = [], []
    clause = sentence = end = 0
    for token in tokens:
        between = text[end : token.start] if token.start >= end else ""
        if end and between and _BREAK.search(between):
            clause += 1
        if end and _SENTENCE_END.search(between):
            sentence += 1
        clauses.append(clause)
        sentences.append(sentence)
        end = token.end
    return clauses, sentences


def _mask_negations(words: list[str], clauses: list[int], weights: list[float]) -> None:
    for at, word in enumerate(words):
        before = words[at - 1] if at else ""
        after = words[at + 1] if at + 1 < len(words) else ""
        starts = at == 0 or clauses[at - 1] != clauses[at]
        begins, most = 0, 10
        if word in ("dont", "never") or (word == "not" and before == "do"):
            lead = at - 1 if word != "not" else at - 2
            led = words[lead] if lead >= 0 else ""
            first = lead < 0 or clauses[lead] != clauses[at] or led in _BEFORE_ORDER
            wanting = led in ("i", "we") and after in ("want", "need", "wish", "like", "care")
            if (first and after not in _NO_NEGATION) or wanting:
                begins = at + 1
        elif (
            word == "not"
            and ((starts and (at or after in ("a", "an", "the", "just"))) or after == "asking" or before in ("but", "and") or after == "about")
            and after != "only"
        ):
            begins = at + 1
        elif word in ("without", "except", "excluding") or (word == "instead" and after == "of"):
            begins, most = at + 1, 7
        elif (word == "rather" and after == "than") or (
            word in ("other", "apart") and after in ("than", "from")
        ):
            begins, most = at + 2, 7
        elif word == "no" and (
            after == "need" or (starts and at and after not in ("longer", "one", "matter"))
        ):
            begins, most = at + 1, 6
        elif word in ("skip", "avoid", "ignore") and (starts or before in _BEFORE_ORDER) and at:
            begins, most = at + 1, 5
        elif word == "leave" and "alone" in words[at : at + 7]:
            begins, most = at + 1, words[at : at + 7].index("alone")
        elif word == "no" and {"needed", "necessary", "required"} & set(words[at + 1 : at + 5]):
            begins, most = at + 1, 5
        elif word == "nothing" and after == "to":
            begins, most = at + 1, 8
        if begins:
            for place in range(begins, min(begins + most, len(words))):
                if clauses[place] != clauses[at] or (words[place] in _ENDS_NEGATION and place > begins):
                    break
                weights[place] = 0.0


def _mask_names(
    words: list[str],
    clauses: list[int],
    weights: list[float],
    names: NamedRoles,
    text: str,
    tokens: list[TextWord],
) -> tuple[int, ...]:
    """NamedRoles of roles are no words about the task. Returns those that are asked by name."""
    if not names:
        return ()
    plain = [
        word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word
        for word in words
    ]
    addressed: dict[int, None] = {}
    at = 0
    while at < len(plain):
        found = [
            (name, role)
            for name, role in names.get(plain[at], ())
            if tuple(plain[at : at + len(name)]) == name
        ]
        if not found:
            at += 1
            continue
        longest = max(len(name) for name, _ in found)
        roles = [role for name, role in found if len(name) == longest]
        end = at + longest
        forbidden = not any(weights[at:end])
        asked = not forbidden and _is_asked(words, clauses, at, end, text, tokens)
        person = _PERSON.search(plain[end - 1]) is not None
        if asked:
            addressed.update(dict.fromkeys(roles))
        if asked or (person and _is_mention(words, at, end)):
            said = not asked and end < len(words) and words[end] in _REPORTING
            for place in range(at, end + said):
                weights[place] = 0.0
        at = end
    return tuple(addressed)


def _is_mention(words: list[str], at: int, end: int) -> bool:
    before = words[at - 1] if at else ""
    after = words[end] if end < len(words) else ""
    return before in _ARTICLES or after in _REPORTING or before in ("to", "by", "from", "with", "for", "as")


def _is_asked(
    words: list[str], clauses: list[int], at: int, end: int, text: str, tokens: list[TextWord]
) -> bool:
    after = words[end] if end < len(words) and clauses[end] == clauses[at] else ""
    start = at
    while start and clauses[start - 1] == clauses[at]:
        start -= 1
    lead = at - 1
    while lead >= start and words[lead] in _ARTICLES:
        lead -= 1
    before = words[lead] if lead >= start else ""
    if tokens[at].start and text[tokens[at].start - 1] == "@":
        return True
    if after in ("needed", "wanted", "required"):
        return True
    said = set(words[start:at])
    if before in _ASKING and not (
        before in ("need", "want", "find", "have", "hire")
        and after not in ("to", "who", "that", "do", "look", "check", "take")
    ):
        return True
    if before == "to" and (
        said & _HANDING
        or (said & {"give", "send"} and words[lead - 1 : lead] in (["it"], ["this"], ["that"]))
    ):
        return True
    if before == "with" and said & {"talk", "speak", "chat", "connect"}:
        return True
    if before == "for" and said & _JOBS and (said & {"is", "its", "thats"} or len(said) <= 4):
        return True
    if before == "by" and said & {
        "have",
        "get",
        "done",
        "must",
        "should",
        "needs",
        "reviewed",
        "checked",
        "handled",
    }:
        return True
    opening = at - start == 0 or (lead < start and start == at - 1 and words[start] in ("hey", "hi", "dear"))
    if at == 0 or (opening and at <= 1):
        follows = text[tokens[end - 1].end : tokens[end - 1].end + 1]
        return follows in (",", ":") or after in ("please", "can", "could", "would")
    return False


def _mask_topic_of_poem(words: list[str], sentences: list[int], weights: list[float]) -> bool:
    """What a poem or a joke is about is not the task."""
    for at, word in enumerate(words):
        if word not in _GENRE or not weights[at]:
            continue
        start = at
        while start and sentences[start - 1] == sentences[at]:
            start -= 1
        before = words[at - 1] if at > start else ""
        if before in _WORKING_STORY or before in ("the", "his", "her", "their", "this", "that", "our") or before.endswith("s"):
            continue
        if at - start > 3 and not _MAKING & set(words[max(start, at - 6) : at]):
            continue
        weights[at] = 1.3
        for place in range(at + 1, len(words)):
            if sentences[place] != sentences[at]:
                break
            weights[place] = 0.0
        for place in range(start, at):
            weights[place] *= 0.3
        return True
    return False


def _weigh_by_place(
    words: list[str],
    clauses: list[int],
    sentences: list[int],
    weights: list[float],
    moods: Mapping[int, str],
) -> str:
    """The verb of a request counts more; reasons, stories before it, and what something is made for count less.

    Returns the words that ask for a program, if any do.
    """
    asks = {number for number, mood in moods.items() if mood == REQUEST} or {
        number for number, mood in moods.items() if mood == QUESTION
    }
    made = ""
    opened, aside, clause = -1, 1.0, -1
    for at, word in enumerate(words):
        if clauses[at] != clause:
            clause, aside = clauses[at], 1.0
        if word in _SUBORDINATE and at:
            aside = 0.75
        if word in _CREATING and weights[at] and sentences[at] in asks:
            made = made or _find_made(words, clauses, weights, at)
        if word in _PROGRAMMING and not made and weights[at] and (at == 0 or words[at - 1] not in _ARTICLES - {"please"}):
            made = word if sentences[at] in asks and at + 1 < len(words) and words[at + 1] in _MADE_FOR else ""
        if word in _PEOPLE and at and words[at - 1] in ("your", "the", "our", "my", "a", "each"):
            weights[at] *= 0.3
        if word in STOP:
            continue
        if sentences[at] != opened:
            opened = sentences[at]
            weights[at] *= _VERB
        weights[at] *= aside * (1.0 if not asks or sentences[at] in asks else _BEFORE)
        if at > 60 and sentences[at] not in asks:
            weights[at] *= 0.6
    return made


def _find_made(words: list[str], clauses: list[int], weights: list[float], verb: int) -> str:
    """The program that a verb asks for: `a small tool`. What it is for then counts less."""
    for at in range(verb + 1, min(verb + 9, len(words))):
        if clauses[at] != clauses[verb] or words[at] == "to" or (words[at] in _ENDS_OBJECT and at > verb + 1):
            break
        if words[at] in _CREATED and weights[at] and not (at + 1 < len(words) and words[at + 1] in _CREATED):
            for place in range(at + 1, len(words)):
                if clauses[place] > clauses[verb] + 1:
                    break
                weights[place] *= 0.4
            return f"{words[verb]} {words[at]}"
    return ""


def _find_phrases(
    tokens: list[TextWord], words: list[str], sentences: list[int], weights: list[float]
) -> Iterable[tuple[str, str, float]]:
    """Phrases of `word_topics` that the text uses, as they are written there and here, and how much they count."""
    known = phrases_by_first_stem()
    stems = [token.stem for token in tokens]
    for at, first in enumerate(stems):
        for phrase in known.get(first, ()):
            places = _match_phrase(phrase, stems, sentences, at)
            if places and all(weights[place] for place in places):
                spoken = " ".join(words[place] for place in places)
                yield " ".join(phrase), spoken, _PHRASE * weights[at]


def _match_phrase(phrase: tuple[str, ...], stems: list[str], sentences: list[int], at: int) -> list[int]:
    """Where the words of a phrase stand, or nothing."""
    places, place, most = [at], at + 1, 1
    for word in phrase[1:]:
        if word == GAP:
            most = _LONGEST_GAP
            continue
        end = min(place + most, len(stems))
        while place < end and stems[place] != word:
            place += 1
        if place >= end or sentences[place] != sentences[at]:
            return []
        places.append(place)
        place, most = place + 1, 1
    return places


def _inside(token: TextWord, spans: Iterable[tuple[int, int]]) -> bool:
    return any(start <= token.start < end for start, end in spans)


def _between(text: str, spans: Collection[tuple[int, int]]) -> list[str]:
    pieces, last = [], 0
    for start, end in spans:
        pieces.append(text[last:start])
        last = end
    return [*pieces, text[last:]]


def is_weak(word: str) -> bool:
    """Whether a stem is that of a word which people of any trade use."""
    return word in _WEAK_STEMS


_COMMON: Final = frozenset(_WEAK | _ORDERS | _CREATED | _PRIVATE)
_WEAK_STEMS: Final = frozenset(map(stem, _WEAK))
