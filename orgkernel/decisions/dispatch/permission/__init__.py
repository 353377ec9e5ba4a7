"""Dispatch permission: whether one role or layer may hand work to another, step by step, with every failure and its
remedy.
"""
