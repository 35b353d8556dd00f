; Dart: a signature and the body after it; calls are chains of selectors.
(comment) @comment
(documentation_comment) @comment
(class_definition name: (identifier) @name body: (_) @body) @def.class
(mixin_declaration (identifier) @name) @def.class
(enum_declaration name: (identifier) @name body: (_) @body) @def.class
(extension_declaration class: (type_identifier) @name body: (_) @body) @def.extension
(type_alias . (type_identifier) @name) @def.type
((method_signature (function_signature . (type_identifier) @type name: (identifier) @name)) @def.function . (function_body) @body)
((method_signature (function_signature name: (identifier) @name)) @def.function . (function_body) @body)
((method_signature (getter_signature name: (identifier) @name)) @def.function . (function_body) @body)
((function_signature . (type_identifier) @type name: (identifier) @name) @def.function . (function_body) @body)
((function_signature name: (identifier) @name) @def.function . (function_body) @body)
(class_body (declaration (type_identifier) @type (initialized_identifier_list (initialized_identifier . (identifier) @name))) @def.field)
(superclass (type_identifier) @base)
(interfaces (type_identifier) @base)
(mixins (type_identifier) @base)
(import_or_export (library_import (import_specification (configurable_uri) @module))) @import
(formal_parameter (type_identifier) @type name: (identifier) @param)
(formal_parameter name: (identifier) @param)
(initialized_variable_definition name: (identifier) @local value: (selector (argument_part)) @value .)
(initialized_variable_definition name: (identifier) @local)
((this) @receiver . (selector (unconditional_assignable_selector (identifier) @callee)) . (selector (argument_part)) @call)
((identifier) @receiver . (selector (unconditional_assignable_selector (identifier) @callee)) . (selector (argument_part)) @call)
((identifier) @callee . (selector (argument_part)) @call)
