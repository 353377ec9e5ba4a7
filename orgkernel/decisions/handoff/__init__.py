"""Hand-off permission: may one role or layer hand work to another, step by step, with every failure and its remedy."""
