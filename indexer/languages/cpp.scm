; C++: what the extractor looks at. `def.*` become definitions, the rest call sites and bindings.
(namespace_definition) @def.namespace
(function_definition) @def.function
(class_specifier body: (_)) @def.class
(struct_specifier body: (_)) @def.class
(union_specifier body: (_)) @def.class
(enum_specifier body: (_)) @def.class
(lambda_expression) @def.lambda
(type_definition) @def.typedef
(alias_declaration) @def.alias
(preproc_function_def) @def.macro
(preproc_def) @def.macro
(translation_unit (declaration) @def.declaration)
(translation_unit (template_declaration (declaration) @def.declaration))
(declaration_list (declaration) @def.declaration)
(declaration_list (template_declaration (declaration) @def.declaration))
(preproc_ifdef (declaration) @def.declaration)
(preproc_if (declaration) @def.declaration)
(preproc_else (declaration) @def.declaration)
(field_declaration_list (field_declaration) @def.member)
(field_declaration_list (declaration) @def.member)
(field_declaration_list (template_declaration (declaration) @def.member))
(enumerator) @enumerator
(preproc_include) @include
(using_declaration) @using
(call_expression) @call
(expression_statement (identifier) @statement)
(new_expression) @call
(declaration) @declaration
(condition_clause value: (declaration) @declaration)
(for_range_loop) @range
(assignment_expression) @assignment
(return_statement) @return
(catch_clause) @catch
(compound_statement) @block
(for_statement) @block
(for_range_loop) @block
(if_statement) @block
(catch_clause) @block
(field_initializer) @fieldinit
(initializer_list) @initializer

; Names in places that no call, assignment or result looks into
(binary_expression [(identifier) (qualified_identifier)] @value)
(unary_expression argument: [(identifier) (qualified_identifier)] @value)
(update_expression argument: [(identifier) (qualified_identifier)] @value)
(pointer_expression argument: [(identifier) (qualified_identifier)] @value)
(assignment_expression [(identifier) (qualified_identifier)] @value)
(conditional_expression [(identifier) (qualified_identifier)] @value)
(comma_expression [(identifier) (qualified_identifier)] @value)
(parenthesized_expression [(identifier) (qualified_identifier)] @value)
(cast_expression value: [(identifier) (qualified_identifier)] @value)
(field_expression argument: [(identifier) (qualified_identifier)] @value)
(subscript_expression [(identifier) (qualified_identifier)] @value)
(sizeof_expression value: [(identifier) (qualified_identifier)] @value)
(initializer_pair value: [(identifier) (qualified_identifier)] @value)
(subscript_designator [(identifier) (qualified_identifier)] @value)
(case_statement value: [(identifier) (qualified_identifier)] @value)
(array_declarator size: [(identifier) (qualified_identifier)] @value)
(enumerator value: [(identifier) (qualified_identifier)] @value)
(bitfield_clause [(identifier) (qualified_identifier)] @value)
(concatenated_string (identifier) @value)
(for_statement condition: [(identifier) (qualified_identifier)] @value)
(initializer_list (qualified_identifier) @value)
(condition_clause value: [(identifier) (qualified_identifier)] @value)
(subscript_argument_list [(identifier) (qualified_identifier)] @value)
(throw_statement [(identifier) (qualified_identifier)] @value)
(delete_expression (identifier) @value)
(static_assert_declaration condition: [(identifier) (qualified_identifier)] @value)
(field_declaration default_value: [(identifier) (qualified_identifier)] @value)
(optional_parameter_declaration default_value: [(identifier) (qualified_identifier)] @value)
