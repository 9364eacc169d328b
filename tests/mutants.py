"""Small faults in a module's code: an operator, a constant or a name changed at one place."""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parents[1]


@dataclass(slots=True)
class Mutant:
    """One fault."""

    module: str
    function: str
    line: int
    before: str
    after: str
    state: str = ""
    seconds: float = 0.0
    place: int = field(default=0, repr=False)
    """Number among the module's mutants, in the order of `mutants_of`."""

    @property
    def key(self) -> str:
        """Stays the same when lines or files move."""
        return f"{self.module.removeprefix('eval.')} {self.function}: {self.before} → {self.after}"


_OPERATORS: dict[type[ast.AST], tuple[type[ast.AST], ...]] = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.Add: (ast.Sub,),
    ast.Sub: (ast.Add,),
    ast.Mult: (ast.Div,),
    ast.Div: (ast.Mult,),
    ast.FloorDiv: (ast.Div,),
    ast.Mod: (ast.FloorDiv,),
    ast.Pow: (ast.Mult,),
    ast.BitAnd: (ast.BitOr,),
    ast.BitOr: (ast.BitAnd,),
    ast.And: (ast.Or,),
    ast.Or: (ast.And,),
}
_SWAPPED = "min max|minimum maximum|argmin argmax|any all|mean median|nanmin nanmax|ones zeros"
_NAMES = {a: b for x, y in map(str.split, _SWAPPED.split("|")) for a, b in ((x, y), (y, x))}


def changes(node: ast.AST) -> Iterator[Callable[[], ast.AST]]:
    """Makers of what may stand in a node's place."""

    def with_(name: str, value: object) -> Callable[[], ast.AST]:
        def made() -> ast.AST:
            other = copy.deepcopy(node)
            setattr(other, name, value)
            return other

        return made

    match node:
        case ast.Compare(ops=ops):
            for at, op in enumerate(ops):
                for new in _OPERATORS.get(type(op), ()):
                    yield with_("ops", [*ops[:at], new(), *ops[at + 1 :]])
        case ast.BinOp(op=op) | ast.BoolOp(op=op) | ast.AugAssign(op=op):
            for new in _OPERATORS.get(type(op), ()):
                yield with_("op", new())
        case ast.UnaryOp(op=ast.Not() | ast.USub() | ast.Invert(), operand=operand):
            yield lambda: operand
        case ast.Constant(value=bool(value)):
            yield with_("value", not value)
        case ast.Constant(value=int(value) | float(value)):
            yield with_("value", value + 1)
            yield with_("value", value - 1)
        case ast.Slice(lower=None, upper=ast.expr(), step=None):
            yield lambda: ast.Slice(node.upper, None, None)
        case ast.Slice(lower=ast.expr(), upper=None, step=None):
            yield lambda: ast.Slice(None, node.lower, None)
        case ast.Call(func=ast.Name(id=name)) if name in _NAMES:
            yield with_("func", ast.Name(_NAMES[name], ast.Load()))
        case ast.Call(func=ast.Attribute(value=owner, attr=name)) if name in _NAMES:
            yield with_("func", ast.Attribute(owner, _NAMES[name], ast.Load()))
        case ast.If(body=[*_, ast.Return() | ast.Continue() | ast.Break()], orelse=[]):
            yield ast.Pass


def _walk(tree: ast.AST, inside: str = "") -> Iterator[tuple[ast.AST, str, object, ast.AST, str]]:
    """(parent, its field, place in the field, node, function) of all code that computes."""
    for name, value in ast.iter_fields(tree):
        for at, node in enumerate(value if isinstance(value, list) else [value]):
            if not isinstance(node, ast.AST) or name in ("annotation", "returns", "decorator_list"):
                continue
            seeds = isinstance(node, ast.Assign) and "SEED" in ast.unparse(node.targets[0])
            seeds = seeds or (isinstance(node, ast.keyword) and node.arg in ("seed", "strict"))
            if seeds or isinstance(node, ast.Raise | ast.JoinedStr):
                continue
            defined = isinstance(node, ast.FunctionDef | ast.ClassDef)
            below = f"{inside}.{node.name}".lstrip(".") if defined else inside
            yield tree, name, at if isinstance(value, list) else None, node, below
            yield from _walk(node, below)


def mutants_of(module: str, only: int | None = None) -> tuple[list[Mutant], ast.Module]:
    """All mutants of a module, and its code, mutated when one is chosen by number."""
    tree = ast.parse(source(module).read_text(encoding="utf-8"))
    found: list[Mutant] = []
    for parent, name, at, node, function in list(_walk(tree)):
        for made in changes(node):
            new = ast.copy_location(made(), node)
            before, after = (" ".join(ast.unparse(one).split())[:120] for one in (node, new))
            line = getattr(node, "lineno", getattr(parent, "lineno", 0))
            if isinstance(node, ast.Constant | ast.Slice):
                whole = " ".join(ast.unparse(parent).split())[:120]
                before, after = f"{before} in {whole}", after
            if len(found) == only:
                siblings = getattr(parent, name)
                if isinstance(at, int):
                    siblings[at] = new
                else:
                    setattr(parent, name, new)
                return [Mutant(module, function, line, before, after)], ast.fix_missing_locations(
                    tree
                )
            found.append(Mutant(module, function, line, before, after, place=len(found)))
    return found, tree


def source(module: str) -> Path:
    """A module's file."""
    path = ROOT.joinpath(*module.split("."))
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


def named(path: Path) -> str:
    """The module of a file."""
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
