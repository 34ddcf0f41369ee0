"""What the terminal itself says, in English and Chinese. The agent answers in the language it is spoken to.

A sentence that stands in one place is written there, in English: `words("Restored {path}.", path=…)`; one that is
chosen by a value, or long, has a name in `ENGLISH`. Chinese is looked up by either, in tables that nobody reads who is
spoken to in English (`cli/chinese`). What others have said in English (errors, hints) is recognised: `words.told(…)`.
"""

from collections.abc import Mapping

from palmclaw.core.errors import Fault
from palmclaw.core.values import dataclass
from palmclaw.runtime.words import language

ENGLISH = {
    "welcome": "PalmClaw {version} · {provider} · {device}\n"
    "Type a message, or /help. Ctrl-C stops a turn, Ctrl-D leaves.",
    "help": (
        "You can type while it works.\n"
        "/stop     stop the turn (or Ctrl-C)\n"
        "/steer    /steer TEXT joins what is done\n"
        "/queue    what messages do meanwhile:\n"
        "   steer, collect, followup, interrupt\n"
        "/withdraw take back a message that waits\n"
        "/status   what is being done here\n"
        "/new      start a new conversation\n"
        "/reset    begin anew in this one\n"
        "/sessions list; /sessions NAME to go\n"
        "/compact  sum up what is older\n"
        "/context  what a request holds\n"
        "/model    show the model; /model NAME\n"
        "/attach   /attach FILE goes along\n"
        "/tools    list the tools\n"
        "/approvals questions; /approve ID yes\n"
        "/exit     leave (or Ctrl-D)"
    ),
    "unknown_command": "There is no command {name}. /help lists them.",
    "new": "New conversation: {session}",
    "current": "Conversation: {session}",
    "no_sessions": "No conversations yet.",
    "set_model": "For this conversation: /model SERVICE/NAME, /model NAME, /model default. Services: palmclaw models",
    "model_set": "From now on here: {model}",
    "attach_how": "Name an image or a PDF: /attach photo.jpg",
    "unseen": "{model} takes no such files; of {name} it gets the name only.",
    "attached": "Goes with your next message: {name} ({mime})",
    "retrying": "… {reason} Trying again in {seconds} s.",
    "retrying_now": "… {reason}",
    "model_changed": "… {model} answers instead of {instead_of}: {reason}",
    "compacted": "… summed up: {messages} ({before} → {after} tokens of history)",
    "left_out": "… left out without a summary: {messages} ({reason})",
    "usage_none": "Nothing was spent in the last {days}.",
    "usage_total": "in all",
    "usage_line": "{requests}× · {input} in ({share} % cached) · {output} out",
    "usage_reasoning": " ({count} of it thoughts)",
    "usage_unpriced": "No price is known for {count} of the requests; the sums leave them out.",
    "usage_budget": "Today: {used} of {limit}.",
    "approve": "May I do this?",
    "reason": "asked because it {reason}",
    "choices": "[o]nce",
    "choice_session": " · this [s]ession",
    "choice_always": " · [a]lways for {target}",
    "choice_no": " · [n]o",
    "unclear": "Please answer {keys}; ? explains.",
    "explain_once": "o  do it, this once",
    "explain_session": "s  do it, and don't ask again for {target} in this conversation",
    "explain_always": "a  do it, and never ask again for {target} (palmclaw approvals revoke takes that back)",
    "explain_no": "n  don't do it",
    "explain_waiting": "Without an answer within 10 minutes it is a no. /stop ends the turn.",
    "said_no": "no",
    "declined": "you said no to {tool}; nothing was done",
    "said_unasked": "nobody can be asked here (run it in a terminal, or add --approve always)",
    "said_once": "once",
    "said_session": "for this session",
    "said_always": "always",
    "interrupted": "(stopped here)",
    "stream": "(the connection broke here)",
    "length": "(cut at the model's output limit)",
    "tokens": "{input} + {output} tokens ({rounds}×)",
    "fate_waiting": "… waits: number {position} in line.",
    "fate_steered": "… joins what is being done.",
    "fate_merged": "… is answered together with others.",
    "fate_started": "… now: {text}",
    "fate_dropped": "Not taken: {reason}.",
    "fate_summarized": "Only its beginning was kept: {reason}.",
    "fate_rejected": "Refused: {reason}.",
    "fate_cancelled": "Not done: {reason}.",
    "nothing_waits": "Nothing waits.",
    "none_of_yours": "Nothing of yours waits here. What waits, in line:",
    "in_line": "{number}  {who}: “{text}”",
    "withdraw_how": "/withdraw NUMBER, from 1 to {count}",
    "taken_back": "Taken back: “{text}”",
    "taken_back_of": "Taken back, of {who}: “{text}”",
    "you": "you",
    "you_elsewhere": "you, elsewhere",
    "somebody": "{name} ({channel})",
    "slot_awaited": "… waits for other conversations.",
    "missed": "(Some of what happened is not shown here.)",
    "elsewhere": "↘ from elsewhere: {text}",
    "reported": "↘ a sub-agent reports",
    "continues": "… goes on with what was broken off.",
    "at_work": "… is at work here already:",
    "waiting_here": "… {messages} here.",
    "attached_here": "Attached to the gateway.",
    "question_elsewhere": "A question is open in {session}: /approvals, or palmclaw approvals pending",
    "subagent_asks": "A sub-agent asks:",
    "session_asks": "{session} asks:",
    "answered_elsewhere": "  → {answer} (answered elsewhere)",
    "question_over": "(Nobody waits for that answer any more.)",
    "sent_failed": "Could not be delivered: {reason}",
    "sent_unknown": "May have been delivered or not: {reason}",
    "left": "Left for the next start: {running} at work, {waiting} waiting.",
    "gateway_goes_on": "The gateway goes on with it.",
    "gateway_lost": "The gateway has ended. Whatever was stored goes on at its next start; so does this conversation "
    "with your next message.",
    "stored": "Your message is stored: the next start goes on with it.",
    "unsent": "What you said is kept here, and sent with what you say next.",
    "kept": "Your message is kept, and answered as soon as that is mended; do not say it again.",
    "perhaps_stored": "Whether your message arrived is not certain. See: palmclaw sessions show",
    "leave": "Press Ctrl-C again to leave.",
    "shown_for": "The request to {model}:",
    "shown_offline": "No model is connected; this is what a service would be sent:",
    "part_policy": "policy and rules",
    "part_tools": "tools: {family}",
    "part_history": "history ({messages})",
    "part_message": "your message",
    "part_rest": "the rest of the body",
    "part_all": "in all",
    "counted": "Tokens counted with {tokenizer}.",
    "estimated": "Estimated; to count tokens:\npip install bpe-openai",
    "serving": "PalmClaw {version} serves {home} (process {pid}).\nCtrl-C ends it.",
    "finding": "· {finding}",
    "ending": "Ending: no new messages; running turns have a few seconds. Once more ends at once.",
    "ended": "Ended.",
    "background": "It serves in the background. palmclaw status · logs · stop",
    "runs": "A gateway runs already: process {pid}.\nTo reach it: palmclaw chat · status. To end it: palmclaw stop",
    "runs_since": "A gateway runs already: process {pid}, since {since}.\n"
    "To reach it: palmclaw chat · status. To end it: palmclaw stop",
    "runs_other": "It is of version {theirs}, this is {ours}: palmclaw stop, then palmclaw serve --background",
    "not_started": "It did not start:",
    "slow": "Process {pid} has started but does not answer after {seconds} s. See: palmclaw logs",
    "not_running": "No gateway is running.",
    "in_use": "No gateway is running; {home} is in use by process {pid} ({purpose}).",
    "silent": "Process {pid} serves {home} but does not answer. To end it: palmclaw stop",
    "uncertain": "Process {pid} holds {home}, but nothing proves that it is a gateway. If it is: kill {pid}",
    "stopped": "The gateway has ended.",
    "urged": "It does not answer: telling process {pid} to end …",
    "killed": "Process {pid} had to be killed; the next start closes what it was doing.",
    "unkillable": "Process {pid} does not end, not even when killed.",
    "who": "PalmClaw {version}, process {pid}",
    "since": "since {started}, {memory} MB",
    "slots": "turns: {busy} of {slots} places taken",
    "working": "{session}: at work since {since}",
    "lane_waiting": "{session}: {waiting} waiting",
    "working_waiting": "{session}: at work since {since}, {waiting} waiting",
    "channel": "{name}: {state}",
    "channel_well": "connected",
    "outbox": "to be sent: {counts}",
    "holders": "kept running by: {holders}",
    "gateway_keeps": "The gateway (process {pid}) goes on with what it read when it started. To restart it:\n"
    "palmclaw stop && palmclaw serve --background",
    "process_keeps": "Process {pid} ({purpose}) goes on with what it read when it started.",
    "no_log": "Nothing has been logged yet.",
}


