; What JavaScript, TypeScript and TSX have in common. `def.binding`, `def.object` and `def.export` define nothing:
; they give functions and objects without a name of their own the name that they are bound to.

(function_declaration) @def.function
(generator_function_declaration) @def.function
(arrow_function) @def.lambda
(function_expression) @def.lambda
(generator_function) @def.lambda
(class_declaration) @def.class
(class) @def.class
(method_definition) @def.method

(variable_declarator value: [(arrow_function) (function_expression) (generator_function) (class) (object) (call_expression)]) @def.binding
(assignment_expression right: [(arrow_function) (function_expression) (generator_function) (class) (object)]) @def.binding
(pair value: [(arrow_function) (function_expression) (generator_function) (class) (object)]) @def.binding
(object [(method_definition) (pair value: [(arrow_function) (function_expression) (generator_function) (object)])]) @def.object
(export_statement value: (_)) @def.export

(program (lexical_declaration (variable_declarator name: (identifier)) @def.variable))
(program (variable_declaration (variable_declarator name: (identifier)) @def.variable))
(program (export_statement (lexical_declaration (variable_declarator name: (identifier)) @def.variable)))
(program (export_statement (variable_declaration (variable_declarator name: (identifier)) @def.variable)))

(comment) @comment
(import_statement) @import
(export_statement) @export
(lexical_declaration) @declare.block
(variable_declaration) @declare.var
(decorator) @decorator
(assignment_expression) @assign
(augmented_assignment_expression) @augment
(for_in_statement) @loop
(catch_clause) @catch
(return_statement (_)) @return
(yield_expression (_)) @yield
(binary_expression operator: "instanceof") @narrow
(call_expression) @call
(new_expression) @call

(statement_block) @block
(for_statement) @block
(switch_body) @block
(if_statement) @branch
(for_statement) @branch
(while_statement) @branch
(do_statement) @branch
(switch_statement) @branch
(try_statement) @branch

((identifier) @constant (#match? @constant "^[A-Z][A-Z0-9_]+$"))
