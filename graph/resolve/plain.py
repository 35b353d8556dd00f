"""Resolution for languages without rules of their own: same file first, then imports, then a unique name.

A name that only one definition of the language can mean is taken to mean it, unless it is short or one that
libraries use too. What a declared type or a capitalised name says, and the repository does not define, is external:
nothing is guessed about it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from ctxsearch.graph import ops
from ctxsearch.graph.facts import MODULE_SCOPE, Definition, Expr, Import, Type
from ctxsearch.graph.model import CALLABLE_KINDS, NodeFlag
from ctxsearch.graph.resolve.evaluate import Evaluator
from ctxsearch.graph.resolve.tables import CLASS_LIKE
from ctxsearch.graph.resolve.values import EXTERNAL, UNKNOWN, Class, Ext, Func, Inst, Module, Value, Values

MIN_UNIQUE_LENGTH = 3  # shorter names are unique by accident
_PATH_LIKE = re.compile(r"[\w.\-/]+")

_COMMON = """
    abs add all any append apply assert assign at await begin bind build call cancel cat ceil change chars check chunk
    clean clear clone close collect commit compare compile concat connect contains convert copy count create cut date
    debug decode deinit del delete diff dispatch div done drop dup each echo emit empty encode end ensure entries equal
    equals error eval exec execute exists exit expect exports extend fail fetch fields file fill filter find first
    flat flatMap flatten float floor flush fmap fold foldl foldr forEach foreach format free from fromList generate get
    getOrElse getattr global group groupBy gsub guard handle has hash head height help id import include index info init
    initialize input insert install inspect int invoke isEmpty items join keys kill last len length let lift limit line
    lines list load local lock log lookup lower ls main make map mapM map_ mapped match max member merge min mkdir mock
    mod modify move name new next none nonEmpty not notify null number of off on open option options or order out pack
    pairs parse path peek pipe poll pop position post pow prepare prepend print printf println process product pure push
    put puts query quit raise random range raw read receive record reduce register release reload remove render repeat
    replace report request require reset resize resolve response result resume retry return reverse rm round run save
    scan search seek select send seq sequence set setup show shift size skip sleep slice some sort source spawn split
    start stat state status stop store str string strip sub subscribe sum swap sync system tail take tap target test
    then throw time toList toString to_string toggle touch trace transform traverse trim truncate try type union unique
    unit unlock unpack unset unwrap update upper use usage validate value values view void wait walk watch when which
    width with wrap write yield zip
"""
COMMON_NAMES = frozenset(_COMMON.split())  # names that libraries use too: being unique here says little

# Programs that scripts run: a function of that name in a file that is not sourced is another thing.
_PROGRAMS = """
    awk base64 basename bash bc brew bundle cargo chgrp chmod chown clang cmake cmp column command cp crontab curl cut
    dd df diff dig dirname dmesg docker du env expr fdisk file find gawk gcc gdb gem git go grep groupadd gunzip gzip
    head helm hostname hg iconv id ifconfig ip java jq journalctl kubectl ldd less link ln logger logname lsof make
    man md5sum mktemp mount mv nc netstat nice node nohup npm nproc npx openssl paste patch perl pgrep php pip ping
    pkg pkill printenv ps psql pwd python python3 readlink realpath rename rpm rsync ruby rustc scp screen sed service
    sha1sum sha256sum sh shuf sort split ssh strings strip stty su sudo svn systemctl tac tar tee terraform timeout
    tmux top tr tree tty ufw umount uname uniq unlink unzip uptime useradd vim wc wget who whoami xargs yarn yum zip
"""
_COMMANDS = frozenset(_PROGRAMS.split())
# Selectors of Foundation and its kin.
_SELECTORS = """
    addObject: addObjectsFromArray: addObserver:selector:name:object: addSubview: alloc allObjects anyObject array
    arrayWithObject: arrayWithObjects: autorelease awakeFromNib boolValue characterAtIndex: class compare:
    componentsJoinedByString: componentsSeparatedByString: containsObject: containsString: copyWithZone:
    dataUsingEncoding: dealloc description dictionary dictionaryWithObject:forKey: doubleValue encodeWithCoder:
    enumerateObjectsUsingBlock: firstObject floatValue hasPrefix: hasSuffix: indexOfObject: initWithCoder:
    initWithFrame: insertObject:atIndex: integerValue intValue isEqual: isEqualToString: isKindOfClass: lastObject
    layoutSubviews lowercaseString mutableCopy numberWithInt: objectAtIndex: objectEnumerator objectForKey:
    performSelector: performSelector:withObject: postNotificationName:object: rangeOfString: release removeAllObjects
    removeObject: removeObjectAtIndex: removeObjectForKey: removeObserver: respondsToSelector: retain setNeedsDisplay
    setObject:forKey: setValue:forKey: stringByAppendingString: stringValue stringWithFormat: substringFromIndex:
    substringToIndex: substringWithRange: uppercaseString valueForKey: viewDidAppear: viewDidLoad viewWillAppear:
    writeToFile:atomically:
