; Scala 2 and 3.
(comment) @comment
(block_comment) @comment
(package_clause name: (_) @package)
(class_definition name: (identifier) @name body: (_)? @body) @def.class
(object_definition name: (identifier) @name body: (_)? @body (#set! flags "static")) @def.module
(trait_definition name: (identifier) @name body: (_)? @body) @def.interface
(enum_definition name: (identifier) @name body: (_)? @body) @def.class
(type_definition name: (type_identifier) @name) @def.type
(function_definition name: (_) @name return_type: (_)? @type body: (_)? @body) @def.function
(function_declaration name: (_) @name return_type: (_)? @type (#set! flags "abstract declaration")) @def.function
(given_definition name: (identifier) @name) @def.constant
(template_body (val_definition pattern: (identifier) @name type: (_)? @type value: (_)? @value) @def.field)
(template_body (var_definition pattern: (identifier) @name type: (_)? @type value: (_)? @value) @def.field)
(template_body (val_declaration name: (identifier) @name type: (_)? @type) @def.field)
(compilation_unit (val_definition pattern: (identifier) @name type: (_)? @type value: (_)? @value) @def.constant)
(class_parameter name: (identifier) @name type: (_) @type) @def.field
(extends_clause [(type_identifier) (generic_type) (stable_type_identifier)] @base)
(import_declaration (namespace_wildcard)) @import @module
(import_declaration (namespace_selectors)) @import @module
(import_declaration (#set! alias "last")) @import @module
(parameter name: (identifier) @param type: (_) @type)
(binding name: (identifier) @local type: (_)? @type)
(block (val_definition pattern: (identifier) @local type: (_)? @type value: (_)? @value))
(block (var_definition pattern: (identifier) @local type: (_)? @type value: (_)? @value))
(enumerator . (identifier) @local)
(case_clause pattern: (identifier) @local)
(case_clause pattern: (tuple_pattern (identifier) @local))
(lambda_expression parameters: (identifier) @local)
(call_expression function: (identifier) @callee) @call
(call_expression function: (field_expression value: (_) @receiver field: (identifier) @callee)) @call
(call_expression function: (generic_function function: (identifier) @callee)) @call
(call_expression function: (generic_function function: (field_expression value: (_) @receiver field: (identifier) @callee))) @call
(instance_expression . (type_identifier) @callee) @call
(instance_expression . (generic_type type: (type_identifier) @callee)) @call
(infix_expression left: (_) @receiver operator: (identifier) @callee) @call
(field_expression value: (_) @receiver field: (identifier) @field) @member
