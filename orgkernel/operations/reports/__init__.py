"""The status of roles by their latest SALUTE reports, from the store or from a folder of report files."""
