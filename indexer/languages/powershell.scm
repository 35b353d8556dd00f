; PowerShell: functions, classes; a command is a call by name.
(comment) @comment
(function_statement (function_name) @name (script_block)? @body) @def.function
(class_statement . (simple_name) @name) @def.class
(enum_statement . (simple_name) @name) @def.class
(class_method_definition (simple_name) @name (script_block)? @body) @def.function
(class_property_definition (variable) @name) @def.field
(command (command_invokation_operator) @_dot (command_name_expr (command_name) @module) (#eq? @_dot ".")) @import
(command command_name: (command_name) @callee) @call
