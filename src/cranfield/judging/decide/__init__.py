"""Judging until it is clear which run is better: which documents can still change the verdict, and when it is final.

A `Decision` knows the grades so far, says what to judge next, and looks (`Look`, `PairLook`) at where the comparison
stands. `decide` asks an assessor until that is final; `FollowedDecision` follows people who judge in a store.
`modelled_values` says what the runs would probably be worth if everything were judged (`ModelledValue`).
"""

from cranfield.judging.decide.decide import FollowedDecision, decide
from cranfield.judging.decide.decision import Decision
from cranfield.judging.decide.looks import Look, PairLook
from cranfield.judging.decide.modelled import ModelledValue, modelled_values

__all__ = ["Decision", "FollowedDecision", "Look", "ModelledValue", "PairLook", "decide", "modelled_values"]
