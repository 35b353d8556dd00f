"""Ruby: modules and reopened classes, methods of instances and of classes, accessor macros, blocks and call sites.

A method call without a receiver is a CALL of a NAME whose `text` is "call"; a constant is a NAME whose `text` is
"const", its parts dotted, with a leading dot for `::Top`. Instance variables keep their `@`. Blocks and lambdas are
code of the method around them: their parameters are bindings that end with the block.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from tree_sitter import Node

from ctxsearch.graph.facts import Expr, Import, Op, Param, ParamKind, Type
from ctxsearch.graph.model import NodeFlag, NodeKind
from ctxsearch.indexer.languages.builder import Draft, Extractor

_COMMENTS = frozenset({"comment"})
_WRITERS = frozenset({"attr_accessor", "attr_writer", "cattr_accessor", "mattr_accessor", "class_attribute"})
_OF_CLASS = frozenset({"cattr_accessor", "mattr_accessor", "cattr_reader", "mattr_reader", "class_attribute"})
_SENDERS = frozenset({"send", "public_send", "__send__"})
_ITERATORS = frozenset(
    {"each", "map", "flat_map", "collect", "select", "filter", "reject", "find", "detect", "any?", "all?", "none?"}
    | {"sort_by", "min_by", "max_by", "group_by", "partition", "each_with_index", "sum", "count", "find_all", "uniq"}
    | {"filter_map", "reverse_each", "each_with_object", "index_by", "take_while", "drop_while", "find_each", "map!"}
)
_SAME_OBJECT = frozenset({"tap", "freeze", "dup", "clone", "then", "itself", "not_nil!"})
_LITERALS = {
    "string": "String",
    "chained_string": "String",
    "heredoc_beginning": "String",
    "integer": "Integer",
    "float": "Float",
    "simple_symbol": "Symbol",
    "delimited_symbol": "Symbol",
    "hash_key_symbol": "Symbol",
    "true": "true",
    "false": "false",
    "regex": "Regexp",
    "string_array": "Array",
    "symbol_array": "Array",
    "range": "Range",
    "subshell": "String",
    "character": "String",
}
_STATEMENTS = frozenset({"then", "else", "begin", "body_statement", "parenthesized_statements", "block_body", "do"})
_CONSTANTS = frozenset({"constant", "scope_resolution"})
_YARD = re.compile(r"@(return|param)\s+(?:(\w+)\s+)?\[([A-Z][\w:]*)(?:, nil)?\]")


class RubyExtractor(Extractor):
    """One Ruby file."""

    language = "ruby"

    def __init__(self, path: str, source: bytes, flags: NodeFlag = NodeFlag.NONE) -> None:
        if path.endswith(("_test.rb", "_spec.rb")):
            flags |= NodeFlag.TEST
        super().__init__(path, source, flags)
        self._singletons: list[tuple[int, int]] = []  # extents of `class << self`, in document order
        self._branches: list[tuple[int, int]] = []
        self._locals: dict[int, set[str]] = {}  # scope -> names assigned so far
        self._claimed: set[int] = set()  # identifiers that are names of methods, parameters ...: no expressions

    # -- definitions

    def define(self, node: Node, capture: str) -> Draft | None:
        if capture == "def.singleton":
            self._singletons.append((node.start_byte, node.end_byte))
            return None
        if capture == "def.word":
            return None  # only there for the query to look at
        if capture == "def.macro":
            return self._macro(node)
        if capture == "def.constant":
            return self._constant(node)
        if capture == "def.concern":
            draft = self.draft(NodeKind.INTERFACE, "ClassMethods", node)
            draft.signature = "class_methods"
            return draft
        name = node.child_by_field_name("name")
        if name is None:
            return None
        if capture in ("def.class", "def.module"):
            kind = NodeKind.CLASS if capture == "def.class" else NodeKind.INTERFACE
            draft = self._class(kind, node, name)
        else:
            draft = self._method(node, name)
        draft.name_line = self.line(name.start_byte)
        self._document(draft, node)
        return draft

    def _class(self, kind: NodeKind, node: Node, name: Node) -> Draft:
        written = self._written(name)
        self.scope = self._class_around()
        draft = self.draft(kind, written.rsplit(".", 1)[-1], node)
        self._qualify(draft, written)
        superclass = node.child_by_field_name("superclass")
        draft.signature = _folded(self._between(node.start_byte, (superclass or name).end_byte))
        return draft

    def _class_around(self) -> int:
        scope = self.scope
        while scope >= 0 and self.drafts[scope].kind not in (NodeKind.CLASS, NodeKind.INTERFACE):
            scope = self.drafts[scope].parent
        return scope

    def _qualify(self, draft: Draft, written: str) -> None:
        """class A::B is called B and known as A.B, within whatever it stands in."""
        if "." in written:
            around = self.drafts[draft.parent].qualified_name if draft.parent >= 0 else ""
            draft.qualified_name = f"{around}.{written}" if around and written[0] != "." else written.lstrip(".")

    def _method(self, node: Node, name: Node) -> Draft:
        text = self.text(name)
        owner = self._class_around()
        static = node.type == "singleton_method" or self._in_singleton(node)
        if owner < 0:
            kind = NodeKind.FUNCTION
        else:
            kind = NodeKind.CONSTRUCTOR if text == "initialize" and not static else NodeKind.METHOD
        self.scope = owner
        draft = self.draft(kind, text, node)
        if static:
            draft.flags |= NodeFlag.STATIC
        target = node.child_by_field_name("object")
        if target is not None and target.type in _CONSTANTS:
            draft.receiver = Type(self._written(target))
        parameters = node.child_by_field_name("parameters")
        draft.signature = _folded(self._between(node.start_byte, (parameters or name).end_byte))
        if self.flags & NodeFlag.TEST and text.startswith("test_"):
            draft.flags |= NodeFlag.TEST
        return draft

    def _between(self, start: int, end: int) -> str:
        return self.source[start:end].decode("utf-8", "replace")

    def _in_singleton(self, node: Node) -> bool:
        at = node.start_byte
        scope = self._class_around()
        inner = self.drafts[scope].node.start_byte if scope >= 0 else -1
        return any(inner < start <= at < end for start, end in reversed(self._singletons[-4:]))

    def _constant(self, node: Node) -> Draft | None:
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        if left is None or right is None:
            return None
        written = self._written(left)
        if not written:
            return None
        makes = self._makes_class(right)
        self.scope = self._class_around()
        draft = self.draft(NodeKind.CLASS if makes else NodeKind.VARIABLE, written.rsplit(".", 1)[-1], node)
        self._qualify(draft, written)
        draft.signature = self.signature(node, None)[:120]
        self._document(draft, node)
        if makes:
            self._struct_members(draft, right)
        return draft

    def _struct_members(self, draft: Draft, made: Node) -> None:
        """The accessors of Struct.new(:a, :b)."""
        arguments = made.child_by_field_name("arguments")
        self.scope = draft.index
        for item in arguments.named_children if arguments is not None else ():
            if item.type == "simple_symbol":
                self._made(item, self.text(item)[1:], draft.index, "attr_accessor")
                self._made(item, self.text(item)[1:] + "=", draft.index, "attr_accessor")

    def _makes_class(self, value: Node) -> bool:
        """X = Struct.new(...), Class.new(...), Module.new, Data.define."""
        if value.type != "call":
            return False
        receiver, method = value.child_by_field_name("receiver"), value.child_by_field_name("method")
        if receiver is None or method is None or receiver.type != "constant":
            return False
        return (self.text(receiver), self.text(method)) in _CLASS_MAKERS

    def _macro(self, node: Node) -> Draft | None:
        """attr_reader :a, delegate :b, to: :c, define_method(:d): methods that the call makes."""
        method, arguments = node.child_by_field_name("method"), node.child_by_field_name("arguments")
        owner = self._class_around()
        if method is None or arguments is None or owner < 0 or node.child_by_field_name("receiver") is not None:
            return None
        macro = self.text(method)
        symbols = [item for item in arguments.named_children if item.type == "simple_symbol"]
        if macro == "define_method":
            return self._made(node, self.text(symbols[0])[1:], owner, macro)
        to = self._delegated_to(arguments) if macro == "delegate" else ""
        if macro == "def_delegators":
            to, symbols = self.text(symbols[0])[1:], symbols[1:]
        for symbol in symbols[:1] if macro == "attribute" else symbols:
            name = self.text(symbol)[1:]
            if macro != "attr_writer":
                draft = self._made(symbol, name, owner, macro)
                self._reads(draft, symbol, name, to)
            if macro in _WRITERS:
                self._made(symbol, name + "=", owner, macro)
        return None

    def _delegated_to(self, arguments: Node) -> str:
        """The symbol after `to:`; "" when there is none."""
        for item in arguments.named_children:
            if item.type == "pair":
                key, value = item.child_by_field_name("key"), item.child_by_field_name("value")
                if key is not None and value is not None and self.text(key) == "to" and value.type == "simple_symbol":
                    return self.text(value)[1:]
        return ""

    def _made(self, node: Node, name: str, owner: int, macro: str) -> Draft:
        outer, self.scope = self.scope, owner
        draft = self.draft(NodeKind.METHOD, name, node)
        self.scope = outer
        draft.signature = f"{macro} :{name}"
        if macro != "define_method":
            draft.flags |= NodeFlag.PROPERTY
        if macro in _OF_CLASS or self._in_singleton(node):
            draft.flags |= NodeFlag.STATIC
        return draft

    def _reads(self, draft: Draft, node: Node, name: str, to: str) -> None:
        """What a made reader gives: its instance variable, or the same method of another object."""
        outer, self.scope = self.scope, draft.index
        if to and to not in ("class", "self"):
            receiver = self._field(node, to) if to.startswith("@") else self._implicit(node, to)
            callee = self.add(node, Op.MEMBER, name, base=receiver)
            draft.returns.append(self.add(node, Op.CALL, base=callee))
        elif not to:
            draft.returns.append(self._field(node, f"@{name}"))
        self.scope = outer

    def _field(self, node: Node, name: str) -> int:
        return self.add(node, Op.MEMBER, name, base=self.add(node, Op.THIS))

    def _implicit(self, node: Node, name: str, args: tuple[int, ...] = ()) -> int:
        """A call without a receiver."""
        return self.add(node, Op.CALL, base=self.add(node, Op.NAME, name, text="call"), args=args)

    def _document(self, draft: Draft, node: Node) -> None:
        previous = node.prev_sibling
        if previous is None or previous.type != "comment":
            return
        draft.doc = self.comment_before(node, _COMMENTS, _clean)
        if "@deprecated" in draft.doc or ":nodoc: deprecated" in draft.doc:
            draft.flags |= NodeFlag.DEPRECATED

    def complete(self, draft: Draft) -> None:
        node = draft.node
        kind = node.type
        self._leave(node.start_byte)
        around = self.drafts[draft.parent].node.start_byte if draft.parent >= 0 else -1
        if self._branches and self._branches[-1][0] > around:
            draft.block = self._branches[-1][1]
        if kind in ("class", "module"):
            self._complete_class(draft, node)
        elif kind == "assignment":
            self._complete_constant(draft, node)
        elif kind in ("method", "singleton_method"):
            name = node.child_by_field_name("name")
            inner = _child(name, 0) if name is not None and name.type == "setter" else None
            parts = (name, inner, node.child_by_field_name("object"))
            self._claimed.update(part.id for part in parts if part is not None)
            self._complete_method(draft, node.child_by_field_name("parameters"))
        elif draft.kind is NodeKind.METHOD:
            block = node.child_by_field_name("block")
            self._complete_method(draft, block.child_by_field_name("parameters") if block is not None else None)

    def _complete_class(self, draft: Draft, node: Node) -> None:
        name = node.child_by_field_name("name")
        if name is not None:
            self._claim_constant(name)
        superclass = node.child_by_field_name("superclass")
        if superclass is None:
            return
        parent = _child(superclass, 0)
        if parent is None:
            return
        self._claim_constant(parent)
        draft.bases.append(Type(self._base_name(parent)))

    def _base_name(self, parent: Node) -> str:
        """The class extended; of Struct.new(...) and Migration[7.0] the constant they start from."""
        if parent.type in _CONSTANTS:
            return self._written(parent)
        inner = parent.child_by_field_name("receiver") or parent.child_by_field_name("object")
        return self._base_name(inner) if inner is not None else "BasicObject"

    def _complete_constant(self, draft: Draft, node: Node) -> None:
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        if left is None or right is None:
            return
        self._claim_constant(left)
        if draft.kind is NodeKind.VARIABLE:
            draft.value = self.expr(right)
            return
        arguments = right.child_by_field_name("arguments")
        first = _child(arguments, 0) if arguments is not None else None
        receiver = right.child_by_field_name("receiver")
        if first is not None and first.type in _CONSTANTS:
            draft.bases.append(Type(self._written(first)))
        elif receiver is not None and self.text(receiver) in ("Struct", "Data"):
            draft.bases.append(Type(self.text(receiver)))

    def _complete_method(self, draft: Draft, parameters: Node | None) -> None:
        outer, self.scope = self.scope, draft.index
        types = {name: kind for tag, name, kind in _YARD.findall(draft.doc) if tag == "param"} if draft.doc else {}
        draft.params = list(self._params(parameters, types))
        self._locals[draft.index] = {param.name for param in draft.params}
        for tag, _, kind in _YARD.findall(draft.doc) if "@return" in draft.doc else ():
            if tag == "return" and kind not in _YARD_PLAIN:
                draft.result = Type(kind.replace("::", "."))
        self.scope = outer

    def _params(self, parameters: Node | None, types: dict[str, str]) -> Iterator[Param]:
        for item in parameters.named_children if parameters is not None else ():
            name = item if item.type == "identifier" else item.child_by_field_name("name")
            if name is None:
                continue
            self._claimed.add(name.id)
            text = self.text(name)
            value = item.child_by_field_name("value")
            declared = types.get(text, "")
            kind = _PARAM_KINDS.get(item.type, ParamKind.NORMAL)
            default = -1
            if value is not None:  # other values than constants say only that there is one
                default = self.expr(value) if value.type in _CONSTANTS else self.add(value, Op.UNKNOWN)
            yield Param(text, Type(declared.replace("::", ".")) if declared else None, default, kind)

    # -- bindings

    def on_branch(self, node: Node) -> None:
        self._leave(node.start_byte)
        self._branches.append((node.start_byte, node.end_byte))

    def _leave(self, at: int) -> None:
        while self._branches and self._branches[-1][1] <= at:
            self._branches.pop()

    def on_block(self, node: Node) -> None:
        """A block or lambda: a branch, and its parameters end with it."""
        self.on_branch(node)
        parameters = node.child_by_field_name("parameters")
        if parameters is None:
            return
        if self.scope >= 0 and self.drafts[self.scope].node.end_byte == node.end_byte:
            return  # the block of define_method: its parameters are the method's
        value = self._yielded(node)
        for place, item in enumerate(parameters.named_children):
            self._block_param(item, value if place == 0 else -1, node.end_byte)

    def _yielded(self, node: Node) -> int:
        """What the call passes to its block: an item of the receiver, or the receiver itself."""
        call = node.parent
        if call is None or call.type != "call":
            return -1
        receiver, method = call.child_by_field_name("receiver"), call.child_by_field_name("method")
        if receiver is None or method is None:
            return -1
        name = self.text(method)
        if name in _ITERATORS:
            return self.add(node, Op.ELEMENT, base=self.expr(receiver))
        if name == "new":
            return self.expr(call)
        return self.expr(receiver) if name in _SAME_OBJECT else -1

    def _block_param(self, item: Node, value: int, until: int) -> None:
        if item.type == "destructured_parameter":
            for part in item.named_children:
                self._block_param(part, -1, until)
            return
        name = item if item.type == "identifier" else item.child_by_field_name("name")
        if name is None:
            return
        self._claimed.add(name.id)
        text = self.text(name)
        self._local_names().add(text)
        self.assign(self.add(name, Op.NAME, text), value, declares=True, until=until, conditional=True)

    def _local_names(self) -> set[str]:
        return self._locals.setdefault(self.scope, set())

    def _bind(self, name: Node, value: int, statement: Node) -> None:
        """name = value, from the end of the statement on: `x = x.next` reads the old one."""
        self._claimed.add(name.id)
        text = self.text(name)
        self._local_names().add(text)
        at = max(statement.end_byte - 1, 0)
        self.exprs.append(Expr(Op.NAME, self.scope, self.line(name.start_byte), at, text))
        self._assign(len(self.exprs) - 1, value, statement)

    def _assign(self, target: int, value: int, statement: Node, **more: Any) -> None:
        self._leave(statement.start_byte)
        start = self.drafts[self.scope].node.start_byte if self.scope >= 0 else -1
        conditional = bool(self._branches) and self._branches[-1][0] > start
        block = self._branches[-1][1] if conditional else -1
        self.assign(target, value, conditional=conditional, block=block, **more)

    def on_assignment(self, node: Node) -> None:
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        if left is None or right is None or left.type in _CONSTANTS:
            return
        kind = left.type
        operator = node.child_by_field_name("operator") if node.type == "operator_assignment" else None
        if operator is not None and kind == "identifier":
            self._local_names().add(self.text(left))
        if right.type in ("assignment", "operator_assignment"):
            self.on_assignment(right)  # a = b = c: the inner one is a name of its own
        value = self.expr(right)
        if operator is not None:
            value = self._updated(node, left, operator.type, value)
        self._assign_to(left, value, node)

    def _updated(self, node: Node, left: Node, operator: str, value: int) -> int:
        if operator not in ("||=", "&&="):
            return self.add(node, Op.UNKNOWN)
        old = self.expr(left)
        return self.add(node, Op.CHOICE, args=(old, value)) if left.type != "call" else value

    def _assign_to(self, left: Node, value: int, node: Node) -> None:
        kind = left.type
        if kind == "identifier":
            if left.id not in self._claimed:
                self._bind(left, value, node)
        elif kind in ("instance_variable", "class_variable"):
            self._assign(self._field(left, self.text(left)), value, node)
        elif kind == "call":
            self._set(left, value)
        elif kind == "element_reference":
            self._assign(self.expr(left), value, node)
        elif kind in ("left_assignment_list", "destructured_left_assignment"):
            for place, item in enumerate(left.named_children):
                key = self.add(node, Op.LITERAL, "Integer", text=str(place))
                self._assign_to(item, self.add(node, Op.INDEX, base=value, args=(key,)), node)
        elif kind == "rest_assignment":
            inner = _child(left, 0)
            if inner is not None:
                self._assign_to(inner, -1, node)

    def _set(self, left: Node, value: int) -> None:
        """receiver.name = value calls the method `name=`."""
        receiver, method = left.child_by_field_name("receiver"), left.child_by_field_name("method")
        if receiver is None or method is None:
            return
        self._claimed.add(method.id)
        callee = self.add(left, Op.MEMBER, self.text(method) + "=", base=self.expr(receiver))
        index = self.add(left, Op.CALL, base=callee, args=(value,) if value >= 0 else ())
        self._memo.setdefault(left.id, index)

    def on_for(self, node: Node) -> None:
        pattern, value = node.child_by_field_name("pattern"), node.child_by_field_name("value")
        items = _child(value, 0) if value is not None else None
        if pattern is None or items is None:
            return
        element = self.add(node, Op.ELEMENT, base=self.expr(items))
        if pattern.type == "identifier":
            self._bind(pattern, element, pattern)
        else:
            self._assign_to(pattern, -1, pattern)

    def on_rescue(self, node: Node) -> None:
        variable, exceptions = node.child_by_field_name("variable"), node.child_by_field_name("exceptions")
        name = _child(variable, 0) if variable is not None else None
        if name is None or name.type != "identifier":
            return
        self._claimed.add(name.id)
        text = self.text(name)
        self._local_names().add(text)
        classes = exceptions.named_children if exceptions is not None else []
        types = [Type(self._written(item)) for item in classes if item.type in _CONSTANTS]
        declared = Type("|", tuple(types)) if len(types) > 1 else types[0] if types else Type("StandardError")
        target = self.add(name, Op.NAME, text)
        self.assign(target, -1, type=declared, declares=True, until=node.end_byte, conditional=True)

    def on_pattern(self, node: Node) -> None:
        """Names in a pattern are locals of which nothing is known."""
        for item in node.named_children:
            if item.type == "identifier":
                self._bind(item, -1, item)
            elif item.type == "keyword_pattern":
                key, value = item.child_by_field_name("key"), item.child_by_field_name("value")
                if value is not None and value.type == "identifier":
                    self._bind(value, -1, value)
                elif value is None and key is not None:
                    self._local_names().add(self.text(key))

    # -- code

    def on_call(self, node: Node) -> None:
        self.expr(node)

    def on_super(self, node: Node) -> None:
        if node.id not in self._claimed:
            self.expr(node)

    def on_identifier(self, node: Node) -> None:
        if node.id not in self._claimed:
            self.expr(node)

    def on_alias(self, node: Node) -> None:
        name, old = node.child_by_field_name("name"), node.child_by_field_name("alias")
        if name is not None and old is not None:
            self._claimed.update((name.id, old.id))
            self._alias(node, self.text(name).lstrip(":"), self.text(old).lstrip(":"))

    def _alias(self, node: Node, name: str, old: str) -> None:
        if self.scope >= 0:
            target = self.add(node, Op.MEMBER, name, base=self.add(node, Op.THIS))
            self.assign(target, self.add(node, Op.CALLABLE, old))

    def on_return(self, node: Node) -> None:
        arguments = _child(node, 0)
        value = _child(arguments, 0) if arguments is not None else None
        if self.scope >= 0 and value is not None:
            self.drafts[self.scope].returns.append(self.expr(value))

    def on_constant(self, node: Node) -> None:
        if node.id in self._claimed:
            return
        index = self.expr(node)
        if self.exprs[index].op is Op.NAME:
            self.references.append(index)

    def finish(self) -> None:
        """What each method's last statement gives; now that every name in it is known."""
        for draft in self.drafts:
            node = draft.node
            if node.type == "call":
                block = node.child_by_field_name("block") if draft.kind is NodeKind.METHOD else None
                body = block.child_by_field_name("body") if block is not None else None
            else:
                body = node.child_by_field_name("body") if node.type in ("method", "singleton_method") else None
            if body is None or draft.name.endswith(("=", "?")) or draft.kind is NodeKind.CONSTRUCTOR:
                continue
            self.scope = draft.index
            last = self._last(body)
            if last is not None and last.type != "return":
                draft.returns.append(self.expr(last))

    def _last(self, node: Node) -> Node | None:
        """The last statement of a body."""
        if node.type not in _STATEMENTS:
            return node
        for item in reversed(node.named_children):
            if item.type not in _NO_STATEMENTS:
                return item
        return None

    # -- expressions

    def expression(self, node: Node) -> int:
        kind = node.type
        if kind == "identifier":
            text = self.text(node)
            if text in self._locals.get(self.scope, ()):
                return self.add(node, Op.NAME, text)
            if text == "module_function" and self.scope >= 0:
                self._mixin(node, "self", "extend")
            return self._implicit(node, text)
        if kind == "call":
            return self._call(node)
        if kind in _CONSTANTS:
            return self._constant_expr(node)
        if kind in ("instance_variable", "class_variable"):
            return self._field(node, self.text(node))
        if kind == "self":
            return self.add(node, Op.THIS)
        if kind in _LITERALS:
            return self._literal(node, kind)
        return self._compound(node, kind)

    def _literal(self, node: Node, kind: str) -> int:
        text = ""
        if kind in ("integer", "simple_symbol") or (kind == "string" and node.named_child_count == 1):
            text = self.text(node).strip("'\":")[:80]
        return self.add(node, Op.LITERAL, _LITERALS[kind], text=text)

    def _compound(self, node: Node, kind: str) -> int:
        if kind == "super":
            return self._super(node, ())
        if kind in ("if", "unless", "elsif", "case", "when", "conditional"):
            return self.add(node, Op.CHOICE, args=tuple(self._branch_values(node)))
        if kind in _STATEMENTS:
            last = self._last(node)
            return self.expr(last) if last is not None and last.id != node.id else self.add(node, Op.UNKNOWN)
        if kind in ("assignment", "operator_assignment"):
            right = self.expr(node.child_by_field_name("right"))
            return right if right >= 0 else self.add(node, Op.UNKNOWN)
        if kind in ("if_modifier", "unless_modifier", "rescue_modifier"):
            body = node.child_by_field_name("body")
            return self.expr(body) if body is not None else self.add(node, Op.UNKNOWN)
        if kind == "binary":
            return self._binary(node)
        if kind == "array":
            return self.add(node, Op.SEQUENCE, "list", args=self._args(node.named_children))
        if kind == "hash":
            return self.add(node, Op.MAPPING, args=self._args(node.named_children))
        if kind == "element_reference":
            items = node.named_children
            base = self.expr(node.child_by_field_name("object"))
            args = (self.expr(items[1]),) if len(items) > 1 and items[1].type in _LITERALS else ()
            return self.add(node, Op.INDEX, base=base, args=args)
        if kind == "lambda":
            return self.add(node, Op.LITERAL, "Proc")
        return self.add(node, Op.UNKNOWN)

    def _branch_values(self, node: Node) -> Iterator[int]:
        parts = [node.child_by_field_name(name) for name in ("consequence", "alternative", "body")]
        parts += [item for item in node.named_children if item.type in ("when", "else")]
        seen: set[int] = set()
        for part in parts:
            if part is not None and part.id not in seen:
                seen.add(part.id)
                yield self.expr(part)

    def _binary(self, node: Node) -> int:
        operator = node.child_by_field_name("operator")
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        symbol = operator.type if operator is not None else ""
        if left is None or right is None:
            return self.add(node, Op.UNKNOWN)
        if symbol in ("||", "or"):
            return self.add(node, Op.CHOICE, args=(self.expr(left), self.expr(right)))
        if symbol in ("&&", "and"):
            return self.expr(right)
        if symbol in ("==", "!=", "<", ">", "<=", ">=", "=~", "!~", "==="):
            return self.add(node, Op.LITERAL, "true")
        return self.add(node, Op.UNKNOWN)

    def _constant_expr(self, node: Node) -> int:
        written = self._written(node)
        if written:
            return self.add(node, Op.NAME, written, text="const")
        scope, name = node.child_by_field_name("scope"), node.child_by_field_name("name")
        if name is None:
            return self.add(node, Op.UNKNOWN)
        return self.add(node, Op.MEMBER, self.text(name), base=self.expr(scope))

    def _written(self, node: Node) -> str:
        """A::B as "A.B", ::A as ".A"; "" when it starts from anything but a constant. Its parts are no expressions."""
        if node.type == "constant":
            return self.text(node)
        if node.type != "scope_resolution":
            return ""
        scope, name = node.child_by_field_name("scope"), node.child_by_field_name("name")
        if name is None or name.type != "constant":
            return ""
        if scope is None:
            return f".{self.text(name)}"
        self._claimed.add(scope.id)
        around = self._written(scope)
        return f"{around}.{self.text(name)}" if around else ""

    def _claim_constant(self, node: Node) -> None:
        self._claimed.add(node.id)
        if node.type == "scope_resolution":
            self._written(node)

    # -- calls

    def _call(self, node: Node) -> int:
        receiver, method = node.child_by_field_name("receiver"), node.child_by_field_name("method")
        arguments = node.child_by_field_name("arguments")
        items = arguments.named_children if arguments is not None else []
        if method is not None:
            self._claimed.add(method.id)
        name = self.text(method) if method is not None else "call"
        if receiver is None:
            if method is not None and method.type == "super":
                return self._super(node, self._args(items))
            if self._directive(node, name, items):
                return self.add(node, Op.UNKNOWN)
        base = self.expr(receiver) if receiver is not None else -1
        if name in _SENDERS and items and items[0].type == "simple_symbol":
            name, items = self.text(items[0])[1:], items[1:]
        args = self._args(items)
        self._given_block(node, base, items)
        if name == "new" and (base >= 0 or self.scope >= 0):
            return self.add(node, Op.NEW, base=base if base >= 0 else self.add(node, Op.RECEIVER_CLASS), args=args)
        if base < 0:
            return self._implicit(node, name, args)
        if name == "class" and not args:
            return self.add(node, Op.RECEIVER_CLASS, base=base)
        return self.add(node, Op.CALL, base=self.add(node, Op.MEMBER, name, base=base), args=args)

    def _super(self, node: Node, args: tuple[int, ...]) -> int:
        """The method of the same name further up."""
        for child in node.named_children:
            if child.type == "super":
                self._claimed.add(child.id)
        if self.scope < 0 or self.drafts[self.scope].kind not in (NodeKind.METHOD, NodeKind.CONSTRUCTOR):
            return self.add(node, Op.UNKNOWN)
        base = self.add(node, Op.SUPER)
        return self.add(
            node, Op.CALL, base=self.add(node, Op.MEMBER, self.drafts[self.scope].name, base=base), args=args
        )

    def _args(self, items: list[Node]) -> tuple[int, ...]:
        args: list[int] = []
        for item in items:
            kind = item.type
            if kind == "pair":
                key, value = item.child_by_field_name("key"), item.child_by_field_name("value")
                name = self.text(key).strip("'\":") if key is not None else ""
                inner = self.expr(value) if value is not None else self._shorthand(item, name)
                args.append(self.add(item, Op.KEYWORD, name[:80], base=inner))
            elif kind in ("splat_argument", "hash_splat_argument"):
                inner_node = _child(item, 0)
                base = self.expr(inner_node) if inner_node is not None else -1
                args.append(self.add(item, Op.SPREAD, "**" if kind == "hash_splat_argument" else "", base=base))
            elif kind not in ("block_argument", "comment", "heredoc_body"):
                args.append(self.expr(item))
        return tuple(args)

    def _shorthand(self, node: Node, name: str) -> int:
        """`f(name:)` passes the local or the method of that name."""
        if name in self._locals.get(self.scope, ()):
            return self.add(node, Op.NAME, name)
        return self._implicit(node, name)

    def _given_block(self, node: Node, base: int, items: list[Node]) -> None:
        """map(&:name) calls `name` on the items; &method(:name) calls it here."""
        given = items[-1] if items and items[-1].type == "block_argument" else None
        value = _child(given, 0) if given is not None else None
        if value is None:
            return
        if value.type == "simple_symbol":
            if base >= 0:
                element = self.add(node, Op.ELEMENT, base=base)
                callee = self.add(node, Op.MEMBER, self.text(value)[1:], base=element)
                self.add(node, Op.CALL, base=callee)
        elif value.type == "call":
            method, arguments = value.child_by_field_name("method"), value.child_by_field_name("arguments")
            symbol = _child(arguments, 0) if arguments is not None else None
            if method is None or symbol is None or value.child_by_field_name("receiver") is not None:
                return
            if symbol.type == "simple_symbol" and self.text(method) == "method":
                self._implicit(value, self.text(symbol)[1:])

    def _directive(self, node: Node, name: str, items: list[Node]) -> bool:
        """Calls that say something about the file or the class; True when that is all they are."""
        if name in _REQUIRES:
            return self._require(node, name, items)
        if self.scope < 0 or self.drafts[self.scope].kind not in (NodeKind.CLASS, NodeKind.INTERFACE):
            return False
        owner = self.drafts[self.scope]
        if name == "include":
            owner.implements += [Type(self._written(item)) for item in items if self._written(item)]
            return True
        if name in ("extend", "prepend"):
            for item in items:
                module = "self" if item.type == "self" else self._written(item)
                if module:
                    self._mixin(node, module, name)
            return True
        if name == "module_function":
            self._mixin(node, "self", "extend")
            return not items
        if name == "alias_method" and len(items) == 2 and items[0].type == items[1].type == "simple_symbol":
            self._alias(node, self.text(items[0])[1:], self.text(items[1])[1:])
            return True
        return False

    def _mixin(self, node: Node, module: str, kind: str) -> None:
        at = node.start_byte
        self.imports.append(Import(self.scope, self.line(at), at, module, kind=kind))

    def _require(self, node: Node, name: str, items: list[Node]) -> bool:
        written = items[-1] if items else None
        if written is None or written.type != "string" or written.named_child_count != 1:
            return False
        at = node.start_byte
        module = self.text(written)[1:-1]
        self.imports.append(Import(self.scope, self.line(at), at, module, kind=name))
        return True


def _child(node: Node, place: int) -> Node | None:
    return node.named_child(place) if place < node.named_child_count else None


def _folded(text: str) -> str:
    return re.sub(r"\s+", " ", text).strip()[:400]


def _clean(comment: str) -> str:
    if comment.startswith("=begin"):
        return comment.removeprefix("=begin").removesuffix("=end").strip()
    return comment.lstrip("#").strip()


_CLASS_MAKERS = frozenset({("Struct", "new"), ("Class", "new"), ("Module", "new"), ("Data", "define")})
_REQUIRES = frozenset({"require", "require_relative", "autoload", "load", "require_dependency"})
_NO_STATEMENTS = frozenset({"comment", "rescue", "ensure", "heredoc_body", "empty_statement", "else"})
_YARD_PLAIN = frozenset({"Boolean", "Object", "Array", "Hash", "Enumerable", "Proc"})
_PARAM_KINDS = {
    "splat_parameter": ParamKind.VARIADIC,
    "hash_splat_parameter": ParamKind.KEYWORDS,
    "keyword_parameter": ParamKind.KEYWORD_ONLY,
    "block_parameter": ParamKind.KEYWORD_ONLY,
}

EXTRACTOR = RubyExtractor
