; Julia: modules, functions in both forms, structs, macros.
(line_comment) @comment
(block_comment) @comment
(module_definition name: (identifier) @name) @def.module
(struct_definition (type_head (identifier) @name)) @def.class
(abstract_definition (type_head (identifier) @name)) @def.interface
(function_definition (signature (call_expression . (identifier) @name)) (#set! merge)) @def.function
(function_definition (signature (call_expression . (field_expression (identifier) @name .))) (#set! merge)) @def.function
(function_definition (signature (typed_expression (call_expression . (identifier) @name))) (#set! merge)) @def.function
(macro_definition (signature (call_expression . (identifier) @name))) @def.macro
(assignment . (call_expression . (identifier) @name) (#set! merge)) @def.function
(const_statement (assignment . (identifier) @name)) @def.constant
(using_statement (import_path) @module) @import
(import_statement (import_path) @module (#set! alias "last")) @import
; the head of a definition is no call
(signature (call_expression) @ignore)
(signature (typed_expression . (call_expression) @ignore))
(assignment . (call_expression) @ignore)
(signature (call_expression (argument_list (identifier) @param)))
(assignment . (call_expression (argument_list (identifier) @param)))
(assignment . (call_expression (argument_list (typed_expression . (identifier) @param . (identifier) @type))))
(arrow_function_expression . (identifier) @local)
(arrow_function_expression . (argument_list (identifier) @local))
(signature (call_expression (argument_list (typed_expression . (identifier) @param . (identifier) @type))))
(assignment . (identifier) @local . (operator) . (_) @value)
(call_expression . (identifier) @callee) @call
(call_expression . (field_expression value: (_) @receiver (identifier) @callee .)) @call
