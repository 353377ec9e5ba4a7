"""OPA: data in JSON and one Rego policy that decide on tools, credentials and data as the documents declare.

The policy is the same for every organization; the data is made from documents alone, so that its answers can be compared
with orgkernel's own decisions: this package never imports them (an import contract).
"""
