"""What documents look like: one frozen pydantic model per kind.

Shape, defaults and JSON Schema come from these models and from nowhere else. Cross-field checks are rules
(`orgkernel.rules`), because a rule can name two places and a model cannot.
"""
