"""The document models: one frozen pydantic model per kind.

These models alone define shape, defaults and JSON Schema. Cross-field checks are rules (`orgkernel.rules`), because a
rule can name two places and a model cannot.
"""
