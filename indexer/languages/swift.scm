; Swift: types, extensions, functions, properties.
(comment) @comment
(multiline_comment) @comment
(class_declaration "extension" name: (user_type) @name body: (_) @body) @def.extension
(class_declaration name: (type_identifier) @name body: (_) @body) @def.class
(protocol_declaration name: (type_identifier) @name body: (_) @body) @def.interface
(typealias_declaration name: (type_identifier) @name) @def.type
(function_declaration name: (simple_identifier) @name body: (_)? @body
  (#match? @name "^test[A-Z_]") (#set! flags "test")) @def.function
(function_declaration name: (simple_identifier) @name
  [(user_type) (optional_type) (array_type) (dictionary_type) (tuple_type) (function_type) (opaque_type) (existential_type)] @type
  . body: (_)? @body) @def.function
(function_declaration name: (simple_identifier) @name body: (_)? @body) @def.function
(protocol_function_declaration name: (simple_identifier) @name (#set! flags "abstract declaration")) @def.function
(init_declaration "init" @name body: (_)? @body) @def.constructor
(class_body (property_declaration name: (pattern bound_identifier: (_) @name) (type_annotation (_) @type)? value: (_)? @value) @def.field)
(enum_class_body (property_declaration name: (pattern bound_identifier: (_) @name) (type_annotation (_) @type)? value: (_)? @value) @def.field)
(protocol_property_declaration name: (pattern bound_identifier: (_) @name) (type_annotation (_) @type)?) @def.field
(source_file (property_declaration name: (pattern bound_identifier: (_) @name) (type_annotation (_) @type)? value: (_)? @value) @def.constant)
(enum_entry name: (simple_identifier) @name) @def.field
(inheritance_specifier inherits_from: (_) @base)
(import_declaration (identifier) @module) @import
(parameter name: (simple_identifier) @param . (_) @type)
(statements (property_declaration name: (pattern bound_identifier: (_) @local) (type_annotation (_) @type)? value: (_)? @value))
(if_statement bound_identifier: (simple_identifier) @local . condition: (_) @value)
(guard_statement bound_identifier: (simple_identifier) @local . condition: (_) @value)
(for_statement item: (pattern bound_identifier: (_) @local))
(lambda_parameter name: (simple_identifier) @local)
(call_expression . (simple_identifier) @callee) @call
(call_expression . (navigation_expression target: (_) @receiver suffix: (navigation_suffix suffix: (simple_identifier) @callee))) @call
(constructor_expression constructed_type: (user_type) @callee) @call
(navigation_expression target: (_) @receiver suffix: (navigation_suffix suffix: (simple_identifier) @field)) @member
(call_expression . (prefix_expression target: (simple_identifier) @callee)) @call
(call_expression . (prefix_expression target: (navigation_expression target: (_) @receiver suffix: (navigation_suffix suffix: (simple_identifier) @callee)))) @call
