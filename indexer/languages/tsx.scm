; inherits: typescript

(jsx_opening_element name: (_)) @jsx
(jsx_self_closing_element) @jsx
