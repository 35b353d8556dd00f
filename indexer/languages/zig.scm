; Zig: containers bound to names, functions, tests; imported files as aliases.
(comment) @comment
(variable_declaration . (identifier) @name (struct_declaration) @body) @def.class
(variable_declaration . (identifier) @name (enum_declaration) @body) @def.class
(variable_declaration . (identifier) @name (union_declaration) @body) @def.class
(variable_declaration . (identifier) @name (opaque_declaration) @body) @def.class
(variable_declaration . (identifier) @name (error_set_declaration)) @def.type
(function_declaration name: (identifier) @name type: (_)? @type body: (_)? @body) @def.function
(test_declaration (string) @name (block) @body (#set! flags "test")) @def.function
(test_declaration . (identifier) @name (block) @body (#set! flags "test")) @def.function
(container_field name: (identifier) @name type: (_) @type) @def.field
(variable_declaration . (identifier) @alias . (builtin_function (builtin_identifier) @_import (arguments (string) @module)) .
  (#eq? @_import "@import")) @import
(variable_declaration . (identifier) @alias .
  (field_expression object: (builtin_function (builtin_identifier) @_import (arguments (string) @module)) member: (identifier) @imported)
  (#eq? @_import "@import")) @import
(builtin_function (builtin_identifier) @_import (arguments (string) @module)
  (#eq? @_import "@import") (#set! alias "text")) @import
(source_file (variable_declaration . (identifier) @name type: (_)? @type (_)? @value .) @def.constant)
(struct_declaration (variable_declaration . (identifier) @name type: (_)? @type (_)? @value .) @def.constant)
(enum_declaration (variable_declaration . (identifier) @name type: (_)? @type (_)? @value .) @def.constant)
(union_declaration (variable_declaration . (identifier) @name type: (_)? @type (_)? @value .) @def.constant)
(builtin_function (builtin_identifier) @_this (#eq? @_this "@This")) @here
(parameter name: (identifier) @param type: (_) @type)
(block (variable_declaration . (identifier) @local type: (_)? @type (_)? @value .))
(payload (identifier) @local)
(call_expression function: (identifier) @callee) @call
(call_expression function: (field_expression object: (_) @receiver member: (identifier) @callee)) @call
(field_expression object: (_) @receiver member: (identifier) @field) @member
(struct_initializer . (identifier) @type) @instance
; the grammar reads `!f(x)` in a condition as an error union type
(call_expression function: (error_union_type ok: (identifier) @callee)) @call
(call_expression function: (error_union_type ok: (field_expression object: (_) @receiver member: (identifier) @callee))) @call
