; Definitions
(class_declaration) @def.class
(interface_declaration) @def.interface
(annotation_type_declaration) @def.interface
(enum_declaration) @def.class
(record_declaration) @def.class
(method_declaration) @def.method
(annotation_type_element_declaration) @def.method
(constructor_declaration) @def.constructor
(compact_constructor_declaration) @def.constructor
(static_initializer) @def.static_initializer
(class_body (block) @def.initializer)
(enum_body_declarations (block) @def.initializer)
(field_declaration declarator: (variable_declarator) @def.field)
(constant_declaration declarator: (variable_declarator) @def.field)
(enum_constant) @def.enum_constant
(enum_constant body: (class_body) @def.enum_body)
(record_declaration parameters: (formal_parameters (_) @def.component))
(object_creation_expression (class_body) @def.anonymous)
(lambda_expression) @def.lambda

; The file
(package_declaration) @package
(import_declaration) @import

; Blocks that end the life of local names
(block) @block
(constructor_body) @block
(switch_block) @block
(for_statement init: (local_variable_declaration)) @block

; Local names
(local_variable_declaration) @local
(enhanced_for_statement) @foreach
(resource name: (_)) @resource
(resource . [(identifier) (field_access)] @held_resource .)
(catch_clause) @catch
(instanceof_expression name: (identifier)) @pattern
(type_pattern) @typed_pattern
(record_pattern_component) @typed_pattern
(assignment_expression right: [
  (lambda_expression) (method_reference) (ternary_expression) (switch_expression)
]) @assignment

; Code
(method_invocation) @call
(object_creation_expression) @call
(explicit_constructor_invocation) @call
(return_statement (_) @return)
(lambda_expression body: [
  (identifier) (field_access) (array_access) (method_invocation) (object_creation_expression) (cast_expression)
  (ternary_expression) (parenthesized_expression) (lambda_expression) (method_reference) (binary_expression)
  (unary_expression) (array_creation_expression) (switch_expression) (string_literal) (this)
  (decimal_integer_literal) (true) (false) (null_literal)
] @return)
(field_access) @constant
(class_literal) @constant
(method_reference) @constant

; Bare names in places that no call, assignment or result looks into
(assignment_expression [left: (identifier) right: (identifier)] @value)
(binary_expression (identifier) @value)
(unary_expression (identifier) @value)
(update_expression (identifier) @value)
(array_access (identifier) @value)
(cast_expression value: (identifier) @value)
(instanceof_expression left: (identifier) @value)
(ternary_expression (identifier) @value)
(parenthesized_expression (identifier) @value)
(dimensions_expr (identifier) @value)
(array_initializer (identifier) @value)
(throw_statement (identifier) @value)
(yield_statement (identifier) @value)
(assert_statement (identifier) @value)
(for_statement condition: (identifier) @value)
(annotation_argument_list (identifier) @value)
(element_value_pair value: (identifier) @value)
(element_value_array_initializer (identifier) @value)
(switch_label (identifier) @case)
