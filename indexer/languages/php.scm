; PHP: what the extractor looks at. `def.*` become definitions, the rest call sites and bindings.
(namespace_definition) @def.namespace
(class_declaration) @def.class
(enum_declaration) @def.class
(interface_declaration) @def.interface
(trait_declaration) @def.interface
(anonymous_class body: (declaration_list) @def.anonymous)
(function_definition) @def.function
(method_declaration) @def.method
(anonymous_function) @def.closure
(arrow_function) @def.arrow
(const_declaration (const_element) @def.constant)
(property_declaration (property_element) @def.property)
(property_promotion_parameter) @def.promoted
(enum_case) @def.case

; Names of the file
(namespace_definition) @namespace
(namespace_use_declaration) @use
(use_declaration) @traits
(require_expression) @require
(require_once_expression) @require
(include_expression) @require
(include_once_expression) @require

; Branches: what is assigned in them may not have happened
(if_statement) @branch
(for_statement) @branch
(foreach_statement) @branch
(while_statement) @branch
(do_statement) @branch
(try_statement) @branch
(switch_statement) @branch
(match_expression) @branch

; Local names
((comment) @hint (#match? @hint "@(phpstan-|psalm-)?var\\s"))
(assignment_expression) @assignment
(reference_assignment_expression) @assignment
(augmented_assignment_expression operator: "??=") @assignment
(foreach_statement) @foreach
(catch_clause) @catch
(static_variable_declaration) @static
(if_statement condition: (parenthesized_expression (binary_expression) @test))

; Code
(function_call_expression) @call
(member_call_expression) @call
(nullsafe_member_call_expression) @call
(scoped_call_expression) @call
(object_creation_expression) @call
(return_statement) @return
(yield_expression) @yield
(arrow_function body: (_) @result)
(class_constant_access_expression) @constant
(binary_expression operator: "instanceof" right: [(name) (qualified_name)] @type)
