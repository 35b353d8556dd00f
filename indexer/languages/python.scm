; What the Python extractor wants to see; every other node is read, if at all, below one of these.

; Branches: what is bound here may not have happened. First, since a branch can have the extent of its only statement.
(if_statement consequence: (block) @branch)
(elif_clause consequence: (block) @branch)
(else_clause (block) @branch)
(for_statement body: (block) @branch)
(while_statement body: (block) @branch)
(try_statement body: (block) @branch)
(except_clause (block) @branch)
(case_clause consequence: (block) @branch)

(decorated_definition) @def.decorated
(function_definition) @def.function
(class_definition) @def.class
(assignment left: (identifier) right: (lambda)) @def.bound
(lambda) @def.lambda

(module . (comment)* . (expression_statement . (string) @docstring))

(import_statement) @import
(import_from_statement) @from
(future_import_statement) @from
(global_statement) @global
(nonlocal_statement) @nonlocal

; tests that tell a name's type
(if_statement condition: [(call) (boolean_operator) (not_operator)]) @test
(elif_clause condition: [(call) (boolean_operator)]) @test
(assert_statement . [(call) (boolean_operator)]) @assert
(boolean_operator left: [(call) (boolean_operator)] operator: "and") @both
(conditional_expression . (_) . [(call) (boolean_operator)]) @choice

(assignment) @assign
(augmented_assignment) @augment
(named_expression) @walrus
(type_alias_statement) @alias
(for_statement) @for
(list_comprehension) @comprehension
(set_comprehension) @comprehension
(dictionary_comprehension) @comprehension
(generator_expression) @comprehension
(with_item value: (as_pattern)) @with
(except_clause) @except
(case_clause) @case

(return_statement) @return
(yield) @yield
(call) @call

; reads of constants and types outside calls and assignments
(comparison_operator [(identifier) (attribute)] @reference)
(binary_operator [(identifier) (attribute)] @reference)
(if_statement condition: [(identifier) (attribute)] @reference)
(not_operator [(identifier) (attribute)] @reference)
(boolean_operator [(identifier) (attribute)] @reference)
(raise_statement . [(identifier) (attribute)] @raise)
(subscript [(identifier) (attribute)] @reference)
(interpolation [(identifier) (attribute)] @reference)
(expression_statement [(identifier) (attribute)] @reference)
