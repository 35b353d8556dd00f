; inherits: ecmascript

(field_definition) @def.field
(jsx_opening_element name: (_)) @jsx
(jsx_self_closing_element) @jsx
