"""Access decisions: whether a subject may perform an action on a resource, why, and who else can."""
