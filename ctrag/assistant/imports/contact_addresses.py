"""Postal addresses in tables of contacts, whose parts are columns of their own."""

from collections.abc import Iterator, Mapping
from functools import cache

_PARTS = {
    "whole": "formatted",
    "more": "extended address, address 2, street 2, street address 2, adresse 2",
    "box": "po box, postfach, boîte postale, apartado postal, casella postale",
    "code": "postal code, zip code, zipcode, zip, postcode, postleitzahl, plz, code postal, "
    "código postal, cap, codice postale, postnummer, postnr, kod pocztowy, psč, postinumero, "
    "posta kodu, irányítószám, индекс, почтовый индекс",
    "city": "city, town, locality, ort, stadt, wohnort, ville, ciudad, población, localidad, "
    "città, località, stad, plaats, woonplaats, poststed, miasto, miejscowość, město, cidade, "
    "kaupunki, şehir, település, город",
    "region": "state, region, province, bundesland, département, provincia, estado, região",
    "country": "country region, country, land region, land regio, land, pays région, pays, "
    "país o región, país região, país, paese, kraj region, kraj, země, maa, ülke, ország, страна",
    "street": "street address, street, straße, strasse, rue, calle, straat, gatuadress, gata, "
    "gateadresse, ulica, ulice, rua, katuosoite, sokak, utca, улица, address, adresse, dirección, "
    "indirizzo, adres, endereço, cím, адрес",
}
"""Parts of an address and words for each; the rest of a heading says which address."""
_ONLY_LAST = {"address", "adresse", "dirección", "indirizzo", "adres", "endereço", "cím", "адрес"}
"""Words that are followed by numbers and labels of whole addresses, too."""
_OTHERS = ("mail", "courriel", "correo", "web", "ip ", "label", "type", "custom")
"""In headings of what is no postal address."""


def addresses(row: Mapping[str, str]) -> Iterator[str]:
    """The postal addresses of a row by `folded` heading: street, town and country of each."""
    found: dict[str, dict[str, str]] = {}
    for heading, value in row.items():
        place = _place(heading)
        if place is not None and value:
            part, which = place
            found.setdefault(which, {}).setdefault(part, value)
    for parts in found.values():
        lines = [line.strip() for line in parts.get("whole", "").splitlines()]
        if not any(lines) and ("street" in parts or "city" in parts):
            town = " ".join(filter(None, (parts.get("code"), parts.get("city"))))
            lines = [parts.get(one, "") for one in ("street", "more", "box")]
            lines += [town, parts.get("region", ""), parts.get("country", "")]
            lines = [" ".join(one.split("\n")).strip() for one in lines]
        if any(lines):
            yield ", ".join(filter(None, lines))


@cache
def _words() -> list[tuple[str, str]]:
    """(word, part), the longest first."""
    every = [(word.strip(), part) for part, words in _PARTS.items() for word in words.split(",")]
    return sorted(every, key=lambda one: -len(one[0]))


@cache
def _place(heading: str) -> tuple[str, str] | None:
    """Which part of which address a column has."""
    if any(other in heading for other in _OTHERS):
        return None
    for word, part in _words():
        if heading == word or heading.endswith(f" {word}"):
            return part, heading[: -len(word)].strip()
        if word not in _ONLY_LAST and heading.startswith(f"{word} "):
            return part, heading[len(word) :].strip()
    return None
