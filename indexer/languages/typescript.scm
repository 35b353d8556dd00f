; inherits: ecmascript

(function_signature) @def.function
(abstract_class_declaration) @def.class
(interface_declaration) @def.interface
(enum_declaration) @def.enum
(enum_body [(property_identifier) (string) (enum_assignment)] @def.member)
(type_alias_declaration) @def.alias
(internal_module) @def.namespace
(module) @def.namespace
(class_body (method_signature) @def.method)
(interface_body (method_signature) @def.method)
(interface_body (call_signature) @def.signature)
(abstract_method_signature) @def.method
(public_field_definition) @def.field
(interface_body (property_signature) @def.field)

(program (ambient_declaration (lexical_declaration (variable_declarator name: (identifier)) @def.variable)))
(program (ambient_declaration (variable_declaration (variable_declarator name: (identifier)) @def.variable)))
(program (export_statement (ambient_declaration (lexical_declaration (variable_declarator name: (identifier)) @def.variable))))
(internal_module (statement_block (lexical_declaration (variable_declarator name: (identifier)) @def.variable)))
(internal_module (statement_block (export_statement (lexical_declaration (variable_declarator name: (identifier)) @def.variable))))
(variable_declarator value: (as_expression (object))) @def.binding
(variable_declarator value: (satisfies_expression (object))) @def.binding

(import_alias) @alias
(nested_type_identifier) @type
(type_identifier) @type
