"""Python source to FileFacts. Reads syntax alone: what a name means is decided in `graph.resolve.python`."""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import Final

from tree_sitter import Node

from ctxsearch.graph import ops
from ctxsearch.graph.facts import MODULE_SCOPE, Assign, Export, Expr, Import, Op, Param, ParamKind, Type
from ctxsearch.graph.model import NodeFlag, NodeKind
from ctxsearch.indexer.languages import BY_NAME
from ctxsearch.indexer.languages.builder import MAX_DEPTH, Draft, Extractor
from ctxsearch.indexer.languages.python_types import parse_type

MAX_ITEMS = 512  # of one literal list or dictionary: data tables hold no functions worth following
MAX_SLICE = 8  # items of a slice followed one by one
MAX_LITERAL = 80  # characters of a string literal kept as its value

_FUNCTIONS: Final = frozenset({NodeKind.FUNCTION, NodeKind.METHOD, NodeKind.CONSTRUCTOR})
_IMPLICIT_CLASS_METHODS = frozenset({"__new__", "__init_subclass__", "__class_getitem__"})
_TYPE_FIELDS = frozenset({"typed_parameter", "typed_default_parameter"})
_EXITS = frozenset({"return_statement", "raise_statement", "continue_statement", "break_statement"})
_LITERALS = {
    "string": "str",
    "concatenated_string": "str",
    "integer": "int",
    "float": "float",
    "true": "bool",
    "false": "bool",
    "none": "none",
    "ellipsis": "none",
    "comparison_operator": "bool",
    "not_operator": "bool",
}
_DECORATOR_FLAGS = {
    "staticmethod": NodeFlag.STATIC,
    "classmethod": NodeFlag.CLASS_METHOD,
    "property": NodeFlag.PROPERTY,
    "cached_property": NodeFlag.PROPERTY,
    "lazyproperty": NodeFlag.PROPERTY,
    "hybrid_property": NodeFlag.PROPERTY,
    "getter": NodeFlag.PROPERTY,
    "setter": NodeFlag.PROPERTY,
    "deleter": NodeFlag.PROPERTY,
    "abstractmethod": NodeFlag.ABSTRACT,
    "abstractproperty": NodeFlag.ABSTRACT | NodeFlag.PROPERTY,
    "abstractclassmethod": NodeFlag.ABSTRACT | NodeFlag.CLASS_METHOD,
    "abstractstaticmethod": NodeFlag.ABSTRACT | NodeFlag.STATIC,
    "overload": NodeFlag.DECLARATION,
    "deprecated": NodeFlag.DEPRECATED,
}
_MARKED = frozenset({"keyword_argument", "pair", "list_splat", "dictionary_splat"})  # items that are no plain value
_CAPITALS = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZ")
_STRING = re.compile(r"^[A-Za-z]*(\"\"\"|'''|\"|')(.*)\1$", re.DOTALL)
_TEXTS = frozenset({"string", "concatenated_string", "binary_operator"})
_TEMPLATE = re.compile(r"\w+\*\w*|\*\w+")  # one part that is not known, in a name
_PARTS = re.compile(r"\*\*+")
_PLACEHOLDER = re.compile(r"%[sdr]")
_QUOTES = frozenset(b"\"'")
_BOUNDS = re.compile(r"(\d{0,3}):(\d{1,3})")
_TEST_FILE = re.compile(r"(^|/)(tests?/|conftest\.py$|test_[^/]*\.py$|[^/]*_tests?\.py$|tests\.py$)")
_DEPRECATED_DOC = re.compile(r"^\s*\.\. deprecated::|^\s*deprecated\b", re.IGNORECASE | re.MULTILINE)

_field = BY_NAME["python"].language().field_id_for_name


def _field_id(name: str) -> int:
    found = _field(name)
    if found is None:
        raise LookupError(f"the Python grammar has no field {name!r}")
    return found


_ALIAS, _ARGUMENTS, _ATTRIBUTE = _field_id("alias"), _field_id("arguments"), _field_id("attribute")
_BODY, _CONDITION, _CONSEQUENCE = _field_id("body"), _field_id("condition"), _field_id("consequence")
_DEFINITION, _FUNCTION, _KEY = _field_id("definition"), _field_id("function"), _field_id("key")
_LEFT, _NAME, _OBJECT = _field_id("left"), _field_id("name"), _field_id("object")
_PARAMETERS, _RETURN_TYPE, _RIGHT = _field_id("parameters"), _field_id("return_type"), _field_id("right")
_SUBSCRIPT, _SUPERCLASSES, _TYPE = _field_id("subscript"), _field_id("superclasses"), _field_id("type")
_TYPE_PARAMETERS, _VALUE = _field_id("type_parameters"), _field_id("value")
_MODULE_NAME, _ARGUMENT = _field_id("module_name"), _field_id("argument")