"""
_FOUNDATION = frozenset(_SELECTORS.split())


@dataclass(frozen=True, slots=True)
class PlainRules:
    """What differs between languages that are otherwise resolved alike."""

    class_scope: bool = False  # members are visible inside methods without a receiver
    capital_types: bool = False  # a capitalised name is a type or module; an unknown one is external
    imports_only: bool = False  # nothing is visible that is not defined here or imported
    global_functions: bool = True  # a bare call may mean a function of any file
    constructors: tuple[str, ...] = ()
    module_files: bool = False  # a capitalised name may be the file of that name
    index_files: tuple[str, ...] = ()  # file names that stand for their directory
    overloads: bool = False  # functions of one name are several, told apart by what is not read here
    library: frozenset[str] = frozenset()  # names that a library or the system has, beside the common ones


RULES = {
    "swift": PlainRules(class_scope=True, capital_types=True, constructors=("init",), overloads=True),
    "scala": PlainRules(class_scope=True, capital_types=True, overloads=True),
    "elixir": PlainRules(class_scope=True, capital_types=True, global_functions=False),
    "haskell": PlainRules(capital_types=True, imports_only=True),
    "lua": PlainRules(index_files=("init",)),
    "zig": PlainRules(class_scope=True, imports_only=True),
    "dart": PlainRules(class_scope=True, capital_types=True),
    "objc": PlainRules(class_scope=True, capital_types=True, library=_FOUNDATION),
    "ocaml": PlainRules(class_scope=True, capital_types=True, global_functions=False, module_files=True),
    "julia": PlainRules(class_scope=True),
    "bash": PlainRules(library=_COMMANDS),
    "solidity": PlainRules(class_scope=True, capital_types=True, constructors=("constructor",), overloads=True),
}
DEFAULT = PlainRules()


class PlainEvaluator(Evaluator):
    """One basic language. `begin` takes up the rules of the file's language."""

    rules = DEFAULT

    def begin(self, path: str) -> None:
        super().begin(path)
        self.rules = RULES.get(self.world.language(path), DEFAULT)
        self.class_scope_visible = self.rules.class_scope

    # -- members that are attached by name: M.f = ..., function M:f, extension T

    def eval_member(self, path: str, index: int, expr: Expr) -> Values:
        base = self.table(path).facts.exprs[expr.base] if expr.base >= 0 else None
        if base is not None and base.op is ops.NAME:
            own = self._attached(path, base.name, expr.name)
            if own:
                return own
        if base is not None and base.op is ops.THIS:
            own = self._attached(path, self._owner_of(path, expr.scope), expr.name)
            if own:
                return own
        return super().eval_member(path, index, expr)

    def _attached(self, path: str, owner: str, name: str) -> Values:
        """Functions of the file that are stored as `owner.name`."""
        if not owner:
            return UNKNOWN
        table = self.table(path)
        return tuple(
            Func(path, index)
            for index in table.defs.get(MODULE_SCOPE, {}).get(name, ())
            if (receiver := table.facts.definitions[index].receiver) is not None and receiver.name == owner
        )

    def _owner_of(self, path: str, scope: int) -> str:
        definitions = self.table(path).facts.definitions
        while scope >= 0:
            receiver = definitions[scope].receiver
            if receiver is not None:
                return receiver.name
            scope = definitions[scope].parent
        return ""

    def eval_this(self, path: str, index: int, expr: Expr) -> Values:
        """`self` is a parameter in some languages, the instance of the class around in others."""
        inner = expr.scope
        definitions = self.table(path).facts.definitions
        while inner >= 0:
            if any(param.name == "self" for param in definitions[inner].params):
                return self.lookup(path, expr.scope, "self", expr.at)
            inner = definitions[inner].parent
        return super().eval_this(path, index, expr)

    def bound(self, path: str, scope: int, name: str, at: int) -> Values | None:
        """A function that is stored in a table is not visible under its bare name."""
        table = self.table(path)
        if scope in table.defs and name in table.defs[scope]:
            definitions = table.facts.definitions
            if all(definitions[index].receiver is not None for index in table.defs[scope][name]):
                return None
        return super().bound(path, scope, name, at)

    def own_member(self, path: str, index: int, name: str, seen_as: Inst | Class | None) -> Values | None:
        found = super().own_member(path, index, name, seen_as)
        return found if found is not None else self._extended(path, index, name)

    def _extended(self, path: str, index: int, name: str) -> Values | None:
        """A member that an extension of the type adds, wherever that is written; for an extension, the type's own."""
        owner = self.definition(path, index)
        if owner.flags & NodeFlag.EXTENSION:
            types = self._type_named(path, owner.name)
            return self.members(types, name) or None
        found: list[Value] = []
        for place, member in self.world.named(self.world.language(path), name):
            parent = self.table(place).facts.definitions[member].parent
            if parent >= 0:
                around = self.table(place).facts.definitions[parent]
                if around.flags & NodeFlag.EXTENSION and around.name == owner.name and (place, parent) != (path, index):
                    found.append(Func(place, member))
        return tuple(found) or None

    # -- names that an import brings in are visible in the definition that has the import

    def in_function(self, path: str, index: int, name: str, at: int) -> Values | None:
        found = super().in_function(path, index, name, at)
        return found if found is not None else self.from_scope_stars(path, index, name)

    def in_class_scope(self, path: str, index: int, name: str) -> Values | None:
        found = super().in_class_scope(path, index, name)
        return found if found is not None else self.from_scope_stars(path, index, name)

    def from_stars(self, path: str, name: str) -> Values | None:
        return self.from_scope_stars(path, MODULE_SCOPE, name)

    # -- modules

    def exported(self, path: str, name: str) -> Values:
        """What a file defines at top level, or stores in a table that it may return."""
        stored = self.table(path).defs.get(MODULE_SCOPE, {}).get(name, ())
        definitions = self.table(path).facts.definitions
        functions = [index for index in stored if definitions[index].receiver is not None]
        if functions:
            return tuple(Func(path, index) for index in functions)
        return super().exported(path, name)

    def import_modules(self, path: str, item: Import) -> Values:
        """The file that an import names; a type or module of that name; else a library."""
        found = self._file(path, item.module) or self._module_file(path, item.module)
        if found is not None:
            return (Module(found),)
        return self._type_named(path, item.module) or (Ext(item.module),)

    def import_values(self, path: str, item: Import) -> Values:
        modules = self.import_modules(path, item)
        if item.alias and item.name in ("", item.alias) and isinstance(modules[0], Ext):
            return self._type_named(path, item.alias) or modules
        return self.members(modules, item.name) if item.name else modules

    def star_member(self, path: str, item: Import, name: str) -> Values:
        """A library's names are not known: it cannot be said that one comes from it."""
        if name in item.kind.split()[1:]:
            return UNKNOWN  # hidden
        modules = tuple(value for value in self.import_modules(path, item) if not isinstance(value, Ext))
        return self.members(modules, name)

    def _file(self, path: str, module: str) -> str | None:
        """The only file whose path ends with what an import says; the nearest of several."""
        written = _PATH_LIKE.findall(module)
        suffix = path[path.rfind(".") :] if "." in path else ""
        if not written or not suffix:
            return None
        tail = written[-1].strip("/")
        is_path = tail.endswith(suffix) or "/" in tail
        parts = [part for part in (tail.split("/") if is_path else tail.split(".")) if part not in ("", ".", "..")]
        if not parts:
            return None
        for names in self._file_names(parts, suffix):
            found = [other for other in self.world.with_basename(names[-1]) if other.split("/")[-len(names) :] == names]
            nearest = _nearest(path, found)
            if nearest is not None and nearest != path:
                return nearest
        return None

    def _file_names(self, parts: list[str], suffix: str) -> list[list[str]]:
        last = parts[-1] if parts[-1].endswith(suffix) else parts[-1] + suffix
        indexes = [[*parts, index + suffix] for index in self.rules.index_files]
        return [[*parts[:-1], last], *indexes]

    # -- names and types

    def global_name(self, path: str, name: str) -> Values:
        if self.rules.imports_only:
            return (Ext(name),) if self.rules.capital_types and name[:1].isupper() else UNKNOWN
        found = self._type_named(path, name)
        if found or not self.rules.capital_types:
            return found
        file = self._module_file(path, name)
        if file is not None:
            return (Module(file),)
        return (Ext(name),) if name[:1].isupper() else UNKNOWN

    def _module_file(self, path: str, name: str) -> str | None:
        """The file that is the module of a capitalised name, where files are modules."""
        if not self.rules.module_files or not name[:1].isupper():
            return None
        return self._file(path, name[0].lower() + name[1:])

    def _type_named(self, path: str, name: str) -> Values:
        """The types of that name, extensions aside; several in one file (companions) are one."""
        found = [
            (place, index)
            for place, index in self.world.named(self.world.language(path), name, CLASS_LIKE)
            if not self.table(place).facts.definitions[index].flags & NodeFlag.EXTENSION
        ]
        if not found or len({place for place, _ in found}) > 1:
            return UNKNOWN
        return tuple(Class(place, index) for place, index in found)

    def type_instances(self, path: str, scope: int, declared: Type) -> Values:
        """A declared type that is none of the repository's is external."""
        if declared.name == "[]":
            return EXTERNAL
        found = super().type_instances(path, scope, declared)
        return found or (Ext(declared.name),)

    # -- calls

    def constructor_names(self, value: Class) -> tuple[str, ...]:  # noqa: ARG002
        return self.rules.constructors

    def select(self, path: str, index: int, targets: list[tuple[str, int]]) -> list[tuple[str, int]]:  # noqa: ARG002
        """A type and its companion object are called as the type."""
        types = [target for target in targets if not self._definition(target).flags & NodeFlag.STATIC]
        return types if len(types) == 1 and len(targets) > 1 else targets

    def undecided(self, targets: list[tuple[str, int]]) -> bool:
        """Overloads: functions of one type, its extensions included, that share a name."""
        if not self.rules.overloads:
            return False
        owners = [self._owner_name(target) for target in targets]
        return len(set(owners)) < len(owners)

    def _owner_name(self, target: tuple[str, int]) -> tuple[str, str]:
        definition = self._definition(target)
        parent = definition.parent
        return definition.name, self._definition((target[0], parent)).name if parent >= 0 else ""

    def _definition(self, target: tuple[str, int]) -> Definition:
        return self.table(target[0]).facts.definitions[target[1]]

    def guess(self, path: str, index: int, expr: Expr) -> list[tuple[str, int]]:  # noqa: ARG002
        """The only callable of that name, when the name says enough."""
        if expr.op is not ops.CALL or expr.base < 0:
            return []
        callee = self.table(path).facts.exprs[expr.base]
        bare = callee.op is ops.NAME
        if not bare and callee.op is not ops.MEMBER:
            return []
        if bare and (self.rules.imports_only or not self.rules.global_functions):
            return []
        if bare and self._is_local(path, callee):
            return []
        if len(callee.name) < MIN_UNIQUE_LENGTH or callee.name in COMMON_NAMES or callee.name in self.rules.library:
            return []
        return unique_callable(self, path, callee.name)

    def _is_local(self, path: str, callee: Expr) -> bool:
        """Whether a name is a parameter or variable of a function around: what it holds is unknown, not global."""
        table = self.table(path)
        scope = callee.scope
        while scope >= 0:
            definition = table.facts.definitions[scope]
            if definition.kind in CALLABLE_KINDS:
                if any(param.name == callee.name for param in definition.params):
                    return True
                if callee.name in table.binds.get(scope, {}):
                    return True
            scope = definition.parent
        return False


def unique_callable(evaluator: Evaluator, path: str, name: str) -> list[tuple[str, int]]:
    """The only callable of that name in the language's family; [] when there is none or more than one."""
    found = evaluator.world.named(evaluator.world.language(path), name, CALLABLE_KINDS)
    return found if len(found) == 1 else []


def _nearest(path: str, found: list[str]) -> str | None:
    """The file that shares most of its directories with `path`; None when two are equally near."""
    if not found:
        return None
    here = path.split("/")[:-1]
    ranked = sorted(found, key=lambda other: (-_shared(here, other), len(other), other))
    if len(ranked) > 1 and (_shared(here, ranked[0]), len(ranked[0])) == (_shared(here, ranked[1]), len(ranked[1])):
        return None
    return ranked[0]


def _shared(here: list[str], other: str) -> int:
    count = 0
    for mine, theirs in zip(here, other.split("/")[:-1], strict=False):
        if mine != theirs:
            break
        count += 1
    return count


EVALUATOR = PlainEvaluator
