"""LightGBM's trees as text, checked before they reach the library, which dies of damaged ones."""

import re
from typing import TYPE_CHECKING

from ctrag.errors import InputError

if TYPE_CHECKING:
    import lightgbm

_HEADER = re.compile(r"^(\w+)=(.*)$", re.MULTILINE)
_FIELD = re.compile(r"^(\w+)=([-+.a-f0-9in ]*)$", re.MULTILINE)
_OF_TREE = frozenset(("num_leaves", "num_cat", "leaf_value"))
_OF_LEAVES = ("leaf_value", "leaf_weight", "leaf_count")
_OF_NODES = (
    *("split_feature", "split_gain", "threshold", "decision_type", "left_child", "right_child"),
    *("internal_value", "internal_weight", "internal_count"),
)
_CATEGORICAL = 1
"""Bit of a decision type."""
_END = "end of trees"


def booster(text: str, name: object) -> "lightgbm.Booster":
    """The model that a text is, for predictions: without what it was trained with.

    Args:
        text: What LightGBM wrote.
        name: Where it is from, as an error names it.

    Raises:
        InputError: It is damaged: cut off, or with a tree whose parts do not add up.
    """
    import lightgbm

    try:
        return lightgbm.Booster(model_str=_checked(text))
    except (ValueError, LookupError, OverflowError, lightgbm.basic.LightGBMError) as error:
        raise InputError(f"{name}: damaged model of trees: {error}") from None


def _checked(text: str) -> str:
    """The text up to the end of its trees.

    Raises:
        ValueError, LookupError: The library would not survive it.
    """
    if not text.startswith("tree\n"):
        raise ValueError("it does not begin as one")
    if not text.isascii():  # the sizes of trees are bytes, by which the library finds them
        raise ValueError("it is not ASCII")
    head, found, _ = text.partition("\n\n")
    header = dict(_HEADER.findall(head))
    features = int(header["max_feature_idx"])
    bare = [one for one in head.split("\n")[1:] if "=" not in one and one != "average_output"]
    if bare or not header.get("objective", "none").strip():
        raise ValueError("a line of its beginning lacks its value")
    if (header["num_class"], header["num_tree_per_iteration"]) != ("1", "1"):
        raise ValueError("it has not one number as its answer")
    for name in ("feature_names", "feature_infos"):
        _check_counts(header, (name,), features + 1)
    place = len(head) + len(found)
    for number, size in enumerate(_numbers(header["tree_sizes"])):
        tree = text[place : place + size]
        first = f"Tree={number}\n"
        if not tree.startswith(first) or len(tree) < size:
            raise ValueError(f"tree {number} is not where it should be")
        try:
            _check_tree(tree.removeprefix(first), features)
        except (ValueError, LookupError) as error:
            raise ValueError(f"tree {number}: {error}") from None
        place += size
    if not text.startswith(_END, place):
        raise ValueError("it is cut off")
    return text[:place] + _END + "\n"


def _check_tree(tree: str, features: int) -> None:
    lines = [line for line in tree.split("\n") if line]
    fields = dict(_FIELD.findall(tree))
    if len(fields) != len(lines) or not fields.keys() >= _OF_TREE:
        raise ValueError("a line is no field")
    for values in fields.values():
        for one in values.split():
            float(one)
    leaves, categories = int(fields["num_leaves"]), int(fields["num_cat"])
    finite = "n" not in fields["leaf_value"]  # nan, inf; a threshold may be infinite
    if leaves < 1 or categories < 0 or not finite or fields.get("is_linear", "0") != "0":
        raise ValueError("it has no leaves that are finite numbers")
    if leaves == 1:
        return
    _check_counts(fields, _OF_LEAVES, leaves)
    _check_counts(fields, _OF_NODES, leaves - 1)
    used = _numbers(fields["split_feature"])
    if min(used) < 0 or max(used) > features:
        raise ValueError("it asks for a feature that there is not")
    _check_children(_numbers(fields["left_child"]), _numbers(fields["right_child"]))
    _check_categories(fields, categories)


def _check_counts(fields: dict[str, str], names: tuple[str, ...], count: int) -> None:
    for name in names:
        if fields[name].count(" ") + 1 != count:
            raise ValueError(f"{name} has not {count} values")


def _check_children(left: list[int], right: list[int]) -> None:
    """Each node but the root, and each leaf (-1, -2, …), is one node's child, of an earlier one."""
    nodes = len(left)
    if sorted([*left, *right]) != [*range(-nodes - 1, 0), *range(1, nodes)]:
        raise ValueError("its nodes are no tree")
    if any(0 <= child <= node for side in (left, right) for node, child in enumerate(side)):
        raise ValueError("its nodes are a circle")


def _check_categories(fields: dict[str, str], categories: int) -> None:
    """The sets of categories are there that nodes ask for."""
    bounds = [0]
    if categories:
        bounds = _numbers(fields["cat_boundaries"])
        _check_counts(fields, ("cat_boundaries",), categories + 1)
        _check_counts(fields, ("cat_threshold",), bounds[-1])
    kinds = _numbers(fields["decision_type"])
    sets = [
        float(one)
        for one, kind in zip(fields["threshold"].split(" "), kinds, strict=True)
        if kind & _CATEGORICAL
    ]
    if bounds[0] or bounds != sorted(bounds) or any(not 0 <= one < categories for one in sets):
        raise ValueError("its sets of categories do not add up")


def _numbers(values: str) -> list[int]:
    return list(map(int, values.split(" ")))
