; Solidity: contracts, libraries, functions, events.
(comment) @comment
(contract_declaration name: (identifier) @name body: (_) @body) @def.class
(library_declaration name: (identifier) @name body: (_) @body) @def.module
(interface_declaration name: (identifier) @name body: (_) @body) @def.interface
(struct_declaration name: (identifier) @name) @def.class
(enum_declaration name: (identifier) @name) @def.class
(event_definition name: (identifier) @name) @def.type
(error_declaration name: (identifier) @name) @def.type
(modifier_definition name: (identifier) @name body: (_)? @body) @def.function
(function_definition name: (identifier) @name body: (_)? @body) @def.function
(constructor_definition "constructor" @name body: (_) @body) @def.constructor
(state_variable_declaration type: (_) @type name: (identifier) @name) @def.field
(inheritance_specifier ancestor: (user_defined_type) @base)
(import_directive source: (string) @module) @import
(parameter type: (_) @type name: (identifier) @param)
(variable_declaration type: (_) @type name: (identifier) @local)
(call_expression function: (expression (identifier) @callee)) @call
(call_expression function: (expression (member_expression object: (_) @receiver property: (identifier) @callee))) @call
(call_expression function: (expression (new_expression name: (type_name (user_defined_type) @callee)))) @call
(new_expression name: (type_name (user_defined_type) @type)) @instance
