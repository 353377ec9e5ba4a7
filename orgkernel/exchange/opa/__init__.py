"""OPA: data in JSON and one Rego policy that decide on tools, credentials and data as the documents declare.

The policy is the same for every organization. The data is made from documents alone and the package never imports
decisions (an import contract), so its answers can be compared with orgkernel's decisions.
"""
