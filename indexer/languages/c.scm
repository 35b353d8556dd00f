; C: what the extractor looks at. `def.*` become definitions, the rest call sites and bindings.
(function_definition) @def.function
(struct_specifier body: (_)) @def.class
(union_specifier body: (_)) @def.class
(enum_specifier body: (_)) @def.class
(type_definition) @def.typedef
(preproc_function_def) @def.macro
(preproc_def) @def.macro
(translation_unit (declaration) @def.declaration)
(linkage_specification (declaration_list (declaration) @def.declaration))
(preproc_ifdef (declaration) @def.declaration)
(preproc_if (declaration) @def.declaration)
(preproc_else (declaration) @def.declaration)
(field_declaration_list (field_declaration) @field)
(enumerator) @enumerator
(preproc_include) @include
(call_expression) @call
(expression_statement (identifier) @statement)
(declaration) @declaration
(assignment_expression) @assignment
(return_statement) @return
(compound_statement) @block
(for_statement) @block
(initializer_list) @initializer

; Names in places that no call, assignment or result looks into
(binary_expression (identifier) @value)
(unary_expression argument: (identifier) @value)
(update_expression argument: (identifier) @value)
(pointer_expression argument: (identifier) @value)
(assignment_expression (identifier) @value)
(conditional_expression (identifier) @value)
(comma_expression (identifier) @value)
(parenthesized_expression (identifier) @value)
(cast_expression value: (identifier) @value)
(field_expression argument: (identifier) @value)
(subscript_expression (identifier) @value)
(sizeof_expression value: (identifier) @value)
(initializer_pair value: (identifier) @value)
(subscript_designator (identifier) @value)
(case_statement value: (identifier) @value)
(array_declarator size: (identifier) @value)
(enumerator value: (identifier) @value)
(bitfield_clause (identifier) @value)
(concatenated_string (identifier) @value)
(for_statement condition: (identifier) @value)
