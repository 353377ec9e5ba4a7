"""Which words belong together: words that mean nearly the same, and the words of a trade.

A sentence rarely uses the words of a role's description: "my laptop stays black" is for whoever "looks after hardware".
One list has groups of words of one meaning, the other a line for each trade: what people who do it are called, and words
of the requests they get. How much that says about a role is decided in `text_index.py`.

Standard library only: this module also runs inside hosts.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Final, NamedTuple
from zlib import crc32

from .word_forms import stem

_ALIKE: Final = """
= fix repair mend correct resolve solve remedy troubleshoot patch ~fault
= broken faulty defective damaged malfunctioning malfunction fault defect failing ~fault
= bug error crash exception defect fault glitch traceback stacktrace issue ~fault
= stuck frozen hang freeze unresponsive
= write draft author compose pen formulate word phrase
= make create build produce prepare assemble craft
= code program implement develop
= check verify validate confirm inspect examine control proof
= review critique appraise inspect
= buy purchase procure order acquire sourcing
= sell sale vend
= pay payment settle remit
= money cash funds fund
= invoice bill
= price cost fee rate charge quote quotation
= cheap discount rebate offer
= find search locate lookup discover look seek
= research investigate study explore dig
= analyze evaluate assess examine study interpret
= compare benchmark contrast versus
= explain describe clarify illustrate
= summarize condense digest abstract recap minutes
= shorten trim cut condense tighten
= translate localize interpret
= plan schedule arrange organize coordinate
= calendar appointment schedule diary slot
= meeting appointment call conference
= reserve book
= cancel abort terminate annul revoke
= hire recruit staff headhunt
= employee worker staff colleague personnel workforce
= candidate applicant jobseeker
= vacancy position opening job posting
= dismiss fire layoff terminate redundancy
= vacation holiday leave absence
= salary wage pay payroll compensation payslip paycheck
= train teach coach instruct educate tutor
= course class lesson workshop training curriculum seminar
= student pupil learner
= exam test quiz grade assessment
= customer client buyer shopper purchaser
= complain complaint grievance dissatisfied unhappy angry upset
= refund reimburse return chargeback
= supplier vendor wholesaler
= contract agreement clause nda terms
= law legal attorney counsel
= court trial lawsuit litigate judge sue dispute
= rule regulation policy guideline
= comply compliance conform regulatory
= risk hazard danger threat exposure
= safe secure protect guard
= steal theft burglary robbery stolen
= hack breach intrusion attack compromise phishing malware ransomware
= vulnerability cve exploit weakness hole
= password credential login passphrase
= email mail inbox newsletter mailbox
= letter correspondence mail
= phone telephone call hotline
= computer laptop pc notebook workstation desktop
= server host machine
= network wifi router internet lan
= database sql table query postgres mysql
= cloud aws azure gcp
= container docker image kubernetes compose pod dockerfile helm
= deploy release rollout ship launch publish
= deploy production staging
= git commit branch merge rebase pullrequest repository repo
= dependency package library lockfile version upgrade npm pip
= refactor restructure simplify tidy clean rename duplication extract decouple
= test qa spec coverage
= log trace syslog journal timeline audit trail
= monitor watch alert observe supervise
= outage downtime incident down unavailable
= slow performance latency speed bottleneck fast
= backup restore copy snapshot archive
= file folder directory document
= convert transform reshape parse clean export import
= csv spreadsheet table sheet excel
= data record dataset
= dashboard chart report visualize graph metric kpi
= statistic figure number metric
= forecast predict projection estimate outlook
= setting configure option parameter preference toggle flag
= api endpoint integration interface webhook rest graphql sdk connector
= connect integrate link wire hook
= website webpage site homepage landing
= frontend css html button browser page javascript react layout
= mobile ios android app smartphone
= prompt llm model gpt instruction
= agent bot assistant
= screen display monitor
= pdf scan ocr page
= picture image photo illustration graphic drawing
= video clip film footage movie
= sound audio recording podcast
= music song melody tune
= story narrative tale plot
= article post blog piece
= headline title slogan tagline
= newspaper press media journalist
= advertise promote ad campaign
= brand logo identity
= socialmedia instagram facebook twitter linkedin tiktok
= customer audience follower community
= event conference fair party ceremony celebration gala
= guest visitor attendee
= invite invitation
= hotel room accommodation lodging stay
= travel trip journey
= flight plane airplane airline airport
= train rail railway
= car vehicle truck van lorry automobile fleet
= drive transport haul carry move
= deliver ship parcel package shipment courier freight
= warehouse stock inventory storage depot
= factory plant production manufacture
= machine equipment device apparatus
= maintain service upkeep
= building house property premises
= rent lease tenant landlord
= room office space
= clean wash sweep mop tidy disinfect sanitize
= garbage trash waste rubbish recycle disposal
= water leak pipe drain plumb
= light lamp bulb electric power
= heat cool air temperature thermostat hvac
= door lock key
= build construct erect
= food meal dish dinner lunch
= cook recipe kitchen menu
= eat diet nutrition
= drink beverage wine beer coffee
= restaurant cafe bistro
= doctor medical clinic
= patient ill sick
= medicine drug pill dose tablet prescribe
= pain hurt ache injury wound
= hospital ward clinic
= child kid baby toddler
= animal pet dog cat
= plant crop flower
= farm agriculture
= tree forest wood
= environment climate ecology sustainability
= energy electricity solar power
= fire smoke alarm
= emergency urgent crisis disaster
= police crime officer
= accident collision crash
= insure claim premium
= loan credit mortgage borrow lend
= invest stock share portfolio
= bank account transfer
= tax vat deduction
= debt owe overdue arrears dunning reminder
= budget spending expenditure
= expense receipt reimburse
= profit margin revenue earnings income
= audit inspect
= grant funding fundraise donate sponsor
= survey questionnaire poll feedback
= interview conversation talk
= negotiate bargain haggle
= strategy roadmap vision
= goal objective target
= project milestone
= idea concept brainstorm
= improve optimize enhance better
= reduce lower decrease cut
= increase raise grow
= remove delete erase drop
= add insert append
= replace swap substitute
= change modify adjust alter
= move migrate transfer relocate
= merge join combine consolidate
= split divide separate utc timezone
= sort arrange rank
= count tally total sum
= measure gauge
= collect gather compile
= send dispatch forward
= answer reply respond
= question inquiry ask
= notify inform announce tell
= welcome greet
= decide choose select pick
= approve authorize sign
= reject refuse deny
= start begin launch kickoff
= stop halt shut
= install setup mount
= design layout sketch mockup
= draw sketch paint
= edit revise proofread polish
= publish release print
= grammar spelling typo punctuation
= language english german french spanish japanese chinese portuguese arabic
= map location geography gis
= weather rain storm
= history past archive
= science experiment laboratory lab
= math equation calculate compute
= secret confidential private
= personal private gdpr
= permission access right role
= manager boss supervisor head
= conflict dispute tension argument quarrel
= harass bully discriminate
= motivate morale engagement
= wellbeing stress burnout mental
= career promotion
= rival competitor competition
= trend development movement
= source reference citation quote evidence
= fact truth claim rumor
= duplicate copy double
= missing lost absent
= late delayed overdue
= wrong incorrect mistaken
= strange odd unusual anomaly suspicious weird
= test trial pilot
= seat ticket
= gift present voucher
= wage hour overtime timesheet shift
= roster shift rota schedule
= uniform clothes clothing garment apparel
= furniture chair desk table
= parking garage
= key card badge
= minutes protocol notes
= slide presentation deck powerpoint
= contact address
= lead prospect pipeline deal
= cart checkout basket
= catalog product assortment
= product item article goods
= quality standard
= sample specimen
= blood urine
= scan xray mri radiology
= tooth gum
= operation surgery
= birth pregnancy
= death funeral
= wedding marriage
= school kindergarten
= university college campus faculty
= library book
= museum exhibit gallery
= theater stage play
= sport match team player
= game level player
= space satellite
= ship boat vessel port harbor
= water sea ocean marine
= import export customs
= steel metal iron
= glue paint coat
= oil gas fuel
= battery charge
= sensor measurement
= robot automation
= label tag sticker
= form paperwork
= permit license
= citizen resident inhabitant
= vote election ballot
= council city municipal town
= road street traffic
= bridge tunnel
= waste sewage
= noise loud
= church pastor
= soldier army military
= child kid baby toddler son daughter girl boy infant minor nursery kindergarten
= teenager teen youth adolescent young
= elderly senior old grandmother grandfather retiree pensioner aged
= parent mother father family relative household mom dad
= husband wife spouse partner marry married marriage wedding divorce
= bury burial grave cemetery funeral death died deceased coffin
= birth born newborn birthday
= abroad foreign newcomer refugee immigrant migrant visa residence
= income poor poverty unemployed jobless afford allowance aid
= apartment flat housing dwelling room rent house
= homeless street sleep shelter
= river stream lake pond fish water
= sewer drain sewage cellar stink smell
= mouse rat cockroach vermin pest kitchen hygiene
= neglect abuse danger alone hungry cruelty cage
= stray cat dog puppy kitten pet
= disease infectious measles flu epidemic outbreak virus
= flood blackout outage storm disaster power
= street road pavement sidewalk pothole crossing junction
= cyclist bicycle bike cycle pedestrian
= van car vehicle automobile plate garage parked parking
= fine penalty ticket sanction
= document paper certificate form application
= identity id card passport
= move address resident relocate
= garage house extension fence build builder construction
= exhibition show display collection museum
= instrument violin piano guitar flute lesson music
= evening course class beginner language
= play stage ticket theater performance
= gym pitch club sport hall team
= swim pool lifeguard outdoor
= stall market sell stand vendor
= founder startup site company settle
= tourist visitor guide tour sightseeing
= council session agenda minutes mayor
= ballot voter vote election
= key lock door caretaker janitor
= loud noise disturb music night quiet
= borrow lend loan return
= history old ancient past century document
= debt loan borrow credit
= repay reminder payment open overdue fine
= tender offer bid award contract
= ad advertise vacancy job hire opening
= sue court lawyer legal lawsuit
= online digital website form portal
= quarter residential land district area zoning
= climate emission co2 carbon warming
= tree branch swing playground lawn park
= smoke fire burn flame brigade
= heat heating warm cold boiler
= network printer computer server
= doctor physician hospital clinic
= wound injury bandage bleeding hurt
= heart pulse chest cardiac
= brain nerve stroke seizure
= eye vision sight glasses
= bone fracture cast break
= skin rash itch
= pregnant pregnancy birth midwife
= suitcase luggage baggage bag
= boarding gate flight passenger
= cabin seat aisle
= bread cake pastry bake dough oven
= meat steak sausage
= fruit vegetable apple salad
= wine grape vineyard bottle cork
= cow cattle calf milk herd
= hen chicken egg poultry
= horse stable saddle ride
= wheat grain corn barley harvest
= seed sow plant sprout
= rain irrigation watering drought
= wood timber plank lumber board
= nail screw hammer drill
= brick wall mason mortar
= roof tile gutter
= engine motor turbine
= wheel tire brake
= ship vessel boat captain
= rocket satellite orbit space
= star planet telescope galaxy
= shield weapon torpedo defend
= sensor probe scan reading
= message signal transmit radio channel
= painting sculpture artwork art
= actor actress cast role
= scene script shoot film
= lyric chorus song album
= photo camera lens
= thread needle sew fabric
= gold silver ring jewel
= coin bill cash money
= interest rate mortgage loan
= share stock dividend portfolio
= shareholder investor owner
= patent invention inventor
= essay thesis dissertation paper
= scholarship tuition stipend
= degree diploma graduate
= lecture seminar professor
= homework worksheet pupil
= prison jail arrest crime
= witness testimony statement
= soldier troop battalion
= prayer church mosque faith
= charity donation donor gift
= volunteer helper unpaid
""".strip()
_TRADES: Final = """
accountant bookkeeper accounting bookkeeping financial+accounting general+ledger finance+clerk | ledger debit credit balance reconcile accrual receipt journal month-end year-end closing expense depreciation asset liability fiscal gaap ifrs transaction posting statement annual bookings books capitalize entries financial
accounts+payable payables invoice+processing | invoice supplier vendor pay payment due approve remittance bill purchase overdue transfer paid settle
accounts+receivable receivables collections dunning credit+control invoicing billing | invoice customer overdue dunning reminder collect outstanding debt unpaid arrears owe bill unpaid notice
payroll compensation wages | salary wage payslip paycheck deduction overtime bonus payroll withholding pension paid hours pay slip payday gross net shift
tax | vat tax return deduction filing irs fiscal duty declaration deductible deduct authority corporate income
treasurer treasury cash+management liquidity | cash liquidity bank currency hedge dollar loan interest exchange transfer credit line fx money funds
controller controlling budget financial+planning cost+control fp&a | budget forecast variance cost spending margin plan quarter overrun department spent spend planned costs expenditure
investment portfolio asset+management wealth fund trader trading broker | stock share bond portfolio dividend equity investor valuation fund acquisition merger invest securities etf
loan lending mortgage credit+officer | loan mortgage credit borrower interest collateral score repay lend
fraud | suspicious fraud stolen chargeback launder scam fake identity transaction card
insurance claims+adjuster underwriter actuary | claim premium policyholder coverage damage insurance accident liability policy insurer insured storm covered compensation
auditor audit internal+control | audit control evidence segregation compliance sample followed signed procedures verify walkthrough
procurement purchasing buyer sourcing strategic+sourcing purchase | purchase supplier tender rfp quote vendor order bid framework negotiate price contract buy quotes cheaper running+out
inventory stock warehouse storekeeper storage | stock warehouse shelf pallet inventory reorder count sku bin stocktake goods replenish boxes aisle picking forklift stored store incoming
logistics dispatch shipping transport delivery forwarding freight | shipment carrier freight parcel route truck delivery courier tracking container dispatch load forwarder ship package deliver tour transit lorry consignment
customs import+export trade+compliance | customs tariff duty border import export clearance declaration
fleet vehicle motor+pool | vehicle truck van fuel tire oil mileage driver garage car lease lorry roadworthy inspection bus
production manufacturing plant+manager planner shop+floor scheduling | line machine shift factory batch output yield capacity plant manufacture produce orders lines rush bottleneck shortfall
quality inspector quality+control quality+assurance metrology | defect quality tolerance iso nonconformance sampling recall lot batch crack scratch finished measured faulty reject
mechanic machine maintenance+technician fitter millwright | machine bearing lubrication spare breakdown maintenance motor pump conveyor vibration hydraulic saw mill press noise pressure worn gear grinding broken lubricate repair
electronics hardware+engineer embedded firmware | circuit board solder voltage pcb firmware chip sensor prototype microcontroller
mechanical+engineer cad mechanical | cad drawing gear bolt tolerance prototype part bracket assembly tolerance material stress
construction site+manager builder foreman mason civil+engineer | site concrete brick foundation roof scaffold crane contractor blueprint excavation beam load structural bridge wall
architect architecture | floor plan facade blueprint building elevation room render extension
facility facilities building janitor caretaker property+maintenance maintenance superintendent | building heating elevator toilet bulb leak door window repair room premises radiator ceiling lamp light stairway corridor roof broken dripping cold light lift handle paint carpet lightbulb lock
hvac heating ventilation | heating cooling ventilation thermostat boiler radiator air conditioning temperature cold warm
electrician electrical | socket wire cable fuse circuit voltage light switch power outlet wiring breaker
plumber plumbing sanitary | pipe drain tap leak toilet sink faucet clogged water sewage boiler dripping shower
cleaner cleaning housekeeper housekeeping laundry sanitation | clean vacuum mop dust floor linen towel laundry stain dirty trash toilet room bed sheets spill wash tidy
security+guard guard security+officer gatekeeper physical+security patrol | guard badge intruder visitor cctv patrol gate entrance alarm break-in fence night lock climbed camera trespass premises unlock
safety occupational+safety ehs hse | accident injury helmet hazard evacuation fire protective ergonomics first-aid workplace emergency exit slipped escape goggles gloves blocked drill prevent
energy solar power+plant utilities | solar panel turbine grid electricity consumption kilowatt meter wind battery power
environment environmental sustainability esg climate | emission carbon waste pollution recycling climate footprint biodiversity sustainability co2 recycle sawdust greenhouse
farmer farm agriculture agronomist crop | crop soil harvest irrigation fertilizer tractor field seed cattle livestock cow milk pest wheat barn
gardener garden landscape groundskeeper grounds | lawn tree hedge flower mow prune shrub plant grass weeds watering leaves flowerbed
veterinarian vet animal zookeeper animal+care | dog cat horse animal vaccination pet breed feed puppy cow limping
forester forestry | timber tree forest log wood
chef cook kitchen catering baker pastry | recipe menu dish ingredient sauce dinner lunch vegan dessert cake bake oven meal food cook soup breakfast
restaurant waiter bartender sommelier food+service | table menu tip dinner guest reservation serve bar wine drinks
nutritionist dietitian diet nutrition | diet calorie vitamin allergy protein meal gluten weight vegetarian eat
hotel front+desk concierge hospitality reservations guest+relations | room guest checkin checkout reservation suite booking lobby night stay key luggage
travel tour trip+planner | flight hotel trip itinerary visa ticket passport booking airport journey travel
pilot aviation airport flight | flight aircraft runway crew airport boarding gate airline luggage
maritime port ship captain | vessel ship cargo port harbor crew anchor
rail train railway | train track signal locomotive platform timetable
driver chauffeur bus taxi | bus taxi route passenger traffic drive ride
event events conference fair+manager venue | event venue catering conference stage booth exhibition attendee registration party banquet speaker wedding fair stand celebration trade christmas invitation open organize anniversary summit guests
sales account+executive business+development key+account account+manager sales+representative | lead deal prospect quota pipeline crm pitch proposal offer discount demo quote negotiate sell hotel order bulk upsell closing
retail store+assistant shop+assistant cashier showroom store+manager sales+floor | showroom till checkout customer shopper store mattress aisle cashier couple try choosing recommend
marketing campaign brand+manager growth | campaign audience brand segment funnel conversion promotion launch positioning advertising newsletter target channel spot young families tv online budget
seo search+engine | google ranking keyword search backlink traffic organic rank serp metadata
advertising ads ppc performance+marketing media+buyer | ad click banner impression bid spend adwords campaign
social+media socialmedia community | post tweet instagram linkedin facebook hashtag follower tiktok reel story comment share insulting network publish
press public+relations pr+manager spokesperson communications media+relations | press release journalist media statement interview publicity newspaper reputation reporter television announcement radio
brand | logo brand guideline identity color font
copywriter copywriting content+writer content | slogan headline text landing brochure blog tagline wording website article flyer catchy sentences boring description words advertise persuasive
pricing price revenue+management | price discount margin elasticity tier cost cheaper euros dollars sell expensive rebate
ecommerce online+shop webshop merchandising merchandiser | cart checkout shop listing catalog webshop product category
product+manager product+owner product | roadmap feature backlog priority requirement assortment range version user stakeholder prioritize drop season items add launch
project+manager project program+manager scrum pmo delivery+manager | ~lead deadline gantt sprint milestone timeline status schedule stakeholder behind time move rollout plan track risks
strategy strategist chief+executive business+strategy | strategy market growth vision competitor acquisition expansion long-term
market+researcher market+research consumer+insights insights | survey competitor market panel focus respondent trend questionnaire segment people think expect poll buyers
user+research ux ui interaction usability user+experience product+designer | wireframe usability mockup prototype figma screen flow interface layout navigation users journey persona sketch filter menu lost
graphic graphics illustrator visual artwork art+director | logo poster icon illustration banner flyer brochure photoshop font color visual cover cartons design packaging catalog leaflet infographic
photographer photography photo | camera shoot portrait picture retouch lens photo background lighting pictures
video film cinematographer videographer video+producer video+editor | video footage clip cut film camera trailer subtitle youtube scene shoot movie commercial
audio sound podcast recording | sound audio podcast microphone mix recording voice noise
music musician composer conductor | song concert orchestra melody choir instrument music
animator animation 3d vfx | animation render character motion effects
game games | game level player quest console gameplay
author novelist novel screenwriter playwright | novel chapter manuscript story essay author plot character poem
editor proofreader copy+editor editing copyeditor | grammar spelling typo manuscript proofread style sentence comma paragraph correct
journalist reporter news journalism | article news source headline story deadline interview
fact+checker factcheck verification | fact claim source verify quote evidence rumor true
translator translation localization interpreter language | translation language subtitle german french spanish english polish italian glossary multilingual into term chinese portuguese
librarian library | book loan catalog shelf borrow reader library overdue journal
archivist archive records | archive record retention document historical scan folder old
curator museum gallery | exhibition artifact gallery collection painting sculpture exhibit
teacher teaching lecturer instructor professor faculty | lesson pupil homework class school classroom worksheet lecture teach students
curriculum course instructional+designer | course syllabus module curriculum learning program
exam examination assessment testing+office | exam grade test marking score
admission admissions enrollment registrar | application student enroll applicant transcript semester deadline
tutor tutoring | homework explain practice learner
professor researcher research+fellow postdoc academic | paper hypothesis literature study experiment journal method publication
statistician statistics biostatistician | regression sample variance mean significance hypothesis correlation median statistical
data+scientist data+science machine+learning ml+engineer ai+engineer | model feature training prediction machine learning classifier dataset neural forecast predict churn algorithm accuracy recommendation sell+out
data+engineer data+platform etl data+pipeline | pipeline etl warehouse ingest table schema batch load dataset airflow stream import nightly kafka hourly sync feed
bi business+intelligence reporting data+analyst dashboard analytics | dashboard report chart kpi metric figure sql sales numbers tableau revenue region week quarter visualize excel show
database dba sql | query table index schema postgres mysql row column sql backup slow restore replica permission
software+engineer software+developer programmer developer coder programming code codegen code+generation | ~make code codify program implement develop scaffold boilerplate algorithm script function software pseudocode prototype coded unit+tests unittest command+line command+line+tool cli write+…+test add+…+test write+…+program write+…+script write+…+function write+…+class write+…+tool small+program little+program create+…+app build+…+app from+scratch in+python in+java in+rust in+go in+javascript in+typescript in+cpp proof+of+concept sort+algorithm data+structure automate dark+mode end-to-end+test integration+test+for unit+tests+for base+class abstract+class data+class new+endpoint code+that code+up | class module library package app bot game tool web page form component widget extension plugin regex decorator iterator parser calculator crawler scraper generator encoder decoder handler helper endpoint feature option compile python javascript typescript java kotlin swift rust golang cpp csharp php ruby perl bash shell haskell html css react vue svelte django flask fastapi express loop variable method unit docstring stub mock snippet crud recursive recursion string array dictionary object interface struct async thread callback button page screen login user file autosave autocomplete json dialog box sdk package queue numpy pandas test refactor gui docstring avatar sql query registration mock
refactor refactoring | refactor restructure rework simplify untangle decouple modularize modernize readable unreadable readability maintainable duplication duplicated copy-pasted spaghetti messy legacy nested monolithic port+…+to rewrite+…+in clean+up+…+code clean+up+…+class split+…+function split+…+class split+…+file split+…+module split+up break+…+up pull+…+out extract+…+into move+…+out+of move+…+into+its+own into+its+own its+own+class own+module own+file too+long technical+debt rename+…+everywhere get+rid+of+…+duplicat same+behavior without+changing+…+behavior without+changing+what behave+differently easier+to+read dead+code god+class long+method type+hint design+pattern make+…+shorter make+…+simpler make+…+readable make+…+reusable make+…+testable make+…+cleaner make+…+easier easier+to+read easier+to+test common+interface base+class split+…+in+two move+…+out switch+…+from+…+to+…+everywhere in+all+modules use+it+everywhere one+place to+async async+await replace+…+with+a+class instead+of+globals | split extract rename tidy rewrite code class function method module inline helper ugly clean copy-paste constant variable structure import cleaner smaller reusable testable abstract inheritance logging calls everywhere callback await async global
bugfix bugfixer debugging debugger bug+fix fault+diagnosis troubleshooter troubleshooting | fix bug repair crash exception debug error traceback stacktrace fail broken breaks deadlock hang freeze regression reproduce segfault panic glitch flaky leak hotfix undefined null nan nil corrupt misbehave incorrect wrong wrongly defect diagnose troubleshoot culprit bugfix garbled malfunction ~fault find+out+why figure+out+why what+is+wrong whats+wrong what+goes+wrong went+wrong off+by off+by+one track+down root+cause race+condition infinite+loop endless+loop get+rid+of+…+crash get+rid+of+…+error the+cause stack+trace memory+leak index+out+of+range  no+matter+what since+the+last+update since+the+update even+though blank+page empty+page white+page white+screen make+it+work work+again does+nothing nothing+happens keeps+failing fails+with error+message status+500 error+500 internal+server+error wrong+result wrong+order wrong+number stack+overflow get+to+the+bottom whats+happening what+is+happening what+is+going+on whats+going+on why+do reason+for ends+in+an+error answers+with returns+the+wrong  make+…+go+away go+away gives+an+error says+…+no+attribute has+no+attribute | why stuck unexpected timeout correct solve resolve mistake warning cause symptom stop test slow log duplicate missing twice failing red restore investigate autocomplete slow bottleneck broken sometimes outage flicker freeze weird strange behave button dropdown dialog login umlaut attribute
backend back+end api server-side | api server endpoint service code microservice total logic cache
frontend front+end web+developer web ui | css html react button browser javascript page form layout component website homepage banner carousel footer safari click responsive menu
mobile ios android app | app android ios phone tablet push iphone apple store notification
test qa tester quality+engineer testing test+automation | test regression automation coverage selenium scenario flaky bug case release breaks try rollout check
devops docker docker+ops infrastructure platform infrastructure+engineer deployment release+engineer container containers | docker dockerize container containerize compose docker+compose kubernetes kubectl helm pod ingress namespace replica registry terraform ansible vagrant deploy redeploy rollout rollback staging production prod cicd pipeline jenkins cluster provision dockerfile daemon systemd kafka redis rabbitmq grafana prometheus elasticsearch nginx apache traefik reboot restart rebuild prune autoscale cron cronjob uptime healthcheck build+…+image image+from docker+image base+image start+…+service restart+…+service stop+…+service spin+up start+up roll+back roll+…+back roll+out roll+…+out bring+up bring+…+up bring+…+back bring+back shut+down go+live goes+live put+…+live github+actions ci+pipeline build+pipeline build+server ship+it to+production to+prod to+staging on+staging on+port out+of+memory up+again running+again back+up+and+running is+down went+down goes+down went+offline not+reachable unreachable refuse+connection disk+is+full disk+full disk+space load+balancer ssl+certificate tls+certificate renew+…+certificate health+check oomkilled exited+with environment+up make+it+available no+space+left build+time faster+build in+front+of+…+proxy open+port expose+…+port behind+a+proxy nightly+job scheduled+job blue+green from+port to+port | image volume mount server host port node infrastructure build start stop ship release install scale certificate ssl tls dns proxy broker disk machine run actions version crash memory limit health service database queue cache network cpu ssh vm cloud aws azure linux ubuntu tag expose hang up down move migrate secret port space cores pipeline build job nightly gitlab https firewall vpn reverse device venv
cloud cloud+architect | aws azure instance bucket vm terraform region scale cloud
network networking | firewall vpn router switch dns ip wifi subnet proxy cable connection internet lan port wireless cabling
helpdesk it+support desktop+support service+desk help+desk it+technician user+support it | laptop printer password mouse keyboard screen wifi vpn outlook computer headset login reset monitor phone teams device software windows install locked account pc paper jam excel forgot zoom
identity access+management iam | password login account permission mfa authentication access lockout sso role
cybersecurity security+analyst information+security it+security security+engineer infosec soc penetration | phishing malware breach vulnerability firewall attack ransomware pentest exploit incident intrusion virus hacker suspicious patch encryption cve hacked link password leak openssl break-in login abroad
reliability sre site+reliability incident operations+engineer on-call | outage alert latency uptime incident pager monitor postmortem slow downtime offline error down servers response production site load 503
git version+control | git commit push pull+request pullrequest merge+request branch merge rebase squash stash cherry-pick cherry revert clone fork upstream repository repo bisect unstage gitignore changelog merge+conflict undo+…+commit roll+back+…+commit my+changes my+commits latest+changes these+changes into+main onto+main into+develop feature+branch release+branch open+a+pr a+pr the+pr last+commit who+last+changed git+history tag+…+release tag+…+commit tag+…+version what+changed+between sync+…+fork between+the+tags github+release publish+the+release | remote origin main conflict undo changes diff blame history hotfix pull develop gitlab github bitbucket release tag diff
dependency dependencies package dependency+management | package dependency dependencies lockfile npm pip yarn pnpm poetry cargo maven gradle composer bundler upgrade downgrade bump pin outdated uninstall requirements requirements.txt package.json pyproject deprecated update+…+package update+…+dependency update+…+library upgrade+to upgrade+…+to update+…+to+the+latest latest+version newest+version new+version+of security+holes security+update version+conflict drop+…+dependency get+rid+of+…+dependency add+…+to+the+requirements get+rid+of+…+and+use switch+from+…+to swap+…+for replace+…+by+a+maintained | version install update library vulnerable vulnerability framework patch license latest runtime
config configuration settings config+edit | config configure configuration setting yaml toml ini env conf variable flag nginx toggle parameter threshold timeout environment+variable turn+on turn+off turn+…+on turn+…+off switch+on switch+off switch+…+to switch+…+on switch+…+off set+…+to change+…+to change+…+from raise+…+to raise+…+limit raise+…+timeout lower+…+to lower+…+limit increase+…+to increase+…+limit increase+…+size reduce+…+to decrease+…+to shorten+…+to debug+level log+level upload+limit upload+size time+limit polling+interval retention+period feature+flag debug+mode maintenance+mode open+port enable+https enable+ssl log+verbosity retention+in | limit enable disable raise lower increase decrease interval level port option switch set file value default adjust override path maximum minimum retention verbosity https
log logs observability log+analysis | ~log log syslog journalctl timestamp trace audit+trail access+log log+file auth+log error+log server+log proxy+log firewall+log logs+from what+happened who+logged logged+into logs+in failed+login failed+password logged+in login+attempt timeline+of reconstruct trace+…+request request+id in+what+order which+user which+account | warning event audit timeline login request journal record address ip admin user session sequence night last+night at+night happened when+did unusual suspicious
technical+writer documentation technical+documentation manual | manual guide tutorial readme help instructions handbook step mount warnings diagram explain how-to pictures
prompt prompts prompt+engineering | prompt few-shot system+prompt the+model+answer | llm model instruction chatbot wording gpt hallucinate classification
agent+designer orchestration agentic | subordinate orchestrate mcp autonomous multi-agent agent+loop tool+call | agent tool loop
skill skills skill+building skill+builder | skill playbook reusable loadable skill.md as+a+skill into+a+skill a+skill the+skill new+skill teach+yourself reusable+procedure write+down+how so+that+everybody so+every+agent so+everyone | instruction package procedure method teach checklist proven workflow recipe how-to learn load way
file+ops file+management | backup folder directory zip archive disk+space | file copy move rename restore sort
pdf | pdf page scan ocr form merge
osint open+source+intelligence investigator research researcher source+research | whois osint google investigate publicly public+record public+information open+source search+the+web search+the+net search+the+internet search+online search+for+…+online find+…+online on+the+web on+the+internet on+the+net online find+out+who find+out+where find+out+which find+out+whether find+out+when find+out+what look+up look+…+up look+into look+for+…+information who+owns who+owned who+register registered+…+domain who+is+behind whos+behind who+runs who+founded dig+up in+the+news latest+news the+news news+about news+on reports+about reports+of press+reports what+do+people+say what+is+known+about what+can+you+find anything+about everything+about reviews+of known+vulnerabilities published+about find+…+source independent+source reliable+source find+…+article find+…+paper find+…+study find+…+competitor find+…+vendor find+…+provider find+…+evidence is+it+true check+whether+…+true fact+check official+doc official+documentation official+page official+site official+website opening+hours background+check first+posted first+appeared reverse+image out+there according+to where+does+…+say with+links with+sources with+reference cite social+media state+of+the+art market+research which+vendor which+compan who+sells list+of+compan find+…+email+of find+…+phone find+…+address+of find+…+contact are+there+alternatives alternatives+to has+anybody has+anyone was+announced was+published who+published market+share pricing+page collect+reviews links+please source+please with+source come+into+force according+to+the+docs shows+up+anywhere mentioned+anywhere anywhere+on+the+web see+if+our+competitor older+posts posted+by same+author where+was+…+filmed taken+where connection+between+the+two+compan local+papers what+do+…+write+about everything+on what+are+people+…+say people+…+saying say+about saying+about look+for+job what+skills look+for+…+on+the job+ads look+for find+out+if who+maintain which+…+provider which+…+vendor which+cloud how+do+other other+companies whats+new+in release+note on+their+website compare+prices appears+in first+mention still+free cite official registered+owner who+is+the+registered find+news from+public+sources known+about in+the+press | research search find collect gather source article website web internet owner domain company competitor price review vendor publish public reliable register rumor claim verify profile handle account media press photo breach link facebook linkedin twitter telegram reddit forum blog trace tender confirm news document evidence reference alternative provider market study paper report city country address phone number identify locate picture video image tool technology announced benchmark official docs announcement event author post video hire leak owner mention free provider website maintainer
scraping crawler | crawl scrape website page extract
customer+service customer+support support+agent customer+care complaints service+agent support | customer ticket complaint help request problem order question angry hotline chat escalate arrived missing mail apologize where waiting upset delayed
returns return refund | return refund exchange warranty parcel damaged wrong item replacement back money send package undamaged
subscription subscriptions renewals | subscription renewal cancel upgrade billing account membership
customer+success | onboarding adoption churn renewal account health customer
call+center switchboard telephone | call phone hotline queue caller
community+manager moderator forum | forum member comment moderate community discussion
recruiter recruiting recruitment talent talent+acquisition hiring headhunter | candidate applicant vacancy interview cv resume job hire sourcing offer position opening ad welder post invite open apprentice applicants
hr human+resources people+partner people+operations employee+relations personnel | employee leave vacation sick benefit handbook parental staff maternity conflict quarrel days boss resignation contract warning notice harassment team parttime
benefits pension+manager | pension insurance benefit leave parental retirement
training learning+development trainer training+coordinator education+coordinator | training course workshop skill employee elearning certificate seminar attend sign excel learn apprentices
performance+review | appraisal goal feedback review promotion rating
executive+assistant personal+assistant secretary assistant office+assistant administrative | calendar appointment meeting travel minutes diary schedule reminder agenda room flight slot ceo board book trip hotel
receptionist reception front+office | visitor phone front badge greeting lobby caller welcome guest arrive
office+manager office | office supplies desk stationery chair furniture coffee paper toner
lawyer legal counsel attorney paralegal contract contract+manager solicitor | contract clause nda liability agreement lawsuit law court terms dispute jurisdiction lease sign sue binding threaten legal liable breach
litigation trial+lawyer | court lawsuit claim trial evidence judge settlement
patent intellectual+property trademark ip | patent trademark copyright infringement invention license copied rival name design logo protect rights invent
privacy data+protection dpo gdpr | gdpr privacy consent personal data deletion subject breach cookie retention protection erase store allowed birthday
compliance regulatory | compliance regulation sanction bribery whistleblower anti-money kyc violation gift
immigration visa | visa residence passport permit
real+estate property leasing estate+agent | property tenant lease apartment house rent landlord viewing broker square
citizen permits registry municipal public+administration | citizen permit application authority form registration municipal resident council certificate
urban traffic roads planning+officer city+planner | road traffic street zoning parking pothole lamp sidewalk
election | vote ballot election poll
welfare social+worker social+services | benefit unemployment family assistance housing homeless
police detective | crime report theft witness suspect burglary evidence
fire firefighter | fire smoke alarm extinguisher evacuation sprinkler
emergency rescue paramedic ambulance | ambulance emergency rescue disaster evacuation
doctor physician medical company+doctor general+practitioner occupational+health clinician internist | patient diagnosis symptom treatment pain fever illness disease clinical hurt back examine sick health eye test cough vaccination headache
nurse nursing ward | patient bed care wound bandage vital blood ward drip
pharmacist pharmacy | medicine dose tablet prescription drug interaction side-effect pill antibiotic
laboratory lab+technician pathologist lab | sample blood test specimen microscope culture result urine
radiologist radiology imaging | xray mri scan imaging ct ultrasound image
surgeon surgery anesthetist | operation anesthesia incision operating
physiotherapist physiotherapy rehabilitation occupational+therapist | exercise rehabilitation muscle back knee mobility walk
psychologist counselor mental+health therapist psychiatrist | stress anxiety depression burnout mental wellbeing sad panic sleep
dentist dental | tooth gum filling crown
pediatrician pediatrics | child infant baby vaccine
midwife midwifery obstetrics | birth pregnancy baby mother
emergency+physician triage | triage trauma ambulance resuscitation
medical+coder medical+billing patient+billing | insurer code claim reimbursement diagnosis hospital patient invoice
caregiver eldercare | elderly resident home senior
childcare kindergarten nursery | child toddler play daycare
fitness trainer+fitness coach+sports personal+trainer | exercise gym workout muscle
sports coach athletic | match team player league tournament
fashion tailor seamstress | dress fabric clothing textile garment sewing
hairdresser beautician cosmetics | hair skin makeup salon
goldsmith jeweler | ring gold diamond necklace
carpenter joiner woodworker cabinetmaker | wood furniture cabinet plank saw oak walnut prototype one-off bench by+hand sample shelf
furniture+designer industrial+designer | chair table sofa armchair shelf stool desk bed sketch fold stack model wardrobe
welder welding | weld metal steel joint
painter | paint wall color brush
chemist chemistry chemical | chemical reaction compound solvent acid
biologist biology | cell gene dna protein organism species
physicist | particle quantum laser optics
astronomer | star telescope planet galaxy
geologist mining | rock mineral mine drilling
meteorologist | weather storm rain temperature climate
aerospace | satellite rocket orbit launch mission
water+engineer wastewater | water sewage treatment reservoir
telecom | mobile tower fiber antenna signal broadband sim
fundraiser fundraising donor development+officer | donor donation campaign charity sponsor pledge gala alumni
grants grant+writer grant | grant application funding proposal foundation
volunteer volunteers | volunteer shift helper
chaplain pastor | church mass prayer service funeral
politics public+affairs lobbyist | minister parliament lobby
military | mission command unit
intelligence | assessment all+source requirement intelligence+estimate intelligence+picture sources+say what+the+sources collection+task collection+plan finished+assessment how+sure confidence put+…+together combine+…+reports compare+…+reports compare+…+sources | estimate collection signal intercept picture report source fuse weight
interviewer humint interviewing | interview debrief witness testimony testify confession informant transcript statement alibi evasive contradict contradiction credible credibility plausible conversation interrogate interrogation defector tell+the+truth telling+the+truth hold+up his+story her+story their+story his+account her+account his+statement talk+to talk+with sound+him+out sound+her+out sound+out trust+him trust+her trust+them can+we+trust believe+him believe+her the+other+agent question+for question+to+ask question+should ask+him ask+her ask+them hide+something speak+with speak+to spoke+with change+the+topic what+does+he what+does+she his+motive her+motive is+lying be+lying lied body+language small+talk+with make+contact get+in+touch win+…+trust truth should+i+ask should+we+ask what+should+i+ask make+of+it make+of+that chat+with believable more+believable motives summarize+…+interview interview+with reliability+of how+reliable another+agent other+organization trustworthy tell+…+stories different+stories two+versions what+he+told what+she+told he+told+us she+told+us what+…+contact+…+say genuine under+pressure does+what+…+say told+us made+…+up avoids+the | talk story honest trust reliable believe question ask meet answer motive rapport agree disagree account tell+me+where compare sense say said speak chat contact neighbor caller informer volunteer employee man woman person version motive witness account driver contact believable story pilot tone view avoid fit
analysis analyst | analyze explain compare evaluate assess judge weigh summarize trade-off tradeoff interpret estimate correlation correlate statistic median average outlier trend explanation pros+and+cons pro+and+con advantages+and walk+…+through go+through what+does+…+do what+is+…+doing what+do+…+say what+do+…+tell what+can+we+learn how+does+…+work how+do+…+work how+…+works how+is+…+related how+good which+…+better which+…+faster which+…+cheaper which+…+best which+of+these which+of+the+two which+of+those which+one+…+choose better+for better+suited suits+us makes+sense make+sense+to point+out key+points bullet+points is+it+worth good+enough any+good worth+it your+opinion honest+opinion an+opinion second+opinion what+do+you+think+of line+by+line step+by+step main+themes main+points main+reasons what+depends depends+on risks+of how+likely most+likely break+down+by by+region by+month per+month per+week per+region year+over+year code+review in+plain+words in+plain+english in+simple+terms for+a+layman what+would+happen+if what+happens+if is+it+cheaper is+it+better what+you+think+of what+do+you+make+of bar+chart pie+chart line+chart group+…+complaints rate+…+proposals by+cost does+this+contract does+…+allow see+any+outliers do+you+see what+speaks+for for+and+against in+a+few+sentences short+summary executive+summary should+we+use should+we+choose should+we+go should+we+switch should+we+take should+i+use should+i+choose reasonable sensible sufficient adequate feasible overkill unclear make+sense+of complexity+of weakness+of strength+of weak+points review+my review+this review+our critique second+pair is+our+…+good is+this+…+good is+it+safe is+our+…+secure on+average which+of+our list+everything difference+between+these difference+between+the how+many+…+each | review study recommend recommendation summary opinion advantage disadvantage better faster architecture design pattern chart plot graph dataset survey figures numbers data risk weakness strength understand meaning mean describe report feedback results result churn sales revenue count conclusion decide rank category categorize group calculate compute percentage share why reason difference complaint document contract paper quality measure metric growth table statement cheaper proposal offer impact consequence insight minutes notes codebase function module class complexity policy endpoint spec option
data+transform data+transformation data+processing | convert transform csv xml tsv parquet excel xlsx spreadsheet json deduplicate duplicates pivot transpose reshape etl delimiter column row geojson kml gpx ndjson sqlite anonymize turn+…+into+…+table turn+…+into+csv turn+…+into+json turn+…+into+a+table turn+…+into+a+list to+csv to+json to+xml into+json into+csv into+excel into+one+table into+one+file into+a+single into+a+table one+format common+format same+format same+columns same+unit uniform+format iso+format date+format iso+date same+time+zone into+utc convert+…+to+utc by+customer join+the+two merge+the+two merge+the+three merge+…+in+a+common combine+…+file combine+…+table merge+…+file merge+…+table merge+…+list merge+…+export merge+…+sheet one+table single+table remove+…+duplicate drop+…+duplicate duplicates+out clean+up+…+data clean+up+…+spreadsheet clean+up+…+list clean+…+list sort+…+list sort+…+table decimal+degree one+row+per per+row resample into+columns in+columns semicolons commas comma-separated our+format right+format into+…+format match+…+with+the+list one+value+per same+unit numbers+…+into+a+table | table sheet normalize join merge clean format unify aggregate filter parse data record dataset timestamp export unit encoding duplicate measurement recording dump conversion list sort date field combine address contact number file coordinate entry order separate utc timezone time+zone utc timezone header field series interpolate strip column match reformat tidy
api+integration service+integration | api webhook oauth sdk mqtt soap grpc websocket integrate connect+…+to connect+…+with connect+to hook+up hook+…+up hook+into wire+up wire+…+to link+…+to link+…+with sync+…+with sync+with talk+to+…+api api+key api+token access+token pull+…+from fetch+…+from get+…+from+…+api read+…+over load+…+from+…+api send+…+to+slack post+…+to+slack web+service weather+service rate+limit every+…+minutes every+hour every+…+seconds payment+provider third+party external+service remote+service call+us+back incoming+webhook log+in+with+google single+sign sign+in+with google+account log+in+with through+their+api via+their+api via+api discord+channel slack+channel telegram+channel every+new+order connect+our connect+…+to+our live+data+from data+from+the+api | connect integration fetch sync pull service feed stream subscribe client token callback stripe paypal slack hubspot salesforce shopify jira trello notion discord twilio telegram mailchimp zapier github interface provider broker connector calendar import push poll payment shop automatic google account bot channel order new endpoint rest graphql
elint telemetry | sensor telemetry emitter radar frequency spectrum receiver satellite transponder beacon antenna probe netflow pcap ais adsb live+data align same+emitter | measurement signal recording feed stream station capture track vessel id knot
risk risk+manager | risk likelihood impact mitigation register
crisis business+continuity | crisis continuity disaster
innovation | idea prototype startup
process+improvement lean operations+manager business+process | workflow process bottleneck lean efficiency
change+manager | change transition adoption
actor theater director stage | stage rehearsal play script costume audition
dance choreographer | dance rehearsal
casting | actor audition role
broadcast radio | radio program station studio
printer printing+press print+shop | print press paper brochure ink
packaging+engineer packaging | packaging box label carton
waste | garbage bin waste recycling trash
parking | parking car space permit
postal mailroom | letter parcel stamp mail
brewer | beer hop barrel brew
winemaker | wine grape vineyard
fisher | fish net catch
butcher | meat slaughter
internist internal+medicine general+medicine hospitalist | fever sweats cough diabetes blood pressure weight symptoms liver kidney stomach diagnosis nausea vomiting tired infection thyroid breath breathing
cardiologist cardiology cardiac | heart ecg pulse rhythm chest pain vessel blood pressure irregular stent palpitations artery
neurologist neurology stroke+unit | brain nerve stroke seizure headache migraine numb slurred arm paralysis dizziness memory tremor epilepsy
oncologist oncology | cancer tumor chemotherapy lump metastasis
orthopedist orthopedic trauma+surgeon | bone fracture hip knee joint cast wrist ankle broken leg
dermatologist dermatology | skin rash mole itch acne eczema
ophthalmologist optician optometrist | eye vision glasses cataract blurred
gynecologist gynecology | pregnant women uterus cycle
urologist nephrologist dialysis | kidney bladder urine dialysis
anesthetist anesthesia anesthesiologist | narcosis anesthesia sleep operation pain epidural sedation numb
surgeon surgery surgical operating+room | appendix operate operation incision scalpel remove tumor hernia stitches gallbladder cut
pediatrician pediatrics children | child baby toddler infant rash temperature fever newborn son daughter teething measles vaccinated
midwife obstetrics maternity+ward | birth contraction labor pregnant pregnancy baby breastfeeding water mother due
psychologist psychiatrist counselor counselling psychotherapist mental+health | panic anxiety sleep distress depression sad grief trauma cry overwhelmed suicidal talk stress mood
speech+therapist | speaking swallow choke stutter voice pronounce stammer drink
physiotherapist physical+therapist rehabilitation physio | walk walking knee exercise muscle mobility crutches back massage practice stretch shoulder
pharmacist pharmacy dispensary | tablet pill dose medicine drug prescription interaction together antibiotic side ointment
laboratory lab pathologist microbiologist | blood sample test results urine tissue analysis specimen culture swab biopsy values
blood+bank transfusion | blood donor negative positive type unit plasma
transplant organ | organ kidney liver donor recipient heart waiting list match
infection+control hygiene epidemiologist epidemiology | outbreak virus norovirus germs infection isolation contagious disinfect cases flu spread covid bacteria quarantine
paramedic ambulance emergency+medical first+responder | collapsed unconscious accident scene ambulance rescue injured crash
triage emergency+room emergency+nurse casualty | waiting urgent first bleeding emergency er injured severity
social+worker social+services welfare caseworker | alone family home help household aid money homeless pay poor care children apartment support afford
chaplain pastor priest imam spiritual | pray prayer mass church faith comfort dying rites funeral religious god
discharge case+manager | home leave rehab rehabilitation discharge letter friday relatives
bed+manager capacity | bed free place full ward intensive occupied move transfer
admissions intake registration+clerk registrar | arrive new register card insurance form admit admission enroll particulars application id
appointment scheduler booking+desk | appointment slot date reschedule cannot clinic tuesday cancel book earlier available
billing invoice+clerk | bill charged twice invoice amount treatment copay statement cost
records records+manager archivist document+control | file copy record archive old history retrieve filed folder request
interpreter sign+language | speak speaks language vietnamese arabic turkish understand word translate
patient+advocate ombudsman complaints | complaint waited rude nobody unhappy treated talked relatives unfair
ethics | decision disagree moral life consent dilemma right conflict relatives switch
clinical+trial clinical+research study+manager | trial study volunteers drug placebo participants enroll protocol consent
statistician biostatistician | significant sample subjects result test confidence p-value study evaluate size correlation
instructor lecturer educator professor teaching+assistant | class students explain lesson teach injection exercise lecture homework first-year
curriculum timetable course+planner academic+planning | lessons term timetable course semester module spring move schedule
librarian literature library | papers book journal literature article find loan borrow reading database
biomedical medical+device device+technician | pump monitor ventilator device infusion alarm beeps defibrillator calibrate scanner
sterile sterilization | instrument scalpel clamp sterile set tray autoclave clean
laundry linen | sheets gown linen uniform wash towels bed fresh
porter transport+aide courier messenger | bring take push carry wheelchair sample bed down collect
parking car+park valet | parking car barrier ticket park space garage
radiation nuclear | dose dosimeter radiation xray reactor lead shielding badge
duty+roster rota roster shift+planner workforce+planning staffing | shift swap sunday night duty cover weekend roster off staff plan
malpractice liability+lawyer defense | sue claim damages forgot court negligence lawsuit
fundraiser fundraising donations philanthropy sponsorship | donate donor money sponsor gift campaign charity gala pledge raise
spokesperson press+office media+officer publicist | tv station film reporter journalist interview statement newspaper camera media
volunteer volunteers | free pay retired time give help helpers unpaid
interface+developer integration+developer integration+engineer middleware api+integration integrations | interface message transfer hl7 exchange sync connect transferred api webhook systems mapping
dean faculty rector provost | faculty degree department professors
student+advisor academic+advisor student+services | student degree study choose semester drop course credits struggling
financial+aid scholarship bursar | scholarship tuition fee grant loan afford
housing dormitory residence accommodation | room dorm apartment roommate rent flat
career placement | internship job cv career interview graduate
mayor council+clerk city+clerk clerk | council session agenda resolution vote minutes
building+inspector building+permits planning zoning | permit build garage extension fence house plans zone
tax+office revenue | tax property assessment dog
civil+registry registry passport+office | birth certificate marriage passport id married name death
road+maintenance public+works streets | pothole road street sidewalk snow lamp sign bridge
sanitation waste+collection | garbage bin trash collected recycling bulky
water+works utility | water pressure pipe tap bill meter brown
parks forestry gardens | tree bench park playground lawn bush branch
animal+control animal+shelter | dog stray cat found bite
fire+brigade firefighter | fire smoke smell hydrant burning
police patrol officer detective | stolen theft noise neighbor burglary report speed
traffic traffic+engineer | traffic light jam parking sign crossing signal
kindergarten nursery daycare | child place kindergarten daycare toddler
school principal | school pupil class teacher holidays
museum curator exhibitions | exhibition painting artist loan collection
theater stage+manager | play stage ticket rehearsal actors
lifeguard pool | pool swim swimming
concierge guest+services | taxi recommend tour tickets guest opera restaurant tonight
front+desk night+auditor receptionist | checkin checkout key room early late luggage
housekeeping room+attendant housekeeper | towels sheets clean minibar pillow room dirty bed
bartender sommelier barista | cocktail wine coffee drink bottle
waiter server restaurant+manager maitre | table reservation guests seats bill waiter dinner terrace
chef cook kitchen pastry | soup dinner menu dish steak cold vegetarian cake allergy breakfast bread
banquet catering | wedding buffet banquet guests catering reception
spa masseur wellness | massage sauna treatment facial
revenue+manager yield | rate occupancy price season discount
flight+dispatcher flight+operations | flight plan weather route fuel delay
pilot captain first+officer | cockpit landing takeoff fly
cabin+crew flight+attendant purser | passenger seat cabin meal board
ground+crew ramp baggage | baggage suitcase lost luggage belt loading
gate+agent check-in+agent | boarding passenger missed connection upgrade seat
air+traffic+controller | runway clearance tower
aircraft+mechanic aviation+technician | engine wing landing gear turbine inspection
navigator helm navigation helmsman | course heading route map star chart position
communications+officer comms signals radio+operator | message transmit channel hail frequency signal radio broadcast receive
science+officer astrophysicist | anomaly sensor scan readings probe experiment planet sample nebula
chief+engineer engineering+officer propulsion engine+room | engine reactor warp core power coolant drive thrust conduit repair
tactical+officer weapons | shield weapon torpedo threat target enemy hostile lock
security+chief security+officer | intruder brig guard armed threat escort
medical+officer sickbay ship+doctor | injured wound sick crew examination medicine
quartermaster supply logistics+officer | supplies ration stock spare cargo requisition
first+officer executive+officer xo chief+of+staff executive coordinator | ~lead assign delegate distribute reassign coordinate coordination divide hand+…+out break+…+into+…+task who+does+what | crew duty discipline order sprint workload objective decompose staff direct plan sequence piece ticket supervise oversee
captain commander commanding commanding+officer | ~lead ~command command take+charge take+command take+over overall both+departments both+branches both+teams | decision mission priority department coordinate responsibility decide
counselor morale | crew mood stress talk
intelligence+analyst intelligence sigint | intercept assessment | source intelligence threat target collect
portfolio+manager fund+manager | portfolio shares buy sell fund rebalance
trader trading | trade sell buy order stock market
credit+analyst underwriter loan+officer | loan mortgage credit risk borrower approve income house
branch+teller teller | deposit withdraw cash account card
compliance+officer aml | suspicious transaction money laundering sanction rule report
fraud+analyst | fraud stolen card unusual suspicious charge
actuary | risk table probability premium
claims+handler claims | claim damage accident water car report
quant risk+analyst risk+manager | risk exposure loss scenario stress
film+director director | scene shoot actor script set
screenwriter scriptwriter | script dialogue scene ending plot
sound+engineer sound+designer | sound noise mix microphone volume hiss
lighting gaffer | light lamp dark scene
costume wardrobe | costume dress suit
makeup | makeup wig scar face
set+designer props | set prop furniture background
film+editor editor | cut edit footage scene long trim
visual+effects vfx | effect explosion green screen digital
casting | actor role audition extras
location+scout | location place permit shoot
agronomist crop+manager | wheat field soil yield corn fungus leaves seed spray
livestock herdsman herd | cow calf pig feed milk barn sick herd sheep
tractor agricultural+mechanic | tractor harvester engine baler
beekeeper | bee hive honey
winemaker cellar vineyard | wine grape vintage barrel cellar bottle harvest
forester ranger | tree forest deer wood trail
veterinarian vet | horse dog cow cat limping vaccine animal
electrician | power socket fuse cable wiring switch short light
plumber | tap pipe leak drain toilet water blocked
roofer | roof tile gutter leak
painter decorator | paint wall color wallpaper
locksmith | lock key door locked
mason bricklayer | wall brick concrete plaster
welder | weld steel seam metal
surveyor land+surveyor | measure boundary plot land
structural+engineer | beam load crack wall calculation
crane excavator heavy+equipment | crane dig lift excavator
release+manager release | release version changelog freeze ship cut tag
scrum+master agile | sprint retro standup board team velocity
solution+architect software+architect enterprise+architect | architecture design system decision scale diagram service pattern monolith
game+designer | level balance player reward mechanic
localization+manager | string language translate locale
accessibility | screen reader contrast keyboard accessible
support+engineer technical+support | customer ticket integration error log help
machine+learning+engineer mlops | model training gpu inference serve drift
prompt+engineer | prompt model answer wording hallucinate
penetration+tester red+team | exploit attack test hack weaknesses
devrel developer+advocate developer+relations | community talk conference sdk sample developers
license+manager open+source+office | license opensource gpl
knowledge+manager | wiki knowledge article documentation
chief+financial cfo | finance investors funding board cash
chief+technology cto | technology stack architecture decision
chief+executive ceo | company vision board direction
investor+relations | shareholder investor annual earnings dividend
mergers corporate+development | acquisition merger due diligence takeover
dietitian nutritionist diet | eat diabetic gluten celiac meal lactose calories weight nutrition vegan sugar
receptionist | visitor lobby call
cleaner cleaning+supervisor cleaning | spill corridor dirty floor mop bathroom stain clean room dust smell
""".strip()


GAP: Final = "…"
"""Stands in a phrase for a few words that do not matter: `walk … through`."""


class Trade(NamedTuple):
    """A kind of work."""

    titles: tuple[tuple[str, ...], ...]
    """What people who do it are called, as stems."""
    words: frozenset[str]
    """Stems of the words that its requests use, titles included, and its phrases."""
    hints: frozenset[str]
    """Those that requests of other trades use as well: they count half."""


@cache
def groups_by_stem() -> dict[str, tuple[str, ...]]:
    """The groups of words of one meaning that each stem belongs to."""
    found: dict[str, dict[str, None]] = {}
    for line in _ALIKE.splitlines():
        for word in line.removeprefix("= ").replace("-", " ").split():
            found.setdefault(stem(word), {})[f"={crc32(line.encode()):x}"] = None
    return {word: tuple(groups) for word, groups in found.items()}


@cache
def trades() -> dict[str, Trade]:
    """Every trade by its key, which lasts as long as its line is not changed."""
    found = {}
    for line in _TRADES.splitlines():
        titles, words, *more = line.split("|")
        names = tuple(tuple(map(stem, title.split("+"))) for title in titles.split())
        said, hints = _stems(words), _stems(" ".join(more))
        # A title of several words says what it says together only.
        said |= {name[0] for name in names if len(name) == 1}
        found[f"~{crc32(line.encode()):x}"] = Trade(names, said | hints, hints - said)
    return found


def _stems(words: str) -> frozenset[str]:
    return frozenset(
        " ".join(map(stem, each.split("+"))) if "+" in each else each if each.startswith("~") else stem(each)
        for word in words.split()
        for each in ([word] if "+" in word else word.split("-"))
    )


@cache
def trades_by_stem() -> dict[str, tuple[str, ...]]:
    """The trades that each stem or phrase is of."""
    found: dict[str, list[str]] = {}
    for key, trade in trades().items():
        for word in trade.words:
            found.setdefault(word, []).append(key)
    return {word: tuple(keys) for word, keys in found.items()}


@cache
def known_words() -> frozenset[str]:
    """Every word of the lists as it is written, for what is misspelled."""
    return frozenset(re.findall(r"[a-z]{4,}", f"{_ALIKE} {_TRADES}"))


@cache
def phrases_by_first_stem() -> dict[str, tuple[tuple[str, ...], ...]]:
    """Phrases as stems, by the first of these, the longest first."""
    found: dict[str, list[tuple[str, ...]]] = {}
    for phrase in trades_by_stem():
        if " " in phrase:
            stems = tuple(phrase.split())
            found.setdefault(stems[0], []).append(stems)
    return {
        first: tuple(sorted(each, key=lambda stems: (-len(stems), stems))) for first, each in found.items()
    }


@cache
def trades_by_title_of_words() -> dict[str, tuple[str, ...]]:
    """The trades with titles of several words, by the first of these."""
    found: dict[str, dict[str, None]] = {}
    for key, trade in trades().items():
        for title in trade.titles:
            if len(title) > 1:
                found.setdefault(title[0], {})[key] = None
    return {word: tuple(keys) for word, keys in found.items()}
