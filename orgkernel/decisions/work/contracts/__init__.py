"""Contract rules for briefs, results, blockers and other records. Each rule is one function with one code."""
