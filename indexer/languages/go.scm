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
(const_spec) @var
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
;
; Names in places that no pattern above has looked at: they may be constants of the package.
(binary_expression (identifier) @read)
(binary_expression (selector_expression operand: (identifier) @read))
(unary_expression (identifier) @read)
(unary_expression (selector_expression operand: (identifier) @read))
(parenthesized_expression (identifier) @read)
(parenthesized_expression (selector_expression operand: (identifier) @read))
(index_expression (identifier) @read)
(index_expression (selector_expression operand: (identifier) @read))
(slice_expression (identifier) @read)
(slice_expression (selector_expression operand: (identifier) @read))
(selector_expression operand: (selector_expression operand: (identifier) @read))
(expression_case value: (expression_list (identifier) @read))
(expression_case value: (expression_list (selector_expression operand: (identifier) @read)))
(expression_switch_statement value: (identifier) @read)
(expression_switch_statement value: (selector_expression operand: (identifier) @read))
(if_statement condition: (identifier) @read)
(if_statement condition: (selector_expression operand: (identifier) @read))
(for_statement (identifier) @read)
(for_clause condition: (identifier) @read)
(send_statement (identifier) @read)
(send_statement (selector_expression operand: (identifier) @read))
(inc_statement (identifier) @read)
(inc_statement (selector_expression operand: (identifier) @read))
(dec_statement (identifier) @read)
(dec_statement (selector_expression operand: (identifier) @read))
(array_type length: (identifier) @read)
(array_type length: (selector_expression operand: (identifier) @read))
; Elements of literals; the keys of a struct's literal are names of its fields.
(literal_value (literal_element (identifier) @read))
(literal_value (literal_element (selector_expression operand: (identifier) @read)))
(keyed_element value: (literal_element (identifier) @read))
(keyed_element value: (literal_element (selector_expression operand: (identifier) @read)))
(keyed_element key: (literal_element (selector_expression operand: (identifier) @read)))
(composite_literal
  type: [(map_type) (slice_type) (array_type) (implicit_length_array_type)]
  body: (literal_value (keyed_element key: (literal_element (identifier) @read))))
