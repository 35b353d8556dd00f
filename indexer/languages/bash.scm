; Bash and its relatives: functions, constants, sourced files; a command is a call by name.
(comment) @comment
(function_definition name: (word) @name body: (_) @body) @def.function
(program (variable_assignment name: (variable_name) @name) @def.constant
  (#match? @name "^[A-Z_][A-Z0-9_]*$"))
(program (declaration_command (variable_assignment name: (variable_name) @name)) @def.constant
  (#match? @name "^[A-Z_][A-Z0-9_]*$"))
(program (command name: (command_name (word) @_alias) . argument: (concatenation . (word) @name)) @def.macro
  (#eq? @_alias "alias"))
(command name: (command_name (word) @_source) . argument: (_) @module
  (#any-of? @_source "source" ".")) @import
(command name: (command_name . (word) @callee .)) @call
; what runs a function given by name
(command name: (command_name (word) @_runner) . argument: (word) @callee @call
  (#any-of? @_runner "run" "eval" "time"))
