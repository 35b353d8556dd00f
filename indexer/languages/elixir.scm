; Elixir: everything is a call; those of the defining macros are definitions.
(comment) @comment
(unary_operator operand: (call target: (identifier) @_doc (arguments [(string) (sigil)] @doc)) (#any-of? @_doc "doc" "typedoc"))
(unary_operator operand: (call target: (identifier) @_doc (arguments [(string) (sigil)] @doc)) (#eq? @_doc "moduledoc") (#set! doc "inner"))
(call target: (identifier) @_def (arguments . (alias) @name) (do_block) @body (#eq? @_def "defmodule")) @def.module
(call target: (identifier) @_def (arguments . (alias) @name) (do_block) @body (#eq? @_def "defprotocol")) @def.interface
(call target: (identifier) @_def (arguments . (alias) @name (keywords (pair value: (alias) @name))) (do_block) @body (#eq? @_def "defimpl")) @def.module
(call target: (identifier) @_def (arguments . (call target: (identifier) @name)) (do_block)? @body
  (#any-of? @_def "defmacro" "defmacrop" "defguard" "defguardp") (#set! merge)) @def.macro
(call target: (identifier) @_def (arguments . (identifier) @name) (do_block)? @body
  (#any-of? @_def "def" "defp" "defdelegate" "defn" "defnp") (#set! merge)) @def.function
(call target: (identifier) @_def (arguments . (call target: (identifier) @name)) (do_block)? @body
  (#any-of? @_def "def" "defp" "defdelegate" "defn" "defnp") (#set! merge)) @def.function
(call target: (identifier) @_def (arguments . (binary_operator left: (call target: (identifier) @name) operator: "when")) (do_block)? @body
  (#any-of? @_def "def" "defp" "defmacro") (#set! merge)) @def.function
(call target: (identifier) @_test (arguments . (string) @name) (do_block) @body
  (#any-of? @_test "test" "property") (#set! flags "test")) @def.function
(call target: (identifier) @_describe (arguments . (string) @name) (do_block) @body
  (#eq? @_describe "describe") (#set! flags "test")) @def.module
(unary_operator operand: (call target: (identifier) @_type (arguments (binary_operator left: [(identifier) @name (call target: (identifier) @name)])))
  (#any-of? @_type "type" "typep" "opaque")) @def.type
(do_block (unary_operator operand: (call target: (identifier) @name (arguments [(integer) (string) (list) (atom) (map) (sigil) (tuple) (float) (boolean)])) @value
  (#not-match? @name "^((module|type|)doc|behaviour|impl|spec|typep?|opaque|(macro)?callback|(module|describe)?tag|derive|deprecated|since|compile|dialyzer|enforce_keys)$")) @def.constant)
(call target: (identifier) @_import (arguments . (alias) @module (keywords (pair key: (keyword) @_as value: (alias) @alias)))
  (#any-of? @_import "alias" "require") (#match? @_as "^as:")) @import
(call target: (identifier) @_import (arguments . (alias) @module) (#any-of? @_import "alias") (#set! alias "last")) @import
(call target: (identifier) @_import (arguments . (alias) @module) (#any-of? @_import "import" "use" "require")) @import
; what looks like a call but is a declaration
(unary_operator operand: (call target: (identifier) @_attribute) @ignore (#not-match? @_attribute "^[A-Z]"))
(call target: (identifier) @_def (arguments . [(call) @ignore (binary_operator left: (call) @ignore operator: "when")])
  (#match? @_def "^(def|defp|defmacrop?|defguardp?|defdelegate|defnp?)$"))
(binary_operator left: (identifier) @local operator: "=" right: (_) @value)
(call target: (identifier) @callee) @call
(call target: (dot left: (_) @receiver right: (identifier) @callee)) @call
