; OCaml: bindings with parameters are functions, modules are files and structures.
(comment) @comment
(module_definition (module_binding (module_name) @name body: (_)? @body)) @def.module
(type_definition (type_binding name: (type_constructor) @name)) @def.type
(class_definition (class_binding name: (class_name) @name)) @def.class
(compilation_unit (value_definition (let_binding pattern: (value_name) @name (parameter) body: (_) @body) @def.function))
(structure (value_definition (let_binding pattern: (value_name) @name (parameter) body: (_) @body) @def.function))
(compilation_unit (value_definition (let_binding pattern: (value_name) @name body: (fun_expression) @body) @def.function))
(compilation_unit (value_definition (let_binding pattern: (value_name) @name body: (function_expression) @body) @def.function))
(compilation_unit (value_definition (let_binding pattern: (value_name) @name) @def.constant))
(method_definition (method_name) @name) @def.function
(open_module (module_path) @module) @import
(let_binding (parameter pattern: (value_pattern) @local))
(let_expression (value_definition (let_binding pattern: (value_name) @local)))
(application_expression function: (value_path . (value_name) @callee .)) @call
(application_expression function: (value_path (module_path) @receiver (value_name) @callee)) @call
