"""Word lists and patterns for reading a request: verbs of orders, signs of faults, small talk and more.

The lists are English. Other languages are matched through examples (`languages.py`).

Standard library only: this module also runs inside hosts.
"""

from __future__ import annotations

import re
from typing import Final

from .lazy_patterns import lazy_pattern

STOP_WORDS_TEXT: Final = """
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
STOP_WORDS: Final = frozenset(each for each in STOP_WORDS_TEXT if each not in ("second",))
# Words that people of any trade use, so they hardly distinguish roles.
WEAK_WORDS: Final = frozenset(
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
GREETING_PATTERN: Final = lazy_pattern(
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
SMALL_TALK_PATTERN: Final = lazy_pattern(
    r"""\b(?:
      (?:who|what)\ are\ you\b | what(?:'s|\ is)\ your\ (?:name|favou?rite|age|opinion|hobby|dream|job|purpose)\b
      | how\ old\ are\ you\b
      | are\ you\ (?:an?\b|real|human|alive|sentient|there|ok|okay|sure|serious|happy|tired|busy|awake|married|single|conscious|bored|listening|kidding)
      | (?:do|did|have|would|could)\ you\ (?:ever\ |really\ |also\ |sometimes\ )?(?:like|love|believe|feel|dream|sleep|eat|enjoy|hate|watch|prefer|miss|see\ the|hear\ about|celebrate|play|get\ tired|get\ bored|have\ (?:a\ )?(?:feelings?|friends?|famil|hobb|favou?rite|name|brothers?|sisters?|kids|children|pets?|dreams?|plans|fun|nice|good))
      | can\ you\ (?:feel|dream|love|hear\ me|believe|sing|dance|laugh|cry|smell|taste|think)\b
      | where\ are\ you\b | what\ can\ you\ do\b
      | what\ do\ you\ (?:like|do\ (?:for\ fun|all\ day|in\ your)|eat|enjoy|dream)\b
      | tell\ me\ (?:about\ yourself|something|a\ (?:fun|funny|interesting|random)|a\ bedtime) | entertain\ me\b
      | i'?m\ bored\b | surprise\ me\b
      | i(?:'m|\ am|\ feel|\ was|'ve\ been|\ am\ feeling)\ (?:(?:so|very|really|a\ bit|just|quite|too|feeling|still|already)\ )*(?:tired|happy|sad|bored|hungry|lonely|excited|fine|good|great|sorry|glad|thirsty|sleepy|exhausted|nervous|in\ love|proud|curious|back|home|here|kidding|joking|cold|hot)\b
      | (?:it'?s|it\ is|it\ was|is\ it)\ (?:(?:so|very|really|such\ a|a|going\ to)\ )*(?:raining|rain|sunny|snow\w*|hot|cold|nice|lovely|beautiful|windy|friday|monday|weekend|late|cloudy|warm|freezing)\b
      | what\ a\ (?:nice|lovely|beautiful|long|great|day|week|game|match|terrible|weird|strange|funny)\b
      | (?:what|how)(?:'s|\ is|\ will|\ was)\ the\ weather\b
      | weather\ (?:like|today|tomorrow|forecast\ for|this) | what\ (?:time|day|date)\ is\ (?:it|today)\b
      | what(?:'s|\ is)\ the\ (?:time|date)\b | guess\ what\b
      | i\ (?:\w+\ )?(?:figured|worked|sorted)\ (?:it|that|this)\ out\b
      | i\ (?:\w+\ )?(?:solved|fixed|found)\ it\ (?:myself|already|now)\b | like\ i'?m\ (?:five|5)\b
      | forget\ (?:it|about\ it)\b | will\ it\ (?:rain|snow)\b | i\ wonder\ (?:if|whether|why)\b
      | tongue\ twister | did\ you\ (?:know|hear|see|watch|sleep|have|enjoy|catch)\b
      | who\ (?:won|wins|is\ winning|will\ win|scored)\b | meaning\ of\ life\b | flip\ a\ coin\b
      | roll\ (?:a|the)\ dice?\b | pick\ a\ (?:number|card)\b | knock,?\ knock\b
      | recommend\ (?:me\ )?(?:a|an|some|any)\ (?:good\ |nice\ |great\ |cheap\ )?(?:movies?|films?|books?|songs?|series|shows?|restaurants?|games?|wines?|recipes?|novels?|places?|podcasts?|bands?|albums?)
      | (?:what|which)\ (?:\w+\ )?should\ i\ (?:eat|cook|wear|watch|read|have\ for|drink|name|listen|play)\b
      | any\ (?:good\ )?(?:movie|book|film|series|music|restaurant)\ (?:tips|recommend\w+|suggest\w+)
      | let'?s\ (?:chat|talk|play|have\ (?:a\ chat|lunch|coffee|a\ coffee|a\ beer|fun))\b
      | play\ (?:a\ game|chess|tic)\b
      | my\ (?:favou?rite|crush|girlfriend|boyfriend|grandma|grandmother|birthday|weekend|dream|horoscope|zodiac)\b
      | horoscope\b
      | (?:had|have|having|ate|eating)\ (?:\w+\ ){0,2}(?:for\ )?(?:breakfast|lunch|dinner)\b(?!\ (?:meeting|menu|event))
    )
    | ^\W*i\ (?:(?:really|just|also|absolutely)\ )?(?:love|like|hate|enjoy|enjoyed|loved|miss|adore|prefer)\b
    | ^\W*my\ (?:neighbou?r|friend|uncle|aunt|cousin|roommate)\ (?:bought|has|is|was|went|got|says|said|had|likes|loves|just)\b
    | ^\W*ok(?:ay)?,?\ fine\b""",
    re.X,
)
PRIVATE_LIFE_NOUNS: Final = frozenset(
    """
    cat dog puppy kitten pet kid kids son daughter baby wife husband girlfriend boyfriend fiance mom mum dad mother father
    brother sister cousin uncle aunt grandma grandpa grandmother grandfather niece nephew friend roommate neighbor neighbour
    birthday weekend holiday vacation movie film book novel concert song guitar piano football soccer basketball tennis gym
    dinner lunch breakfast pizza beer wine coffee tea cake recipe garden kitchen bedroom bathroom couch sushi suit shoes shoe tv television taxes flight hotel sofa shower bed bike bicycle
    highway beach family gardener weather game team lunch neighbourhood vacation train bus party wedding church school summer winter christmas easter headache sleep mood dream yard
    """.split()  # noqa: SIM905
)
PROGRAM_PART_NOUNS: Final = frozenset(
    """
    button menu dialog dropdown popup page screen form field login logout export import upload download file app application
    program script function api endpoint test tests table search list email notification chart image images pdf report link checkout
    cart order orders price prices total totals sum date dates job cron query autocomplete editor site website response request
    session cookie cache filter sort sorting map icon tooltip sidebar header footer tab window input checkbox slider calendar
    invoice invoices password token parser importer exporter worker queue thread process ui frontend backend widget click
    """.split()  # noqa: SIM905
)
"""Parts of programs. A statement that only describes one of them reports a fault."""
PERSON_PRONOUNS: Final = frozenset(("i", "im", "ive", "he", "hes", "she", "shes", "somebody", "someone"))
ENCOUNTER_VERBS: Final = (["get"], ["click"], ["see"], ["press"], ["receive"], ["type"], ["open"], ["enter"])
FEATURE_PATTERN: Final = lazy_pattern(
    r"""\b(?:
      (?:let|allow)\ (?:the\ |our\ )?(?:users?|customers?|admins?|people|visitors|players|\w+\ (?:box|page|app|form|cli|list|table|menu|field|button|dialog))\b
      | (?:users?|customers?|admins?|visitors)\ (?:should|must|need\ to|want\ to)\ (?:be\ able\ to\ )?\w+
      | wants?\ (?:the|our|my)\ (?:\w+\ )?(?:cli|app|page|form|site|website|tool|program|script|bot|editor|game|api)\ to\b
      | (?:could|can)\ we\ have\ \w+ | code\ that\b | new\ feature\ ?:
      | should\ (?:also\ )?(?:show|display|list|accept|support|allow|have|remember|offer|include|read|handle|export|print|return|warn|send|let|use)\b
    )
    | ^\W*(?:please\ )?(?:(?:an?|some|one|small|little|tiny|simple|short|new|quick|python|bash|javascript|java|go|rust|sql|react|cli|web|shell|powershell|html)\ )+(?:script|program|tool|app|function|class|gui|page|game|bot|query|module|library|component|form|extension|plugin|endpoint|regex|parser|macro|snippet|decorator|one-liner)\b""",
    re.X,
)
TROUBLE_WORDS: Final = frozenset(
    """not no cannot cant nobody without lost late since too left never none isnt arent wasnt werent dont doesnt didnt hasnt havent
    only low high empty missing threatens threatening blocks blocking hurts refuses refused denied lacks needs asks cases""".split()  # noqa: SIM905
)
WISH_PATTERN: Final = lazy_pattern(
    r"""\b(?:please|pls|plz|plaese|pleese|kindly|can\ (?:you|someone|somebody|anyone|we)|could\ (?:you|someone|somebody|we)|(?:will|would)\ you|would\ it\ be\ possible
    | (?:i|we)(?:'d|\ would|'ll|\ will)?\ (?:really\ |just\ |also\ |now\ |only\ |still\ )?(?:need|want|like\ (?:to|a|an|some|you|it|that)|wish|have\ to|must|prefer)
    | i'd\ like | (?:wants?|needs?|want)\ (?:a|an|to|some|the|me|us|you)\b | would\ like | needs?\ | should | must | has\ to | have\ to | let'?s | help | make\ sure | how\ about | what\ about | time\ to | looking\ for | your\ (?:task|job)\ is | it\ would\ be\ (?:great|nice|good))\b""",
    re.X | re.I,
)
CREW_PATTERN: Final = r"(?:people|teams?|staff|crew|subordinates|developers?|programmers?|coders?|engineers?|researchers?|analysts?|specialists?|experts?|guys?|folks|person|sources|collectors|branch(?:es)?|departments?|divisions|officers?|executives?|units?|sections?|sides|xos?)"
LEADING_PATTERN: Final = lazy_pattern(
    rf"""\b(?:
      your\ (?:\w+\ )?{CREW_PATTERN}\b
      | (?:have|let|get|tell|ask|task|put)\ (?:the|both|all|each|every|two|three)\ (?:\w+\ )?{CREW_PATTERN}\b(?!\ (?:if|whether|what|how|about))
      | (?:divid|distribut|delegat|assign|reassign|allocat|share|split|spread|hand)\w*\ (?:\S+\ ){{0,7}}(?:among|between|over|across|out|up|to)\ (?:\w+\ ){{0,2}}(?:\w+\ and\ )?(?:the\ )?(?:\w+\ )?(?:{CREW_PATTERN}|programmer|tester|jobs?|tasks?|work|pieces)\b
      | (?:divide|distribute|delegate|assign|hand\ out|dole\ out|farm\ out|parcel\ out)\ (?:\w+\ ){{0,4}}(?:work|jobs?|tasks?|pieces|parts|tickets?|questions|roles|them|it)\b
      | (?:break|cut|split|carve|slice)\ (?:\S+\ ){{1,8}}(?:into|down|up)\b(?:\ \w+){{0,2}}\ (?:tasks?|subtasks?|work\ packages?|packages|jobs|steps|tickets|assignments|and\ (?:assign|distribute|hand|give|delegate))\b
      | work\ (?:packages?|breakdown)\b | subtasks?\b
      | who\ (?:does|should\ do|takes|is\ doing|will\ do|handles|works\ on)\ (?:what|which|it|this|the)\b
      | (?:which|what)\ (?:one\ |of\ \w+\ |\w+\ ){{0,3}}(?:gets|goes|comes|is\ (?:built|done)|to\ (?:build|do)|should\ (?:be\ built|be\ done|come|go)|has\ to\ (?:be|come|go))\ (?:\w+\ )?first\b
      | who\ \w+\ what\b | have\ them\ (?:researched|checked|investigated|built|done|fixed)\b
      | split\ (?:up\ )?the\ (?:question|requirement|work|project|job)\b
      | what\ (?:to\ do|gets\ done|is\ done|has\ to\ be\ done)\ first\b
      | (?:coordinate|coordinating|reprioriti[sz]e|oversee|supervise|orchestrate|delegate|prioriti[sz]e|reassign)\b(?!\ system)
      | (?:settle|set|sort\ out|decide(?:\ on)?)\ (?:\w+\ ){{0,4}}priorit\w+
      | keep\ (?:an\ eye\ on|track\ of)\ (?:it|them|progress|the\ progress|who|everyone|everybody)\b
      | (?:plan|run|lead|manage|head|organi[sz]e|direct|steer)\ (?:\w+\ ){{0,3}}(?:sprint|project|effort|investigation|study|campaign|operation|migration\ project|team|work\ of|initiative|programme|mission|rollout\ of\ the\ project)\b
      | (?:combine|fuse|sum\ up|put\ together|bring|pull\ together|reconcile)\ (?:\S+\ ){{0,7}}(?:reports?|findings|answers|sources|assessments?|pictures?|specialists)\b
      | (?:in|into|as|with|me)\ (?:one|a\ single|an\ overall)\ (?:\w+\ |well-founded\ )?(?:answer|assessment|report|estimate|picture|recommendation)\b
      | (?:weigh|compare|reconcile)\ (?:both|the\ (?:two|three)|all)\ (?:\w+\ )?(?:reports|findings|results)\b
      | (?:research|collection)\ plan\b | (?:intelligence|information)\ requirements?\b | collection\ tasks?\b
      | intelligence\ (?:assessment|estimate|picture)\b
      | (?:what|as)\ (?:our|all|the)\ (?:three\ |four\ |different\ )?sources\ (?:say|report|tell)
      | (?:specialist|developer|programmer|analyst|researcher|engineer|one\ of\ (?:them|your\ \w+))\ (?:\w+\ ){{0,2}}(?:is|got|gets|has\ been|seems)\ (?:stuck|blocked|overloaded|lost|busy)
      | give\ (?:it|this|that|the\ \w+)\ to\ (?:someone|somebody)\ else\b
      | who\ (?:should|shall|is\ best|can\ best)\b | step\ in\b
      | (?:next|this|coming)\ (?:sprint|iteration|milestone)\b
    )""",
    re.X,
)
COMMAND_PATTERN: Final = lazy_pattern(
    r"""\b(?:
      take\ (?:over\ )?(?:charge|command|the\ lead|responsibility|overall)\b | in\ (?:command|charge)\b
      | (?:head|chief|leader|boss|commander)\ of\ the\ (?:team|mission|whole|project|operation)
      | (?:whole|overall|entire)\ (?:\w+\ ){0,2}(?:mission|project|operation|effort|relaunch|campaign|company|organi[sz]ation|picture)
      | end[-]to[-]end\ responsib\w+ | report\ (?:back\ )?to\ me\b
      | (?:both|all|the\ two|each|which|between\ the)\ (?:\w+\ )?(?:departments?|divisions?|wings?|sides|executives|xos|teams)\b
      | (?:both|all|each)\ of\ your\ \w+
      | your\ (?:two\ |three\ |both\ )?(?:executives|xos|wings|branches|departments|divisions)\b
      | (?:keep\ me\ posted|brief\ me|report\ back)\b | use\ everybody\b | which\ team\b | both\ branches\b
      | the\ two\ branches\b
      | both\ (?:engineering|research|operations|intelligence|development|sales|marketing|support)\ and\b
      | stop\ everything\b | (?:change|changing)\ (?:of\ )?direction\b
      | which\ branch\ (?:\w+\ )?(?:first|goes|gets|comes|takes)\b
      | (?:responsible|accountable|answers?)\ (?:to\ me\ )?for\ (?:all|everything|the\ whole|it\ all)\b
      | (?:new|our|the)\ (?:mission|objective)\b | one\ (?:person|head|owner)\ (?:who|that|for)\b
      | take\ (?:this|it|everything)\ over\b | please\ take\ over\b
    )""",
    re.X,
)
PASTED_LINE_PATTERN: Final = lazy_pattern(
    r"""^(?:\s*File\ "[^\n]*|\s+at\ [\w$.<>/]+[(:][^\n]*|Traceback\ [^\n]*|goroutine\ \d+[^\n]*|\s*\^[~^\s]*$|(?:>>>|\$)\ [^\n]*|[\w.-]+\s+\|\ [^\n]*
    | (?:\[?\d{4}-\d\d-\d\d[T\ ]\d\d:\d\d|(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)\ +\d+\ \d\d:\d\d|\d+\.\d+\.\d+\.\d+\ |\[?\d\d:\d\d:\d\d)[^\n]*
    | (?:ERROR|WARN(?:ING)?|INFO|DEBUG|FATAL)\b[^\n]*|\w*(?:Error|Exception):[^\n]*|panic:[^\n]*)$""",
    re.X | re.M,
)
TRACEBACK_PATTERN: Final = lazy_pattern(
    r"Traceback \(most|\bFile \"[^\"\n]+\", line \d|\n\s+at [\w$.<>/]+[(:]|\b\w+(?:Error|Exception)\b|\bpanic:|segmentation fault|core dumped",
    re.I,
)
TRACEBACK_SIGNS: Final = ("error", "exception", "traceback", 'file "', "\n", "panic:", "fault", "core dumped")
"""Substrings, at least one of which occurs in every text with a traceback."""
LOG_LINE_PATTERN: Final = lazy_pattern(
    r"^(?:\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d|(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) +\d+ \d\d:\d\d|\d+\.\d+\.\d+\.\d+ .*\[|\[?\d\d:\d\d:\d\d)",
    re.M | re.I,
)
QUESTION_PATTERN: Final = lazy_pattern(
    r"""^\W*(?:(?:so|and|but|ok|okay|please|hey|hi|well|can\ you\ tell\ me|could\ you\ tell\ me|tell\ me|do\ you\ know|i\ wonder|explain)\W+)*(?:
      (?P<define>what(?:'s|\ is|\ are|\ was|\ were)\ (?:an?\ |the\ (?:difference|capital|meaning|definition|purpose|point|history|population|largest|biggest|tallest|highest|longest|fastest|oldest|smallest|best|most|largest|speed|distance|boiling|chemical|formula|square|name)\b)?
        | define\b | what\ does\ [\w\s-]{1,40}\ (?:mean|stand\ for)\b | who(?:'s|\ is|\ was|\ are|\ were|\ invented|\ discovered|\ wrote|\ painted|\ founded|\ directed|\ sang|\ composed|\ created|\ built|\ developed)\b
        | how\ (?:tall|old|far|big|deep|heavy|high|fast|long|many|much)\ (?:is|are|was|were|does|do|did|can|could|\w+\ (?:are|is|were|does|do|did|can))\b | when\ (?:was|did|were|is|are)\b | where\ (?:is|are|was|were)\b | (?:in\ )?(?:what|which)\ (?:year|country|city)\b
        | how\ (?:do|does|did)\ (?:\w+\ ){1,3}work\b | why\ (?:is|are|do|does|did|was|were)\b | which\ (?:country|planet|animal|city|river|president|king|language|year)\b | how\ do\ (?:you|i|we|people)\b | can\ (?:dogs|cats|people|humans|fish|birds|you)\b)
    )""",
    re.X | re.I,
)
FAULT_PATTERN: Final = lazy_pattern(
    r"""\b(?:
      (?:does(?:n't|\ not)|do(?:n't|\ not)|did(?:n't|\ not)|won't|will\ not|can't|cannot|never|no\ longer)\ (?:\w+\ )?(?:work|start|load|open|show|appear|arrive|print|respond|connect|run|build|compile|save|update|react|stop|turn|move|match|close|fit|fire|finish|return|render|come|update|sync|refresh|boot|answer|display|scroll|play)\w*\b(?!\ (?:me|us)\b)
      | (?:no\ longer|nothing\ (?:happens|is\ (?:saved|stored|shown|sent|displayed|printed))|does\ nothing|not\ working|out\ of\ order|(?:is|are|was|looks?)\ (?:wrong|broken|off|missing|garbled|empty|blank|cut\ off|doubled|duplicated|swapped|corrupt\w*|rotated|flaky|red|stuck|frozen|dead|slow|unresponsive|upside\ down|inconsistent)|went\ wrong|goes\ wrong|what\ is\ wrong|too\ (?:early|late)\b(?=\W*$)|returns?\ (?:no|nothing|an?\ (?:error|empty)|null|undefined|nan|the\ wrong)|shows?\ (?:no|nothing|the\ wrong|an?\ error|nan|up\ twice|\w+\ \w+\ twice)|shown\ (?:\w+\ ){0,3}(?:wrong|too|twice)|stopped\ working|gets?\ (?:stuck|killed|cut\ off|lost)|is\ stuck|keeps?\ (?!an\b)\w+ing|hangs?|freezes?|froze|misbehav\w+|chokes?|dies|blows\ up|goes\ blank|grows\ until|stays\ (?:gr[ae]y|blank|empty|black|white|dark|the\ same|on)|(?:wrong|incorrect|weird|strange|duplicate|double|negative|missing)\ (?:\w+\ )?(?:vat|total|totals|sum|amount|result|results|value|values|number|numbers|order|date|dates|name|price|prices|output|page|time|user|data|address)\b|although\ it\ should|even\ though\ it|(?:logs|kicks|throws|signs)\ \w+\ out|off\ by\ (?:one|a)|instead\ of\ (?:the\ )?(?:right|correct|expected)|as\ nan|never\ \w+s|got\ (?:\w+\ )?(?:slow|slower)|cuts?\ off|from\ time\ to\ time|somehow|(?:answers?|returns?|throws?|gives?)\ (?:with\ )?(?:an?\ )?(?:http\ )?[45]\d\d|no\ space\ left|an?\ empty\ \w+|(?:at|in|by|to)\ \d+\ instead\ of|charged\ twice|(?:connection|access|permission)\ (?:refused|denied)|refuses\ (?:the\ )?connections?|not\ found\b|no\ module\ named|nobody\ can|stops\ (?:at|after|when)|works\ only|says\ (?:error|invalid|no|not)|keeps\ \w+ing|twice\b(?=\W*$))\b
    )
    | (?:'s|\bis|\bare)\ off\b""",
    re.X,
)
ORDER_VERBS: Final = frozenset(
    """
    reprioritize reprioritise reassign introduce resample recap tabulate strip enter tidy weed rework polish adopt obtain investigate conduct compile supply add adjust adapt come exchange follow followup analyse analyze answer archive arrange ask assemble assess assign assume attach audit automate back backup batch
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
"""Verbs that give an order at the beginning of a clause."""
QUESTION_WORDS: Final = frozenset(
    """what whats which who whos whose where when why how is are was were do does did can could would should has have will""".split()  # noqa: SIM905
)
LEAD_IN_WORDS: Final = frozenset(
    """please pls plz hey hi hello ok okay so and then now also just first next finally well right yes but or only simply again
    maybe kindly quickly instead alright afterwards you""".split()  # noqa: SIM905
)
STATEMENT_OPENER_WORDS: Final = frozenset(
    """i im ive we were weve my our the a an this these that those it its there theres he shes she they his her their in on at after
    before yesterday since when today last every everybody everyone somebody someone nobody people some two three four half
    all both no nothing another as while one if because although once during until most many here you youre your""".split()  # noqa: SIM905
)
CREATING_VERBS: Final = frozenset(
    """write create make build code program implement develop scaffold generate need want like give extend add put design
    programm provide give prototype rewrite writing creating making building coding implementing developing adding""".split()  # noqa: SIM905
)
PROGRAMMING_VERBS: Final = frozenset(("program", "code", "implement", "programming", "develop"))
BENEFICIARY_WORDS: Final = frozenset(("me", "us", "something", "it", "a", "an", "the", "this", "that"))
CREATED_NOUNS: Final = frozenset(
    """
    script program programme tool app application cli bot game website webpage page form component widget extension plugin
    addon regex regexp decorator iterator parser scraper crawler spider calculator converter generator encoder decoder decryptor
    handler helper endpoint feature option flag mode button toggle test tests unittest unittests limiter client wrapper validator checker viewer
    editor counter formatter importer exporter algorithm struct interface function functions class classes module method subroutine
    procedure library snippet code prototype stopwatch timer loader reader writer simulator visualizer scheduler tracker cache stub
    mock fixture server service daemon utility command macro hook userscript hints support keyboard shortcut gui query docstring docstrings comments alarm notifier dashboard translator sorter cleaner
    """.split()  # noqa: SIM905
)
OBJECT_END_WORDS: Final = frozenset(
    """that which who to for from with where when of on in into so and or using via by as than before after if because whenever
    without within over under about between against""".split()  # noqa: SIM905
)
COLLEAGUE_NOUNS: Final = frozenset(
    """developer developers programmer programmers researcher researchers analyst analysts specialist specialists engineer engineers
    tester testers designer designers colleague colleagues intern interns expert experts guy person coworker fixer""".split()  # noqa: SIM905
)
OWN_CONTEXT_WORDS: Final = frozenset(
    """
    our ours my we us this these those your i me mine here that
    """.split()  # noqa: SIM905
)
GENRE_NOUNS: Final = frozenset(
    """poem poems haiku limerick joke jokes riddle riddles story stories song songs rap sonnet ballad verse verses pun puns fable
    rhyme fairytale tale lullaby melody tune eulogy toast ode anecdote quote""".split()  # noqa: SIM905
)
MAKING_VERBS: Final = frozenset(
    """
    write tell compose make give create sing read recite invent need want like love share know hear generate
    """.split()  # noqa: SIM905
)
WORK_STORY_NOUNS: Final = frozenset(
    """
    user success customer news cover instagram case lead front feature brand job
    """.split()  # noqa: SIM905
)
NEGATION_END_WORDS: Final = frozenset(
    """
    but just only instead rather however then because since as
    """.split()  # noqa: SIM905
)
ORDER_LEAD_WORDS: Final = frozenset(
    """
    please but and just also you so to simply or must should shall may can though
    """.split()  # noqa: SIM905
)
HARMLESS_NEGATED_VERBS: Final = frozenset(
    """
    forget hesitate worry mind know understand see have work only think remember get
    """.split()  # noqa: SIM905
)
SUBORDINATE_CONJUNCTIONS: Final = frozenset(
    """
    because since although though while whereas when after before until unless if who whose which where
    """.split()  # noqa: SIM905
)
ARTICLE_WORDS: Final = frozenset(
    """
    the our a an my this your their his her another some any that please one
    """.split()  # noqa: SIM905
)
ASKING_VERBS: Final = frozenset(
    """
    ask tell have let get want need involve assign instruct request remind task ping message contact call hire find
    fetch summon consult notify
    """.split()  # noqa: SIM905
)
HANDING_VERBS: Final = frozenset(
    """
    hand assign delegate route escalate refer transfer pass forward connect talk speak over through belongs goes
    dispatch direct redirect turn reassign
    """.split()  # noqa: SIM905
)
NAME_REFUSING_WORDS: Final = frozenset(("not", "no", "without", "except", "never"))
USING_VERBS: Final = frozenset(
    "use using run try call take start launch invoke spawn let have get pick choose engage".split()  # noqa: SIM905
)
REFUSAL_WORDS: Final = frozenset(
    ("please", "thanks", "thank", "me", "us", "today", "tonight", "now", "yet", "tomorrow")
)
REPORTING_VERBS: Final = frozenset(
    """said told asked wants wanted says mentioned suggested recommended noticed found thinks needs complained reported requested wrote
    asks has had is was will would did does sent gave made left quit resigned needed tells explained pointed thought claims insisted warned""".split()  # noqa: SIM905
)
JOB_NOUNS: Final = frozenset(
    """
    task job question one work something this that ticket assignment matter issue
    """.split()  # noqa: SIM905
)
PERSON_NOUN_PATTERN: Final = lazy_pattern(
    r"(?:er|or|ist|ant|ian|eer|man|woman|agent|chief|lead|head|clerk|chef|nurse|attorney|pilot|concierge|coach|host|cook|officer|expert|superintendent|analyst|architect|counsel|secretary|paralegal|controller|xo|co|vet|buyer|guard|specialist|assistant|manager|engineer|developer|director|partner|executive|scientist|advocate|mechanic|intern|aide|guide|scout|master|captain|steward|president|technologist|dba|sre|cfo|cto|ceo|representative|rep)$"
)
CODE_PATTERN: Final = lazy_pattern(r"```.*?(?:```|$)", re.S)
_ADDRESS = r"(?<![@\w])(?:https?://|www\.)\S+|(?<![@\w./])(?:[a-z0-9-]{1,63}\.){1,4}(?:com|org|net|edu|gov|io|dev|app|info|eu|uk|de|fr|es|it|nl|ch|at)\b(?:/[^\s,;:!?)\]]*)?"
URL_PATTERN: Final = lazy_pattern(_ADDRESS, re.I)
"""Addresses of web pages. They say where something is, not what is to be done."""
VISIT_PATTERN: Final = lazy_pattern(
    rf"\b(?:go\ to|visit|open|browse(?:\ to)?|navigate\ to|look\ at|check(?:\ out)?|read|search)\s+(?:{_ADDRESS})",
    re.I,
)
"""An order to look at a page of the web."""
TEXT_ORDER_PATTERN: Final = lazy_pattern(
    r"""^\W*(?:(?:please|kannst\ du|bitte|can\ you|could\ you|por\ favor|peux-tu)\s+)?(?:
      translate | summari[sz]e | sum\ up | rephrase | paraphrase | proofread | reword | condense
      | ubersetz\w* | fass\w* | formulier\w* | traduce\w* | resume\ (?:el|la|los|las|lo|este|esta|esto|estos|estas)\b | traduis\w* | reformule\w*
    )\b[^:\n]{0,80}:\s""",
    re.X | re.I,
)
"""An order to work on the wording of the text after the colon, whatever that text is about."""
QUOTED_PATTERN: Final = lazy_pattern(r"\"[^\"\n]{3,300}\"")
CLAUSE_BREAK_PATTERN: Final = lazy_pattern(r"[.!?;:,](?=[\s\"')]|$)|\n|\s[-\u2013\u2014]\s|[()]")
SENTENCE_END_PATTERN: Final = lazy_pattern(r"[.!?](?=[\s\"')])|\n")
COMMON_WORDS: Final = frozenset(WEAK_WORDS | ORDER_VERBS | CREATED_NOUNS | PRIVATE_LIFE_NOUNS)
