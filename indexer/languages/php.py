"""PHP: namespaces and uses, classes, traits and enums, typed members, doc comment types, closures and call sites.

Names of classes, functions and constants are resolved by the file's own namespace and `use` lines, as PHP's compiler
does: facts hold full names, dotted. Variables and properties keep their `$`, so that `$this->x` and `$this->x()` never
meet. A NAME expression says in `text` what it names: "class", "function", "const"; with a "?" after it, a name that
falls back to the global namespace.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from tree_sitter import Node

from ctxsearch.graph.facts import Expr, Import, Op, Param, ParamKind, Type
from ctxsearch.graph.model import NodeFlag, NodeKind
from ctxsearch.indexer.languages.builder import Draft, Extractor
from ctxsearch.indexer.languages.php_types import NOTHING, comment_text, doc_tags, named_type, read_doc_type, union

_COMMENTS = frozenset({"comment"})
_TEMPLATE = re.compile(rb"@(?:phpstan-|psalm-)?template(?:-covariant|-contravariant)?\s+(\w+)")
_NAMESPACES = re.compile(rb"^\s*(?:<\?php\s+)?namespace\s+[\w\\]*\s*[;{]", re.MULTILINE)
_LITERALS = {
    "string": "string",
    "encapsed_string": "string",
    "heredoc": "string",
    "nowdoc": "string",
    "integer": "int",
    "float": "float",
    "boolean": "bool",
}
_CHOICES = frozenset({"??", "?:"})
_ITSELF = frozenset({"self", "static", "parent"})
_SAME = frozenset({"parenthesized_expression", "clone_expression", "error_suppression_expression", "by_ref"})
_MEMBERS = frozenset({"member_access_expression", "nullsafe_member_access_expression"})
_METHOD_CALLS = frozenset({"member_call_expression", "nullsafe_member_call_expression"})
_CALLBACKS = {  # library functions that call what stands at this place of their arguments
    "call_user_func": 0,
    "call_user_func_array": 0,
    "array_map": 0,
    "array_filter": 1,
    "array_reduce": 1,
    "array_walk": 1,
    "usort": 1,
    "uasort": 1,
    "uksort": 1,
    "preg_replace_callback": 1,
    "register_shutdown_function": 0,
    "spl_autoload_register": 0,
    "set_error_handler": 0,
    "set_exception_handler": 0,
}


class PhpExtractor(Extractor):
    """One PHP file."""

    language = "php"

    def __init__(self, path: str, source: bytes, flags: NodeFlag = NodeFlag.NONE) -> None:
        if path.endswith("Test.php"):
            flags |= NodeFlag.TEST
        super().__init__(path, source, flags)
        self._templates = {name.decode() for name in _TEMPLATE.findall(source)}
        self._several = len(_NAMESPACES.findall(source)) > 1
        self._namespace = ""  # of the current capture, dotted
        self._uses: dict[str, dict[str, str]] = {"": {}, "function": {}, "const": {}}
        self._branches: list[tuple[int, int]] = []
        self._hint: tuple[int, Type, str] = (-1, NOTHING, "")  # end of an @var comment, its type and variable
        self._class_count: dict[int, int] = {}

    # -- definitions

    def define(self, node: Node, capture: str) -> Draft | None:
        if capture == "def.namespace":
            return self._define_namespace(node)
        if capture in ("def.closure", "def.arrow"):
            return self.anonymous("closure" if capture == "def.closure" else "fn", node)
        if capture == "def.anonymous":
            return self._anonymous_class(node)
        if capture in ("def.constant", "def.property", "def.promoted", "def.case"):
            return self._variable(node, capture)
        name = node.child_by_field_name("name")
        if name is None:
            return None
        draft = self.draft(self._kind(node, capture), self.text(name), node)
        draft.name_line = self.line(name.start_byte)
        draft.signature = self.signature(node, node.child_by_field_name("body"))
        self._document(draft, node)
        draft.flags |= self._flags(node, draft)
        return draft

    def _kind(self, node: Node, capture: str) -> NodeKind:
        if capture == "def.class":
            return NodeKind.CLASS
        if capture == "def.interface":
            return NodeKind.INTERFACE
        if capture == "def.function":
            return NodeKind.FUNCTION
        name = node.child_by_field_name("name")
        constructs = name is not None and self.text(name).lower() == "__construct"
        return NodeKind.CONSTRUCTOR if constructs else NodeKind.METHOD

    def _flags(self, node: Node, draft: Draft) -> NodeFlag:
        flags = NodeFlag.DEPRECATED if "@deprecated" in draft.doc else NodeFlag.NONE
        if draft.kind is NodeKind.METHOD:
            if self.flags & NodeFlag.TEST and (draft.name.startswith("test") or "@test" in draft.doc):
                flags |= NodeFlag.TEST
            if node.child_by_field_name("body") is None:
                flags |= NodeFlag.ABSTRACT | NodeFlag.DECLARATION
        if draft.kind in (NodeKind.METHOD, NodeKind.CONSTRUCTOR):
            words = draft.signature.partition("(")[0].split()
            flags |= NodeFlag.STATIC if "static" in words else NodeFlag.NONE
            return flags | (NodeFlag.PRIVATE if "private" in words else NodeFlag.EXPORTED)
        if "abstract" in draft.signature.partition("class")[0].split():
            flags |= NodeFlag.ABSTRACT
        return flags | NodeFlag.EXPORTED

    def _define_namespace(self, node: Node) -> Draft | None:
        """A file with one namespace is a file of that package; several are definitions with an extent."""
        name = node.child_by_field_name("name")
        text = self.text(name) if name is not None else ""
        if not self._several:
            self.package = text.replace("\\", ".")
            return None
        if not text:
            return None
        draft = self.draft(NodeKind.PACKAGE, text, node)
        draft.signature = f"namespace {text}"
        if node.child_by_field_name("body") is None:
            following = node.next_named_sibling
            while following is not None and following.type != "namespace_definition":
                draft.end, draft.end_line = following.end_byte, self.last_line(following)
                following = following.next_named_sibling
        return draft

    def _anonymous_class(self, node: Node) -> Draft:
        number = self._class_count.get(self.scope, 0) + 1
        self._class_count[self.scope] = number
        return self.draft(NodeKind.CLASS, f"<anonymous{number}>", node)

    def _variable(self, node: Node, capture: str) -> Draft | None:
        name = node.child_by_field_name("name") or _child(node, 0)
        if name is None:
            return None
        scope = self.scope
        if capture == "def.promoted" and scope >= 0:
            self.scope = self.drafts[scope].parent
        whole = node.parent if capture in ("def.constant", "def.property") else None
        draft = self.draft(NodeKind.VARIABLE, self.text(name), node, outer=whole)
        self.scope = scope
        draft.signature = self.signature(whole or node, None)
        if capture != "def.promoted":
            self._document(draft, whole or node)
        return draft

    def _document(self, draft: Draft, node: Node) -> None:
        """Attach the doc comment before `node`, and widen the definition over it."""
        previous = node.prev_sibling
        if previous is None or previous.type != "comment":
            return
        draft.doc = self.comment_before(node, _COMMENTS, comment_text)
        if self.source.startswith(b"/**", previous.start_byte):
            draft.start = previous.start_byte
            draft.start_line = self.line(draft.start)

    def complete(self, draft: Draft) -> None:
        node = draft.node
        if draft.kind in (NodeKind.CLASS, NodeKind.INTERFACE):
            self._complete_class(draft, node)
        elif draft.kind is NodeKind.VARIABLE:
            self._complete_variable(draft, node)
        elif draft.kind is not NodeKind.PACKAGE:
            self._complete_function(draft, node)

    def _complete_class(self, draft: Draft, node: Node) -> None:
        around = node.parent if node.type == "declaration_list" else node
        for child in around.named_children if around is not None else ():
            if child.type == "base_clause":
                draft.bases += [Type(self._class_name(name)) for name in child.named_children]
            elif child.type == "class_interface_clause":
                draft.implements += [Type(self._class_name(name)) for name in child.named_children]
        self._attributes(draft, node)

    def _attributes(self, draft: Draft, node: Node) -> None:
        attributes = node.child_by_field_name("attributes")
        for group in attributes.named_children if attributes is not None else ():
            for attribute in group.named_children:
                name = _child(attribute, 0)
                if name is not None:
                    draft.decorators.append(self._class_expr(name))
                    if self.text(name) == "Test":
                        draft.flags |= NodeFlag.TEST

    def _complete_variable(self, draft: Draft, node: Node) -> None:
        kind = node.type
        if kind == "enum_case":
            draft.result = Type("self")
            return
        declared, doc = NOTHING, NOTHING
        if kind != "const_element":
            owner = node if kind == "property_promotion_parameter" else node.parent
            declared = self._type(owner.child_by_field_name("type")) if owner is not None else NOTHING
            _, _, doc = doc_tags(draft.doc, self._resolve_doc) if "@" in draft.doc else ({}, NOTHING, NOTHING)
        chosen = declared if declared.name else doc
        draft.result = chosen if chosen.name else None
        value = _child(node, 1) if kind == "const_element" else node.child_by_field_name("default_value")
        if kind != "property_promotion_parameter" and value is not None:
            draft.value = self.expr(value)

    def _complete_function(self, draft: Draft, node: Node) -> None:
        outer, self.scope = self.scope, draft.index
        params, result, _ = doc_tags(draft.doc, self._resolve_doc) if "@" in draft.doc else ({}, NOTHING, NOTHING)
        parameters = node.child_by_field_name("parameters")
        if parameters is not None:
            draft.params = list(self._params(parameters, params))
        declared = self._type(node.child_by_field_name("return_type"))
        if not declared.name or declared.name in ("self", "[]"):
            declared = result if result.name else declared
        draft.result = declared if declared.name else None
        self._attributes(draft, node)
        self.scope = outer

    def _params(self, parameters: Node, documented: dict[str, Type]) -> Iterator[Param]:
        for item in parameters.named_children:
            name = item.child_by_field_name("name")
            if name is None:
                continue
            text = self.text(name).lstrip("&.")
            declared = self._type(item.child_by_field_name("type"))
            if not declared.name:
                declared = documented.get(text, NOTHING)
            default = item.child_by_field_name("default_value")
            kind = ParamKind.VARIADIC if item.type == "variadic_parameter" else ParamKind.NORMAL
            value = -1
            if default is not None:  # other values than constants say only that there is one
                constant = default.type in _CONSTANT_DEFAULTS
                value = self.expr(default) if constant else self.add(default, Op.UNKNOWN)
            yield Param(text, declared if declared.name else None, value, kind)
            if item.type == "property_promotion_parameter":
                this = self.add(item, Op.THIS)
                target = self.add(item, Op.MEMBER, text, base=this)
                self.assign(target, self.add(item, Op.NAME, text))

    # -- names of the file

    def on_namespace(self, node: Node) -> None:
        name = node.child_by_field_name("name")
        self._namespace = self.text(name).replace("\\", ".") if name is not None else ""
        self._uses = {"": {}, "function": {}, "const": {}}

    def on_use(self, node: Node) -> None:
        prefix, kind = "", self._use_kind(node)
        for child in node.named_children:
            if child.type == "namespace_name":
                prefix = self.text(child) + "\\"
            elif child.type == "namespace_use_group":
                for clause in child.named_children:
                    self._use(clause, prefix, self._use_kind(clause) or kind)
            elif child.type == "namespace_use_clause":
                self._use(child, "", self._use_kind(child) or kind)

    def _use_kind(self, node: Node) -> str:
        kind = node.child_by_field_name("type")
        return self.text(kind).lower() if kind is not None else ""

    def _use(self, clause: Node, prefix: str, kind: str) -> None:
        written = _child(clause, 0)
        if written is None:
            return
        full = (prefix + self.text(written)).strip("\\").replace("\\", ".")
        alias = clause.child_by_field_name("alias")
        local = self.text(alias) if alias is not None else full.rsplit(".", 1)[-1]
        self._uses[kind][local if kind == "const" else local.lower()] = full
        at = clause.start_byte
        self.imports.append(Import(-1, self.line(at), at, full, "", local, kind=kind))

    def on_traits(self, node: Node) -> None:
        """use A, B { A::x as y; } in a class: its methods come after the class's own and before the parent's."""
        if self.scope < 0:
            return
        owner = self.drafts[self.scope]
        traits: list[Type] = []
        for child in node.named_children:
            if child.type in ("name", "qualified_name"):
                traits.append(Type(self._class_name(child)))
            elif child.type == "use_list":
                for clause in child.named_children:
                    if clause.type == "use_as_clause":
                        self._trait_alias(clause)
        parents = [base for base in owner.bases if base not in traits]
        before = len(owner.bases) - 1 if self._has_parent(owner) else len(owner.bases)
        owner.bases = parents[:before] + traits + parents[before:]

    def _has_parent(self, owner: Draft) -> bool:
        node = owner.node.parent if owner.node.type == "declaration_list" else owner.node
        return node is not None and any(child.type == "base_clause" for child in node.named_children)

    def _trait_alias(self, clause: Node) -> None:
        children = clause.named_children
        alias = children[-1] if len(children) > 1 and children[-1].type == "name" else None
        if alias is None:
            return
        source = children[0]
        if source.type == "class_constant_access_expression":
            owner, name = source.named_children[0], source.named_children[-1]
            base = self._class_expr(owner)
        else:
            name, base = source, self.add(clause, Op.THIS)
        value = self.add(clause, Op.MEMBER, self.text(name), base=base)
        target = self.add(clause, Op.MEMBER, self.text(alias), base=self.add(clause, Op.THIS))
        self.assign(target, value)

    def on_require(self, node: Node) -> None:
        """require __DIR__ . '/x.php': a path relative to this file, where it is written out."""
        value = _child(node, 0)
        while value is not None and value.type == "parenthesized_expression":
            value = _child(value, 0)
        if value is None:
            return
        level = 0
        if value.type == "binary_expression":
            left, right = value.child_by_field_name("left"), value.child_by_field_name("right")
            if left is None or right is None or self.text(left) not in ("__DIR__", "dirname(__FILE__)"):
                return
            value, level = right, 1
        if value.type in ("string", "encapsed_string") and value.named_child_count == 1:
            at = node.start_byte
            module = self.text(value)[1:-1].lstrip("/" if level else "")
            self.imports.append(Import(self.scope, self.line(at), at, module, level=level, kind="require"))

    # -- bindings

    def on_branch(self, node: Node) -> None:
        self._leave(node.start_byte)
        self._branches.append((node.start_byte, node.end_byte))

    def _leave(self, at: int) -> None:
        while self._branches and self._branches[-1][1] <= at:
            self._branches.pop()

    def _bind(self, target: int, value: int, node: Node, declared: Type | None = None, **more: Any) -> None:
        self._leave(node.start_byte)
        start = self.drafts[self.scope].node.start_byte if self.scope >= 0 else -1
        conditional = bool(self._branches) and self._branches[-1][0] > start
        block = self._branches[-1][1] if conditional else -1
        self.assign(target, value, type=declared, conditional=conditional, block=block, **more)

    def on_hint(self, node: Node) -> None:
        found = re.search(r"@(?:phpstan-|psalm-)?var\s+(.*)", comment_text(self.text(node)))
        if found is not None:
            declared, rest = read_doc_type(found[1], self._resolve_doc)
            name = re.match(r"\s*(\$\w+)", rest)
            self._hint = node.end_byte, declared, name[1] if name is not None else ""

    def _hinted(self, node: Node, name: str) -> Type | None:
        end, declared, variable = self._hint
        if end < 0 or not declared.name or (variable and variable != name):
            return None
        return declared if not self.source[end : node.start_byte].strip() else None

    def on_assignment(self, node: Node) -> None:
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        if left is None or right is None:
            return
        value = self.expr(right)
        if node.type == "augmented_assignment_expression":
            value = self.add(node, Op.CHOICE, args=(self.expr(left), value))
        self._assign_to(left, value, node)

    def _assign_to(self, left: Node, value: int, node: Node) -> None:
        kind = left.type
        if kind == "variable_name":
            name = self.text(left)
            # the name changes its meaning behind the assignment: `$x = $x->next()` reads the old one
            target = Expr(Op.NAME, self.scope, self.line(left.start_byte), max(node.end_byte - 1, 0), name)
            self.exprs.append(target)
            self._bind(len(self.exprs) - 1, value, node, self._hinted(node, name))
        elif kind in _MEMBERS or kind == "scoped_property_access_expression":
            self._bind(self._field_target(left), value, node)
        elif kind in ("list_literal", "array_creation_expression"):
            self._destructure(left, value, node)
        elif kind == "by_ref" and left.named_child_count:
            self._assign_to(left.named_children[0], value, node)

    def _field_target(self, left: Node) -> int:
        """A field of this object or of this class: both are kept as fields of the class."""
        scope = left.child_by_field_name("scope")
        if scope is not None and self.text(scope) in ("self", "static"):
            name = left.child_by_field_name("name")
            text = self.text(name) if name is not None else ""
            return self.add(left, Op.MEMBER, text, base=self.add(left, Op.THIS))
        return self.expr(left)

    def _destructure(self, left: Node, value: int, node: Node) -> None:
        place, key = 0, ""
        for item in left.named_children:
            inner: Node | None = item
            if item.type == "array_element_initializer":
                inner = item.named_children[-1] if item.named_child_count else None
                if item.named_child_count > 1:
                    key = self.text(item.named_children[0]).strip("'\"")
            elif item.type in ("string", "integer"):
                key = self.text(item).strip("'\"")
                continue
            if inner is not None:
                literal = self.add(node, Op.LITERAL, "string", text=key or str(place))
                self._assign_to(inner, self.add(node, Op.INDEX, base=value, args=(literal,)), node)
            place, key = place + 1, ""

    def on_foreach(self, node: Node) -> None:
        children = [child for child in node.named_children if child.type != "comment"]
        if len(children) < 2:
            return
        whole, item = self.expr(children[0]), children[1]
        if item.type == "pair":
            item = item.named_children[-1]
        declared = self._hinted(node, self.text(item)) if item.type == "variable_name" else None
        if declared is not None:
            self._bind(self.add(item, Op.NAME, self.text(item)), -1, node, declared)
            return
        self._assign_to(item, self.add(item, Op.ELEMENT, base=whole), item)

    def on_catch(self, node: Node) -> None:
        name, types = node.child_by_field_name("name"), node.child_by_field_name("type")
        if name is None or types is None:
            return
        declared = union([self._type(item) for item in types.named_children])
        target = self.add(name, Op.NAME, self.text(name))
        self.assign(target, -1, type=declared, declares=True, until=node.end_byte, conditional=True)

    def on_static(self, node: Node) -> None:
        name = node.child_by_field_name("name")
        if name is not None:
            self._bind(self.add(name, Op.NAME, self.text(name)), self.expr(node.child_by_field_name("value")), node)

    def on_test(self, node: Node) -> None:
        """if ($x instanceof Foo ...): inside, $x is a Foo."""
        statement = node.parent.parent if node.parent is not None else None
        body = statement.child_by_field_name("body") if statement is not None else None
        if body is None:
            return
        for left, right in self._narrowings(node):
            target = self.add(left, Op.NAME, self.text(left))
            declared = Type(self._class_name(right))
            self.assign(target, -1, type=declared, declares=True, until=body.end_byte, conditional=True)

    def _narrowings(self, node: Node) -> Iterator[tuple[Node, Node]]:
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        operator = node.child_by_field_name("operator")
        if left is None or right is None or operator is None:
            return
        symbol = operator.type
        if symbol == "instanceof" and left.type == "variable_name" and right.type in ("name", "qualified_name"):
            yield left, right
        elif symbol in ("&&", "and"):
            for side in (left, right):
                if side.type == "binary_expression":
                    yield from self._narrowings(side)

    # -- code

    def on_call(self, node: Node) -> None:
        self.expr(node)

    def on_return(self, node: Node) -> None:
        value = _child(node, 0)
        if self.scope >= 0 and value is not None and value.type != "comment":
            self.drafts[self.scope].returns.append(self.expr(value))

    def on_result(self, node: Node) -> None:
        self.drafts[self.scope].returns.append(self.expr(node))

    def on_yield(self, node: Node) -> None:  # noqa: ARG002
        if self.scope >= 0:
            self.drafts[self.scope].flags |= NodeFlag.GENERATOR

    def on_constant(self, node: Node) -> None:
        index = self.expr(node)
        if self.exprs[index].op in (Op.MEMBER, Op.NAME):
            self.references.append(index)

    def on_type(self, node: Node) -> None:
        self.references.append(self._class_expr(node))

    # -- expressions

    def expression(self, node: Node) -> int:
        kind = node.type
        if kind == "variable_name":
            text = self.text(node)
            return self.add(node, Op.THIS) if text == "$this" else self.add(node, Op.NAME, text)
        if kind in _METHOD_CALLS or kind in ("function_call_expression", "scoped_call_expression"):
            return self._call(node)
        if kind in _MEMBERS:
            return self._member(node, node.child_by_field_name("object"), "$")
        if kind == "scoped_property_access_expression":
            return self._member(node, node.child_by_field_name("scope"), "")
        if kind == "object_creation_expression":
            return self._new(node)
        if kind == "class_constant_access_expression":
            return self._class_constant(node)
        if kind in _LITERALS:
            return self._literal(node, kind)
        if kind in _SAME:
            inner = _child(node, 0)
            return self.expr(inner) if inner is not None else self.add(node, Op.UNKNOWN)
        return self._other(node, kind)

    def _other(self, node: Node, kind: str) -> int:
        if kind in ("anonymous_function", "arrow_function"):
            return self.add(node, Op.FUNCTION, base=self.by_node[node.id])
        if kind in ("assignment_expression", "reference_assignment_expression"):
            return self.expr(node.child_by_field_name("right"))
        if kind == "array_creation_expression":
            return self._array(node)
        if kind == "subscript_expression":
            key = _child(node, 1)
            args = (self.expr(key),) if key is not None else ()
            return self.add(node, Op.INDEX, base=self.expr(_child(node, 0)), args=args)
        if kind == "conditional_expression":
            sides = node.child_by_field_name("body") or node.child_by_field_name("condition")
            other = node.child_by_field_name("alternative")
            return self.add(node, Op.CHOICE, args=(self.expr(sides), self.expr(other)))
        if kind == "binary_expression":
            return self._binary(node)
        if kind == "match_expression":
            return self._match(node)
        if kind in ("name", "qualified_name", "relative_name"):
            return self._named(node, "const")
        return self.add(node, Op.UNKNOWN)

    def _literal(self, node: Node, kind: str) -> int:
        text = ""
        if kind == "integer" or (kind in ("string", "encapsed_string") and node.named_child_count < 2):
            text = self.text(node).strip("'\"")[:80]
        return self.add(node, Op.LITERAL, _LITERALS[kind], text=text)

    def _binary(self, node: Node) -> int:
        operator = node.child_by_field_name("operator")
        symbol = operator.type if operator is not None else ""
        if symbol in _CHOICES:
            sides = self.expr(node.child_by_field_name("left")), self.expr(node.child_by_field_name("right"))
            return self.add(node, Op.CHOICE, args=sides)
        return self.add(node, Op.LITERAL, "string" if symbol == "." else "int")

    def _match(self, node: Node) -> int:
        body = node.child_by_field_name("body")
        arms = [arm.child_by_field_name("return_expression") for arm in body.named_children] if body is not None else []
        return self.add(node, Op.CHOICE, args=tuple(self.expr(arm) for arm in arms if arm is not None))

    def _array(self, node: Node) -> int:
        args: list[int] = []
        mapping = False
        for item in node.named_children:
            parts = item.named_children
            if item.type != "array_element_initializer" or not parts:
                continue
            if parts[0].type == "variadic_unpacking":
                args.append(self.add(item, Op.SPREAD, base=self.expr(_child(parts[0], 0))))
            elif len(parts) > 1:
                mapping = True
                key = self.text(parts[0]).strip("'\"") if parts[0].type in ("string", "integer") else ""
                args.append(self.add(item, Op.KEYWORD, key[:80], base=self.expr(parts[-1])))
            else:
                args.append(self.expr(parts[0]))
        return self.add(node, Op.MAPPING if mapping else Op.SEQUENCE, "array", args=tuple(args))

    def _class_constant(self, node: Node) -> int:
        children = node.named_children
        if len(children) < 2:
            return self.add(node, Op.UNKNOWN)
        owner = self._owner(children[0])
        name = self.text(children[1])
        return owner if name == "class" else self.add(node, Op.MEMBER, name, base=owner)

    def _member(self, node: Node, owner: Node | None, sigil: str) -> int:
        name = node.child_by_field_name("name")
        base = self._owner(owner) if sigil == "" else self.expr(owner)
        if name is None or (sigil and name.type != "name") or (not sigil and name.type != "variable_name"):
            return self.add(node, Op.UNKNOWN)
        return self.add(node, Op.MEMBER, sigil + self.text(name), base=base)

    def _owner(self, node: Node | None) -> int:
        """What stands before `::`."""
        if node is None:
            return -1
        if node.type in ("relative_scope", "name"):
            text = self.text(node).lower()
            if text in _ITSELF:
                return self.add(node, Op.SUPER if text == "parent" else Op.RECEIVER_CLASS)
        if node.type in ("name", "qualified_name", "relative_name"):
            return self._class_expr(node)
        return self.expr(node)

    def _call(self, node: Node) -> int:
        callee = self._callee(node)
        arguments = node.child_by_field_name("arguments")
        items = arguments.named_children if arguments is not None else []
        if len(items) == 1 and items[0].type == "variadic_placeholder":
            return callee
        args = self._args(items)
        function = self.exprs[callee]
        if function.op is Op.NAME and function.text.startswith("function"):
            self._callback(node, function.name.rsplit(".", 1)[-1], args)
        return self.add(node, Op.CALL, base=callee, args=args)

    def _callee(self, node: Node) -> int:
        if node.type == "function_call_expression":
            function = node.child_by_field_name("function")
            if function is not None and function.type in ("name", "qualified_name", "relative_name"):
                return self._named(function, "function")
            return self.expr(function)
        name = node.child_by_field_name("name")
        if node.type == "scoped_call_expression":
            base = self._owner(node.child_by_field_name("scope"))
        else:
            base = self.expr(node.child_by_field_name("object"))
        if name is None or name.type != "name":
            return self.add(node, Op.UNKNOWN)
        return self.add(node, Op.MEMBER, self.text(name), base=base)

    def _args(self, items: list[Node]) -> tuple[int, ...]:
        args: list[int] = []
        for item in items:
            value = item.named_children[-1] if item.type == "argument" and item.named_child_count else None
            if value is None:
                continue
            name = item.child_by_field_name("name")
            if value.type == "variadic_unpacking":
                args.append(self.add(item, Op.SPREAD, base=self.expr(_child(value, 0))))
            elif name is not None:
                args.append(self.add(item, Op.KEYWORD, "$" + self.text(name), base=self.expr(value)))
            else:
                args.append(self.expr(value))
        return tuple(args)

    def _callback(self, node: Node, function: str, args: tuple[int, ...]) -> None:
        """A library function that calls what it is given: the call of that."""
        place = _CALLBACKS.get(function, -1)
        if not 0 <= place < len(args):
            return
        given = self.exprs[args[place]]
        callee = args[place]
        if given.op is Op.LITERAL and given.text:
            callee = self._written_function(node, given.text)
        elif given.op is Op.SEQUENCE and len(given.args) == 2 and self.exprs[given.args[1]].op is Op.LITERAL:
            callee = self.add(node, Op.MEMBER, self.exprs[given.args[1]].text, base=given.args[0])
        elif given.op not in (Op.MEMBER, Op.NAME) or given.name.startswith("$"):
            return
        if callee >= 0:
            self.add(node, Op.CALL, base=callee)

    def _written_function(self, node: Node, text: str) -> int:
        """'f', 'A\\f' or 'A::m' as a function."""
        owner, _, method = text.rpartition("::")
        full = (owner or text).replace("\\\\", "\\").strip("\\").replace("\\", ".")
        if not re.fullmatch(r"[\w.]+", full):
            return -1
        if not owner:
            return self.add(node, Op.NAME, full, text="function")
        return self.add(node, Op.MEMBER, method, base=self.add(node, Op.NAME, full, text="class"))

    def _new(self, node: Node) -> int:
        children = node.named_children
        if not children:
            return self.add(node, Op.UNKNOWN)
        target = children[0]
        arguments = target if target.type == "anonymous_class" else node
        given = next((child for child in arguments.named_children if child.type == "arguments"), None)
        args = self._args(given.named_children if given is not None else [])
        if target.type == "anonymous_class":
            body = target.child_by_field_name("body")
            index = self.by_node.get(body.id, -1) if body is not None else -1
            if index < 0:
                return self.add(node, Op.UNKNOWN)
            return self.add(node, Op.NEW, base=self.add(target, Op.CLASS, base=index), args=args)
        if target.type in ("name", "qualified_name", "relative_name"):
            return self.add(node, Op.NEW, args=args, type=named_type(self.text(target), self._resolve))
        return self.add(node, Op.NEW, base=self.expr(target), args=args)

    # -- names

    def _class_expr(self, node: Node) -> int:
        return self.add(node, Op.NAME, self._class_name(node), text="class")

    def _class_name(self, node: Node) -> str:
        return self._resolve(self.text(node))

    def _resolve_doc(self, written: str) -> str:
        return "" if written in self._templates else self._resolve(written)

    def _resolve(self, written: str) -> str:
        """A class name as written -> its full name."""
        return self._full(written, "")[0]

    def _full(self, written: str, kind: str) -> tuple[str, bool]:
        """The full name, and whether it may also be a name of the global namespace."""
        if written.startswith("\\"):
            return written[1:].replace("\\", "."), False
        head, _, rest = written.partition("\\")
        if head.lower() == "namespace" and rest:
            return self._in_namespace(rest.replace("\\", ".")), False
        uses = self._uses[kind if not rest else ""]
        known = uses.get(head if kind == "const" and not rest else head.lower())
        if known is not None:
            return f"{known}.{rest}".replace("\\", ".") if rest else known, False
        return self._in_namespace(written.replace("\\", ".")), not rest and bool(self._namespace)

    def _in_namespace(self, name: str) -> str:
        return f"{self._namespace}.{name}" if self._namespace else name

    def _named(self, node: Node, kind: str) -> int:
        full, falls_back = self._full(self.text(node), kind)
        return self.add(node, Op.NAME, full, text=f"{kind}?" if falls_back else kind)

    def _type(self, node: Node | None) -> Type:
        if node is None:
            return NOTHING
        kind = node.type
        if kind in ("named_type", "name", "qualified_name", "primitive_type"):
            return named_type(self.text(node), self._resolve)
        if kind in ("union_type", "intersection_type", "disjunctive_normal_form_type"):
            return union([self._type(child) for child in node.named_children])
        if kind == "optional_type":
            return self._type(_child(node, 0))
        return named_type(self.text(node), self._resolve) if kind in ("bottom_type", "relative_scope") else NOTHING


def _child(node: Node, place: int) -> Node | None:
    return node.named_child(place) if place < node.named_child_count else None


_CONSTANT_DEFAULTS = frozenset({"class_constant_access_expression", "object_creation_expression"})

EXTRACTOR = PhpExtractor
