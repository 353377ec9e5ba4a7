"""Bills: the steps of a procedure that may start now, the agents that must do them, and the agents that could take its
bill roles.
"""
