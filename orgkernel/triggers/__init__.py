"""What can be proven about PACE triggers.

Their names and their parser are in `orgkernel.runtime`, beside their evaluation, because they also run inside hosts.
"""
