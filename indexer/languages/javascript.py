"""JavaScript, TypeScript and TSX to facts: one extractor for the three grammars, which share most node names.

Names of functions without one: a function literal takes the name that it is bound to (variable, property, field,
`exports.x`); only the rest are anonymous. Methods and object members are never visible by their bare name, and a
definition that is the value of a FUNCTION or CLASS expression is bound by the assignment around it, not by its name.
"""

from __future__ import annotations

import re

from tree_sitter import Node

from ctxsearch.graph.facts import MODULE_SCOPE, Import, Op
from ctxsearch.graph.model import NodeFlag, NodeKind
from ctxsearch.indexer.languages.ecmabodies import FUNCTION_KINDS, Bodies
from ctxsearch.indexer.languages.ecmaexprs import (
    MAX_ITEMS,
    first,
)
from ctxsearch.indexer.languages.ecmalinks import clean_comment

_TEST_PATH = re.compile(
    r"(^|/)(__tests__|__mocks__|tests?|specs?|e2e)/|[._-](test|spec|e2e|cy)\.[cm]?[jt]sx?$|test-d\.ts$"
)
_PASSED = frozenset({NodeKind.FUNCTION, NodeKind.CLASS})
TYPE = "type"  # the text of a reference that names a type


class JavaScript(Bodies):
    """Reads one file."""

    def __init__(self, path: str, source: bytes, flags: NodeFlag = NodeFlag.NONE) -> None:
        if _TEST_PATH.search(path):
            flags |= NodeFlag.TEST
        super().__init__(path, source, flags)
        self.language = _language_of(path)
        self._passed: list[int] = []  # names that are arguments of calls

    def on_call(self, node: Node) -> None:
        call = self.exprs[self.expr(node)]
        if not call.args:
            return
        self._passed.extend(arg for arg in call.args if self.exprs[arg].op is Op.NAME)
        if call.op is Op.CALL and self.exprs[call.base].op is Op.NAME:
            callee, argument = self.exprs[call.base].name, self.exprs[call.args[0]]
            if callee in {"require", "import"} and argument.op is Op.LITERAL and argument.text:
                kind = "require" if callee == "require" else "dynamic"
                self.imports.append(Import(self.scope, call.line, call.at, argument.text, kind=kind))

    def on_jsx(self, node: Node) -> None:
        name = node.child_by_field_name("name")
        if name is None or (name.type == "identifier" and self.text(name)[:1].islower()):
            return  # an element of the document, or a fragment
        if name.type not in {"identifier", "member_expression"}:
            return
        entries = []
        for child in node.children_by_field_name("attribute")[:MAX_ITEMS]:
            if child.type == "jsx_attribute":
                parts = child.named_children
                if len(parts) == 2:
                    entries.append(self.add(child, Op.KEYWORD, self.text(parts[0]), self.expr(parts[1])))
            elif child.type == "jsx_expression":
                entries.append(self.expr(child))
        properties = self.add(node, Op.MAPPING, args=tuple(entries))
        self.add(node, Op.CALL, base=self.expr(name), args=(properties,), text="jsx")

    def on_return(self, node: Node) -> None:
        if self.scope != MODULE_SCOPE and self.drafts[self.scope].kind in FUNCTION_KINDS:
            self.drafts[self.scope].returns.append(self.expr(first(node)))

    def on_yield(self, node: Node) -> None:
        if self.scope == MODULE_SCOPE or self.drafts[self.scope].kind not in FUNCTION_KINDS:
            return
        value = self.expr(first(node))
        if any(child.type == "*" for child in node.children):
            value = self.add(node, Op.ELEMENT, base=value)
        self.drafts[self.scope].returns.append(self.add(node, Op.YIELDED, base=value))

    def on_type(self, node: Node) -> None:
        """A type's name in an annotation."""
        if node.id in self._names:
            return
        if node.type == "nested_type_identifier":
            self._names.update(child.id for child in node.named_children)
            parts = self.text(node).split(".")
            index = self.add(node, Op.NAME, parts[0], text=TYPE)
            for part in parts[1:]:
                index = self.add(node, Op.MEMBER, part, index, text=TYPE)
        else:
            name = self.text(node)
            if self._is_type_parameter(name):
                return
            index = self.add(node, Op.NAME, name, text=TYPE)
        self.references.append(index)

    def _is_type_parameter(self, name: str) -> bool:
        scope = self.scope
        while scope != MODULE_SCOPE:
            draft = self.drafts[scope]
            if any(parameter.name == name for parameter in draft.type_params):
                return True
            scope = draft.parent
        return False

    def on_constant(self, node: Node) -> None:
        if node.id not in self._names:
            self.references.append(self.expr(node))

    def on_decorator(self, node: Node) -> None:
        value = first(node)
        if value is None or value.id in self._memo:
            return
        index = self.expr(value)
        if self.scope == MODULE_SCOPE or self.drafts[self.scope].kind not in FUNCTION_KINDS:
            self._decorators.append(index)  # on a parameter it decorates no definition

    def finish(self) -> None:
        if self._comment_first and self._comment:
            self.doc = clean_comment(self._comment)
        self._refer_to_functions()
        locals_out = {export.local for export in self.exports if export.local and not export.module}
        values_out = {
            self.exprs[export.value].base
            for export in self.exports
            if export.value >= 0 and self.exprs[export.value].op in {Op.FUNCTION, Op.CLASS}
        }
        for draft in self.drafts:
            if (draft.parent == MODULE_SCOPE and draft.name in locals_out) or draft.index in values_out:
                draft.flags |= NodeFlag.EXPORTED

    def _refer_to_functions(self) -> None:
        """Functions and classes that are passed on by name are referred to, whoever calls them."""
        known = {item.alias for item in self.imports if item.alias}
        known |= {draft.name for draft in self.drafts if draft.parent == MODULE_SCOPE and draft.kind in _PASSED}
        self.references.extend(arg for arg in self._passed if self.exprs[arg].name in known)


def _language_of(path: str) -> str:
    if path.endswith(".tsx"):
        return "tsx"
    return "typescript" if path.endswith((".ts", ".mts", ".cts")) else "javascript"


EXTRACTOR = JavaScript