@dataclass(frozen=True, slots=True)
class Texts:
    """`words(name or sentence, **values)` in the person's language."""

    is_chinese: bool = False

    def __call__(self, said: str, **values: object) -> str:
        if self.is_chinese:
            from palmclaw.cli.chinese import reading

            return reading.sentence(said).format(**values)
        return ENGLISH.get(said, said).format(**values)

    def count(self, number: int, one: str, many: str = "") -> str:
        """So many of something: `count(2, "message")`. `many` where that is not `one` with an s."""
        if self.is_chinese:
            from palmclaw.cli.chinese import reading

            return reading.count(number, one)
        return f"{number:,} {one if number == 1 else many or f'{one}s'}"

    def told(self, text: str) -> str:
        """What somebody else has put in English words: an error, a hint, what was found; as it is where unknown."""
        if self.is_chinese and text:
            from palmclaw.cli.chinese import reading

            return reading.told(text)
        return text

    def label(self, text: str) -> str:
        """A word that a tool, the policy or the runtime has chosen; also two reasons in one, or a number in it."""
        if self.is_chinese:
            from palmclaw.cli.chinese import reading

            return reading.label(text)
        return text

    def fault(self, fault: Fault) -> tuple[str, str]:
        """What went wrong, and what to do about it."""
        if self.is_chinese:
            from palmclaw.cli.chinese import reading

            return reading.fault(fault)
        return fault.message, fault.hint


def texts(environ: Mapping[str, str]) -> Texts:
    """In the owner's language."""
    return Texts(language(environ) == "zh")
