"""The layers of an access decision, one file each, and their one order.

To add a layer, write its file and add its row here. The evaluation, the codes, the trace, the remedies and the lists
read this order.
"""

from __future__ import annotations

from orgkernel.decisions.access.evaluation import Evaluation
from orgkernel.decisions.access.layer import AccessLayer, LayerOrder, Sentence
from orgkernel.decisions.access.layers.circumstances import CIRCUMSTANCES
from orgkernel.decisions.access.layers.delegation import DELEGATION
from orgkernel.decisions.access.layers.file_scope import FILE_SCOPE
from orgkernel.decisions.access.layers.grants import GRANTS
from orgkernel.decisions.access.layers.identity import IDENTITY
from orgkernel.decisions.access.layers.input import INPUT
from orgkernel.decisions.access.layers.limits import LIMITS
from orgkernel.decisions.access.layers.lock import EXCLUSIVE_LOCK
from orgkernel.decisions.access.layers.pace import PACE
from orgkernel.decisions.access.layers.policies import POLICIES
from orgkernel.decisions.access.layers.position import POSITION
from orgkernel.decisions.access.layers.qualification import QUALIFICATION
from orgkernel.decisions.access.layers.rank import RANK
from orgkernel.decisions.access.layers.role_binding import ROLE_BINDING
from orgkernel.decisions.access.layers.sacred_scope import SACRED_SCOPE
from orgkernel.decisions.access.layers.structure import STRUCTURE
from orgkernel.decisions.access.layers.visibility import VISIBILITY


def _explain_not_configured(evaluation: Evaluation) -> Sentence:
    return "not configured", ()


LAYERS = (
    IDENTITY,
    STRUCTURE,
    VISIBILITY,
    ROLE_BINDING,
    RANK,
    QUALIFICATION,
    POLICIES,
    GRANTS,
    POSITION,
    FILE_SCOPE,
    DELEGATION,
    PACE,
    SACRED_SCOPE,
    # Every trace lists this layer as not configured, because no decision depends on it yet.
    AccessLayer("pre-flight", is_about_run=True, unchanged=_explain_not_configured),
    EXCLUSIVE_LOCK,
    INPUT,
    LIMITS,
    CIRCUMSTANCES,
)
ORDER = LayerOrder(LAYERS)
