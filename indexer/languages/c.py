"""C and C++: functions, methods inside and outside their class, types, fields, macros, includes and call sites.

A namespace is no definition of its own: what is in it carries it in the qualified name. A prototype is a definition
with the flag DECLARATION; linking it to the one with a body is the resolver's work.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from tree_sitter import Node

from ctxsearch.graph import ops
from ctxsearch.graph.facts import ARROW, EXPLICIT, LONE_NAME, MAKERS, Import, Op, Param, ParamKind, Type
from ctxsearch.graph.model import NodeFlag, NodeKind
from ctxsearch.indexer.languages.blocks import BlockExtractor
from ctxsearch.indexer.languages.builder import Draft
from ctxsearch.indexer.languages.free_names import FreeNames, add_lines, uncalled_names
from ctxsearch.indexer.languages.preprocessor import first_branches, whole_lists, whole_macros

_COMMENTS = frozenset({"comment"})
_LITERALS = {
    "number_literal": "int",
    "string_literal": "str",
    "raw_string_literal": "str",
    "concatenated_string": "str",
    "char_literal": "char",
    "true": "bool",
    "false": "bool",
}
_CASTS = frozenset({"static_cast", "dynamic_cast", "reinterpret_cast", "const_cast"})
_NAMES = frozenset({"identifier", "field_identifier", "type_identifier", "namespace_identifier", "operator_name"})
_MACRO_CALL = re.compile(r"\b([A-Za-z_]\w*)\s*\(")
_MACRO_CONSTANT = re.compile(r"\b[A-Z][A-Z0-9_]{2,}\b(?!\s*\()")
_NO_NAMES = re.compile(r"/\*.*?\*/|//[^\n]*|\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'|##?\s*\w+|\w+\s*##", re.DOTALL)
_IDENTIFIER = re.compile(r"[A-Za-z_]\w*")
_COMMENTED = re.compile(r"/\*.*?\*/", re.DOTALL)
_NOT_CALLS = frozenset(
    {"if", "while", "for", "switch", "return", "sizeof", "defined", "do", "else", "alignof", "typeof"}
)
_RESERVED = re.compile(r"__|_[A-Z]")  # names that belong to the compiler
_KEYWORDS = frozenset({"const", "return", "NULL", "errno", "static", "else", "struct", "void", "extern", "inline"})
_PRIMITIVES = frozenset({"int", "void", "char", "long", "short", "float", "double", "unsigned", "signed", "bool"})
MAX_MACRO = 4000  # characters of a macro's body that are looked at


class CExtractor(BlockExtractor):
    """One C or C++ file."""

    language = "c"

    def __init__(self, path: str, source: bytes, flags: NodeFlag = NodeFlag.NONE) -> None:
        super().__init__(path, source, flags)
        self._namespaces: list[tuple[int, int, str]] = []  # start, end, name
        self._is_cpp = self.language == "cpp"
        self._values: list[tuple[int, Node]] = []  # names that stand for values, with their scopes
        self._free: dict[tuple[int, str], bool] = {}  # whether no function around a scope binds a name
        self._paths: list[int] = []  # expressions for a::b
        self._unread_locals: set[str] = set()  # of blocks whose function could not be read: a macro heads it
        # Scope and name: a template's values, and `T x(y)`, which reads like a function.
        self._otherwise_bound: list[tuple[int, str]] = []

    @staticmethod
    def readable(source: bytes) -> bytes:
        """Without the macros that stand alone where a statement may begin.

        What they stand for is not known (a template's head, a namespace's begin, an attribute, an access label), but
        read as a name they take the next declaration apart: its class is lost, its members become free functions.
        Also without what only the preprocessor can read (see `preprocessor`).
        """
        source = first_branches(whole_lists(whole_macros(source)))
        found = [match for match in _LONE_MACRO.finditer(source) if _begins_statement(source, match)]
        if not found:
            return source
        text = bytearray(source)
        for match in found:
            start, end = match.span(1)
            text[start:end] = b" " * (end - start)
        return bytes(text)

    # -- definitions

    def define(self, node: Node, capture: str) -> Draft | None:
        if capture == "def.function":
            return self._define_function(node)
        if capture == "def.class":
            return self._define_class(node)
        if capture in ("def.declaration", "def.member"):
            return self._define_declaration(node, member=capture == "def.member")
        if capture == "def.macro":
            return self._define_macro(node)
        if capture == "def.lambda":
            return self.anonymous("lambda", node)
        if capture == "def.namespace":
            name = node.child_by_field_name("name")
            self._namespaces.append(
                (node.start_byte, node.end_byte, _dotted(self.text(name)) if name is not None else "")
            )
            return None
        return self._define_alias(node, capture)

    def _define_function(self, node: Node) -> Draft | None:
        found = self._function_declarator(node.child_by_field_name("declarator"))
        if found is None:
            return None
        draft = self._function(node, found)
        body = node.child_by_field_name("body")
        draft.signature = self.signature(node, body)
        if body is None and not any(
            child.type in ("default_method_clause", "delete_method_clause") for child in node.children
        ):
            draft.flags |= NodeFlag.DECLARATION
        return draft

    def _define_declaration(self, node: Node, *, member: bool) -> Draft | None:
        """A prototype, or the variables and fields that a declaration introduces."""
        last: Draft | None = None
        for declarator in node.children_by_field_name("declarator"):
            found = self._function_declarator(declarator)
            if found is not None and not self._is_pointer(found):
                last = self._function(node, found)
                last.flags |= NodeFlag.DECLARATION
                last.signature = self.signature(node, None)
            else:
                name = self._declared_name(declarator)
                if name is not None:
                    last = self._variable(node, name, declarator)
        if last is not None and member and not node.children_by_field_name("declarator"):
            return None
        return last

    def _function(self, node: Node, declarator: Node) -> Draft:
        """A draft for a function with this function_declarator."""
        name_node = self._name_after_macro(declarator) or declarator.child_by_field_name("declarator")
        parts = _dotted(self.text(name_node)).split(".") if name_node is not None else ["?"]
        name = parts[-1].replace(" ", "").strip("()") or parts[-1]
        outer = node.parent if node.parent is not None and node.parent.type == "template_declaration" else None
        in_class = self.scope >= 0 and self.drafts[self.scope].kind is NodeKind.CLASS
        owner = parts[-2] if len(parts) > 1 else self.drafts[self.scope].name if in_class else ""
        kind = NodeKind.METHOD if owner else NodeKind.FUNCTION
        if owner and name.lstrip("~") == owner and not name.startswith("~"):
            kind = NodeKind.CONSTRUCTOR
        draft = self.draft(kind, name, node, outer=outer)
        draft.name_line = self.line(declarator.start_byte)
        self._qualify(draft, parts[:-1])
        if len(parts) > 1:
            draft.receiver = Type(".".join(parts[:-1]))
        draft.doc = self._doc(outer or node)
        for child in node.children:
            if child.type == "storage_class_specifier" and self.text(child) == "static":
                draft.flags |= NodeFlag.STATIC if in_class else NodeFlag.PRIVATE
        return draft

    def _parenthesised(self, declarator: Node) -> Node | None:
        """API_MACRO int (name)(...): the parser takes it for a function `int` that takes a `name`."""
        word = declarator.child_by_field_name("declarator")
        if word is None or word.type != "identifier" or self.text(word) not in _PRIMITIVES:
            return None
        parameters = declarator.child_by_field_name("parameters")
        only = parameters.named_child(0) if parameters is not None and parameters.named_child_count == 1 else None
        return only.named_child(0) if only is not None and only.named_child_count == 1 else None

    def _name_after_macro(self, declarator: Node) -> Node | None:
        """API_MACRO type name(...): the parser takes the type for the name and the name for an error."""
        inner = declarator.child_by_field_name("declarator")
        if inner is not None and inner.type == "function_declarator":
            return self._parenthesised(inner)
        for child in declarator.children:
            if child.type == "ERROR" and child.named_child_count:
                last = child.named_children[-1]
                return last if last.type == "identifier" else None
            if child.type == "parameter_list":
                return None
        return None

    def _variable(self, node: Node, name: Node, declarator: Node) -> Draft | None:
        if self.scope >= 0 and self.drafts[self.scope].kind is not NodeKind.CLASS:
            return None
        draft = self.draft(NodeKind.VARIABLE, self.text(name), node)
        draft.name_line = self.line(name.start_byte)
        self._qualify(draft, [])
        draft.signature = self.signature(node, None)
        draft.doc = self._doc(node)
        draft.result = self._declared_type(node, declarator)
        for child in node.children:
            if child.type == "storage_class_specifier" and self.text(child) == "static":
                draft.flags |= NodeFlag.PRIVATE
        return draft

    def _define_class(self, node: Node) -> Draft | None:
        name = node.child_by_field_name("name")
        text = self._type_text(name) if name is not None else self._typedef_name(node)
        if not text:
            return None
        parts = text.split(".")
        parent = node.parent
        outer = parent if parent is not None and parent.type in ("template_declaration", "type_definition") else None
        draft = self.draft(NodeKind.CLASS, parts[-1], node, outer=outer)
        self._qualify(draft, parts[:-1])
        draft.signature = self.signature(node, node.child_by_field_name("body"))
        draft.doc = self._doc(outer or node)
        return draft

    def _typedef_name(self, node: Node) -> str:
        """typedef struct { ... } Name: the typedef's name."""
        parent = node.parent
        if parent is None or parent.type != "type_definition":
            return ""
        declarator = parent.child_by_field_name("declarator")
        return self.text(declarator) if declarator is not None and declarator.type == "type_identifier" else ""

    def _define_alias(self, node: Node, capture: str) -> Draft | None:
        """typedef and using: another name for a type."""
        if capture == "def.alias":
            name = node.child_by_field_name("name")
            declared = node.child_by_field_name("type")
            return self._alias(node, self.text(name), self._type(declared)) if name is not None else None
        declared = node.child_by_field_name("type")
        inner = declared.child_by_field_name("name") if declared is not None else None
        last: Draft | None = None
        for declarator in node.children_by_field_name("declarator"):
            name = self._declared_name(declarator)
            if name is None:
                continue
            text = self.text(name)
            own_body = declared is not None and declared.child_by_field_name("body") is not None
            if own_body and (inner is None or self.text(inner) == text):
                continue  # the class itself carries the name
            result = (
                Type("->", (self._type(declared),)) if self._function_declarator(declarator) else self._type(declared)
            )
            last = self._alias(node, text, result)
        return None if last is None else last

    def _alias(self, node: Node, name: str, result: Type) -> Draft:
        draft = self.draft(NodeKind.TYPE_ALIAS, name, node)
        self._qualify(draft, [])
        draft.signature = self.signature(node, None)
        draft.doc = self._doc(node)
        draft.result = result
        return draft

    def _define_macro(self, node: Node) -> Draft | None:
        """A function-like macro; an object-like one only if it has a value."""
        name = node.child_by_field_name("name")
        value = node.child_by_field_name("value")
        if name is None or (node.type == "preproc_def" and value is None):
            return None
        runs = node.type == "preproc_function_def" or (value is not None and ";" in self.text(value))
        kind = NodeKind.MACRO if runs else NodeKind.VARIABLE  # statements are run where the name stands
        draft = self.draft(kind, self.text(name), node)
        draft.signature = self.signature(node, None)
        draft.doc = self._doc(node)
        return draft

    def _qualify(self, draft: Draft, parts: list[str]) -> None:
        """Namespaces around the definition and the qualifiers written before its name."""
        around = [name for start, end, name in self._namespaces if start <= draft.start and draft.end <= end and name]
        if draft.parent >= 0:
            around = []
        prefix = ".".join([*around, *(part for part in parts if part)])
        if prefix:
            draft.qualified_name = f"{prefix}.{draft.qualified_name}"

    def complete(self, draft: Draft) -> None:
        node = draft.node
        kind = node.type
        if draft.kind in (NodeKind.FUNCTION, NodeKind.METHOD, NodeKind.CONSTRUCTOR):
            self._complete_function(draft, node)
        elif draft.kind is NodeKind.CLASS:
            for child in node.children:
                if child.type == "base_class_clause":
                    draft.bases += [self._type(base) for base in child.named_children if base.type in _TYPE_NODES]
            draft.type_params = list(self._template_params(draft, node.parent))
        elif draft.kind is NodeKind.MACRO and kind in ("preproc_function_def", "preproc_def"):
            self._macro_calls(draft, node)
        elif kind == "preproc_def":
            self._macro_value(draft, node)

    def _complete_function(self, draft: Draft, node: Node) -> None:
        outer, self.scope = self.scope, draft.index
        if node.type == "lambda_expression":
            declarator = node.child_by_field_name("declarator")
        else:
            declarators = node.children_by_field_name("declarator")
            declarator = None
            for item in declarators:
                found = self._function_declarator(item)
                name = found.child_by_field_name("declarator") if found is not None else None
                spelled = _dotted(self.text(name)).split(".")[-1].replace(" ", "") if name is not None else draft.name
                if found is not None and (spelled == draft.name or len(declarators) == 1):
                    declarator = found
            draft.result = self._declared_type(node, declarators[0]) if declarators else None
            if draft.result is not None and draft.result.name == "->" and draft.result.args:
                draft.result = draft.result.args[0]
        parameters = declarator.child_by_field_name("parameters") if declarator is not None else None
        if parameters is not None:
            draft.params += list(self._params(parameters))
        for child in declarator.children if declarator is not None else ():
            if child.type == "trailing_return_type" and child.named_child_count:
                draft.result = self._type(child.named_child(0))
        draft.type_params = list(self._template_params(draft, node.parent))
        self.scope = outer

    def _params(self, parameters: Node) -> Iterator[Param]:
        for item in parameters.named_children:
            if item.type in ("parameter_declaration", "optional_parameter_declaration"):
                declarator = item.child_by_field_name("declarator")
                name = self._declared_name(declarator) if declarator is not None else None
                declared = self._declared_type(item, declarator)
                if name is None and declared is not None and declared.name == "void":
                    continue
                yield Param(self.text(name) if name is not None else "", declared)
            elif item.type in ("variadic_parameter", "variadic_parameter_declaration"):
                yield Param("", kind=ParamKind.VARIADIC)

    def _template_params(self, draft: Draft, node: Node | None) -> Iterator[Param]:
        if node is None or node.type != "template_declaration":
            return
        parameters = node.child_by_field_name("parameters")
        for item in parameters.named_children if parameters is not None else ():
            name = next((child for child in item.named_children if child.type == "type_identifier"), None)
            if name is not None and item.type.startswith(("type_parameter", "optional_type", "variadic_type")):
                yield Param(self.text(name))
            elif (value := self._declared_name(item.child_by_field_name("declarator"))) is not None:
                self._otherwise_bound.append((draft.index, self.text(value)))

    def _macro_value(self, draft: Draft, node: Node) -> None:
        """`#define open_file open_file64`: another name for what the value names."""
        value = node.child_by_field_name("value")
        name = self.text(value).strip() if value is not None else ""
        if _IDENTIFIER.fullmatch(name) and name != draft.name:
            draft.value = self.add(node, Op.NAME, name)
        else:
            self._macro_constants(draft, node, name)

    def _macro_constants(self, draft: Draft, node: Node, body: str) -> None:
        """The constants that a macro's body names; they are told by their spelling, for the body is text."""
        outer, self.scope = self.scope, draft.index
        parameters = node.child_by_field_name("parameters")
        own = {draft.name, *(_IDENTIFIER.findall(self.text(parameters)) if parameters is not None else ())}
        for name in dict.fromkeys(_MACRO_CONSTANT.findall(_NO_NAMES.sub(" ", body[:MAX_MACRO]))):
            if name not in own:
                self.add(node, Op.NAME, name)
        self.scope = outer

    def _macro_calls(self, draft: Draft, node: Node) -> None:
        """The functions a macro's body calls by name: it is text to the parser, so by pattern."""
        value = node.child_by_field_name("value")
        if value is None:
            return
        outer, self.scope = self.scope, draft.index
        body = _COMMENTED.sub(" ", self.text(value)[:MAX_MACRO])
        own = {draft.name, *re.findall(r"\w+", draft.signature.partition("(")[2].partition(")")[0])}
        for name in dict.fromkeys(_MACRO_CALL.findall(body)):
            if name not in own and name not in _NOT_CALLS:
                self.add(node, Op.CALL, base=self.add(node, Op.NAME, name))
        self.scope = outer
        self._macro_constants(draft, node, body)

    # -- sites

    def on_field(self, node: Node) -> None:
        """C: a struct's fields."""
        for declarator in node.children_by_field_name("declarator"):
            name = self._declared_name(declarator)
            if name is not None and self.scope >= 0 and self.drafts[self.scope].kind is NodeKind.CLASS:
                self._variable(node, name, declarator)

    def on_enumerator(self, node: Node) -> None:
        name = node.child_by_field_name("name")
        if name is not None:
            draft = self.draft(NodeKind.VARIABLE, self.text(name), node)
            self._qualify(draft, [])
            draft.signature = self.signature(node, None)
            if not self._is_scoped_enum(node):
                draft.flags |= NodeFlag.STATIC  # in scope wherever the enum is

    def _is_scoped_enum(self, enumerator: Node) -> bool:
        """`enum class`: its constants need its name before them."""
        whole = enumerator.parent.parent if enumerator.parent is not None else None
        return whole is not None and any(child.type in ("class", "struct") for child in whole.children)

    def on_include(self, node: Node) -> None:
        path = node.child_by_field_name("path")
        if path is not None:
            quoted = path.type == "string_literal"
            module = self.text(path).strip('"<>')
            at = node.start_byte
            self.imports.append(Import(-1, self.line(at), at, module, "*", level=int(quoted), kind="include"))

    def on_using(self, node: Node) -> None:
        """using namespace N; using N::name;"""
        target = node.named_child(0)
        if target is None:
            return
        text, at = _dotted(self.text(target)), node.start_byte
        whole = any(child.type == "namespace" for child in node.children)
        if whole:
            self.imports.append(Import(self.scope, self.line(at), at, text, "*", kind="using"))
        else:
            owner, _, name = text.rpartition(".")
            self.imports.append(Import(self.scope, self.line(at), at, owner, name, name, kind="using"))

    def on_call(self, node: Node) -> None:
        self.expr(node)

    def on_statement(self, node: Node) -> None:
        """`NAME;` does something only if NAME is a macro."""
        self.add(node, Op.CALL, base=self.name(node), text=LONE_NAME)

    def on_initializer(self, node: Node) -> None:
        """Functions named in a table of initial values are used there."""
        for item in node.named_children:
            value = item.child_by_field_name("value") if item.type == "initializer_pair" else item
            if value is not None and value.type == "identifier":
                self.expr(value)

    def on_value(self, node: Node) -> None:
        """A name where a value stands; that place may be part of no expression that others ask for."""
        self._values.append((self.scope, node))

    def finish(self) -> None:
        """Names that no function around them binds: constants, variables, macros, functions taken as values."""
        names = FreeNames(self.drafts, self.exprs, self.assigns)
        for scope, name in self._otherwise_bound:
            names.bind(scope, name)
        self._make_values(names)
        passed_over = {item.target for item in self.assigns if item.declares}
        passed_over.update(self.exprs[index].base for index in self._paths)
        self.references += [
            index
            for index, item in uncalled_names(self.exprs)
            if self._is_free(names, item.scope, item.name) and index not in passed_over
        ]
        called = {item.base for item in self.exprs if item.op is ops.CALL} if self._paths else set()
        self.references += [index for index in self._paths if index not in passed_over and index not in called]

    def _make_values(self, names: FreeNames) -> None:
        """Expressions for the names that have none yet: one for all the lines of a scope."""
        lines: dict[tuple[int, str], list[int]] = {}
        first: list[tuple[int, str, Node]] = []
        for scope, node in self._values:
            if node.id in self._memo:
                continue
            name = self.text(node)
            known = lines.get((scope, name))
            if known is not None:
                known.append(self.line(node.start_byte))
            elif node.type != "identifier" or self._is_free(names, scope, name):
                lines[scope, name] = []
                first.append((scope, name, node))
        for scope, name, node in first:
            self.scope = scope
            add_lines(self.exprs, self.expr(node), lines[scope, name])

    def _is_free(self, names: FreeNames, scope: int, name: str) -> bool:
        known = self._free.get((scope, name))
        if known is None:
            unread = scope < 0 and name in self._unread_locals
            known = not (unread or name in _KEYWORDS or _RESERVED.match(name)) and names.is_free(scope, name)
            self._free[scope, name] = known
        return known

    def on_declaration(self, node: Node) -> None:
        """Local variables; at top level the variable's initial value."""
        known = [draft for draft in self.drafts if draft.node.id == node.id] if node.id in self.by_node else []
        for declarator in node.children_by_field_name("declarator"):
            found = self._function_declarator(declarator)
            name = self._declared_name(declarator)
            if name is None:
                self._declare_parts(node, declarator)
                continue
            if found is not None and not self._is_pointer(found) and declarator.type != "init_declarator":
                self._otherwise_bound.append((self.scope, self.text(name)))
                continue
            declared = self._declared_type(node, declarator)
            value = self._initial(node, declarator, declared)
            own = [draft for draft in known if draft.name == self.text(name)]
            if own:
                own[0].value = value
            elif self.scope >= 0:
                self.assign(self.name(name), value, type=declared, declares=True, until=self.block_end(node.start_byte))
            else:
                self._unread_locals.add(self.text(name))

    def _initial(self, node: Node, declarator: Node, declared: Type | None) -> int:
        """The initial value; `T x(1);` and `T x{1};` run a constructor of T."""
        value = declarator.child_by_field_name("value") if declarator.type == "init_declarator" else None
        if value is not None and value.type not in ("argument_list", "initializer_list"):
            return self.expr(value)
        runs = (
            self._is_cpp and declared is not None and declared.name[:1].isalpha() and not self._has_pointer(declarator)
        )
        if not runs or (value is None and node.type == "declaration" and self.scope < 0):
            return -1
        args = tuple(self.expr(arg) for arg in value.named_children) if value is not None else ()
        return self.add(node, Op.NEW, args=args, type=declared, text="declared")

    def on_range(self, node: Node) -> None:
        declarator, right = node.child_by_field_name("declarator"), node.child_by_field_name("right")
        if declarator is None or right is None:
            return
        parts = _bound_parts(declarator)
        name = self._declared_name(declarator)
        value = self.add(node, Op.ELEMENT, base=self.expr(right)) if name is not None or parts else -1
        if name is not None:
            declared = self._declared_type(node, declarator)
            self.assign(self.name(name), value, type=declared, declares=True, until=node.end_byte)
        self._bind_parts(parts, value, node.end_byte)

    def _bind_parts(self, parts: list[Node], value: int, until: int) -> None:
        for place, part in enumerate(parts):
            key = self.add(part, Op.LITERAL, "int", text=str(place))
            item = self.add(part, Op.INDEX, base=value, args=(key,))
            self.assign(self.name(part), item, declares=True, until=until)

    def _declare_parts(self, node: Node, declarator: Node) -> None:
        """auto [a, b] = value;"""
        inner = declarator.child_by_field_name("declarator") if declarator.type == "init_declarator" else None
        parts = _bound_parts(inner) if inner is not None and self.scope >= 0 else []
        if parts:
            self._bind_parts(parts, self._initial(node, declarator, None), self.block_end(node.start_byte))

    def on_catch(self, node: Node) -> None:
        parameters = node.child_by_field_name("parameters")
        for item in parameters.named_children if parameters is not None else ():
            declarator = item.child_by_field_name("declarator")
            name = self._declared_name(declarator) if declarator is not None else None
            if name is not None:
                declared = self._declared_type(item, declarator)
                self.assign(self.name(name), -1, type=declared, declares=True, until=node.end_byte)

    def on_assignment(self, node: Node) -> None:
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        if left is not None and left.type in ("identifier", "field_expression"):
            self.assign(self.expr(left), self.expr(right))

    def on_fieldinit(self, node: Node) -> None:
        """Constructor initialisers: a base class's constructor, or a field's value."""
        name = node.named_child(0)
        if name is None:
            return
        arguments = node.named_child(1)
        args = tuple(self.expr(arg) for arg in arguments.named_children) if arguments is not None else ()
        self.add(node, Op.NEW, args=args, type=Type(self._type_text(name)), text="initialiser")

    def on_return(self, node: Node) -> None:
        if self.scope >= 0 and node.named_child_count:
            self.drafts[self.scope].returns.append(self.expr(node.named_child(0)))

    # -- expressions

    def expression(self, node: Node) -> int:
        kind = node.type
        if kind == "identifier":
            return self.name(node)
        if kind == "call_expression":
            return self._call(node)
        if kind == "field_expression":
            field = node.child_by_field_name("field")
            name = _dotted(self.text(field)).split(".")[-1] if field is not None else ""
            arrow = self.text(operator) if (operator := node.child_by_field_name("operator")) is not None else ""
            base = self.expr(node.child_by_field_name("argument"))
            return self.add(node, Op.MEMBER, name, base=base, text=ARROW if arrow == ARROW else "")
        if kind in ("qualified_identifier", "template_function", "template_type", "scoped_identifier"):
            return self._path(node)
        if kind in _LITERALS:
            return self.add(node, Op.LITERAL, _LITERALS[kind])
        if kind == "this":
            return self.add(node, Op.THIS)
        if kind in ("parenthesized_expression", "condition_clause"):
            return self.expr(node.named_child(0))
        if kind == "pointer_expression":
            base = self.expr(node.child_by_field_name("argument"))
            return self.add(node, Op.ENTER, "*", base=base) if self._is_opened(node) else base
        if kind == "subscript_expression":
            return self.add(node, Op.INDEX, base=self.expr(node.child_by_field_name("argument")))
        if kind == "new_expression":
            arguments = node.child_by_field_name("arguments")
            args = tuple(self.expr(arg) for arg in arguments.named_children) if arguments is not None else ()
            return self.add(node, Op.NEW, args=args, type=self._type(node.child_by_field_name("type")))
        if kind == "cast_expression":
            declared = self._type(node.child_by_field_name("type"))
            return self.add(node, Op.CAST, base=self.expr(node.child_by_field_name("value")), type=declared)
        if kind == "compound_literal_expression":
            return self.add(node, Op.CAST, base=-1, type=self._type(node.child_by_field_name("type")))
        if kind == "conditional_expression":
            branches = [node.child_by_field_name("consequence"), node.child_by_field_name("alternative")]
            return self.add(node, Op.CHOICE, args=tuple(self.expr(item) for item in branches if item is not None))
        if kind == "assignment_expression":
            return self.expr(node.child_by_field_name("right"))
        if kind == "lambda_expression" and node.id in self.by_node:
            return self.add(node, Op.FUNCTION, base=self.by_node[node.id])
        if kind == "comma_expression":
            return self.expr(node.child_by_field_name("right"))
        return self.add(node, Op.UNKNOWN)

    def _call(self, node: Node) -> int:
        function = node.child_by_field_name("function")
        arguments = node.child_by_field_name("arguments")
        args = tuple(self.expr(arg) for arg in arguments.named_children if arg.type != "comment") if arguments else ()
        if function is not None and function.type == "template_function":
            name = function.child_by_field_name("name")
            if name is not None and self.text(name) in _CASTS:
                types = function.child_by_field_name("arguments")
                declared = self._type(types.named_child(0)) if types is not None and types.named_child_count else None
                return self.add(node, Op.CAST, base=args[0] if args else -1, type=declared)
        return self.add(node, Op.CALL, base=self.expr(function), args=args, type=self._made(function))

    def _made(self, function: Node | None) -> Type | None:
        """T of `std::make_unique<T>(...)`; what other calls write as type arguments."""
        while function is not None and function.type in ("qualified_identifier", "field_expression"):
            function = function.child_by_field_name("name" if function.type == "qualified_identifier" else "field")
        if function is None or function.type not in ("template_function", "template_method"):
            return None
        name, types = function.child_by_field_name("name"), function.child_by_field_name("arguments")
        if name is None or types is None:
            return None
        written = tuple(self._type(item) for item in types.named_children if item.type == "type_descriptor")
        if self.text(name) in MAKERS:
            return written[0] if written else None
        return Type(EXPLICIT, written) if written else None

    def _is_opened(self, node: Node) -> bool:
        """`*p` whose p may be a smart pointer; what a call calls is no matter of its own."""
        if self.language != "cpp" or self.source[node.start_byte : node.start_byte + 1] != b"*":
            return False
        around = node.parent
        while around is not None and around.type == "parenthesized_expression":
            around = around.parent
        return around is not None and around.type != "call_expression"

    def _path(self, node: Node) -> int:
        """a::b::c as members of members; template arguments are left out."""
        parts = [part for part in self._type_text(node).split(".") if part]
        if not parts:
            return self.add(node, Op.UNKNOWN)
        found = self.add(node, Op.NAME, parts[0])
        for part in parts[1:]:
            found = self.add(node, Op.MEMBER, part, base=found)
            self._paths.append(found)
        return found

    # -- declarators and types

    def _function_declarator(self, node: Node | None) -> Node | None:
        """The function_declarator below pointers and references; None when it declares no function."""
        while node is not None:
            if node.type == "function_declarator":
                inner = node.child_by_field_name("declarator")
                deeper = self._function_declarator(inner) if inner is not None and inner.type not in _NAMES else None
                return node if deeper is None or self._parenthesised(deeper) is not None else deeper
            if node.type == "init_declarator" or node.type == "array_declarator":
                node = node.child_by_field_name("declarator")
            elif node.type in ("pointer_declarator", "reference_declarator", "parenthesized_declarator"):
                node = node.child_by_field_name("declarator") or (
                    node.named_children[-1] if node.named_children else None
                )
            else:
                return None
        return None

    def _is_pointer(self, declarator: Node) -> bool:
        """int (*name)(int): a variable that holds a function; int (name)(int) declares one."""
        inner = declarator.child_by_field_name("declarator")
        return (
            inner is not None
            and inner.type == "parenthesized_declarator"
            and any(child.type == "pointer_declarator" for child in inner.named_children)
        )

    def _has_pointer(self, declarator: Node) -> bool:
        node: Node | None = declarator
        while node is not None:
            if node.type in ("pointer_declarator", "reference_declarator", "array_declarator"):
                return True
            node = node.child_by_field_name("declarator")
        return False

    def _declared_name(self, node: Node | None) -> Node | None:
        while node is not None:
            if node.type in ("identifier", "field_identifier", "type_identifier"):
                return node
            inner = node.child_by_field_name("declarator")
            if inner is None and node.type in (
                "parenthesized_declarator",
                "reference_declarator",
                "attributed_declarator",
            ):
                inner = node.named_children[-1] if node.named_children else None
            node = inner
        return None

    def _declared_type(self, node: Node, declarator: Node | None) -> Type | None:
        """The type a declaration gives a name; None for auto."""
        declared = self._type(node.child_by_field_name("type"))
        inner = declarator
        while inner is not None:
            if inner.type == "array_declarator":
                declared = Type("[]", (declared,))
            elif inner.type == "function_declarator":
                return Type("->", (declared,))
            inner = inner.child_by_field_name("declarator")
        return declared if declared.name not in ("", "auto") else None

    def _type(self, node: Node | None) -> Type:
        if node is None:
            return Type("")
        kind = node.type
        if kind in ("struct_specifier", "class_specifier", "union_specifier", "enum_specifier"):
            name = node.child_by_field_name("name")
            return Type(self._type_text(name) if name is not None else "")
        if kind == "type_descriptor":
            return self._type(node.child_by_field_name("type"))
        if kind == "placeholder_type_specifier":
            return Type("auto")
        if kind == "dependent_type":
            return self._type(node.named_child(0))
        if kind in ("primitive_type", "sized_type_specifier"):
            return Type(self.text(node))
        return Type(self._type_text(node), tuple(self._type_arguments(node)))

    def _type_arguments(self, node: Node) -> Iterator[Type]:
        while node.type in ("qualified_identifier", "scoped_type_identifier"):
            inner = node.child_by_field_name("name")
            if inner is None:
                return
            node = inner
        arguments = node.child_by_field_name("arguments") if node.type == "template_type" else None
        for item in arguments.named_children if arguments is not None else ():
            if item.type == "type_descriptor":
                yield self._type(item)

    def _type_text(self, node: Node) -> str:
        """A possibly qualified name, dotted, without template arguments."""
        if node.type in ("template_type", "template_function", "template_method"):
            name = node.child_by_field_name("name")
            return self._type_text(name) if name is not None else ""
        if node.type in ("qualified_identifier", "scoped_type_identifier", "nested_namespace_specifier"):
            scope, name = node.child_by_field_name("scope"), node.child_by_field_name("name")
            left = self._type_text(scope) if scope is not None else ""
            right = self._type_text(name) if name is not None else ""
            return f"{left}.{right}" if left else right
        return self.text(node) if node.child_count == 0 or node.type in _NAMES else _dotted(self.text(node))

    def _doc(self, node: Node) -> str:
        return self.comment_before(node, _COMMENTS, _clean)


