"""First names that are one: "Bob" and Robert, "Catherine" and "Katharine", "Sofia" and "Sophia"."""

import re
from functools import cache, lru_cache

from ctrag.text.words import fold

_SHORT_FORMS = """
abigail: abby abbie gail
alejandro: alex ale jandro
alexander alexandre aleksander aleksandr alexandr: alex alec al lex sandy sasha xander
alexandra aleksandra: alex lexi sandra sandy sasha
amanda: mandy
andrew andreas: andy drew
anthony antony antonio: tony ant toni
archibald: archie
arthur: art artie
barbara: barb babs barbie
benjamin: ben benny benji
bernadette: bernie
bernard: bernie
caroline carolyn: carrie caro
cassandra: cass cassie
catherine katherine katharine kathryn katarina: cathy cat kate katie kathy kat kitty kit
charles: charlie chuck chas chaz
charlotte: charlie lottie lotte
christina christine kristina kristin: chris chrissy tina kris
christopher kristoffer: chris kit topher
concepcion: concha conchita
cynthia: cindy
daniel: dan danny
danielle daniela: dani
david: dave davey davy
deborah: deb debbie debs
dmitri dmitry: dima mitya
dolores: lola
donald: don donny
dorothy: dot dottie
douglas: doug
eduardo: edu lalo
edward: ed eddie ted teddy ned
ekaterina yekaterina: katya
eleanor: ellie nell nora
elizabeth elisabeth: liz lizzie lizzy beth betty bess eliza lisa elsie
emily emilia: em emmy
enrique: quique kike
ernest: ernie
frances francesca: fran franny frankie
francis franklin frank: frank frankie fran
francisco: paco pancho fran
frederick fredrick friedrich: fred freddie freddy fritz
gabriel: gabe
gabriella gabriela gabrielle: gabby gabi
geoffrey jeffrey: geoff jeff
gerald gerard: gerry jerry
giovanni: gianni gio
giuseppe: beppe peppe
gregory: greg
guadalupe: lupe lupita
harold henry: harry hank hal
heinrich: heinz heini
ignacio: nacho
isabella isabel isobel isabelle: bella izzy belle
jacqueline: jackie jacqui
jacob jakob: jake
james: jim jimmy jamie
janet: jan
jennifer: jen jenny jenn
jessica: jess jessie
johannes johann: hans hannes
john: johnny jack jon
jonathan: jon jonny johnny
jose: pepe
joseph josef: joe joey
josephine: jo josie
joshua: josh
judith: judy jude
kenneth: ken kenny
kimberly kimberley: kim
lawrence laurence: larry laurie
leonard: len lenny leo
louis lewis: lou louie
louisa louise: lou
madeleine madeline: maddie maddy
malgorzata: gosia
manuel: manolo manu
margaret margarethe margarita: maggie meg peggy marge margie greta
maria: masha mari
matthew matteo: matt matty
maximilian: max
melanie: mel
melissa: mel missy
mercedes: merche
michael: mike mikey mick mickey micky
michelle: shelly
mikhail: misha
mohammed muhammad mohamed mohammad mohamad mehmet: mo
nathaniel nathan: nat nate
natalie natalia natalya: nat natasha talia
nicholas nicolas nikolaus: nick nicky nico klaus
nicole nicola: nicky nikki
nikolai: kolya
oliver olivier: ollie olly
olivia: liv livvy
pamela: pam
patricia: pat patty trish tricia
patrick: pat paddy
penelope: penny
peter: pete
philip phillip: phil
rachel: rach
raymond: ray
rebecca: becky becca bex
richard: rich rick ricky richie dick
robert: rob robbie bob bobby bert
roberta: bobbie robbie
ronald: ron ronnie
rosario: charo
samantha: sam sammy
samuel: sam sammy
sarah sara: sally
sebastian: seb bastian basti
stanislaw: staszek staś
stephanie: steph
stephen steven stefan: steve stevie
susan suzanne susanna: sue susie suzie
svetlana: sveta
tatiana tatyana: tanya
teresa theresa: terry tess tere
terence: terry
theodore: theo ted teddy
thomas: tom tommy
timothy: tim timmy
valerie: val
veronica: ronnie vero
victor viktor: vic
victoria: vicky vicki tori
vincent: vince vinny
vladimir: vova volodya
walter: walt wally
wilhelm: willi
william: will bill billy willy liam
winifred: winnie
zachary zachariah: zach zack zac
"""
"""Names and spellings of one name, and after the colon what who has it is called."""


@cache
def _lines() -> dict[str, tuple[frozenset[int], frozenset[int]]]:
    """Name → lines where it is the name itself, and where it is the short one."""
    found: dict[str, tuple[set[int], set[int]]] = {}
    for place, line in enumerate(_SHORT_FORMS.strip().split("\n")):
        whole, _, short = fold(line).partition(":")
        for kind, names in enumerate((whole, short)):
            for name in names.split():
                found.setdefault(name, (set(), set()))[kind].add(place)
    return {name: (frozenset(one), frozenset(other)) for name, (one, other) in found.items()}


def same_given_name(one: str, other: str) -> bool:
    """Whether two folded first names are forms of one name; two short ones are two people's: no
    "Kate" is "Kathy"."""
    lines = _lines()
    if one not in lines or other not in lines:
        return False
    (whole, short), (other_whole, other_short) = lines[one], lines[other]
    return bool(whole & other_whole or whole & other_short or short & other_whole)


@lru_cache(maxsize=10_000)
def forms_of(name: str) -> frozenset[str]:
    """The other forms of a folded first name: of "robert" "bob" and "rob", of "bob" "robert"."""
    return frozenset(one for one in _lines() if one != name and same_given_name(one, name))


@lru_cache(maxsize=10_000)
def sounded(name: str) -> str:
    """Letters that stand for the sound of a folded name: "eric" and "erik" have the same."""
    sound = re.sub(r"c(?=[eiy])", "s", name.replace("ph", "f").replace("ch", "k"))
    sound = sound.translate(str.maketrans("cqzy", "kksi"))
    sound = sound[:1] + sound[1:].replace("h", "")
    sound = re.sub(r"(?:ie|ei|ee)$", "i", sound)
    return re.sub(r"(.)\1+", r"\1", sound)