class Python(Extractor):
    """One Python file being read."""

    language = "python"

    def __init__(self, path: str, source: bytes, flags: NodeFlag = NodeFlag.NONE) -> None:
        if _TEST_FILE.search(path):
            flags |= NodeFlag.TEST
        super().__init__(path, source, flags)
        self._outer: dict[int, Node] = {}  # definition node id -> its decorated_definition
        self._bound: dict[int, str] = {}  # lambda node id -> the name it is assigned to
        self._receivers: set[str] = set()  # names of first parameters of methods
        self._declared: dict[tuple[int, str], int] = {}  # (scope, name) -> scope that `global`/`nonlocal` chose
        self._variables: set[tuple[int, str]] = set()  # module- and class-level names that have a node
        self._branches: list[tuple[int, int]] = []  # (scope, end) of the branches around the current place
        self._literals: dict[tuple[int, str, str], int] = {}
        self._public: set[str] | None = None  # __all__, when it is written out

    # -- definitions

    def define(self, node: Node, capture: str) -> Draft | None:
        if capture == "def.function":
            return self._define_function(node)
        if capture == "def.class":
            name = self._field_text(node, _NAME)
            return self.draft(NodeKind.CLASS, name, node, outer=self._outer.get(node.id)) if name else None
        if capture == "def.lambda":
            return self._define_lambda(node)
        if capture == "def.decorated":
            definition = node.child_by_field_id(_DEFINITION)
            if definition is not None:
                self._outer[definition.id] = node
        elif (right := node.child_by_field_id(_RIGHT)) is not None:
            self._bound[right.id] = self._field_text(node, _LEFT)
        return None

    def _define_function(self, node: Node) -> Draft | None:
        name_node = node.child_by_field_id(_NAME)
        if name_node is None:
            return None
        name = self.text(name_node)
        if not name:
            return None
        draft = self.draft(self._function_kind(name), name, node, outer=self._outer.get(node.id))
        draft.name_line = self.line(name_node.start_byte)
        return draft

    def _function_kind(self, name: str) -> NodeKind:
        if self.scope == MODULE_SCOPE or self.drafts[self.scope].kind != NodeKind.CLASS:
            return NodeKind.FUNCTION
        return NodeKind.CONSTRUCTOR if name == "__init__" else NodeKind.METHOD

    def _define_lambda(self, node: Node) -> Draft:
        name = self._bound.get(node.id)
        if name:
            return self.draft(self._function_kind(name), name, node)
        return self.anonymous("lambda", node)

    def complete(self, draft: Draft) -> None:
        node = draft.node
        self._leave_branches(draft.start)
        draft.block = self._block()
        if draft.kind == NodeKind.CLASS:
            self._complete_class(draft, node)
        elif node.type == "lambda":
            self._complete_lambda(draft, node)
        else:
            self._complete_function(draft, node)

    def _complete_class(self, draft: Draft, node: Node) -> None:
        self._decorate(draft, node)
        body = node.child_by_field_id(_BODY)
        draft.name_line = self.line(node.start_byte)
        draft.signature = self.signature(node, body)
        draft.doc = self._docstring(body)
        draft.type_params.extend(self._type_params(node))
        draft.flags |= self._visibility(draft)
        if draft.flags & NodeFlag.EXPORTED and self.flags & NodeFlag.TEST and draft.name.startswith("Test"):
            draft.flags |= NodeFlag.TEST
        superclasses = node.child_by_field_id(_SUPERCLASSES)
        if superclasses is not None:
            self._bases(draft, superclasses)

    def _bases(self, draft: Draft, superclasses: Node) -> None:
        """Bases by name. Metaclass and bases that a call makes stand among the decorators, as keywords."""
        for child in superclasses.named_children:
            if child.type == "keyword_argument":
                value = child.child_by_field_id(_VALUE)
                if value is not None and self._field_text(child, _NAME) == "metaclass":
                    draft.decorators.append(self.add(child, ops.KEYWORD, "metaclass", self._value(value)))
            elif child.type in ("identifier", "attribute", "subscript"):
                draft.bases.append(parse_type(self.text(child)))
            elif child.type == "call":
                # `with_metaclass(M, Base)`, `namedtuple(...)`
                draft.bases.append(Type("()", (Type(str(len(draft.decorators))),)))
                draft.decorators.append(self.add(child, ops.KEYWORD, "base", self._value(child)))

    def _complete_lambda(self, draft: Draft, node: Node) -> None:
        self._parameters(draft, node.child_by_field_id(_PARAMETERS))
        draft.signature = self.signature(node, None)
        if draft.kind == NodeKind.METHOD:
            self._take_receiver(draft)
        body = node.child_by_field_id(_BODY)
        if body is not None:
            around, self.scope = self.scope, draft.index
            draft.returns.append(self._value(body))
            self.scope = around

    def _complete_function(self, draft: Draft, node: Node) -> None:
        self._decorate(draft, node)
        self._parameters(draft, node.child_by_field_id(_PARAMETERS))
        body = node.child_by_field_id(_BODY)
        draft.signature = self.signature(node, body)
        draft.doc = self._docstring(body)
        draft.type_params.extend(self._type_params(node))
        result = node.child_by_field_id(_RETURN_TYPE)
        if result is not None:
            draft.result = parse_type(self.text(result))
        if node.children[0].type == "async":
            draft.flags |= NodeFlag.ASYNC
        draft.flags |= self._visibility(draft)
        if draft.kind != NodeKind.FUNCTION:
            if draft.name in _IMPLICIT_CLASS_METHODS:
                draft.flags |= NodeFlag.CLASS_METHOD
            self._take_receiver(draft)
        if self.flags & NodeFlag.TEST and draft.name.startswith("test"):
            draft.flags |= NodeFlag.TEST
        if draft.doc and _DEPRECATED_DOC.search(draft.doc):
            draft.flags |= NodeFlag.DEPRECATED

    def _visibility(self, draft: Draft) -> NodeFlag:
        """Exported: reachable from the module without a leading underscore on the way."""
        if draft.name.startswith("_") and not draft.name.endswith("__"):
            return NodeFlag.NONE
        if draft.parent == MODULE_SCOPE:
            return NodeFlag.EXPORTED
        around = self.drafts[draft.parent]
        return around.flags & NodeFlag.EXPORTED if around.kind == NodeKind.CLASS else NodeFlag.NONE

    def _take_receiver(self, draft: Draft) -> None:
        """The first parameter of a method is its instance, or its class."""
        if draft.flags & NodeFlag.STATIC or not draft.params or draft.params[0].kind != ParamKind.NORMAL:
            return
        first = draft.params[0]
        draft.params[0] = Param(first.name, first.type, first.default, ParamKind.RECEIVER)
        self._receivers.add(first.name)

    def _decorate(self, draft: Draft, node: Node) -> None:
        outer = self._outer.get(node.id)
        if outer is None:
            return
        for child in outer.named_children:
            if child.type != "decorator":
                continue
            value = _first(child)
            if value is None:
                continue
            draft.decorators.append(self._value(value))
            callee = value.child_by_field_id(_FUNCTION) if value.type == "call" else value
            if callee is not None:
                last = self.text(callee).rpartition(".")[2]
                draft.flags |= _DECORATOR_FLAGS.get(last, NodeFlag.NONE)

    def _parameters(self, draft: Draft, parameters: Node | None) -> None:
        if parameters is None:
            return
        kind = ParamKind.NORMAL
        for child in parameters.named_children:
            child_type = child.type
            if child_type == "identifier":
                draft.params.append(Param(self.text(child), None, -1, kind))
            elif child_type == "keyword_separator":
                kind = ParamKind.KEYWORD_ONLY
            elif child_type == "default_parameter":
                draft.params.append(Param(self._field_text(child, _NAME), None, self._default(child), kind))
            elif child_type in _TYPE_FIELDS:
                draft.params.append(self._typed_parameter(child, kind))
            elif child_type == "list_splat_pattern":
                draft.params.append(Param(self._first_text(child), None, -1, ParamKind.VARIADIC))
            elif child_type == "dictionary_splat_pattern":
                draft.params.append(Param(self._first_text(child), None, -1, ParamKind.KEYWORDS))
            elif child_type == "tuple_pattern":
                draft.params.append(Param(""))
            if draft.params and draft.params[-1].kind == ParamKind.VARIADIC:
                kind = ParamKind.KEYWORD_ONLY

    def _typed_parameter(self, node: Node, kind: ParamKind) -> Param:
        written = node.child_by_field_id(_TYPE)
        declared = parse_type(self.text(written)) if written is not None else None
        if node.type == "typed_default_parameter":
            return Param(self._field_text(node, _NAME), declared, self._default(node), kind)
        inner = _first(node)
        if inner is None:
            return Param("", declared, -1, kind)
        if inner.type == "list_splat_pattern":
            return Param(self._first_text(inner), declared, -1, ParamKind.VARIADIC)
        if inner.type == "dictionary_splat_pattern":
            return Param(self._first_text(inner), declared, -1, ParamKind.KEYWORDS)
        return Param(self.text(inner), declared, -1, kind)

    def _default(self, node: Node) -> int:
        value = node.child_by_field_id(_VALUE)
        return self._value(value) if value is not None else -1

    def _type_params(self, node: Node) -> list[Param]:
        listed = node.child_by_field_id(_TYPE_PARAMETERS)
        if listed is None:
            return []
        params = []
        for child in listed.named_children:
            name, _, bound = self.text(child).partition(":")
            params.append(Param(name.partition("=")[0].strip().lstrip("*"), parse_type(bound) if bound else None))
        return params

    def _docstring(self, body: Node | None) -> str:
        first = _first(body) if body is not None else None
        if first is None or first.type != "expression_statement":
            return ""
        string = _first(first)
        return self._clean(string) if string is not None and string.type == "string" else ""

    def _clean(self, string: Node) -> str:
        found = _STRING.match(self.text(string))
        if found is None:
            return ""
        first, *rest = found[2].expandtabs().split("\n")
        indent = min((len(line) - len(line.lstrip()) for line in rest if line.strip()), default=0)
        return "\n".join([first.strip(), *(line[indent:].rstrip() for line in rest)]).strip()

    # -- sites

    def on_docstring(self, node: Node) -> None:
        self.doc = self._clean(node)

    def on_import(self, node: Node) -> None:
        at = node.start_byte
        self._leave_branches(at)
        block = self._block()
        for child in node.named_children:
            if child.type == "aliased_import":
                module, alias = self._field_text(child, _NAME), self._field_text(child, _ALIAS)
                self.imports.append(Import(self.scope, self.line(at), at, _dotted(module), "", alias, block=block))
            elif child.type == "dotted_name":
                module = _dotted(self.text(child))
                first, dot, _ = module.partition(".")
                # `import a.b` binds `a`, not `a.b`
                kind = "dotted" if dot else ""
                self.imports.append(Import(self.scope, self.line(at), at, module, "", first, 0, kind, block))

    def on_from(self, node: Node) -> None:
        at = node.start_byte
        line = self.line(at)
        self._leave_branches(at)
        block = self._block()
        module_node = node.child_by_field_id(_MODULE_NAME)
        written = self.text(module_node) if module_node is not None else "__future__"
        module = written.lstrip(". \t")
        level = written[: len(written) - len(module)].count(".")
        module = _dotted(module)
        for child in node.named_children:
            if module_node is not None and child.id == module_node.id:
                continue
            if child.type == "wildcard_import":
                self.imports.append(Import(self.scope, line, at, module, "*", "", level, "", block))
            elif child.type == "aliased_import":
                name, alias = _dotted(self._field_text(child, _NAME)), self._field_text(child, _ALIAS)
                self.imports.append(Import(self.scope, line, at, module, name, alias, level, "", block))
            elif child.type == "dotted_name":
                name = _dotted(self.text(child))
                self.imports.append(Import(self.scope, line, at, module, name, name, level, "", block))

    def on_global(self, node: Node) -> None:
        for child in node.named_children:
            self._declared[self.scope, self.text(child)] = MODULE_SCOPE

    def on_nonlocal(self, node: Node) -> None:
        owner = self._function_around(self.scope)
        for child in node.named_children:
            name = self.text(child)
            self._declared[self.scope, name] = self._declared.get((owner, name), owner)

    def _function_around(self, scope: int) -> int:
        """The nearest function that contains `scope` and is not it."""
        scope = self.drafts[scope].parent if scope != MODULE_SCOPE else MODULE_SCOPE
        while scope != MODULE_SCOPE and self.drafts[scope].kind == NodeKind.CLASS:
            scope = self.drafts[scope].parent
        return scope

    def on_branch(self, node: Node) -> None:
        self._leave_branches(node.start_byte)
        self._branches.append((self.scope, node.end_byte))

    def _block(self) -> int:
        """Where the branch ends that the current place stands in, within its scope; -1 for none."""
        return self._branches[-1][1] if self._branches and self._branches[-1][0] == self.scope else -1

    def _leave_branches(self, at: int) -> None:
        while self._branches and self._branches[-1][1] <= at:
            self._branches.pop()

    def _bind(
        self,
        target: int,
        value: int,
        *,
        declared: Type | None = None,
        until: int = -1,
        conditional: bool = False,
    ) -> None:
        """Record an assignment of the statement at hand, whose start `_leave_branches` has been told."""
        expr = self.exprs[target]
        block = self._block()
        if expr.scope != self.scope:
            conditional, block = True, -1  # bound from another function, at a time nobody knows
        elif block >= 0:
            conditional = True
        self.assigns.append(Assign(target, value, declared, expr.op == ops.NAME, until, conditional, block))

    def on_test(self, node: Node) -> None:
        """`if isinstance(x, A):` x is an A in that branch; after `if not isinstance(x, A): return` too."""
        condition = node.child_by_field_id(_CONDITION)
        consequence = node.child_by_field_id(_CONSEQUENCE)
        if condition is None or consequence is None:
            return
        if condition.type == "not_operator":
            argument = condition.child_by_field_id(_ARGUMENT)
            last = consequence.named_children[-1:]
            if argument is not None and last and last[0].type in _EXITS and node.child_count <= 4:
                self._leave_branches(node.start_byte)
                self._narrow(argument, node.end_byte, self._block())
            return
        self._narrow(condition, consequence.start_byte, consequence.end_byte)

    def on_assert(self, node: Node) -> None:
        condition = _first(node)
        if condition is not None:
            self._leave_branches(node.start_byte)
            self._narrow(condition, node.end_byte, self._block())

    def _narrow(self, condition: Node, start: int, end: int) -> None:
        if condition.type == "boolean_operator":
            if condition.children[1].type == "and":
                for side in (_LEFT, _RIGHT):
                    part = condition.child_by_field_id(side)
                    if part is not None and part.type in ("call", "boolean_operator"):
                        self._narrow(part, start, end)
            return
        function, arguments = condition.child_by_field_id(_FUNCTION), condition.child_by_field_id(_ARGUMENTS)
        if function is None or arguments is None or function.type != "identifier":
            return
        if self.text(function) != "isinstance" or arguments.named_child_count != 2:
            return
        subject, classes = arguments.named_children
        if subject.type != "identifier":
            return
        name = self.text(subject)
        if name in self._receivers:
            return  # the receiver's class is known better than by the test
        declared = _class_test(self.text(classes))
        if declared is None:
            return
        line = self.line(start)
        self.exprs.append(Expr(ops.NAME, self._owner(name), line, start, name))
        value = self.add(condition, ops.CAST, base=self._value(subject), type=declared)
        self.assigns.append(Assign(len(self.exprs) - 2, value, None, True, end))

    def on_assign(self, node: Node) -> None:
        left = node.child_by_field_id(_LEFT)
        if left is None:
            return
        right = node.child_by_field_id(_RIGHT)
        while right is not None and right.type == "assignment":
            right = right.child_by_field_id(_RIGHT)
        written = node.child_by_field_id(_TYPE)
        declared = parse_type(self.text(written)) if written is not None else None
        value = self._value(right) if right is not None else -1
        self._leave_branches(node.start_byte)
        self._assign_to(left, value, node.end_byte, declared)
        if left.type == "identifier" and right is not None:
            self._exports(left, right)

    def _assign_to(self, left: Node, value: int, at: int, declared: Type | None = None, until: int = -1) -> None:
        """Bind a target; patterns are taken apart."""
        kind = left.type
        if kind == "identifier":
            target = self._target(left, at)
            self._bind(target, value, declared=declared, until=until)
            if until == -1:
                self._variable(left, target, value, declared)
        elif kind in ("attribute", "subscript"):
            self._bind(self._value(left), value, declared=declared)
        elif kind in ("pattern_list", "tuple_pattern", "list_pattern", "tuple", "list", "expression_list"):
            self._take_apart(left, value, at, until)
        elif kind in ("parenthesized_expression", "as_pattern_target"):
            inner = _first(left)
            if inner is not None:
                self._assign_to(inner, value, at, declared, until)

    def _take_apart(self, pattern: Node, value: int, at: int, until: int) -> None:
        parts = pattern.named_children
        items = self._written_items(value)
        starred = False
        for position, part in enumerate(parts):
            if part.type in ("list_splat_pattern", "list_splat"):
                starred = True
                inner = _first(part)
                if inner is not None:
                    rest = items[position : len(items) - (len(parts) - position - 1)]
                    args = rest or (self.add(part, ops.SPREAD, base=value),)
                    self._assign_to(inner, self.add(part, ops.SEQUENCE, "list", args=args), at, None, until)
            elif items and -len(items) <= (place := position - len(parts) if starred else position) < len(items):
                self._assign_to(part, items[place], at, None, until)
            else:
                index = position - len(parts) if starred else position
                key = self._literal(part, "int", str(index))
                item = self.add(part, ops.INDEX, base=value, args=(key,)) if value >= 0 else -1
                self._assign_to(part, item, at, None, until)

    def _written_items(self, value: int) -> tuple[int, ...]:
        """The items of a list or tuple that is written out; () for anything else."""
        if value < 0 or self.exprs[value].op != ops.SEQUENCE:
            return ()
        items = self.exprs[value].args
        return () if any(self.exprs[item].op == ops.SPREAD for item in items) else items

    def _owner(self, name: str) -> int:
        return self._declared.get((self.scope, name), self.scope)

    def _target(self, node: Node, at: int) -> int:
        """The NAME that a statement binds. Bound from `at`, the statement's end: `x = f(x)` reads the older x."""
        name = self.text(node)
        self.exprs.append(Expr(ops.NAME, self._owner(name), self.line(node.start_byte), at, name))
        return len(self.exprs) - 1

    def _variable(self, node: Node, target: int, value: int, declared: Type | None) -> None:
        """A node for a module- or class-level name, once."""
        scope = self.scope
        if scope != MODULE_SCOPE and self.drafts[scope].kind != NodeKind.CLASS:
            return
        name = self.exprs[target].name
        if (scope, name) in self._variables or name in ("_", "__all__", "__slots__"):
            return
        self._variables.add((scope, name))
        if value >= 0 and self.exprs[value].op == ops.FUNCTION and self.drafts[self.exprs[value].base].name == name:
            return
        draft = self.draft(NodeKind.VARIABLE, name, node, value=value, result=declared)
        draft.flags |= self._visibility(draft)
        statement = self.source[draft.start : draft.start + 200].split(b"\n", 1)[0]
        draft.signature = statement.decode("utf-8", "replace").strip()

    def _exports(self, left: Node, right: Node) -> None:
        if self.scope != MODULE_SCOPE or self.text(left) != "__all__":
            return
        for child in right.named_children:
            if child.type == "string":
                name = self._string_value(child)
                if name:
                    self.exports.append(Export(name, name))

    def on_augment(self, node: Node) -> None:
        left, right = node.child_by_field_id(_LEFT), node.child_by_field_id(_RIGHT)
        if left is None or right is None:
            return
        self._leave_branches(node.start_byte)
        if left.type == "identifier":
            self._bind(self._target(left, node.end_byte), self._value(right), conditional=True)
            self._exports(left, right)
        elif left.type in ("attribute", "subscript"):
            self._bind(self._value(left), self._value(right), conditional=True)

    def on_walrus(self, node: Node) -> None:
        self.expr(node)

    def on_alias(self, node: Node) -> None:
        left, right = node.child_by_field_id(_LEFT), node.child_by_field_id(_RIGHT)
        if left is None or right is None:
            return
        name = re.match(r"\w+", self.text(left))
        if name is not None:
            draft = self.draft(NodeKind.TYPE_ALIAS, name[0], node, result=parse_type(self.text(right)))
            draft.signature = self.signature(node, None)
            draft.flags |= self._visibility(draft)

    def on_for(self, node: Node) -> None:
        left, right = node.child_by_field_id(_LEFT), node.child_by_field_id(_RIGHT)
        if left is None or right is None:
            return
        mode = "async" if node.children[0].type == "async" else ""
        element = self.add(right, ops.ELEMENT, mode, self._value(right))
        self._leave_branches(node.start_byte)
        self._assign_to(left, element, right.end_byte)

    def on_comprehension(self, node: Node) -> None:
        """Its variables live inside it, from its start: the body stands before the clause that binds them."""
        start, end = node.start_byte, node.end_byte
        for child in node.named_children:
            if child.type == "for_in_clause":
                left, right = child.child_by_field_id(_LEFT), child.child_by_field_id(_RIGHT)
                if left is not None and right is not None:
                    element = self.add(right, ops.ELEMENT, "", self._value(right))
                    self._bind_inside(left, element, start, end)

    def _bind_inside(self, left: Node, value: int, start: int, end: int) -> None:
        if left.type == "identifier":
            name = self.text(left)
            self.exprs.append(Expr(ops.NAME, self.scope, self.line(left.start_byte), start, name))
            self.assigns.append(Assign(len(self.exprs) - 1, value, None, True, end))
        elif left.type in ("pattern_list", "tuple_pattern", "list_pattern"):
            for position, part in enumerate(left.named_children):
                key = self._literal(part, "int", str(position))
                item = self.add(part, ops.INDEX, base=value, args=(key,))
                self._bind_inside(part, item, start, end)

    def on_with(self, node: Node) -> None:
        pattern = node.child_by_field_id(_VALUE)
        if pattern is None:
            return
        value, target = _first(pattern), pattern.child_by_field_id(_ALIAS)
        if value is not None and target is not None:
            entered = self.add(value, ops.ENTER, "", self._value(value))
            self._leave_branches(node.start_byte)
            self._assign_to(target, entered, node.end_byte)

    def on_except(self, node: Node) -> None:
        value = node.child_by_field_id(_VALUE)
        if value is None:
            return
        if value.type == "as_pattern":
            classes, target = _first(value), value.child_by_field_id(_ALIAS)
            name = _first(target) if target is not None else None
            if classes is not None and name is not None:
                declared = _class_test(self.text(classes))
                index = self._target(name, classes.end_byte)
                self.assigns.append(Assign(index, -1, declared, True, node.end_byte))
            value = classes
        if value is not None:
            for part in value.named_children if value.type == "tuple" else [value]:
                self._refer(part)

    def on_case(self, node: Node) -> None:
        """Names bound by patterns hide outer ones; what they hold is not followed."""
        pattern = _first(node)
        if pattern is None:
            return
        self._leave_branches(node.start_byte)
        for name in self._captured(pattern):
            self._bind(self._target(name, pattern.end_byte), self._unknown(name))

    def _captured(self, pattern: Node) -> list[Node]:
        found: list[Node] = []
        pending = [pattern]
        while pending:
            node = pending.pop()
            if node.type == "dotted_name":
                if node.named_child_count == 1 and self.text(node) != "_":
                    found.append(node)
            elif node.type in ("class_pattern", "keyword_pattern"):
                pending.extend(node.named_children[1:])
            elif node.type == "identifier":
                found.append(node)
            elif node.type in _PATTERNS:
                pending.extend(node.named_children)
        return found

    def on_return(self, node: Node) -> None:
        value = _first(node)
        if value is None or self.scope == MODULE_SCOPE:
            return
        self.drafts[self.scope].returns.append(self._value(value))

    def on_yield(self, node: Node) -> None:
        if self.scope == MODULE_SCOPE:
            return
        draft = self.drafts[self.scope]
        draft.flags |= NodeFlag.GENERATOR
        value = _first(node)
        if value is None:
            return
        inner = self._value(value)
        if len(node.children) > 1 and node.children[1].type == "from":
            inner = self.add(node, ops.ELEMENT, "from", inner)
        draft.returns.append(self.add(node, ops.YIELDED, base=inner))

    def on_call(self, node: Node) -> None:
        self.expr(node)

    def on_raise(self, node: Node) -> None:
        """`raise Oops` makes an instance."""
        self._refer(node)
        self.add(node, ops.NEW, base=self.expr(node))

    def on_reference(self, node: Node) -> None:
        self._refer(node)

    def _refer(self, node: Node) -> None:
        """Note a read of something that is named like a constant or a type."""
        if node.type == "identifier":
            name: Node | None = node
        else:
            name = node.child_by_field_id(_ATTRIBUTE)
        if name is not None and self.source[name.start_byte] in _CAPITALS:
            self.references.append(self.expr(node))

    # -- expressions

    def expr(self, node: Node | None) -> int:
        """The base class's `expr` with its dispatch written out: this is where extraction spends its time."""
        if node is None:
            return -1
        key = node.id
        known = self._memo.get(key)
        if known is not None:
            return known
        maker = _MAKERS.get(node.kind_id)
        if maker is None or self._depth >= MAX_DEPTH:
            index = self._unknown(node)
        else:
            self._depth += 1
            index = maker(self, node)
            self._depth -= 1
        self._memo[key] = index
        return index

    def _value(self, node: Node) -> int:
        """An expression whose value goes somewhere: a constant or type in it is used there."""
        index = self.expr(node)
        expr = self.exprs[index]
        if (expr.op is ops.NAME or expr.op is ops.MEMBER) and expr.name[:1].isupper():
            self.references.append(index)
        return index

    def _unknown(self, node: Node) -> int:
        return self._literal(node, "", "")

    def _literal(self, node: Node, name: str, text: str) -> int:
        """Literals are shared within a scope: nobody asks where one stands. The empty name is UNKNOWN."""
        key = (self.scope, name, text)
        known = self._literals.get(key)
        if known is None:
            known = self.add(node, ops.LITERAL if name else ops.UNKNOWN, name, text=text)
            self._literals[key] = known
        return known

    def _string(self, node: Node) -> int:
        if self.source[node.start_byte] not in _QUOTES and node.named_child_count > 2:
            return self._template(node, self._interpolated(node))
        return self._literal(node, "str", self._string_value(node))

    def _interpolated(self, node: Node) -> str:
        """A formatted string with "*" for each interpolation."""
        parts = []
        for child in node.named_children:
            if child.type == "string_content":
                parts.append(self.text(child))
            elif child.type == "interpolation":
                parts.append("*")
        return "".join(parts)

    def _template(self, node: Node, text: str) -> int:
        """A string of which parts are known; one without such parts is any string."""
        text = _PARTS.sub("*", text)
        if len(text) > MAX_LITERAL or not _TEMPLATE.fullmatch(text):
            return self._literal(node, "str", "")
        return self.add(node, ops.TEMPLATE, "str", text=text)

    def _integer(self, node: Node) -> int:
        return self._literal(node, "int", self.text(node)[:MAX_LITERAL])

    def _constant(self, node: Node) -> int:
        return self._literal(node, _LITERALS[node.type], "")

    def _string_value(self, node: Node) -> str:
        start, end = node.start_byte, node.end_byte
        if end - start > MAX_LITERAL:
            return ""
        text = self.source[start:end].decode("utf-8", "replace")
        if "\\" in text:
            return ""
        quote = text[:1]
        if (quote == '"' or quote == "'") and text[1:2] != quote:  # the pattern's usual case, without its cost
            return text[1:-1] if text[-1] == quote and len(text) > 1 else ""
        found = _STRING.match(text)
        return found[2] if found is not None and text[0] not in "fF" else ""

    def _identifier(self, node: Node) -> int:
        start = node.start_byte
        name = self.source[start : node.end_byte].decode("utf-8", "replace")
        op = self._receiver(name) if name in self._receivers else ops.NAME
        exprs = self.exprs
        exprs.append(Expr(op, self.scope, bisect_right(self._line_starts, start), start, name))
        return len(exprs) - 1

    def _receiver(self, name: str) -> Op:
        """THIS or RECEIVER_CLASS where `name` is the first parameter of the nearest function that has one so called."""
        scope = self.scope
        while scope != MODULE_SCOPE:
            draft = self.drafts[scope]
            if draft.kind in _FUNCTIONS:
                for param in draft.params:
                    if param.name == name:
                        if param.kind != ParamKind.RECEIVER:
                            return ops.NAME
                        return ops.RECEIVER_CLASS if draft.flags & NodeFlag.CLASS_METHOD else ops.THIS
            scope = draft.parent
        return ops.NAME

    def _attribute(self, node: Node) -> int:
        target, attribute = node.child_by_field_id(_OBJECT), node.child_by_field_id(_ATTRIBUTE)
        if target is None or attribute is None:
            return self._unknown(node)
        base = self.expr(target)
        at = attribute.start_byte  # the member's own place: a chain over several lines has one line per link
        name = self.source[at : attribute.end_byte].decode("utf-8", "replace")
        exprs = self.exprs
        exprs.append(Expr(ops.MEMBER, self.scope, bisect_right(self._line_starts, at), at, name, base))
        return len(exprs) - 1

    def _call(self, node: Node) -> int:
        function, arguments = node.child_by_field_id(_FUNCTION), node.child_by_field_id(_ARGUMENTS)
        if function is None:
            return self._unknown(node)
        callee = self.expr(function)
        args = self._arguments(arguments) if arguments is not None else ()
        at = self.exprs[callee]
        if at.op == ops.NAME and at.name == "super":
            return self.add(node, ops.SUPER, base=args[0] if args else -1)
        self.exprs.append(Expr(ops.CALL, self.scope, at.line, node.start_byte, "", callee, args))
        return len(self.exprs) - 1

    def _arguments(self, node: Node) -> tuple[int, ...]:
        if node.type == "generator_expression":
            return (self.expr(node),)
        return self._items(node.named_children)

    def _items(self, nodes: list[Node]) -> tuple[int, ...]:
        """The arguments of a call, or the elements of a literal."""
        found = []
        exprs, references = self.exprs, self.references
        for node in nodes:
            kind = node.kind_id
            if kind in _MARKED_IDS:
                found.append(self._item(node, node.type))
            elif kind not in _COMMENT_IDS:
                index = self.expr(node)
                found.append(index)
                expr = exprs[index]  # from here on as `_value`
                if (expr.op is ops.NAME or expr.op is ops.MEMBER) and expr.name[:1].isupper():
                    references.append(index)
        return tuple(found)

    def _item(self, node: Node, kind: str) -> int:
        if kind == "keyword_argument":
            value = node.child_by_field_id(_VALUE)
            inner = self._value(value) if value is not None else -1
            return self.add(node, ops.KEYWORD, self._field_text(node, _NAME), inner)
        if kind == "pair":
            return self._pair(node)
        if kind in ("list_splat", "dictionary_splat"):
            child = _first(node)
            mark = "**" if kind == "dictionary_splat" else ""
            return self.add(node, ops.SPREAD, mark, self._value(child) if child is not None else -1)
        return self._value(node)

    def _pair(self, node: Node) -> int:
        key, value = node.child_by_field_id(_KEY), node.child_by_field_id(_VALUE)
        name = kind = ""
        if key is not None:
            if key.type == "string":
                name = self._string_value(key)
            elif key.type == "integer":
                name, kind = self.text(key), "int"
            else:
                self._value(key)
        return self.add(node, ops.KEYWORD, name, self._value(value) if value is not None else -1, text=kind)

    def _sequence(self, node: Node) -> int:
        kind = node.type if node.type in ("list", "set") else "tuple"
        return self.add(node, ops.SEQUENCE, kind, args=self._items(node.named_children[:MAX_ITEMS]))

    def _mapping(self, node: Node) -> int:
        return self.add(node, ops.MAPPING, args=self._items(node.named_children[:MAX_ITEMS]))

    def _comprehension(self, node: Node) -> int:
        body = node.child_by_field_id(_BODY)
        if body is None:
            return self._unknown(node)
        item = self._item(body, body.type)
        if node.type == "dictionary_comprehension":
            return self.add(node, ops.MAPPING, args=(item,))
        return self.add(node, ops.SEQUENCE, "set" if node.type == "set_comprehension" else "list", args=(item,))

    def _subscript(self, node: Node) -> int:
        value, key = node.child_by_field_id(_VALUE), node.child_by_field_id(_SUBSCRIPT)
        if value is None or key is None:
            return self._unknown(node)
        base = self.expr(value)
        if key.type == "slice":
            return self._slice(node, base, self.text(key))
        return self.add(node, ops.INDEX, base=base, args=(self._value(key),))

    def _slice(self, node: Node, base: int, written: str) -> int:
        """A list of the items between constant bounds; otherwise of any item."""
        bounds = _BOUNDS.fullmatch(written)
        if bounds is None or not 0 < int(bounds[2]) - int(bounds[1] or 0) <= MAX_SLICE:
            return self.add(node, ops.SEQUENCE, "list", args=(self.add(node, ops.ELEMENT, "slice", base),))
        places = range(int(bounds[1] or 0), int(bounds[2]))
        keys = [self._literal(node, "int", str(place)) for place in places]
        return self.add(
            node, ops.SEQUENCE, "list", args=tuple(self.add(node, ops.INDEX, base=base, args=(key,)) for key in keys)
        )

    def _lambda(self, node: Node) -> int:
        index = self.by_node.get(node.id)
        return self.add(node, ops.FUNCTION, base=index) if index is not None else self._unknown(node)

    def _conditional(self, node: Node) -> int:
        parts = [child for child in node.named_children if child.type != "comment"]
        if len(parts) != 3:
            return self._unknown(node)
        return self.add(node, ops.CHOICE, args=(self._value(parts[0]), self._value(parts[2])))

    def _boolean(self, node: Node) -> int:
        sides = (node.child_by_field_id(_LEFT), node.child_by_field_id(_RIGHT))
        return self.add(node, ops.CHOICE, args=tuple(self._value(side) for side in sides if side is not None))

    def _binary(self, node: Node) -> int:
        """`"..." % x` is a string, and so is what is added to one; other arithmetic says nothing."""
        left, right = node.child_by_field_id(_LEFT), node.child_by_field_id(_RIGHT)
        if left is None or right is None or not (left.type in _TEXTS or right.type in _TEXTS):
            return self._unknown(node)
        known = self._text(left)
        added = node.children[1].type == "+"
        if known is None and not (added and right.type == "string"):
            return self._unknown(node)
        if added:
            return self._template(node, f"{known or '*'}{self._text(right) or '*'}")
        return self._template(node, _PLACEHOLDER.sub("*", known or ""))

    def _text(self, node: Node) -> str | None:
        """What is known of a string, "*" when nothing; None for what is not certainly one."""
        if node.type not in _TEXTS:
            return None
        expr = self.exprs[self.expr(node)]
        return (expr.text or "*") if expr.op in (ops.LITERAL, ops.TEMPLATE) and expr.name == "str" else None

    def _await(self, node: Node) -> int:
        inner = _first(node)
        return self.add(node, ops.AWAIT, base=self.expr(inner)) if inner is not None else self._unknown(node)

    def _inner(self, node: Node) -> int:
        for child in node.named_children:
            if child.type != "comment":
                return self.expr(child)
        return self._unknown(node)

    def _named(self, node: Node) -> int:
        name, value = node.child_by_field_id(_NAME), node.child_by_field_id(_VALUE)
        if name is None or value is None:
            return self._unknown(node)
        inner = self._value(value)
        self._leave_branches(node.start_byte)
        self._bind(self._target(name, node.end_byte), inner)
        return inner

    # -- text

    def _field_text(self, node: Node, field: int) -> str:
        child = node.child_by_field_id(field)
        return self.text(child) if child is not None else ""

    def _first_text(self, node: Node) -> str:
        child = _first(node)
        return self.text(child) if child is not None else ""


