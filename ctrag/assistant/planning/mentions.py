"""Which contacts a mention names: "Anna Holt", "isatou", "my mum", "the plumber"."""

import re
from collections.abc import Container, Sequence
from difflib import SequenceMatcher

from ctrag.assistant.planning.given_names import forms_of, same_given_name, sounded
from ctrag.text.words import STOPWORDS, stems, words
from stores.people.items import Contact

_ALIKE = """
mother mum mom mama mamma mam mummy mommy momma ma amma ammi maman mutti mutter madre mae ima umma
father dad daddy papa pa pop pops baba abba abbu appa babbo vater padre pai tata
grandmother grandma granny gran nana nan nonna oma abuela babushka lola yiayia halmoni avo
grandfather grandpa grandad granddad gramps opa nonno abuelo dedushka lolo pappou
wife missus spouse
husband hubby spouse
partner girlfriend boyfriend fiance fiancee
brother bro
sister sis
son boy lad
daughter girl
aunt auntie aunty tia khala
uncle tio chacha
cousin cuz
child kid children
boss manager supervisor chief
colleague coworker workmate
landlord landlady
flatmate roommate housemate
neighbour neighbor
friend mate pal buddy
doctor gp physician dr doc
therapist counsellor counselor psychologist psychotherapist shrink
physio physiotherapist
babysitter sitter nanny childminder
hairdresser barber stylist
trainer coach instructor
cleaner housekeeper
lawyer solicitor attorney
pharmacist chemist pharmacy
accountant bookkeeper
electrician sparky
vet veterinarian
mechanic garage
dentist orthodontist
teacher tutor
priest vicar pastor
"""
"""Words for one relation, a line each; a word may stand in several."""
_RELATIONS: dict[str, frozenset[int]] = {}
for _line, _words in enumerate(_ALIKE.split("\n")):
    for _word in _words.split():
        _RELATIONS[_word] = _RELATIONS.get(_word, frozenset()) | {_line}
RELATIONS = frozenset(_RELATIONS)
"""Words for what somebody is to somebody."""
_HONORIFICS = """
mr mrs ms miss sir madam ser monsieur madame mademoiselle signor signora herr frau senor senora
senorita don dona hanim hanım bey efendi abi abla agha khanum ji sahib bhai didi san sama kun chan
sensei ssi nim pan pani seu
"""
"""Folded words of address."""
_FILLERS = STOPWORDS | frozenset(f"old dear please hey {_HONORIFICS}".split())
_TITLES = frozenset("boss chief aunt auntie aunty uncle landlord landlady coach".split())
"""Words for a relation that, in a name, say what the person is: "Boss Lind", "Auntie Mo"."""
_BY_NAME, _BY_INITIAL, _BY_SOUND, _BY_FORM, _BY_RELATION = 1.0, 0.9, 0.8, 0.75, 0.7
_WHOLE_RELATION = 0.05
"""For a relation of which nothing is left over."""
_ALIKE_LETTERS = 0.84
"""Similarity from which two names are one, spelled otherwise: "isatu" and "isatou"."""
_SHORT_NAME = 4
"""Letters of a shortened name at most: "jo", "nat", "alex"."""
_COMMON = frozenset(
    "all both team work boss bank mail home shop car bus mate chef vet doc prof lady man men kid "
    "kids lads lad girl boys crew band club gym pool dad mum mom gran nan aunt sis bro son wife "
    "rest lot guys folk cab taxi cat dog barn farm inn pub bar cafe spa lab post park port dean "
    "rev".split()
)
"""Words that are no beginnings of names."""
_HONORIFIC = frozenset(_HONORIFICS.split()) | {"dr", "prof", "professor", "doctor", "coach"}
_ENOUGH = 0.5
"""Share of the mention's words that must fit."""
_GROUPS = {
    "parents": ("mother", "father"),
    "folks": ("mother", "father"),
    "grandparents": ("grandmother", "grandfather"),
    "kids": ("son", "daughter", "child"),
    "children": ("son", "daughter", "child"),
    "siblings": ("brother", "sister"),
}
"""Words for several, with what each of them is."""
_LAST_INITIAL = re.compile(r"\s([A-Z])\.?$")
_OWNER = re.compile(r"['’]s\s+|(?<=s)['’]\s+")
_WHOSE = re.compile(r"\b(\w{1,40})(?:['’]s|(?<=s)['’])\s")
_NOT_THAT = re.compile(r"\bin[- ]law\b|\b(?:ex|former)[- ]", re.IGNORECASE)
"""What makes of a relation another: an "ex-wife" is no wife."""
_OTHERS = frozenset("assistant secretary driver carer nurse agent lawyer ex date".split())
"""Further words for what somebody is to somebody; "Ole's mobile" is Ole."""
_SERVES = frozenset(
    "teacher tutor coach trainer instructor school nursery kindergarten creche doctor gp doc "
    "pediatrician paediatrician dentist orthodontist vet groomer babysitter sitter nanny "
    "childminder therapist physio barber hairdresser club class".split()
)
"""Those whom somebody has for a child or a pet: "Leo's teacher" may stand there as "teacher"."""
_YOUNG = frozenset("son daughter child kid kids children baby boy girl dog cat puppy pet".split())


