; Ruby: what the extractor looks at. `def.*` become definitions, the rest call sites and bindings.
(class) @def.class
(module) @def.module
(singleton_class) @def.singleton
(method) @def.method
(singleton_method) @def.method
(assignment left: [(constant) (scope_resolution)]) @def.constant
(call
  method: (identifier) @def.word
  arguments: (argument_list . (simple_symbol))
  (#any-of? @def.word "attr_accessor" "attr_reader" "attr_writer" "cattr_accessor" "mattr_accessor" "cattr_reader"
    "mattr_reader" "class_attribute" "attribute" "delegate" "def_delegators" "def_delegator" "define_method")) @def.macro
(call method: (identifier) @def.word block: (_) (#eq? @def.word "class_methods")) @def.concern

; Branches: what is assigned in them may not have happened
(if) @branch
(unless) @branch
(if_modifier) @branch
(unless_modifier) @branch
(while) @branch
(until) @branch
(for) @branch
(case) @branch
(begin) @branch
(rescue) @branch
(block) @block
(do_block) @block
(lambda) @block

; Local names
(assignment) @assignment
(operator_assignment) @assignment
(for) @for
(rescue (exception_variable)) @rescue
(hash_pattern) @pattern
(array_pattern) @pattern

; Code
(call) @call
(super) @super
(alias) @alias
(return) @return
(identifier) @identifier
(body_statement (constant) @constant)
(scope_resolution) @constant
(argument_list (constant) @constant)
(pair value: (constant) @constant)
(pattern (constant) @constant)
(exceptions (constant) @constant)
(binary (constant) @constant)
(array (constant) @constant)
