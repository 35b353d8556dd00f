; Rust: what the extractor looks at. `def.*` become definitions, the rest call sites and bindings.
(mod_item body: (_)) @def.mod
(impl_item) @def.impl
(function_item) @def.function
(function_signature_item) @def.function
(struct_item) @def.class
(enum_item) @def.class
(union_item) @def.class
(trait_item) @def.trait
(type_item) @def.alias
(const_item) @def.constant
(static_item) @def.constant
(macro_definition) @def.macro
(closure_expression) @def.closure
(field_declaration) @field
(enum_variant) @variant
(use_declaration) @use
(mod_item !body) @mod
(call_expression) @call
(macro_invocation) @macro
(source_file (macro_invocation (token_tree . "{")) @item_macro)
(declaration_list (macro_invocation (token_tree . "{")) @item_macro)
(struct_expression) @literal
(let_declaration) @let
(const_item) @local
(static_item) @local
(let_condition) @letif
(match_expression) @match
(for_expression) @for
(assignment_expression) @assignment
(return_expression) @return
(block) @block
(match_arm) @block
(if_expression) @block
(while_expression) @block
(for_expression) @block
(identifier) @mention
(struct_expression name: (scoped_type_identifier) @variant_of)
(struct_pattern type: (scoped_type_identifier) @variant_of)
