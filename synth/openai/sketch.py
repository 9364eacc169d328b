"""Random traits chosen before the model is asked, so that people differ."""

import random
from datetime import datetime, timedelta

from stores.people.dataset import Kind

_REGIONS = (
    "Scandinavia, the British Isles, France, the Iberian Peninsula, Italy, the German-speaking "
    "countries, Poland, the Balkans, Greece, Turkey, the Maghreb, West Africa, East Africa, "
    "Southern Africa, the Gulf states, Iran, India, Sri Lanka, Southeast Asia, Indonesia, the "
    "Philippines, China, Korea, Japan, Australia, New Zealand, Brazil, the Andes, Argentina, "
    "Central America, Mexico, the Caribbean, the east of Canada, the Prairies, New England, the "
    "American South, the Midwest, California"
).split(", ")
_WORK = (
    "care and nursing, farming, teaching, a kitchen, transport, building, an office of the state, "
    "software, research, a shop, music or theatre, sport, law, a workshop, journalism, religion, "
    "forestry or fishing, a bank or insurance, design, the police or fire brigade, logistics, "
    "energy, tourism, medicine, cleaning, languages, a trade union, study, retirement, looking for "
    "work"
).split(", ")
_HOUSEHOLDS = (
    "alone, with a partner, with a partner and small children, with teenagers, as a single parent, "
    "with parents, in a shared flat, with grandparents, with a dog, with a cat, in a commune"
).split(", ")
_MUSIC = (
    "pop, rock, jazz, classical, folk, hip-hop, electronic, metal, soul, country, reggae, film "
    "scores, punk, opera, afrobeat, salsa"
).split(", ")
_FILMS = (
    "romance, comedy, thriller, documentary, science fiction, animation, drama, horror, westerns, "
    "crime, fantasy, musicals"
).split(", ")
_FOOD = (
    "Italian, Thai, Mexican, Indian, Japanese, Turkish, Ethiopian, French, Korean, Lebanese, "
    "Vietnamese, Peruvian, Georgian, Polish, Moroccan, Spanish"
).split(", ")
_SPORT = (
    "football, tennis, swimming, cycling, climbing, handball, cricket, rowing, boxing, hiking, "
    "basketball, chess, badminton, sailing, running, none"
).split(", ")
_FIRST_DAY = datetime(2024, 1, 8)
_DAYS = 1000

KIND_DESCRIPTIONS: dict[Kind, str] = {
    "now": "makes sense only at this moment: something begins, is late, rings or plays right now",
    "reference": "points at a person or thing by a pronoun, a role or a vague word, not by name",
    "habit": "asks for what the person always does at this hour or in this place",
    "mismatch": "means an item but shares no content word with anything that the item says",
    "write": "changes, adds, moves or deletes something",
    "multi": "can only be answered with items of two applications together",
    "refind": "looks for something that the person saw, read or did before",
    "explicit": "says everything that is needed; a control beside the implicit ones",
    "no_tool": "something that none of the APIs can do; the relevant items may be empty",
}
"""Description of each kind of request."""


def sketch(generator: random.Random) -> dict[str, str]:
    """Traits that a new person must have."""
    return {
        "age": str(generator.randint(16, 84)),
        "region": generator.choice(_REGIONS),
        "field of work": generator.choice(_WORK),
        "lives": generator.choice(_HOUSEHOLDS),
        "favourite music": generator.choice(_MUSIC),
        "favourite films": generator.choice(_FILMS),
        "favourite food": generator.choice(_FOOD),
        "favourite sport": generator.choice(_SPORT),
        "initials": "".join(generator.choices("ABCDEFGHIJKLMNOPRSTUVWYZ", k=2)),
    }


def moment(generator: random.Random) -> datetime:
    """When the phone's contents are captured: any day, between 6:00 and 23:00."""
    day = _FIRST_DAY + timedelta(days=generator.randrange(_DAYS))
    return day + timedelta(minutes=generator.randrange(6 * 60, 23 * 60))
