"""To whom a request wants something said: "tell Anna …", "drop Dr. Wexler a line".

The person behind such a verb receives what is sent, whoever else is named in the message.
"""

import re
from collections.abc import Container, Sequence
from itertools import pairwise

from ctrag.assistant.context import item_text
from ctrag.assistant.planning.mentions import mention_words, mentioned
from ctrag.assistant.planning.plan import Plan
from ctrag.text.words import STOPWORDS, telling_words, words
from stores.people.items import Contact, Item

_LEAD = (
    r"^\W*(?:(?:please|hey|oh|ok|okay|and|but|so|well|uh|um|now|then|also|just|can you|could you"
    r"|will you|would you|i need to|i have to|i should|i must|i've got to|i gotta|i want to|i wanna"
    r"|i'd like to|i (?:want|need) you to|i'd like you to|quickly|let's|go)\W+)*"
)
_SOME = r"(?:(?:an?|the)\s+)?(?:(?:quick|short|little)\s+)?"
_MAIL = rf"{_SOME}(?:e-?mail|mail|message|note|line)"
_FRAME = re.compile(
    rf"{_LEAD}(?:(?:write|send|drop|shoot|get|pass)\s+{_MAIL}(?:\s+(?:back|on))?(?:\s+to)?"
    r"|(?:tell|ask|message|mail|e-?mail|ping|inform|warn|notify|remind|let|drop|shoot|send"
    r"|answer)|(?:write|reply|respond|say)(?: back)?(?: to)?)\s+",
    re.IGNORECASE,
)
"""Nobody is texted: there is no call for it, and who is behind "text" makes none likelier."""
_NOTE = rf"(?:{_MAIL}|{_SOME}text)"
_WHOM = r"[^,.;:!?]{1,40}?"
_SENDS = (
    rf"(?P<lead>{_LEAD})(?:(?:write|send|drop|shoot)\s+(?:{_NOTE}\s+to\s+(?P<first>{_WHOM})"
    rf"|(?:to\s+)?(?P<given>{_WHOM})\s+{_NOTE})"
    rf"|(?:write|mail|e-?mail|message|text)\s+(?:to\s+)?(?P<named>{_WHOM})(?:\s+{_NOTE})?)"
)
_WRITING = re.compile(
    rf"{_SENDS},?\s+(?P<what>(?:asking|to\s+ask)(?:\s+(?:him|her|them))?|saying)\s+"
    r"(?=(?:if|whether|that|how|what|when|where|why|who|which)\b)",
    re.IGNORECASE,
)
_ASKING = re.compile(
    rf"{_SENDS},?\s+(?:and|to)\s+(?P<verb>ask|tell|remind|thank)\s+(?:her|him|them)\s+",
    re.IGNORECASE,
)
_ARTICLES = frozenset("a an the quick short little".split())
_NOBODY = frozenset(
    "it this that these those me myself self yourself e-mail email mail message text note line "
    "letter list reminder back card photo photos picture pictures to from off about with".split()
)
"""Words of what is sent or written, and of nobody to whom it is."""
_LONGEST = 5
"""Words that name somebody at most."""
_OPENING = frozenset("my our the his her their dr mr mrs ms".split())
_INITIALS = frozenset("ABCDEFGHJKLMNOPQRSTUVWXYZ")
_ENDS = frozenset(
    "that i i'm i'll i've i'd we we're we'll we've if whether a an to know about when how what "
    "where why who which it's it there there's you please not and".split()
)
"""Words that begin what is said, and no name."""
_HER = re.compile(r"\bher\s+(?P<what>[^\W\d_][\w'’-]*)", re.IGNORECASE)
_GIVES = frozenset(
    "bring bringing give giving gave send sending owe owing get getting lend lending lent show "
    "showing make making made buy buying bought cook cooking bake baking pass hand offer teach "
    "teaching taught wish pay tell telling told".split()
)
"""Verbs before "her" and what she gets."""
_SEES_HER_DO = frozenset(
    "help helping helped let letting make making made have had see seeing saw seen hear hearing "
    "heard watch watching watched".split()
)
_DONE_BY_HER = frozenset(
    "paint move pack clean cook decorate plan choose find fix build carry look unpack sort set "
    "study revise decide write read learn leave sing play dance go come sleep eat drive walk swim "
    "run talk speak cry laugh fall win lose rest wait stay see hear know think do get have be "
    "settle shop practise practice prepare finish start stop pick try".split()
)
"""What somebody is helped or seen to do."""
_TAKES_HER = frozenset(
    "take taking took taken bring bringing brought drive driving drove get getting keep keeping "
    "kept leave leaving left see seeing saw hear hearing heard catch find found".split()
)
_DOING = frozenset(
    "shopping swimming dancing running walking sailing skiing fishing riding camping climbing "
    "bowling skating hiking cycling driving singing crying laughing waiting talking working "
    "sleeping going playing leaving coming sitting standing".split()
)
"""What she is taken or seen to be doing: "take her shopping", but "bring her knitting"."""
_NO_THING = frozenset(
    "very so too much really all both alone at on in to for with from by about after before "
    "until till over round the a an my our his their that if this these those it some any as "
    "and or but when where what how why who which whether because i we he she they you not no "
    "yes now today tonight tomorrow yesterday later soon again back up off out down there here "
    "home know think come go wait everything something anything nothing loads lots tons heaps "
    "plenty mine yours ours theirs inside outside upstairs downstairs early late first straight "
    "safe safely along through across around mid sometime earlier personally directly properly "
    "badly terribly dearly awfully next once twice more please thanks monday tuesday wednesday "
    "thursday friday saturday sunday".split()
)
"""Words behind "her" that nobody has: "tell her that", "meet her at six"."""
SENDS = ("send_mail", "reply_to_mail", "notify_attendees")
"""APIs that tell somebody what was said."""
_EVERYBODY = frozenset("everyone everybody all they them others team group guys folks lot".split())


