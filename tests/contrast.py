"""How far two colours stand out from each other, as WCAG 2 computes it."""

import re


def contrast(one: str, other: str) -> float:
    """1 to 21; 4.5 is the least for text (AA), 3 for large text and for edges of controls."""
    darker, lighter = sorted((luminance(one), luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


def luminance(colour: str) -> float:
    parts = [int(colour[start : start + 2], 16) / 255 for start in (1, 3, 5)]
    linear = [x / 12.92 if x <= 0.04045 else ((x + 0.055) / 1.055) ** 2.4 for x in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def themes(css: str) -> list[dict[str, str]]:
    """The colours by name of each `:root` block: light, then dark."""
    blocks = re.findall(r":root \{(.*?)\}", css, re.S)
    return [dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6})", block)) for block in blocks]