def mentioned(mention: str, contacts: Sequence[Contact]) -> list[Contact]:
    """The contacts that fit a mention best; several where it does not tell them apart.

    A word that is part of the name or a nickname counts most, one that only sounds like it or that
    names the relation, the job or the organisation less; a full name is always the one meant.
    Another surname is another person: "Anna Smith" is not Anna Berg, and "Leo's mum" is not Leo.

    Args:
        mention: The words of the request that name somebody.
        contacts: The person's contacts.

    Returns:
        In the order of `contacts`; empty when nobody fits.
    """
    exact = [one for one in contacts if words(one.name) == words(mention)]
    if exact:
        return exact
    wanted = [word for word in words(mention) if word not in _FILLERS]
    initial = _LAST_INITIAL.search(mention)
    if wanted and initial and initial[1].lower() in _FILLERS:
        wanted.append(initial[1].lower())  # "Ann S." is no "Ann's"
    called = [one for one in contacts if wanted in map(words, one.nicknames)]
    if called and wanted:
        return called
    if len(parts := _OWNER.split(mention, maxsplit=1)) == 2 and words(parts[1]):
        return _possessed(parts[0], parts[1], contacts)
    if not wanted:  # "Will" and "May" are names too
        names = {word for one in contacts for word in words(one.name)}
        wanted = [word for word in words(mention) if word in names]
    if not wanted:
        return []
    capital = frozenset(
        one for word in mention.split() if word[:1].isupper() for one in words(word)
    )
    scores = [_score(wanted, contact, capital) for contact in contacts]
    best = max(scores, default=0.0)
    if best < _ENOUGH * _BY_RELATION:
        return []
    return [one for one, score in zip(contacts, scores, strict=True) if score > best - 1e-9]


def grouped(mention: str, contacts: Sequence[Contact]) -> list[Contact]:
    """All those whom one word for several names: "my parents", "the kids", "my sisters", "the
    Quists". Empty where it names fewer than two."""
    wanted = [word for word in words(mention) if word not in _FILLERS]
    if len(wanted) != 1:
        return []
    word, single = wanted[0], wanted[0].removesuffix("s")
    kinds = _GROUPS.get(word, (single,) if single != word and single in RELATIONS else ())
    found = [one for kind in kinds for one in mentioned(kind, contacts)]
    if not kinds and single != word and re.search(r"\bthe\s", mention, re.IGNORECASE):
        found = [one for one in contacts if words(one.name)[1:] and words(one.name)[-1] == single]
    return list(dict.fromkeys(found)) if len(set(found)) > 1 else []


def shortened(mention: str, contacts: Sequence[Contact]) -> Contact | None:
    """The one contact whose first name begins with the one word of a mention: "jo" is Joanna. None
    where nobody's or several people's does."""
    wanted = [word for word in words(mention) if word not in _FILLERS]
    if len(wanted) != 1 or not 2 <= len(wanted[0]) <= _SHORT_NAME or wanted[0] in _COMMON:
        return None
    found = [
        one
        for one in contacts
        for first in words(one.name)[:1]
        if first.startswith(wanted[0]) and first not in _HONORIFIC
    ]
    return found[0] if len(found) == 1 else None


def told_apart(contacts: Sequence[Contact], request: str) -> list[Contact]:
    """Those of several contacts of whom the request names the whole organisation, job or relation:
    "call Anna at the tax office". All of them where it names none's."""
    said = set(words(request))
    told = [
        one
        for one in contacts
        for text in (one.organisation, one.title, one.relation)
        if text and {word for word in words(text) if word not in STOPWORDS} <= said
    ]
    return list(dict.fromkeys(told)) or list(contacts)


def _score(wanted: Sequence[str], contact: Contact, capital: Container[str]) -> float:
    names = _names(contact)
    relation = [word for word in words(contact.relation) if word not in _FILLERS]
    work = [word for word in words(contact.organisation) if word not in _FILLERS]
    about = [*relation, *(word for word in words(contact.title) if word not in _FILLERS)]
    if not any(_fit(word, names, _without_whose(contact, about, wanted)) for word in wanted):
        about = []
    if work and (set(work) <= set(wanted) or any(_fit(word, names, about) for word in wanted)):
        about += work  # "the office" alone is nobody's: "Anna at the office" is
    given = _given(contact)
    found = [max(_fit(word, names, about), _form(word, given)) for word in wanted]
    if len(wanted) > 1 and len(wanted[-1]) == 1 and found[0] and not found[-1]:
        initial = any(name.startswith(wanted[-1]) for name in names[1:])
        found[-1] = _BY_INITIAL if initial else 0.0
        if not initial:
            return 0.0
    if sum(score > 0 for score in found) < _ENOUGH * len(wanted):
        return 0.0
    unfit = [word for word, score in zip(wanted, found, strict=True) if not score]
    if any(word in capital for word in unfit) and not set(names) <= set(wanted):
        return 0.0
    # "mum" is the mother rather than the mother of a friend.
    whole = sum(_fit(word, (), wanted) > 0 for word in relation) / max(len(relation), 1)
    return sum(found) / len(wanted) + _WHOLE_RELATION * whole


