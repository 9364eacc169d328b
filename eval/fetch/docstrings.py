"""Tools from Python functions: parameters by their annotations, texts by their docstrings."""

import ast
import re

from eval.fetch.reading import Row

_TYPES = {"str": "string", "int": "integer", "float": "number", "bool": "boolean"}
_SECTION = re.compile(r"^(Args|Arguments|Returns|Raises|Note|Notes|Logic|Example|Examples|Checks):")
_ARGUMENT = re.compile(r"^\s{0,8}(\w+)(?:\s*\([^)]*\))?:\s*(.*)$")


def sections_of(docstring: str) -> dict[str, list[str]]:
    """The lines of each section by its name; those before the first under the empty name."""
    found: dict[str, list[str]] = {"": []}
    name = ""
    for line in docstring.splitlines():
        if section := _SECTION.match(line.strip()):
            name = section[1]
            found[name] = []
        else:
            found[name].append(line)
    return found


def parameters_of(function: ast.FunctionDef, arguments: list[str]) -> Row:
    """JSON Schema of a method's parameters, `self` left out.

    Args:
        function: As it was parsed.
        arguments: Lines of the docstring's section on them.
    """
    said = _said(arguments)
    given = function.args.args[1:]
    optional = {one.arg for one in given[len(given) - len(function.args.defaults) :]}
    if not function.args.defaults:
        optional = set()
    properties = {}
    for one in given:
        schema = _schema(one.annotation)
        if one.arg in said:
            schema["description"] = said[one.arg]
        properties[one.arg] = schema
    required = [one.arg for one in given if one.arg not in optional]
    return {"type": "object", "properties": properties, "required": required}


def joined(lines: list[str]) -> str:
    """Lines as one text."""
    return " ".join(" ".join(lines).split())


def _said(lines: list[str]) -> dict[str, str]:
    found: dict[str, list[str]] = {}
    indent = min((len(one) - len(one.lstrip()) for one in lines if one.strip()), default=0)
    name = ""
    for line in lines:
        own = line[indent:]
        if own and not own[0].isspace() and (begins := _ARGUMENT.match(own)):
            name = begins[1]
            found[name] = [begins[2]]
        elif name:
            found[name].append(own)
    return {name: joined(texts) for name, texts in found.items()}


def _schema(annotation: ast.expr | None) -> Row:
    """JSON Schema of an annotation; text where it names another class."""
    if isinstance(annotation, ast.Name):
        return {"type": _TYPES.get(annotation.id, "string")}
    if isinstance(annotation, ast.BinOp):  # X | None
        return _schema(annotation.left)
    if isinstance(annotation, ast.Subscript) and isinstance(annotation.value, ast.Name):
        inner = annotation.slice
        match annotation.value.id:
            case "List" | "list":
                return {"type": "array", "items": _schema(inner)}
            case "Optional":
                return _schema(inner)
            case "Union" if isinstance(inner, ast.Tuple):
                return _schema(inner.elts[0])
            case "Literal":
                each = inner.elts if isinstance(inner, ast.Tuple) else [inner]
                values = [one.value for one in each if isinstance(one, ast.Constant)]
                return {"type": "string", "enum": values}
            case "Dict" | "dict":
                return {"type": "object"}
    return {"type": "string"}
