"""The runtime of this adapter. In an installation, a copy of the package `orgkernel/runtime` replaces this file."""
# ruff: noqa: PLC0414  (the aliases export the names)

from orgkernel.runtime import bundle as bundle
from orgkernel.runtime import effect_counts as effect_counts
from orgkernel.runtime import learned_work as learned_work
from orgkernel.runtime import neighbors as neighbors
from orgkernel.runtime import observation as observation
from orgkernel.runtime import pace as pace
from orgkernel.runtime import paths as paths
from orgkernel.runtime import refusals as refusals
from orgkernel.runtime import regular_files as regular_files
from orgkernel.runtime import report_files as report_files
from orgkernel.runtime import salute as salute
from orgkernel.runtime import salute_format as salute_format
from orgkernel.runtime import secret_shapes as secret_shapes
from orgkernel.runtime import signals as signals
from orgkernel.runtime import steering_words as steering_words
from orgkernel.runtime import supervisor as supervisor
from orgkernel.runtime import task_life as task_life
from orgkernel.runtime import text_index as text_index
from orgkernel.runtime import tiers as tiers
from orgkernel.runtime import trigger_parser as trigger_parser
from orgkernel.runtime import utc as utc
from orgkernel.runtime import written as written
