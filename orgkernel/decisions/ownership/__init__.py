"""Who owns which files of a project: paths, kinds of files, what overlaps. Nothing here touches a disk."""
