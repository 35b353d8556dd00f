"""Look-up tables over one file's facts: who is defined, bound, imported where. Built once per file, on demand."""

from __future__ import annotations

from collections import defaultdict

from ctxsearch.graph import ops
from ctxsearch.graph.facts import Definition, FileFacts, Op, ParamKind
from ctxsearch.graph.model import NodeFlag, NodeId, NodeKind, module_node_id, node_id
from ctxsearch.graph.resolve.python_library import ADDERS

Names = dict[str, list[int]]
Place = tuple[int, int, int]  # byte offset, what it is (0 an assignment, 1 a definition, 2 an import), its index
CLASS_LIKE = frozenset({NodeKind.CLASS, NodeKind.INTERFACE})


class FileTable:
    """Indexes into one FileFacts. Never looks at another file."""

    __slots__ = (
        "_additions",
        "_by_op",
        "_by_stable_name",
        "_called_members",
        "_function_calls",
        "_given_names",
        "_holders",
        "_ids",
        "_member_names",
        "_param_uses",
        "_places",
        "_positional",
        "_tests",
        "_uses",
        "attributes",
        "binds",
        "children",
        "class_of",
        "defs",
        "exports",
        "facts",
        "fields",
        "imports",
        "ordinals",
        "path",
        "stars",
        "top",
        "top_keys",
    )

    def __init__(self, facts: FileFacts) -> None:
        self.facts = facts
        self.path = facts.path
        definitions = facts.definitions
        self.top: list[str] = []  # name of the outermost definition around each definition
        self.class_of: list[int] = []  # nearest enclosing class-like definition (itself excluded), or -1
        self.defs: dict[int, Names] = defaultdict(dict)  # scope -> name -> definitions directly inside
        self.children: dict[int, list[int]] = defaultdict(list)
        self.ordinals: list[int] = []  # tells redefinitions (same kind and qualified name) apart
        seen: dict[tuple[NodeKind, str], int] = {}
        for index, definition in enumerate(definitions):
            parent = definition.parent
            self.top.append(self.top[parent] if parent >= 0 else definition.name)
            self.class_of.append(
                -1 if parent < 0 else parent if definitions[parent].kind in CLASS_LIKE else self.class_of[parent]
            )
            key = (definition.kind, definition.qualified_name)
            ordinal = seen.get(key, 0)
            self.ordinals.append(ordinal)
            seen[key] = ordinal + 1
            self.children[parent].append(index)
            self.defs[parent].setdefault(definition.name, []).append(index)
        self.binds: dict[int, Names] = defaultdict(dict)  # scope -> name -> assigns to the plain name
        self.fields: dict[int, Names] = defaultdict(dict)  # class -> name -> assigns to this.name
        self.attributes: Names = defaultdict(list)  # root name -> assigns to members of something else
        self._sort_assigns()
        self.imports: dict[int, Names] = defaultdict(dict)  # scope -> local name -> imports
        self.stars: dict[int, list[int]] = defaultdict(list)  # scope -> star imports
        for index, item in enumerate(facts.imports):
            if item.name == "*":
                self.stars[item.scope].append(index)
            elif item.alias:
                self.imports[item.scope].setdefault(item.alias, []).append(index)
        self.exports: Names = {}
        for index, export in enumerate(facts.exports):
            self.exports.setdefault(export.name, []).append(index)
        self._by_op: list[list[int]] | None = None
        self._param_uses: dict[int, frozenset[int]] = {}
        self._uses: dict[int, set[str]] | None = None
        self.top_keys: list[int] | None = None  # kept here for the evaluator: the key of each definition's top name
        self._by_stable_name: dict[str, int] | None = None
        self._function_calls: dict[int, int] | None = None
        self._ids: dict[int, NodeId] = {}
        self._places: dict[tuple[int, str], list[Place]] = {}
        self._member_names: dict[int, frozenset[str]] = {}
        self._positional: dict[int, list[int]] = {}
        self._tests: dict[int, bool] = {}
        self._given_names: frozenset[str] | None = None
        self._additions: Names | None = None
        self._called_members: frozenset[str] | None = None
        self._holders: dict[int, int] | None = None

    def _sort_assigns(self) -> None:
        exprs = self.facts.exprs
        for index, assign in enumerate(self.facts.assigns):
            target = exprs[assign.target]
            if target.op is ops.NAME:
                self.binds[target.scope].setdefault(target.name, []).append(index)
            elif target.op is ops.MEMBER and exprs[target.base].op is ops.THIS:
                owner = self.enclosing_class(target.scope)
                if owner >= 0:
                    self.fields[owner].setdefault(target.name, []).append(index)
            elif target.op in (ops.MEMBER, ops.INDEX):
                self.attributes[self.root_name(target.base)].append(index)

    def root_name(self, expr: int) -> str:
        """The NAME at the bottom of a member chain; "" when it is something else."""
        exprs = self.facts.exprs
        while expr >= 0:
            item = exprs[expr]
            if item.op is ops.NAME:
                return item.name
            if item.op not in (ops.MEMBER, ops.INDEX, ops.CALL):
                return ""
            expr = item.base
        return ""

    def enclosing_class(self, scope: int) -> int:
        """The class whose instance THIS means in `scope`; -1 when there is none."""
        if scope < 0:
            return -1
        return scope if self.facts.definitions[scope].kind in CLASS_LIKE else self.class_of[scope]

    def top_name(self, scope: int) -> str:
        """The top-level symbol that `scope` belongs to; "" for the module itself."""
        return self.top[scope] if scope >= 0 else ""

    def id_of(self, index: int) -> NodeId:
        """The node of a definition: its own, of the nearest named one around an anonymous one, or the file's."""
        known = self._ids.get(index)
        if known is None:
            known = self._ids[index] = self._node_id(index)
        return known

    def _node_id(self, index: int) -> NodeId:
        if index < 0:
            return module_node_id(self.path)
        definition = self.facts.definitions[index]
        if definition.flags & NodeFlag.ANONYMOUS:
            return self.id_of(definition.parent)
        return node_id(self.path, definition.kind, definition.qualified_name, self.ordinals[index])

    def places(self, scope: int, name: str) -> list[Place]:
        """Where a scope itself binds a name, in order; callers leave the list as it is."""
        known = self._places.get((scope, name))
        if known is None:
            facts = self.facts
            known = [
                (facts.exprs[facts.assigns[index].target].at, 0, index)
                for index in (self.binds[scope].get(name, ()) if scope in self.binds else ())
            ]
            if scope in self.defs:
                known += [(facts.definitions[index].start, 1, index) for index in self.defs[scope].get(name, ())]
            if scope in self.imports:
                known += [(facts.imports[index].at, 2, index) for index in self.imports[scope].get(name, ())]
            known.sort()
            self._places[scope, name] = known
        return known

    def member_names(self, owner: int) -> frozenset[str]:
        """Every name that a class's own body or methods give it: definitions, fields, bindings and imports."""
        known = self._member_names.get(owner)
        if known is None:
            families = (self.defs, self.fields, self.binds, self.imports)
            known = frozenset(name for names in families if owner in names for name in names[owner])
            self._member_names[owner] = known
        return known

    def given_names(self) -> frozenset[str]:
        """The names of members that are assigned from outside: the `b` of `a.b = value`, unless `a` is this."""
        if self._given_names is None:
            facts = self.facts
            targets = [facts.exprs[facts.assigns[item].target] for items in self.attributes.values() for item in items]
            self._given_names = frozenset(target.name for target in targets if target.op is ops.MEMBER)
        return self._given_names

    @property
    def called_members(self) -> frozenset[str]:
        """The names of methods that the file's classes call on themselves, `this.name()`."""
        if self._called_members is None:
            exprs = self.facts.exprs
            callees = (exprs[exprs[site].base] for site in self.sites(ops.CALL) if exprs[site].base >= 0)
            self._called_members = frozenset(
                callee.name for callee in callees if callee.op is ops.MEMBER and exprs[callee.base].op is ops.THIS
            )
        return self._called_members

    @property
    def additions(self) -> Names:
        """Python's calls that add to a container, `items.append(x)`, by the container's own name.

        What is added to the containers inside another one, `groups[key].append(x)`, is under `groups[]`.
        """
        if self._additions is None:
            self._additions = {}
            exprs = self.facts.exprs
            for index in self.sites(ops.CALL) if self.facts.language == "python" else ():
                expr = exprs[index]
                if expr.args and expr.base >= 0:
                    callee = exprs[expr.base]
                    if callee.op is ops.MEMBER and callee.name in ADDERS:
                        outer = self.container_of(callee.base)
                        name = exprs[callee.base].name if outer < 0 else f"{exprs[outer].name}[]"
                        if name:
                            self._additions.setdefault(name, []).append(index)
        return self._additions

    def container_of(self, expr: int) -> int:
        """The container whose item an expression is: `groups` of `groups[key]` and `groups.setdefault(key, [])`."""
        exprs = self.facts.exprs
        item = exprs[expr]
        if item.op is ops.INDEX:
            return item.base
        callee = exprs[item.base] if item.op is ops.CALL and item.base >= 0 else item
        return callee.base if callee.op is ops.MEMBER and callee.name == "setdefault" and item is not callee else -1

    def holder(self, value: int) -> int:
        """The variable or own field that an expression's value is first kept in; -1 for none."""
        if self._holders is None:
            exprs = self.facts.exprs
            self._holders = {}
            for assign in self.facts.assigns:
                target = exprs[assign.target]
                own = target.op is ops.MEMBER and exprs[target.base].op is ops.THIS
                if own or target.op is ops.NAME:
                    self._holders.setdefault(assign.value, assign.target)
        return self._holders.get(value, -1)

    def stable_name(self, index: int) -> str:
        """A definition's name in its file that does not move when other definitions are edited."""
        definition = self.facts.definitions[index]
        return f"{int(definition.kind)}:{definition.qualified_name}#{self.ordinals[index]}"

    def with_stable_name(self, stable_name: str) -> int:
        """The definition of that stable name; -1 when there is none."""
        if self._by_stable_name is None:
            self._by_stable_name = {self.stable_name(index): index for index in range(len(self.ordinals))}
        return self._by_stable_name.get(stable_name, -1)

    @property
    def function_calls(self) -> dict[int, int]:
        """The call that each function literal is an argument of."""
        if self._function_calls is None:
            exprs = self.facts.exprs
            self._function_calls = {
                exprs[arg].base: index
                for index in self.sites(ops.CALL)
                for arg in exprs[index].args
                if exprs[arg].op is ops.FUNCTION
            }
        return self._function_calls

    def sites(self, *wanted: Op) -> list[int]:
        """The expressions of these operators, in order."""
        if self._by_op is None:
            self._by_op = [[] for _ in Op]
            for index, expr in enumerate(self.facts.exprs):
                self._by_op[expr.op].append(index)
        if len(wanted) == 1:
            return self._by_op[wanted[0]]
        return sorted(index for op in wanted for index in self._by_op[op])

    def is_test(self, index: int) -> bool:
        """Whether code in a scope is a test's."""
        known = self._tests.get(index)
        if known is None:
            own = self.facts.definitions[index].flags if index >= 0 else NodeFlag.NONE
            known = self._tests[index] = bool((self.facts.flags | own) & NodeFlag.TEST)
        return known

    def positional(self, index: int) -> list[int]:
        """`positional_params` of a definition, found once; callers leave the list as it is."""
        known = self._positional.get(index)
        if known is None:
            known = self._positional[index] = positional_params(self.facts.definitions[index])
        return known

    def used_params(self, index: int) -> frozenset[int]:
        """Positions of the parameters that a function (or a closure in it) calls, looks into, stores or passes on."""
        known = self._param_uses.get(index)
        if known is None:
            places = {
                param.name: place for place, param in enumerate(self.facts.definitions[index].params) if param.name
            }
            used: set[int] = set()
            if places:
                self._find_uses(index, places, used)
            known = self._param_uses[index] = frozenset(used)
        return known

    def _find_uses(self, scope: int, places: dict[str, int], used: set[int]) -> None:
        """Parameters that the code of a scope uses, and the functions inside that have none of that name."""
        for name in self._used_names().get(scope, ()):
            if name in places:
                used.add(places[name])
        definitions = self.facts.definitions
        for child in self.children.get(scope, ()):
            hidden = {param.name for param in definitions[child].params}
            self._find_uses(child, {name: place for name, place in places.items() if name not in hidden}, used)

    def _used_names(self) -> dict[int, set[str]]:
        """Names at the bottom of what calls call and are given, assignments store and functions return, by scope."""
        if self._uses is None:
            facts = self.facts
            exprs = facts.exprs
            used = [assign.value for assign in facts.assigns]
            for op in (ops.CALL, ops.NEW):
                for site in self.sites(op):
                    item = exprs[site]
                    used.append(item.base)
                    used += item.args
            for definition in facts.definitions:
                used += definition.returns
            self._uses = defaultdict(set)
            for expr in used:  # which grows by the items of containers
                while expr >= 0 and exprs[expr].op in _PARTS:
                    expr = exprs[expr].base
                if expr >= 0:
                    item = exprs[expr]
                    if item.op is ops.NAME:
                        self._uses[item.scope].add(item.name)
                    elif item.op in _HOLDING:
                        used += item.args
        return self._uses


_PARTS = frozenset({ops.KEYWORD, ops.SPREAD, ops.MEMBER, ops.INDEX, ops.AWAIT, ops.ELEMENT})
_HOLDING = frozenset({ops.SEQUENCE, ops.MAPPING, ops.CHOICE})


def positional_params(definition: Definition) -> list[int]:
    """Positions in `params` that positional arguments fill, in order (the receiver left out)."""
    return [
        place for place, param in enumerate(definition.params) if param.kind in (ParamKind.NORMAL, ParamKind.VARIADIC)
    ]
