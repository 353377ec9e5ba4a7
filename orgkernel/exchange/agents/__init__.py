"""Agents in the formats of others, made of the roles of an organization.

What a format cannot say never opens: a tool that a role may use only in part, only sometimes or only after approval is
not given, unless the format can say just that.
"""
