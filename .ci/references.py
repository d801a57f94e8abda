"""The pages of docs/lookup about the C and the Python library, from their comments; `interface` writes them."""

import ast
import pathlib
import re
import sys
import textwrap

NOTE = "<!-- Made by .ci/interface from {}: change that, then run `make interface`. -->"
C_NAME = re.compile(
    r"(?<![\w/.])(?:\w+->\w+|sizeof\([a-z_]+\)|offsetof\([a-z_, ]+\)|cached_\w+|CACHED_\w+|NULL\b|errno\b|-E[A-Z]+\b"
    r"|(?:URL)?#\w+=[^\s.,;:)]*|(?:~|\$[A-Z_]+)?(?:/[\w.-]*\w)+|\$[A-Z_]+)")
#: The classes and functions of the Python package, in the order of the page; whether a program makes objects.
PYTHON = {"Cache": True, "Item": False, "CacheError": True, "Load": False, "AsyncLoad": False, "Pressure": False,
          "AsyncChannel": False, "name": True, "variant": True, "LoadWatch": True, "FakeCache": True}


def linked(text):
    """Paths of pages, in a text from elsewhere, as links of a page in docs/lookup."""
    return re.sub(r"docs/(\w+)/([\w-]+)\.md", lambda match: f"[{match[2]}.md](" + (
        "" if match[1] == "lookup" else f"../{match[1]}/") + f"{match[2]}.md)", text)


def wrapped(text, width=130, **options):
    return textwrap.wrap(text, width, break_long_words=False, break_on_hyphens=False, **options)


# C

def c_text(comment):
    """A comment of the header as one paragraph each, with its names in backticks."""
    text = re.sub(r"^/\*\s*|\s*\*/$", "", comment)
    paragraphs = [" ".join(part.split()) for part in re.split(r"\n\s*\n", text)]
    return [linked("`".join(C_NAME.sub(lambda match: f"`{match[0]}`", plain) if number % 2 == 0 else plain
                            for number, plain in enumerate(part.split("`")))) for part in paragraphs]


def c_members(body, separator):
    """The members of a struct or the constants of an enumeration, each with its comment."""
    text = ""
    for match in re.finditer(r"(/\*.*?\*/)|([^/]*?[" + separator + r"])|(\w+)\s*$", body, re.DOTALL):
        if match[1]:
            text = " ".join(c_text(match[1]))
        else:
            yield " ".join((match[2] or match[3]).rstrip(separator + " \n").split()), text
            text = ""


def c(header):
    """The page of cached.h."""
    opening, rest = re.match(r"(/\*.*?\*/)(.*)", header, re.DOTALL).groups()
    rest = re.sub(r"^#(?!define CACHED_\w+_INIT).*$|^extern \"C\" \{$|^\}$", "", rest, flags=re.MULTILINE)
    lines = ["# The C library", "", NOTE.format("Sources/libcached/include/cached.h"), ""]
    for paragraph in c_text(opening):
        lines += wrapped(paragraph) + [""]
    lines += ["[A list with progress, in C](../learn/list-in-c.md) is the way in.", ""]
    pattern = re.compile(
        r"(?P<doc>/\*(?:(?!\*/).)*\*/)?\s*(?:"
        r"(?P<kind>enum|typedef struct) (?P<name>\w+) \{(?P<body>.*?)\}[^;]*;"
        r"|(?P<macro>#define \w+ \\\n[^\n]*)|typedef struct \w+ \w+;|(?P<function>\w[^;{}]*?\);))", re.DOTALL)
    types, functions = [], []
    for match in pattern.finditer(rest):
        doc = c_text(match["doc"]) if match["doc"] else []
        paragraphs = [line for part in doc for line in wrapped(part) + [""]]
        if match["body"]:
            is_enum = match["kind"] == "enum"
            types += [f"### {'enum ' if is_enum else ''}{match['name']}", "", *paragraphs]
            types += [f"| {'constant' if is_enum else 'member'} | |", "|---|---|"]
            types += [f"| `{member}` | {text} |" for member, text in c_members(match["body"], "," if is_enum else ";")]
            types += [""]
        elif match["macro"]:
            name = match["macro"].split()[1]
            types += wrapped(f"`{name}`: " + " ".join(doc)) + [""]
        elif match["function"]:
            signature = " ".join(match["function"].split())
            name = re.search(r"(\w+)\(", signature)[1]
            functions += [f"### {name}", "", "```c by-hand", signature, "```", "", *paragraphs]
    for name in re.findall(r"^\w[\w *]*?\b(cached_\w+)\(", rest, re.MULTILINE):
        if f"### {name}" not in functions:
            sys.exit(f"cached.h: the declaration of {name} has a form that .ci/references.py does not read")
    return lines + ["## Types", ""] + types + ["## Functions", ""] + functions[:-1]


# Python

