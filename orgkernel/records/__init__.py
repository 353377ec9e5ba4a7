"""Documents as everything above loading sees them: one frozen struct per model of `orgkernel.model`, generated from it.

A record holds the values of a document that has been validated, in memory a third of what pydantic needs, and is packed
and unpacked in microseconds. Everything beside this file is written by `make regenerate`.
"""
