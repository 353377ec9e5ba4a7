"""Cedar: a schema, entities and policies that decide on tools, credentials and data as the documents declare.

Source: the Cedar policy language, version 4. The export is made from documents alone and never imports decisions
(an import contract), so it can be compared with orgkernel's decisions.
"""