def python_text(doc):
    """A docstring as Markdown: arguments and tables become lists, indented code a block."""
    for part in re.split(r"\n\n", doc):
        if re.match(r"    \S", part):
            yield from ["```python by-hand", *textwrap.dedent(part).split("\n"), "```", ""]
            continue
        points, text = [], []
        for line in part.split("\n"):
            match = None if text else re.match(r"(\w+(?:, \w+)*)(?:: |  +)(\S.*)", line)
            if match:
                points.append([match[1], match[2]])
            elif points:
                points[-1][1] += " " + line.strip()
            else:
                text.append(line.strip())
        if text:
            yield from wrapped(linked(" ".join(text))) + [""]
        for names, meaning in points:
            names = ", ".join(f"`{name}`" for name in names.split(", "))
            yield from wrapped(f"- {names}: {linked(meaning)}", subsequent_indent="  ")
        if points:
            yield ""


def python_signature(name, function):
    """A call as a program writes it, with the types."""
    arguments = function.args
    arguments.args = [each for each in arguments.args if each.arg not in ("self", "cls")]
    result = f" -> {ast.unparse(function.returns)}" if function.returns and name != "__init__" else ""
    call = re.sub(r"(?<! )=", " = ", f"{name}({ast.unparse(arguments)}){result}")
    whole = re.sub(r", (?=\*|\w+:)|( )", lambda match: "\N{NO-BREAK SPACE}" if match[1] else match[0], call)
    return [line.replace("\N{NO-BREAK SPACE}", " ") for line in wrapped(whole, 110, subsequent_indent="    ")]


def python_fields(source, body):
    """Attributes of a class, with the comments `#:` before them."""
    lines, found = source.split("\n"), []
    for node in body:
        target = node.target if isinstance(node, ast.AnnAssign) else None
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Attribute):
            target = node.targets[0]
        name = getattr(target, "id", None) or getattr(target, "attr", None)
        first, text = node.lineno - 2, []
        while lines[first].strip().startswith("#:"):
            text.insert(0, lines[first].strip()[2:].strip())
            first -= 1
        if name and not name.startswith("_") and text:
            found.append((name, " ".join(text)))
    return found


def python(package):
    """The page of the package `cached_client`."""
    definitions, sources = {}, {}
    for path in sorted(pathlib.Path(package).glob("*.py")):
        if path.name in ("interface.py", "__init__.py"):
            continue
        source = path.read_text()
        for node in ast.parse(source).body:
            if isinstance(node, (ast.ClassDef, ast.FunctionDef)):
                definitions.setdefault(node.name, node)
                sources.setdefault(node.name, source)
    init = ast.parse((pathlib.Path(package) / "__init__.py").read_text())
    exported = next(ast.literal_eval(each.value) for each in init.body
                    if isinstance(each, ast.Assign) and each.targets[0].id == "__all__")
    if missing := set(exported) - {"Priority", *PYTHON}:
        sys.exit(f"cached_client: .ci/references.py has no place on the page for {', '.join(sorted(missing))}")
    module = ast.get_docstring(init)
    lines = ["# The Python library", "", NOTE.format("clients/python/cached_client"), "", *python_text(module),
             "[A list with progress, in Python](../learn/list-in-python.md) is the way in, and",
             "[the library's own page](../../clients/python/README.md) has the ways to install it.", ""]

    def called(name, function):
        return ["```text", *python_signature(name, function), "```", ""]

    def members(name):
        """The documented methods of a class and of the bases that have no section, and who defines them."""
        node = definitions[name]
        found = {}
        for base in node.bases:
            base = getattr(base, "value", base)
            if getattr(base, "id", None) in definitions and base.id in ("Channel", "AsyncChannel"):
                found.update(members(base.id))
        for each in node.body:
            if isinstance(each, (ast.FunctionDef, ast.AsyncFunctionDef)) and not each.name.startswith("_"):
                doc = ast.get_docstring(each) or (found[each.name][1] if each.name in found else None)
                if doc:
                    found[each.name] = (each, doc)
        return found

    shown = set()
    for name, is_made in PYTHON.items():
        node = definitions[name]
        lines += [f"## {name}", ""]
        if isinstance(node, ast.FunctionDef):
            lines += called(name, node) + list(python_text(ast.get_docstring(node)))
            continue
        start = next((each for each in node.body if getattr(each, "name", "") == "__init__"), None)
        if is_made and start:
            start.returns = None
            lines += called(name, start)
        lines += python_text(ast.get_docstring(node))
        fields = python_fields(sources[name], node.body) + python_fields(sources[name], start.body if start else [])
        for field, text in fields:
            lines += wrapped(f"- `{field}`: {text}", subsequent_indent="  ")
        lines += [""] if fields else []
        found = members(name)
        known = [member for member, (_, doc) in found.items() if doc in shown or doc == f"`Load.{member}`."]
        if known:
            lines += wrapped("As of `Load`: " + ", ".join(f"`{member}`" for member in known) + ".") + [""]
        shown.update(doc for _, doc in found.values())
        for member, (function, doc) in found.items():
            if member in known:
                continue
            is_property = any(getattr(each, "id", "") == "property" for each in function.decorator_list)
            lines += [f"### {name}.{member}", ""]
            if not is_property:
                lines += called(member, function)
            lines += python_text(doc)
    return lines[:-1]
