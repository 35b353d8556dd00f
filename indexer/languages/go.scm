; Go: what the extractor looks at. `def.*` become definitions, the rest call sites and bindings.
(function_declaration) @def.function
(method_declaration) @def.method
(type_spec) @def.type
(type_alias) @def.alias
(method_elem) @def.element
(func_literal) @def.literal
(source_file (const_declaration (const_spec) @def.const))
(source_file (var_declaration (var_spec) @def.var))
(source_file (var_declaration (var_spec_list (var_spec) @def.var)))
(struct_type (field_declaration_list (field_declaration) @field))
(package_clause) @package
(import_spec) @import
(call_expression) @call
(type_conversion_expression) @call
(short_var_declaration) @short
(assignment_statement) @assignment
(var_spec) @var
(range_clause) @range
(type_switch_statement) @typeswitch
(receive_statement) @receive
(return_statement) @return
(composite_literal) @literal
(block) @block
(if_statement) @block
(for_statement) @block
(expression_switch_statement) @block
(type_switch_statement) @block
(expression_case) @block
(type_case) @block
(default_case) @block
(communication_case) @block
