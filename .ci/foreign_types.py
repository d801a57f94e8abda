"""The types of an interface description for Python and TypeScript; `interface` writes them to clients/."""

import re
import textwrap

HEADER = "Made by .ci/interface from the files in etc/: change those, then run `make interface`."
PYTHON = {"string": "str", "int": "int", "bool": "bool", "float": "float", "object": "Any"}
TYPESCRIPT = {"string": "string", "int": "number", "bool": "boolean", "float": "number", "object": "unknown"}


def records(interface):
    """The types of the interface, then the parameters and replies of its methods."""
    yield from interface.types
    for name, doc, parameters, reply in interface.methods:
        yield f"{name}Parameters", f"The parameters of {name}.", parameters
        yield f"{name}Reply", f"The reply to {name}.", reply


def is_enumeration(fields):
    return bool(fields) and all(kind is None for _, kind, _ in fields)


def is_optional(kind):
    return isinstance(kind, list) and kind[0] == "?"


def translated(kind, names, array, table, choice):
    """A type in another language, from the names of its simple types and the forms of the others."""
    if is_optional(kind):
        return translated(kind[1], names, array, table, choice)
    if isinstance(kind, list):
        return choice(value for value, _, _ in kind)
    for prefix, form in (("[]", array), ("[string]", table)):
        if kind.startswith(prefix):
            return form.format(translated(kind[len(prefix):], names, array, table, choice))
    return names.get(kind, kind)


def notes(text, mark, indent=0):
    """A comment of one line style."""
    width = 98 - indent - len(mark)
    return [f"{' ' * indent}{mark} {line}" for paragraph in re.split(r"\n\n", text) if text
            for line in textwrap.wrap(paragraph, width, break_on_hyphens=False)]


def python(interface):
    """TypedDicts. Optional fields are in a class of their own, because Python 3.9 has no NotRequired."""
    def choice(values):
        return "Literal[" + ", ".join(f'"{value}"' for value in values) + "]"

    def fields_of(fields):
        lines = []
        for field, kind, doc in fields:
            text = translated(kind, PYTHON, "list[{}]", "dict[str, {}]", choice)
            lines += notes(doc, "#", 4) + [f"    {field}: {text}"]
        return lines or ["    pass"]

    lines = ['"""The messages of the daemon.', "", HEADER, '"""', "", "from __future__ import annotations",
             "", "from typing import Any, Literal, TypedDict"]
    for name, doc, fields in records(interface):
        lines += ["", ""]
        if is_enumeration(fields):
            values = [value for value, _, _ in fields]
            lines += notes(doc, "#") + [f"{name} = {choice(values)}"]
            continue
        required = [field for field in fields if not is_optional(field[1])]
        optional = [field for field in fields if is_optional(field[1])]
        if required and optional:
            lines += [f"class _{name}(TypedDict):", *fields_of(required), "", ""]
        base = f"_{name}, total=False" if required and optional else "TypedDict, total=False" if optional else "TypedDict"
        lines += notes(doc, "#") + [f"class {name}({base}):", *fields_of(optional or required)]
    return lines


def typescript(interface):
    """Interfaces, with the comments as JSDoc."""
    def choice(values):
        return " | ".join(f"'{value}'" for value in values)

    def doc_lines(text, indent=0):
        body = notes(text, " *", indent)
        if len(body) == 1:
            return [f"{' ' * indent}/** {body[0].strip()[2:]} */"]
        return [f"{' ' * indent}/**", *body, f"{' ' * indent} */"] if body else []

    lines = ["/**", " * The messages of the daemon.", " *", f" * {HEADER}", " */"]
    for name, doc, fields in records(interface):
        lines += ["", *doc_lines(doc)]
        if is_enumeration(fields):
            lines.append(f"export type {name} = {choice(value for value, _, _ in fields)}")
            continue
        lines.append(f"export interface {name} {{")
        for field, kind, field_doc in fields:
            text = translated(kind, TYPESCRIPT, "Array<{}>", "Record<string, {}>", choice)
            lines += doc_lines(field_doc, 2) + [f"  {field}{'?' if is_optional(kind) else ''}: {text}"]
        lines.append("}")
    return lines
