"""Java: packages, imports, static imports, and what every class inherits from the platform."""

from __future__ import annotations

from ctxsearch.graph import ops
from ctxsearch.graph.facts import CASE, Definition, Expr, Import
from ctxsearch.graph.model import NodeFlag, NodeKind
from ctxsearch.graph.resolve.jdk import JDK
from ctxsearch.graph.resolve.jdk_members import JDK_MEMBERS
from ctxsearch.graph.resolve.overloads import simple
from ctxsearch.graph.resolve.typed import TypedEvaluator
from ctxsearch.graph.resolve.typed_types import TYPE_LIKE
from ctxsearch.graph.resolve.values import UNKNOWN, Class, Ext, Inst, Value, Values

INNER = "inner"  # as the front end names a NEW whose base is the outer instance
_OBJECT = frozenset({"getClass", "hashCode", "equals", "clone", "toString", "notify", "notifyAll", "wait", "finalize"})
_ENUM = frozenset({"name", "ordinal", "compareTo", "values", "valueOf", "getDeclaringClass", "describeConstable"})
_BARE = dict.fromkeys(("Record", "Object", "Serializable", "Cloneable"), frozenset[str]())
_SWITCHED = frozenset({"int", "char", "short", "byte", "Integer", "Character", "Short", "Byte", "String"})
_CLOSED = {**JDK_MEMBERS, **_BARE, "Enum": _ENUM}


class JavaEvaluator(TypedEvaluator):
    """Java's file-level rules."""

    language = "java"
    library = JDK
    root_type = "java.lang.Object"
    root_members = _OBJECT
    closed_bases = _CLOSED
    iteration = ("iterator", "hasNext", "next")
    release = ("close",)
    primitives = frozenset({"int", "long", "short", "byte", "char", "boolean", "float", "double", "void"})

    def module_name(self, path: str) -> str:
        return self.table(path).facts.package

    def file_type(self, path: str, name: str) -> Values:
        table = self.read_names(path, name)
        facts = table.facts
        for index in table.imports[-1].get(name, ()) if -1 in table.imports else ():
            return self.imported(path, facts.imports[index])
        for index in table.defs[-1].get(name, ()) if -1 in table.defs else ():
            if facts.definitions[index].kind in TYPE_LIKE:
                return (Class(path, index),)
        found = self.package_type(path, facts.package, name)
        if found:
            return found
        for index in table.stars.get(-1, ()):
            item = facts.imports[index]
            found = self.package_type(path, item.module, name) if not item.kind else UNKNOWN
            if not found:
                owner = self._star_owner(path, item)
                found = self._each(owner, lambda value: self.nested_type(value, name))
            if found:
                return found
        return (Ext(name),)

    def _star_owner(self, path: str, item: Import) -> Values:
        """The class whose members `import a.B.*` opens; () for a package or a library."""
        parts = item.module.split(".")
        return self.qualified_type(path, parts) if len(parts) > 1 else UNKNOWN

    def file_variable(self, path: str, name: str) -> Values | None:
        for owner in self._static_owners(path, name):
            if isinstance(owner, Class):
                found = self.field(owner, name)
                if found is not None:
                    return found
            elif isinstance(owner, Ext):
                return (Ext(f"{owner.name}.{name}"),)
        return None

    def file_call(self, path: str, callee: Expr, call: int) -> Values:
        for owner in self._static_owners(path, callee.name):
            if isinstance(owner, Class):
                found = self.called_member(owner, callee.name, path, call)
                if found is not None:
                    return found
            elif isinstance(owner, Ext):
                return (Ext(f"{owner.name}.{callee.name}"),)
        return UNKNOWN

    def _static_owners(self, path: str, name: str) -> tuple[Class | Ext, ...]:
        """The classes that static imports open for a name: the single ones first; a library's star last."""
        table = self.read_names(path, name)
        facts = table.facts
        found: list[Class | Ext] = []
        library: list[Class | Ext] = []
        for index in table.imports[-1].get(name, ()) if -1 in table.imports else ():
            item = facts.imports[index]
            if item.kind == "static":
                owners = self._star_owner(path, item) or (Ext(item.module),)
                found += [owner for owner in owners if isinstance(owner, (Class, Ext))]
        for index in table.stars.get(-1, ()):
            item = facts.imports[index]
            if item.kind == "static":
                opened = self._star_owner(path, item)
                found += [owner for owner in opened if isinstance(owner, Class)]
                library += [] if opened else [Ext(item.module)]
        return (*found, *library)

    def new_classes(self, path: str, expr: Expr) -> Values:
        if expr.name == INNER and expr.type is not None:
            parts = expr.type.name.split(".")
            return self.nested_types(self.value(path, expr.base), parts)
        return super().new_classes(path, expr)

    def eval_new(self, path: str, index: int, expr: Expr) -> Values:
        if expr.name == INNER:
            return self._each(self.new_classes(path, expr), self.instance_of)
        return super().eval_new(path, index, expr)

    def is_inherited(self, owner: Inst, base: Inst | Class, member: tuple[str, int]) -> bool:
        """What is private is no member of a subclass; an interface keeps its static methods to itself."""
        if (owner.path, owner.index) == (base.path, base.index):
            return True
        definition = self.definition(*member)
        if definition.flags & NodeFlag.PRIVATE:
            return False
        if definition.kind is NodeKind.VARIABLE or not definition.flags & NodeFlag.STATIC:
            return True
        return self.definition(owner.path, owner.index).kind is not NodeKind.INTERFACE

    # -- references

    def reference(self, path: str, expr: int) -> Values:
        item = self.table(path).facts.exprs[expr]
        if item.op is ops.MEMBER and item.text == CASE:
            return self._each(self.ask(path, item.base), lambda subject: self._case(path, item, subject))
        return super().reference(path, expr)

    def _case(self, path: str, item: Expr, subject: Value) -> Values:
        """A label: of an enum it is one of its constants, of a number or a text a constant as any other."""
        if isinstance(subject, (Inst, Class)):
            return self.defined(subject, item.name)
        return self.named(path, item) if isinstance(subject, Ext) and simple(subject.name) in _SWITCHED else UNKNOWN

    def file_field(self, path: str, name: str) -> Values:
        for owner in self._static_owners(path, name):
            if not isinstance(owner, Class):
                return UNKNOWN
            found = self.defined(owner, name)
            if found:
                return found
        return UNKNOWN

    def is_method(self, definition: Definition) -> bool:
        return super().is_method(definition) and not definition.name.startswith("<")


EVALUATOR = JavaEvaluator