class CppExtractor(CExtractor):
    """One C++ file."""

    language = "cpp"


_TYPE_NODES = frozenset({"type_identifier", "qualified_identifier", "template_type", "scoped_type_identifier"})


def _begins_statement(source: bytes, macro: re.Match[bytes]) -> bool:
    """Whether the line before ends something, and the line after does not show the macro to be a value."""
    before = source[max(0, macro.start() - 4000) : macro.start()].rstrip()
    line = before[before.rfind(b"\n") + 1 :].lstrip()
    after = source[macro.end() : macro.end() + 400].lstrip()
    if not after.startswith((b"//", b"/*")) and after[:1] in b"}=.,;?:|&+*/-)]<>(":
        return False
    return not line or line.startswith((b"#", b"//")) or line.endswith((b";", b"{", b"}", b"*/", b":"))


# an attribute's numbers (which parameters it is about) may follow
_LONE_MACRO = re.compile(rb"^[ \t]*([A-Z][A-Z0-9_]{3,}(?:\([ \t]*\d[\d, \t]*\)|:(?!:))?)[ \t]*(?=//|$)", re.MULTILINE)
_TEMPLATE = re.compile(r"<[^<>]*>")
_MARGIN = re.compile(r"^[ \t]*\*? ?", re.MULTILINE)


def _dotted(text: str) -> str:
    """a::b<c>::d as a.b.d."""
    before = ""
    while before != text and "operator" not in text:
        before, text = text, _TEMPLATE.sub("", text)
    return re.sub(r"\s*::\s*", ".", text.strip()).lstrip(".")


def _clean(comment: str) -> str:
    if comment.startswith("//"):
        return comment.lstrip("/!<").strip()
    return _MARGIN.sub("", comment.removeprefix("/*").removesuffix("*/").lstrip("*!")).strip()


def _bound_parts(declarator: Node) -> list[Node]:
    """The names of `auto& [key, value]`."""
    while declarator.type == "reference_declarator" and declarator.named_children:
        declarator = declarator.named_children[-1]
    if declarator.type != "structured_binding_declarator":
        return []
    return [child for child in declarator.named_children if child.type == "identifier"]


EXTRACTOR = CExtractor
