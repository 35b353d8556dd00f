; Definitions
(class_declaration) @def.class
(object_declaration) @def.object
(companion_object) @def.companion
(object_literal) @def.anonymous
(enum_entry) @def.enum_entry
(enum_entry (class_body) @def.enum_body)
(function_declaration) @def.function
(secondary_constructor) @def.constructor
(anonymous_initializer) @def.initializer
(class_parameter) @def.class_parameter
(source_file (property_declaration) @def.property)
(class_body (property_declaration) @def.property)
(enum_class_body (property_declaration) @def.property)
(type_alias) @def.alias
(lambda_literal) @def.lambda
(anonymous_function) @def.anonymous_function

; The file
(package_header) @package
(import) @import

; Blocks that end the life of local names
(block) @block

; Local names
(block (property_declaration) @local)
(lambda_literal (property_declaration) @local)
(for_statement) @foreach
(catch_block) @catch
(when_expression) @when
(if_expression) @if
(lambda_parameters) @lambda_parameters
(setter) @setter
(assignment) @assignment

; Code
(call_expression) @call
(constructor_delegation_call) @call
(infix_expression) @call
(binary_expression) @call
(callable_reference) @call
(navigation_expression "::") @call
(return_expression) @return
(navigation_expression) @constant

; Bare names in places that no call, assignment or result looks into
(binary_expression (identifier) @value)
(unary_expression (identifier) @value)
(index_expression (identifier) @value)
(if_expression (identifier) @value)
(when_entry (identifier) @value)
(when_subject (identifier) @value)
(while_statement condition: (identifier) @value)
(do_while_statement condition: (identifier) @value)
(interpolation (identifier) @value)
(is_expression left: (identifier) @value)
(in_expression (identifier) @value)
(as_expression left: (identifier) @value)
(parenthesized_expression (identifier) @value)
(throw_expression (identifier) @value)
(spread_expression (identifier) @value)
(explicit_delegation (identifier) @value)
(collection_literal (identifier) @value)
(annotation (constructor_invocation (value_arguments (value_argument . (identifier) @value .))))
