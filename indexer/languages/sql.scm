; SQL: what is created, and what is invoked in it.
(comment) @comment
(marginalia) @comment
(create_table (object_reference name: (identifier) @name)) @def.class
(create_view (object_reference name: (identifier) @name)) @def.class
(create_materialized_view (object_reference name: (identifier) @name)) @def.class
(create_type (object_reference name: (identifier) @name)) @def.type
(create_function (object_reference name: (identifier) @name) (function_body)? @body) @def.function
(create_trigger . (keyword_create) (object_reference name: (identifier) @name)) @def.function
(create_index column: (identifier) @name) @def.constant
(create_sequence (object_reference name: (identifier) @name)) @def.constant
(create_schema (identifier) @name) @def.constant
(column_definition name: (identifier) @name) @def.field
(invocation (object_reference name: (identifier) @callee)) @call