def _possessed(whose: str, head: str, contacts: Sequence[Contact]) -> list[Contact]:
    """Those who are something to somebody: "Ole's sister", "the kids' school"."""
    owner, wanted = (
        [word for word in words(part) if word not in _FILLERS] for part in (whose, head)
    )
    if not owner or not set(wanted) & (RELATIONS | _SERVES | _OTHERS | _roles(contacts)):
        return mentioned(whose if owner else head, contacts)
    scores = []
    for one in contacts:
        known = " ".join((one.relation, one.title, one.organisation))
        about, names = [word for word in words(known) if word not in _FILLERS], _names(one)
        fits = [_fit(word, names, about) for word in wanted]
        owns = all(_fit(word, names, about) for word in owner)
        enough = sum(score > 0 for score in fits) >= _ENOUGH * len(fits)
        scores.append(sum(fits) / len(fits) if owns and enough else 0.0)
    if best := max(scores, default=0.0):
        return [one for one, score in zip(contacts, scores, strict=True) if score > best - 1e-9]
    if not set(wanted) & _SERVES and set(wanted) & RELATIONS:
        return []
    young = all(set(words(one.relation)) & _YOUNG for one in mentioned(whose, contacts))
    if not young or (set(owner) & RELATIONS and not set(owner) & _YOUNG):
        return []  # of one's mother's doctor is not one's own
    return [one for one in mentioned(head, contacts) if not _WHOSE.search(one.relation)]


def _roles(contacts: Sequence[Contact]) -> frozenset[str]:
    """What contacts are, by its last word: of "class teacher, grade two" "teacher"."""
    said = (
        words(text)[-1:] for one in contacts for text in (one.relation.split(",")[0], one.title)
    )
    return frozenset().union(*said)


def _without_whose(contact: Contact, about: Sequence[str], wanted: Sequence[str]) -> Sequence[str]:
    """What is known of a contact without those whose it is: a wife's sister is no wife."""
    relation = words(contact.relation)
    whose = {word for name in _WHOSE.findall(contact.relation) for word in words(name)}
    if "of" in relation:
        whose |= RELATIONS & set(relation[relation.index("of") :])
    if not {"law", "ex", "former"} & set(wanted):
        others = (one for one in contact.relation.split(",") if _NOT_THAT.search(one))
        whose |= RELATIONS & {word for one in others for word in words(one)}
    return [word for word in about if word not in whose]


def _given(contact: Contact) -> list[str]:
    first = [word for word in words(contact.name) if word not in _HONORIFIC][:1]
    return [*first, *(word for nick in contact.nicknames for word in words(nick))]


def _form(word: str, given: Sequence[str]) -> float:
    """How well a word fits as another form of a first name, or one that is heard alike."""
    if word in RELATIONS:
        return 0.0
    if len(word) > 2 and any(len(one) > 2 and sounded(word) == sounded(one) for one in given):
        return _BY_SOUND
    return _BY_FORM if any(same_given_name(word, one) for one in given) else 0.0


def _names(contact: Contact) -> list[str]:
    """Words of the name and the nicknames; "Mi-sun" is also called "misun"."""
    called = " ".join((contact.name, *contact.nicknames))
    joined = [re.sub(r"[-‐]", "", one) for one in re.findall(r"\b\w+(?:[-‐]\w+)+", called)]
    return words(" ".join((called, *joined)))


def _fit(word: str, names: Sequence[str], relation: Sequence[str]) -> float:
    if word in names:
        # "Sister Agnes" is hardly anybody's sister; who is called "Boss" is the boss.
        return _BY_RELATION if word in _RELATIONS and word not in _TITLES else _BY_NAME
    if len(word) > 3 and any(
        len(name) > 3 and SequenceMatcher(None, word, name).ratio() >= _ALIKE_LETTERS
        for name in names
    ):
        return _BY_SOUND
    alike = _RELATIONS.get(word)
    if any(
        word == other or stems([word]) == stems([other]) or (alike and alike & _of(other))
        for other in relation
    ):
        return _BY_RELATION
    return 0.0


def _of(word: str) -> frozenset[int]:
    return _RELATIONS.get(word, frozenset())


def mention_words(contact: Contact) -> frozenset[str]:
    """Folded words by which a request may mention the contact, for training."""
    said = " ".join((contact.relation, contact.title, contact.organisation))
    relation = [word for word in words(said) if word not in _FILLERS]
    lines = frozenset().union(*(_of(word) for word in relation))
    alike = {word for word, own in _RELATIONS.items() if own & lines}
    names = words(" ".join((contact.name, *contact.nicknames)))
    forms = (forms_of(name) for name in _given(contact))
    return frozenset().union(names, relation, alike, *forms)
