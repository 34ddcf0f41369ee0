"""Answers to approvals that need no person at hand, and the record of those that did."""

from dataclasses import dataclass

from palmclaw.core.events import Answer, ApprovalAsked


@dataclass(frozen=True, slots=True)
class FixedApprover:
    """Always says the same: `once` for `--approve always`, `no` for `never`, `unasked` where nobody is there."""

    answer: Answer = Answer.UNASKED

    async def ask(self, question: ApprovalAsked) -> Answer:
        return self.answer
