"""Comments, imports and exports of a JavaScript or TypeScript file, as written."""

from __future__ import annotations

import re

from tree_sitter import Node

from ctxsearch.graph.facts import MODULE_SCOPE, Export, Import, Type
from ctxsearch.graph.model import NodeFlag
from ctxsearch.indexer.languages.builder import Draft
from ctxsearch.indexer.languages.ecmadoc import documented_types
from ctxsearch.indexer.languages.ecmaexprs import (
    first,
)
from ctxsearch.indexer.languages.ecmanames import Naming

_COMMENT_MARKS = re.compile(r"^\s*(?:/\*\*?|\*/|\*(?!/)|///?)\s?|\s*\*/\s*$", re.MULTILINE)


class Links(Naming):
    """What stands around definitions: comments before them, imports and exports."""

    def __init__(self, path: str, source: bytes, flags: NodeFlag = NodeFlag.NONE) -> None:
        super().__init__(path, source, flags)
        self._exported: dict[int, Node] = {}  # id of a declaration -> its export statement
        self._documented: dict[str, Type] = {}  # types that the comment of the definition at hand says
        self._comment: list[str] = []
        self._comment_end = -1  # last line of the pending comment
        self._comment_first = False  # it opens the file

    def on_comment(self, node: Node) -> None:
        text = self.text(node)
        start = self.line(node.start_byte)
        joins = text.startswith("//") and self._comment and self._comment_end == start - 1
        if joins and self._comment[0].startswith("//"):
            self._comment.append(text)
        else:
            if self._comment_first:
                self.doc = clean_comment(self._comment)
            self._comment_first = start <= 2 and not self.doc
            self._comment = [text]
        self._comment_end = self.last_line(node)

    def _document(self, draft: Draft) -> None:
        self._documented = {}
        if self._comment and draft.start_line - 1 <= self._comment_end <= draft.start_line:
            draft.doc = clean_comment(self._comment)
            self._documented = self._doc_types()
            self._comment = []
            if "@deprecated" in draft.doc:
                draft.flags |= NodeFlag.DEPRECATED

    def _doc_types(self) -> dict[str, Type]:
        """What the pending comment says about types; TypeScript says it in the code."""
        if self.language != "javascript" or "{" not in self._comment[0]:
            return {}
        return documented_types("\n".join(self._comment))

    def _doc_type(self, line: int) -> Type | None:
        """The `@type` of the comment that stands directly before a line."""
        if self._comment and line - 1 <= self._comment_end <= line:
            return self._doc_types().get("@type")
        return None

    def on_import(self, node: Node) -> None:
        at, line = node.start_byte, self.line(node.start_byte)
        source = node.child_by_field_name("source")
        kind = "type" if any(child.type == "type" for child in node.children) else ""
        clause = first(node)
        if clause is not None and clause.type == "import_require_clause":
            source, bound = clause.child_by_field_name("source"), first(clause)
            if source is not None and bound is not None:
                self._names.add(bound.id)
                module, alias = self.string(source), self.text(bound)
                self.imports.append(Import(self.scope, line, at, module, "=", alias, kind="require"))
            return
        if source is None:
            return
        module = self.string(source)
        if clause is None or clause.type != "import_clause":
            self.imports.append(Import(self.scope, line, at, module, kind=kind))
            return
        for name, alias in self._imported(clause):
            self.imports.append(Import(self.scope, line, at, module, name, alias, kind=kind))

    def _imported(self, clause: Node) -> list[tuple[str, str]]:
        """(imported name, local name) of an import clause; "" imports the module itself."""
        found = []
        for child in clause.named_children:
            if child.type == "identifier":
                self._names.add(child.id)
                found.append(("default", self.text(child)))
            elif child.type == "namespace_import":
                inner = first(child)
                if inner is not None:
                    self._names.add(inner.id)
                    found.append(("", self.text(inner)))
            elif child.type == "named_imports":
                found.extend(self._specifiers(child))
        return found

    def _specifiers(self, node: Node) -> list[tuple[str, str]]:
        """(name, alias or name) of each specifier of `{ a, b as c }`."""
        found = []
        for child in node.named_children:
            name, alias = child.child_by_field_name("name"), child.child_by_field_name("alias")
            if name is not None:
                self._names.update((name.id, (alias or name).id))
                found.append((self.key(name), self.key(alias or name)))
        return found

    def on_export(self, node: Node) -> None:
        declaration = node.child_by_field_name("declaration")
        if declaration is not None:
            if declaration.type == "ambient_declaration":
                declaration = first(declaration) or declaration
            self._exported[declaration.id] = node
            for child in declaration.named_children if declaration.type.endswith("al_declaration") else ():
                self._exported[child.id] = node
        if self.scope != MODULE_SCOPE:
            return  # a namespace's own member
        words = {child.type for child in node.children}
        source = node.child_by_field_name("source")
        if source is not None:
            self._reexport(node, self.string(source), words)
        elif declaration is not None:
            self._export_declaration(declaration, "default" in words)
        elif "export_clause" in words:
            clause = next(child for child in node.children if child.type == "export_clause")
            self.exports.extend(Export(alias, name) for name, alias in self._specifiers(clause))
        elif "default" in words:
            self.exports.append(Export("default", value=self.expr(node.child_by_field_name("value"))))
        elif "=" in words:
            self.exports.append(Export("=", value=self.expr(first(node))))

    def _reexport(self, node: Node, module: str, words: set[str]) -> None:
        line, at = self.line(node.start_byte), node.start_byte
        self.imports.append(Import(self.scope, line, at, module, kind="reexport"))
        if "export_clause" in words:
            clause = next(child for child in node.children if child.type == "export_clause")
            self.exports.extend(Export(alias, name, module) for name, alias in self._specifiers(clause))
        elif "namespace_export" in words:
            inner = first(next(child for child in node.children if child.type == "namespace_export"))
            if inner is not None:
                self.exports.append(Export(self.key(inner), "*", module))
        else:
            self.exports.append(Export("*", "", module))

    def _export_declaration(self, declaration: Node, default: bool) -> None:
        name = declaration.child_by_field_name("name")
        if name is not None:
            local = self.text(name)
            self.exports.append(Export("default" if default else local, local))
            return
        for child in declaration.named_children:
            pattern = child.child_by_field_name("name") if child.type == "variable_declarator" else None
            if pattern is not None:
                self.exports.extend(Export(local, local) for local in self._pattern_names(pattern))
        if declaration.type == "import_alias":
            alias = first(declaration)
            if alias is not None:
                self.exports.append(Export(self.text(alias), self.text(alias)))

    def _pattern_names(self, pattern: Node) -> list[str]:
        names, pending = [], [pattern]
        while pending:
            node = pending.pop()
            if node.type in {"identifier", "shorthand_property_identifier_pattern"}:
                names.append(self.text(node))
            elif node.type in {"assignment_pattern", "object_assignment_pattern"}:
                left = node.child_by_field_name("left")
                pending.extend(() if left is None else (left,))
            elif node.type == "pair_pattern":
                inner = node.child_by_field_name("value")
                pending.extend(() if inner is None else (inner,))
            else:
                pending.extend(reversed(node.named_children))
        return names

    def _export_common(self, target: Node, value: int) -> None:
        """`module.exports = v`, `exports.x = v`, `module.exports.x = v`."""
        if target.end_byte - target.start_byte > 120:
            return
        parts = self.text(target).split(".")
        if parts == ["module", "exports"]:
            self.exports.append(Export("=", value=value))
        elif len(parts) == 2 and parts[0] == "exports":
            self.exports.append(Export(parts[1], value=value))
        elif len(parts) == 3 and parts[:2] == ["module", "exports"]:
            self.exports.append(Export(parts[2], value=value))


def clean_comment(comment: list[str]) -> str:
    return "\n".join(line for line in _COMMENT_MARKS.sub("", "\n".join(comment)).splitlines() if line.strip()).strip()
