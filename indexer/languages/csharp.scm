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
(query_expression [(from_clause) (let_clause) (join_clause)] @range_variable)
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

; Bare names in places that no call, assignment or result looks into
(assignment_expression left: (identifier) @target)
(assignment_expression right: (identifier) @value)
(binary_expression (identifier) @value)
(prefix_unary_expression (identifier) @value)
(postfix_unary_expression (identifier) @value)
(unary_expression (identifier) @value)
(element_access_expression expression: (identifier) @value)
(argument !name (identifier) @value)
(attribute_argument !name (identifier) @value)
(cast_expression value: (identifier) @value)
(conditional_expression (identifier) @value)
(parenthesized_expression (identifier) @value)
(initializer_expression (identifier) @value)
(is_pattern_expression expression: (identifier) @value)
(is_expression left: (identifier) @value)
(as_expression left: (identifier) @value)
(switch_statement value: (identifier) @value)
(switch_expression . (identifier) @value)
(switch_expression_arm (identifier) @value)
(constant_pattern (identifier) @value)
(if_statement condition: (identifier) @value)
(while_statement condition: (identifier) @value)
(yield_statement (identifier) @value)
(throw_statement (identifier) @value)
(interpolation (identifier) @value)
(lock_statement (identifier) @value)
(select_clause (identifier) @value)
(where_clause (identifier) @value)
(enum_member_declaration value: (identifier) @value)