def addressee(request: str, contacts: Sequence[Contact]) -> str:
    """The words that name whom something is said to; empty where no contact is addressed.

    Args:
        request: What was said.
        contacts: The person's contacts.
    """
    frame = _FRAME.match(request.replace("’", "'"))
    if frame is None:
        return ""
    mention = _named(request[frame.end() :].split()[:_LONGEST], contacts)
    if mention.endswith(("'s", "’s")):
        return ""  # "Ruth's mother" is not Ruth
    owner, whose, _ = mention.replace("’", "'").partition("'s ")
    if whose and mentioned(mention, contacts) == mentioned(owner, contacts):
        return ""  # "answer Ruth's open question"
    telling = telling_words(mention) or {*mention.split()} & {"Will", "May"}
    return mention if telling and mentioned(mention, contacts) else ""


def _named(said: Sequence[str], contacts: Sequence[Contact]) -> str:
    """The words at the beginning that name one contact: "Ruth" of "Ruth Leo is ill", "Leo's
    teacher"."""
    told = [
        (mention_words(one), set(words(" ".join((one.name, *one.nicknames))))) for one in contacts
    ]
    named: list[str] = []
    before: list[str] = []
    for word in said:
        bare = word.strip(".,:;!?\"'“”()")
        folded = bare.casefold().replace("’", "'")
        parts = words(folded.removesuffix("'s"))
        if len(parts) > 1:
            parts = [part for part in parts if part not in STOPWORDS]  # "mother-in-law"
        if bare in _INITIALS and before:
            return " ".join([*named, bare])
        if not (folded.rstrip(".") in _OPENING and not named):
            if folded in _ENDS or not parts or not _names_on(before, parts, told):
                break
            before = [] if folded.endswith("'s") else [*before, *parts]
        named.append(bare)
        if word[-1:] in ",:;!?":
            break
    return " ".join(named)


def _names_on(
    before: Sequence[str],
    parts: Sequence[str],
    told: Sequence[tuple[Container[str], Container[str]]],
) -> bool:
    """Whether words go on naming somebody: names of one contact, no relation behind a name.

    Args:
        before: Words that name somebody.
        parts: Those of the next one.
        told: The words that mention each contact, and those of their names.
    """
    last = before[-1:]
    if not any(word in names for word in (*parts, *last) for _, names in told):
        return all(any(word in known for known, _ in told) for word in parts)
    return any(
        all(word in known for word in (*before, *parts))
        and (not any(word in names for word in last) or all(word in names for word in parts))
        and not set(parts) & set(before)
        for known, names in told
    )


def as_asked(request: str) -> str:
    """A request with its frame as it is mostly said: "write Ole asking if the tap drips" asks Ole
    if it does, "mail Ole and ask him for it" asks Ole, "mail Ole saying that" tells Ole that."""
    asking = _ASKING.match(request)
    found = asking or _WRITING.match(request)
    if found is None:
        return request
    whom = found["first"] or found["given"] or found["named"]
    named = set(re.findall(r"[\w'’-]+", whom.casefold())) - _ARTICLES
    if not named or not named.isdisjoint(_NOBODY):
        return request
    if asking is not None:
        verb = asking["verb"]
    else:
        verb = "tell" if found["what"].casefold().startswith("s") else "ask"
    return f"{found['lead']}{verb} {whom} {request[found.end() :]}"


def as_possessed(request: str, sent: str) -> str:
    """A request whose "her" is "your" before what the one addressed has, where a message was read
    without it: "tell Ida I'll feed her cat" is no "I'll feed you".

    Args:
        request: What was said.
        sent: The message that was read of it.
    """
    there = words(sent)
    if "you" not in there:
        return request

    def owned(found: re.Match[str]) -> str:
        noun = words(found["what"])[0]
        gives = words(request[: found.start()])[-1:]
        verb = gives[0] if gives else ""
        does = verb in _SEES_HER_DO and noun in _DONE_BY_HER
        if does or (verb in _TAKES_HER and noun in _DOING):
            return found[0]  # "help her paint", "take her shopping"
        single = verb not in _GIVES  # "bring her soup" has two objects
        read_as_object = noun not in there or (single and ("you", noun) in pairwise(there))
        return f"your {found['what']}" if read_as_object and noun not in _NO_THING else found[0]

    return _HER.sub(owned, request)


def reaches_others(
    plan: Plan, mention: str, contacts: Sequence[Contact], items: Sequence[Item], request: str
) -> bool:
    """Whether a message goes to others than the one it is for.

    Args:
        plan: A call; only those that send what was said can reach anybody.
        mention: What `addressee` found; where it is empty, nobody is told apart.
        contacts: The person's contacts.
        items: Those that the call may be about.
        request: What was said.
    """
    if not mention or plan.api not in SENDS:
        return False
    meant = [set(words(one.name)) for one in mentioned(mention, contacts)]
    if plan.api == "send_mail":
        reached = [str(plan.arguments.get("to", ""))]
    else:
        title = plan.arguments.get("title", plan.arguments.get("subject"))
        app = "calendar" if plan.api == "notify_attendees" else "mail"
        about = next((i for i in items if i.app == app and item_text.title(i) == title), None)
        reached = [] if about is None else [*item_text.people(about)]
        if plan.api == "notify_attendees" and set(words(request)) & _EVERYBODY:
            return False
    return not reached or not all(
        any(name & set(telling_words(one)) for name in meant) for one in reached
    )
