"""Export the roles of an organization as agents in other formats.

A limit that a format cannot express never grants more: a tool that a role may use only in part, only sometimes or
only after approval is withheld, unless the format can express exactly that.
"""
