; Objective-C: classes by their implementations, messages as calls named by their selectors (four keywords at most).
(comment) @comment
(class_interface . (identifier) @name (#set! flags "declaration")) @def.interface
(protocol_declaration . (identifier) @name) @def.interface
(class_implementation . (identifier) @name) @def.class
(method_definition (identifier) @name . (method_parameter) . (identifier) @name . (method_parameter) . (identifier) @name . (method_parameter) . (identifier) @name . (method_parameter) (compound_statement) @body (#set! join ":")) @def.function
(method_definition (identifier) @name . (method_parameter) . (identifier) @name . (method_parameter) . (identifier) @name . (method_parameter) (compound_statement) @body (#set! join ":")) @def.function
(method_definition (identifier) @name . (method_parameter) . (identifier) @name . (method_parameter) (compound_statement) @body (#set! join ":")) @def.function
(method_definition (identifier) @name . (method_parameter) (compound_statement) @body (#set! join ":")) @def.function
(method_definition (identifier) @name . (compound_statement) @body) @def.function
(function_definition declarator: (function_declarator declarator: (identifier) @name) body: (_) @body) @def.function
(function_definition declarator: (pointer_declarator declarator: (function_declarator declarator: (identifier) @name)) body: (_) @body) @def.function
(preproc_function_def name: (identifier) @name) @def.macro
(preproc_include path: (_) @module) @import
(instance_variable (struct_declaration . (type_identifier) @type (struct_declarator (pointer_declarator declarator: (identifier) @name)))) @def.field
(method_parameter (method_type (type_name . (type_identifier) @type)) (identifier) @param)
(declaration type: (type_identifier) @type declarator: (init_declarator declarator: (pointer_declarator declarator: (identifier) @local)))
(message_expression receiver: (_) @receiver . method: (identifier) @callee . (_) . method: (identifier) @callee . (_) . method: (identifier) @callee . (_) . method: (identifier) @callee . (_) (#set! join ":")) @call
(message_expression receiver: (_) @receiver . method: (identifier) @callee . (_) . method: (identifier) @callee . (_) . method: (identifier) @callee . (_) (#set! join ":")) @call
(message_expression receiver: (_) @receiver . method: (identifier) @callee . (_) . method: (identifier) @callee . (_) (#set! join ":")) @call
(message_expression receiver: (_) @receiver . method: (identifier) @callee . (_) (#set! join ":")) @call
(message_expression receiver: (_) @receiver . method: (identifier) @callee .) @call
(call_expression function: (identifier) @callee) @call
