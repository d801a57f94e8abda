"""The parser of interface descriptions, for the types and for the manual page."""

import re
import sys

TOKEN = re.compile(r"\s*(#[^\n]*|->|\[string\]|\[\]|[A-Za-z][A-Za-z0-9_.]*|[(),:?])")


class Parser:
    """Reads an interface description (varlink.org, "Interface Definition")."""

    def __init__(self, text):
        self.tokens, self.comment = [], []
        for match in TOKEN.finditer(text.rstrip()):
            self.tokens.append((match.group(1), match.start(1)))
        self.text, self.types, self.methods, self.errors = text, [], [], []
        self.position = 0
        self.take("interface")
        self.name = self.next()
        while self.position < len(self.tokens):
            doc, kind, name = self.doc(), self.next(), self.next()
            if kind == "type":
                self.types.append((name, doc, self.body()))
            elif kind == "error":
                self.errors.append((name, doc, self.body()))
            else:
                parameters = self.body()
                self.take("->")
                self.methods.append((name, doc, parameters, self.body()))

    def peek(self):
        return next((t for t, _ in self.tokens[self.position:] if t[0] != "#"), None)

    def next(self):
        self.doc()
        token = self.tokens[self.position][0]
        self.position += 1
        return token

    def doc(self):
        """The comment at this position; one that an empty line separates from what follows does not count."""
        lines, end = [], None
        while self.position < len(self.tokens) and self.tokens[self.position][0][0] == "#":
            token, start = self.tokens[self.position]
            if end is not None and "\n\n" in self.text[end:start]:
                lines = []
            lines.append(token[1:].strip())
            end = start + len(token)
            self.position += 1
        return "\n".join(lines)

    def take(self, expected):
        token = self.next()
        if token != expected:
            sys.exit(f"an interface description has {token} in the place of {expected}")

    def body(self):
        """The fields, each with its type and its comment; or the values of an enumeration."""
        fields = []
        self.take("(")
        while self.peek() != ")":
            doc, name = self.doc(), self.next()
            kind = None
            if self.peek() == ":":
                self.take(":")
                kind = self.type()
            fields.append((name, kind, doc))
            if self.peek() == ",":
                self.take(",")
        self.take(")")
        return fields

    def type(self):
        token = self.peek()
        if token == "(":
            return self.body()
        self.next()
        return token + self.type() if token in ("[]", "[string]") else (
            ["?", self.type()] if token == "?" else token)
