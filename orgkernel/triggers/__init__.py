"""The PACE trigger language: its names, its parser, and what can be proven about a trigger.

Evaluation is in `orgkernel.runtime.triggers`, because it also runs inside hosts. Importing this package does not import
lark; the first parse does.
"""
