; Lua: functions wherever they are stored, required modules as aliases.
(comment) @comment
(function_declaration name: (identifier) @name body: (_)? @body) @def.function
(function_declaration name: (dot_index_expression table: (_) @owner field: (identifier) @name) body: (_)? @body) @def.function
(function_declaration name: (method_index_expression table: (_) @owner method: (identifier) @name) body: (_)? @body) @def.function
(assignment_statement
  (variable_list . name: (identifier) @name .)
  (expression_list . value: (function_definition body: (_)? @body) .)) @def.function
(assignment_statement
  (variable_list . name: (dot_index_expression table: (_) @owner field: (identifier) @name) .)
  (expression_list . value: (function_definition body: (_)? @body) .)) @def.function
(field name: (identifier) @name value: (function_definition body: (_)? @body)) @def.function
(chunk (variable_declaration
  (assignment_statement (variable_list . name: (identifier) @name .) (expression_list . value: (_) @value .))) @def.constant
  (#match? @name "^[A-Z]"))
(chunk (assignment_statement (variable_list . name: (identifier) @name .) (expression_list . value: (_) @value .)) @def.constant
  (#match? @name "^[A-Z]"))
(assignment_statement
  (variable_list . name: (identifier) @alias)
  (expression_list . value: (function_call name: (identifier) @_require arguments: (arguments (string content: (_) @module))))
  (#eq? @_require "require")) @import
(chunk (function_call name: (identifier) @_require arguments: (arguments (string content: (_) @module))
  (#eq? @_require "require")) @import)
(function_call name: (identifier) @_require arguments: (arguments (string content: (_) @module))
  (#eq? @_require "require") (#set! alias "text")) @import
(parameters name: (identifier) @param)
(variable_declaration
  (assignment_statement (variable_list . name: (identifier) @local .) (expression_list . value: (_) @value .)))
(variable_declaration (assignment_statement (variable_list name: (identifier) @local)))
(variable_declaration (variable_list name: (identifier) @local))
(for_generic_clause (variable_list name: (identifier) @local))
(for_numeric_clause name: (identifier) @local)
(function_call name: (identifier) @callee) @call
(function_call name: (dot_index_expression table: (_) @receiver field: (identifier) @callee)) @call
(function_call name: (method_index_expression table: (_) @receiver method: (identifier) @callee)) @call
(dot_index_expression table: (_) @receiver field: (identifier) @field) @member
