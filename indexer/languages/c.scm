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
