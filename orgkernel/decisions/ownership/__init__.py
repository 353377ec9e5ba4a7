"""File ownership: paths, kinds of files, overlaps, claims and audits. These modules do not access a disk."""
