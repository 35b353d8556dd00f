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