_PATTERNS = frozenset(
    {
        "case_pattern",
        "as_pattern",
        "as_pattern_target",
        "list_pattern",
        "tuple_pattern",
        "splat_pattern",
        "union_pattern",
        "dict_pattern",
    }
)
_EXPRESSIONS = {
    "identifier": Python._identifier,
    "attribute": Python._attribute,
    "call": Python._call,
    "subscript": Python._subscript,
    "list": Python._sequence,
    "tuple": Python._sequence,
    "set": Python._sequence,
    "expression_list": Python._sequence,
    "dictionary": Python._mapping,
    "list_comprehension": Python._comprehension,
    "set_comprehension": Python._comprehension,
    "generator_expression": Python._comprehension,
    "dictionary_comprehension": Python._comprehension,
    "lambda": Python._lambda,
    "conditional_expression": Python._conditional,
    "boolean_operator": Python._boolean,
    "binary_operator": Python._binary,
    "await": Python._await,
    "parenthesized_expression": Python._inner,
    "named_expression": Python._named,
    **dict.fromkeys(_LITERALS, Python._constant),
    "string": Python._string,
    "integer": Python._integer,
}

# by the grammar's number of the kind, which a node gives without making a string
_kind_of = BY_NAME["python"].language().node_kind_for_id
_KINDS = [(number, _kind_of(number)) for number in range(BY_NAME["python"].language().node_kind_count)]
_MAKERS = {number: _EXPRESSIONS[kind] for number, kind in _KINDS if kind in _EXPRESSIONS}
_MARKED_IDS = frozenset(number for number, kind in _KINDS if kind in _MARKED)
_COMMENT_IDS = frozenset(number for number, kind in _KINDS if kind == "comment")


def _first(node: Node) -> Node | None:
    children = node.named_children
    return children[0] if children else None


def _dotted(text: str) -> str:
    return "".join(text.split()) if not text.isidentifier() else text


def _class_test(text: str) -> Type | None:
    """The type that `isinstance(x, text)` or `except text` proves; None when it is not written as names."""
    text = text.strip()
    if text.startswith("(") and text.endswith(")"):
        parts = [_class_test(part) for part in text[1:-1].split(",") if part.strip()]
        members = tuple(part for part in parts if part is not None)
        if not members or len(members) != len(parts):
            return None
        return members[0] if len(members) == 1 else Type("|", members)
    return parse_type(text) if re.fullmatch(r"[\w.]+( *\| *[\w.]+)*", text) else None


EXTRACTOR = Python
