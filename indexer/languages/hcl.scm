; HCL and Terraform: every top-level block is a definition named by its type and labels.
(comment) @comment
(config_file (body (block . (identifier) @name . (string_lit (template_literal) @name) . (string_lit (template_literal) @name) (body)? @body) @def.class))
(config_file (body (block . (identifier) @name . (string_lit (template_literal) @name) (body)? @body) @def.class))
(config_file (body (block . (identifier) @name (body)? @body) @def.class))
(config_file (body (attribute . (identifier) @name) @def.constant))
