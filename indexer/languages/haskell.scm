; Haskell: a signature and its equations are one definition; application, composition and statements are calls.
(comment) @comment
(haddock) @comment
(header module: (module) @package)
(declarations (signature name: (variable) @name (#set! merge)) @def.function)
(declarations (function name: (variable) @name match: (_) @body (#set! merge)) @def.function)
(declarations (function (infix operator: (infix_id (variable) @name)) match: (_) @body (#set! merge)) @def.function)
(declarations (function (infix operator: (operator) @name) match: (_) @body (#set! merge)) @def.function)
(declarations (bind name: (variable) @name match: (_) @body (#set! merge)) @def.function)
(class_declarations (signature name: (variable) @name (#set! merge)) @def.function)
(class_declarations (function name: (variable) @name match: (_) @body (#set! merge)) @def.function)
(class_declarations (bind name: (variable) @name match: (_) @body (#set! merge)) @def.function)
(instance_declarations (function name: (variable) @name match: (_) @body (#set! merge)) @def.function)
(instance_declarations (bind name: (variable) @name match: (_) @body (#set! merge)) @def.function)
(data_type name: (name) @name) @def.class
(newtype name: (name) @name) @def.class
(type_synonym name: (name) @name) @def.type
(type_family name: (name) @name) @def.type
(class name: (name) @name declarations: (_)? @body) @def.interface
(instance name: (_) @name patterns: (_) @name declarations: (_)? @body) @def.class
; what is hidden is not imported: everything else is
(import module: (module) @module alias: (module) @alias "hiding") @import
(import module: (module) @module !alias "hiding" names: (import_list name: (import_name variable: (variable) @hidden)*)) @import
(import module: (module) @module names: (import_list name: (import_name variable: (variable) @imported))) @import
(import module: (module) @module !names alias: (module) @alias) @import
(import module: (module) @module !names !alias) @import
(import module: (module) @module @import alias: (module) @alias names: (_))
(patterns (variable) @local)
(bind pattern: (variable) @local)
(local_binds decl: (bind name: (variable) @local))
(local_binds decl: (function name: (variable) @local))
(generator pattern: (variable) @local)
(apply function: (variable) @callee) @call
(apply function: (qualified module: (module) @receiver id: (variable) @callee)) @call
(infix left_operand: (variable) @callee @call)
(infix left_operand: (qualified module: (module) @receiver id: (variable) @callee) @call)
(infix operator: (infix_id (variable) @callee @call))
(infix operator: (infix_id (qualified module: (module) @receiver id: (variable) @callee) @call))
(exp (variable) @callee @call)
(exp (qualified module: (module) @receiver id: (variable) @callee) @call)
(bind expression: (variable) @callee @call)
(match expression: (variable) @callee @call)
