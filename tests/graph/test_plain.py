"""Basic languages: names that are visible where they are used, and names that only look like it."""

from __future__ import annotations

import pytest
from resolved_calls import calls

HASKELL = {
    "B.hs": "module B where\nshown x = x\nhidden x = x\n",
    "C.hs": "module C where\nother x = x\n",
}


def test_haskell_imports_all_but_what_is_hidden() -> None:
    source = "module A where\nimport B hiding (hidden)\nf x = shown x\ng x = hidden x\n"
    assert calls({**HASKELL, "A.hs": source}, "A.hs") == {("f", "B.hs:shown")}


def test_haskell_qualified_import_hides_too() -> None:
    source = "module A where\nimport qualified B as X hiding (hidden)\nf x = X.shown x\ng x = hidden x\n"
    assert calls({**HASKELL, "A.hs": source}, "A.hs") == {("f", "B.hs:shown")}


def test_elixir_import_is_seen_in_its_module_only() -> None:
    source = """\
defmodule Tools do
  def helper, do: 1
end

defmodule First do
  import Tools
  def run, do: helper()
end

defmodule Second do
  def run, do: helper()
end
"""
    assert calls({"a.ex": source}, "a.ex") == {("First.run", "a.ex:Tools.helper")}


@pytest.mark.parametrize(
    ("path", "source"),
    [
        (
            "a.scala",
            "class A {\n  def helper() = 1\n}\nobject B {\n  def f() = { val helper = () => 1; helper() }\n}\n",
        ),
        ("a.scala", "class A {\n  def helper() = 1\n}\nobject B {\n  def f(xs: Xs) = xs.map(helper => helper())\n}\n"),
        ("a.jl", "helper(x) = x\nf(helper) = helper(1)\n"),
        ("a.jl", "helper(x) = x\nf(xs) = map(helper -> helper(1), xs)\n"),
    ],
)
def test_a_local_of_unknown_value_is_no_global_function(path: str, source: str) -> None:
    assert calls({path: source}, path) == set()


def test_julia_functions_see_their_module() -> None:
    files = {
        "a.jl": "module M\nhelper(x) = x\nfunction go(x)\n  helper(x)\nend\nend\n",
        "b.jl": "module N\nhelper(x) = x\nend\n",
    }
    assert calls(files, "a.jl") == {("M.go", "a.jl:M.helper")}


def test_ocaml_opens_a_file() -> None:
    files = {"tools.ml": "let helper x = x\n", "a.ml": "open Tools\nlet go x = helper x\n"}
    assert calls(files, "a.ml") == {("go", "tools.ml:helper")}


def test_a_program_of_the_system_is_no_function_of_another_script() -> None:
    files = {"lib.sh": 'curl() { command curl "$@"; }\nfetch_it() { curl x; }\n', "run.sh": "curl y\nfetch_it\n"}
    assert calls(files, "run.sh") == {("", "lib.sh:fetch_it")}
    assert calls(files, "lib.sh") == {("fetch_it", "lib.sh:curl")}


def test_a_selector_of_the_library_is_no_method_of_a_class_here() -> None:
    source = "@implementation Cache\n- (void)setObject:(id)o forKey:(id)k { [dict setObject:o forKey:k]; }\n@end\n"
    assert calls({"a.m": source}, "a.m") == set()
