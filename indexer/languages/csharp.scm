; Definitions
(class_declaration) @def.class
(struct_declaration) @def.class
(record_declaration) @def.class
(enum_declaration) @def.class
(interface_declaration) @def.interface
(namespace_declaration) @def.namespace
(delegate_declaration) @def.delegate
(method_declaration) @def.method
(local_function_statement) @def.local_function
(constructor_declaration) @def.constructor
(destructor_declaration) @def.destructor
(operator_declaration) @def.operator
(conversion_operator_declaration) @def.operator
(indexer_declaration) @def.indexer
(property_declaration) @def.property
(event_declaration) @def.property
(field_declaration (variable_declaration (variable_declarator) @def.field))
(event_field_declaration (variable_declaration (variable_declarator) @def.field))
(enum_member_declaration) @def.enum_member
(record_declaration (parameter_list (parameter) @def.component))
(lambda_expression) @def.lambda
(anonymous_method_expression) @def.lambda

; The file
(file_scoped_namespace_declaration) @package
(using_directive) @import

; Blocks that end the life of local names
(block) @block
(switch_section) @block
(switch_expression_arm) @block
(for_statement) @block
(using_statement) @block
(lambda_expression) @block

; Local names
(local_declaration_statement (variable_declaration) @local)
(for_statement (variable_declaration) @local)
(using_statement (variable_declaration) @local)
(foreach_statement) @foreach
(catch_clause) @catch
(declaration_pattern) @pattern
(recursive_pattern name: (identifier)) @pattern
(declaration_expression) @pattern
(assignment_expression) @assignment

; Code. What is returned comes first: its place gives `new()` a type
(return_statement (_) @return)
(lambda_expression body: [
  (identifier) (member_access_expression) (invocation_expression) (object_creation_expression) (await_expression)
  (conditional_expression) (parenthesized_expression) (element_access_expression) (cast_expression)
  (binary_expression) (conditional_access_expression) (switch_expression) (as_expression)
] @return)
(arrow_expression_clause (_) @return)
(invocation_expression) @call
(object_creation_expression) @call
(implicit_object_creation_expression) @call
(conditional_access_expression) @call
(constructor_initializer) @call
(member_access_expression) @constant
