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
