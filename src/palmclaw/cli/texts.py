"""What the terminal itself says, in English and Chinese. The agent answers in the language it is spoken to."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from palmclaw.cli.chinese import CHINESE_FAULTS, CHINESE_LABELS, PLAIN
from palmclaw.core.errors import Fault
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
    "messages": "{count} messages",
    "set_model": "For this conversation: /model SERVICE/NAME, /model NAME, /model default. Services: palmclaw models",
    "model_set": "From now on here: {model}",
    "attach_how": "Name an image or a PDF: /attach photo.jpg",
    "unseen": "{model} takes no such files; of {name} it gets the name only.",
    "attached": "Goes with your next message: {name} ({mime})",
    "retrying": "… {reason} Trying again in {seconds} s.",
    "retrying_now": "… {reason}",
    "model_changed": "… {model} answers instead of {instead_of}: {reason}",
    "usage_none": "Nothing was spent in the last {days} days.",
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
    "unclear": "Please type o, s, a or n.",
    "said_no": "no",
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
    "withdraw_how": "/withdraw NUMBER, from 1 to {count}",
    "slot_awaited": "… waits for other conversations.",
    "missed": "(Some of what happened is not shown here.)",
    "elsewhere": "↘ from elsewhere: {text}",
    "reported": "↘ a sub-agent reports",
    "continues": "… goes on with what was broken off.",
    "at_work": "… is at work here already:",
    "waiting_here": "… messages that wait here: {count}",
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
    "perhaps_stored": "Whether your message arrived is not certain. See: palmclaw sessions show",
    "leave": "Press Ctrl-C again to leave.",
    "part_policy": "policy and rules",
    "part_tools": "tools: {family}",
    "part_history": "history ({count} messages)",
    "part_message": "your message",
    "part_rest": "the rest of the body",
    "part_all": "in all",
    "counted": "Tokens counted with {tokenizer}.",
    "estimated": "Estimated; to count tokens:\npip install bpe-openai",
}
CHINESE = {
    "welcome": "PalmClaw {version} · {provider} · {device}\n输入消息，或 /help。Ctrl-C 停止当前一轮，Ctrl-D 退出。",
    "help": (
        "运行时也可以输入。\n"
        "/stop     停止当前一轮（或 Ctrl-C）\n"
        "/steer    /steer 文字：加入正在做的事\n"
        "/queue    运行时收到的消息怎么办：\n"
        "   steer, collect, followup, interrupt\n"
        "/withdraw 撤回等待中的消息\n"
        "/status   这里正在做什么\n"
        "/new      开始新对话\n"
        "/reset    在本对话中重新开始\n"
        "/sessions 列出；/sessions 名称 可切换\n"
        "/model    显示模型；/model 名称 可更换\n"
        "/attach   /attach 文件：随下一条消息发送\n"
        "/tools    列出工具\n"
        "/approvals 待确认；/approve 编号 是\n"
        "/exit     退出（或 Ctrl-D）"
    ),
    "unknown_command": "没有 {name} 这个命令。/help 可查看全部。",
    "new": "新对话：{session}",
    "current": "当前对话：{session}",
    "no_sessions": "还没有对话。",
    "messages": "{count} 条消息",
    "set_model": "仅本对话：/model 服务/名称、/model 名称、/model default。服务列表：palmclaw models",
    "model_set": "本对话此后使用：{model}",
    "attach_how": "请给出图片或 PDF：/attach photo.jpg",
    "unseen": "{model} 不能看这种文件，只会得到文件名 {name}。",
    "attached": "将随下一条消息发送：{name}（{mime}）",
    "retrying": "… {reason} {seconds} 秒后重试。",
    "retrying_now": "… {reason}",
    "model_changed": "… {model} 代替 {instead_of} 回答：{reason}",
    "usage_none": "最近 {days} 天没有花费。",
    "usage_total": "合计",
    "usage_line": "{requests}× · 输入 {input}（{share}% 命中缓存）· 输出 {output}",
    "usage_reasoning": "（其中思考 {count}）",
    "usage_unpriced": "有 {count} 个请求价格未知，未计入合计。",
    "usage_budget": "今天：{limit} 中已用 {used}。",
    "approve": "可以这样做吗？",
    "reason": "需要确认：{reason}",
    "choices": "[o] 仅此一次",
    "choice_session": " · [s] 本次对话",
    "choice_always": " · [a] 对{target}总是",
    "choice_no": " · [n] 不",
    "unclear": "请输入 o、s、a 或 n。",
    "said_no": "不",
    "said_unasked": "这里没有人可以确认（请在终端里运行，或加 --approve always）",
    "said_once": "仅此一次",
    "said_session": "本次对话内允许",
    "said_always": "总是允许",
    "interrupted": "（在此停止）",
    "stream": "（连接在此中断）",
    "length": "（达到模型的输出上限）",
    "tokens": "{input} + {output} 个 token（{rounds}×）",
    "fate_waiting": "… 等待中：第 {position} 位。",
    "fate_steered": "… 加入正在做的事。",
    "fate_merged": "… 与其他消息一起回答。",
    "fate_started": "… 现在：{text}",
    "fate_dropped": "未接收：{reason}。",
    "fate_summarized": "只保留了开头：{reason}。",
    "fate_rejected": "已拒绝：{reason}。",
    "fate_cancelled": "没有做：{reason}。",
    "nothing_waits": "没有等待中的消息。",
    "withdraw_how": "/withdraw 编号（1 到 {count}）",
    "slot_awaited": "… 正在等待其他对话。",
    "missed": "（部分过程未在此显示。）",
    "elsewhere": "↘ 来自别处：{text}",
    "reported": "↘ 子代理的报告",
    "continues": "… 接着做之前中断的事。",
    "at_work": "… 这里正在工作：",
    "waiting_here": "… 这里等待中的消息：{count} 条",
    "attached_here": "已连接到网关。",
    "question_elsewhere": "{session} 里有一个问题等你确认：/approvals，或 palmclaw approvals pending",
    "subagent_asks": "子代理要问：",
    "session_asks": "{session} 要问：",
    "answered_elsewhere": "  → {answer}（已在别处回答）",
    "question_over": "（已经没有人在等这个回答。）",
    "sent_failed": "没能送达：{reason}",
    "sent_unknown": "不确定是否已送达：{reason}",
    "left": "留给下次启动：{running} 项进行中，{waiting} 条等待。",
    "gateway_goes_on": "网关会继续做。",
    "gateway_lost": "网关已结束。已保存的内容会在下次启动时继续；你发下一条消息时，本对话也会继续。",
    "stored": "你的消息已保存：下次启动时会继续。",
    "perhaps_stored": "不确定消息是否已送达。请看：palmclaw sessions show",
    "leave": "再按一次 Ctrl-C 退出。",
    "part_policy": "策略和规则",
    "part_tools": "工具：{family}",
    "part_history": "历史（{count} 条消息）",
    "part_message": "你的消息",
    "part_rest": "请求的其余部分",
    "part_all": "总计",
    "counted": "token 数由 {tokenizer} 计得。",
    "estimated": "token 数为估算；要准确计数：\npip install bpe-openai",
}


@dataclass(frozen=True, slots=True)
class Texts:
    """`texts("welcome", version=…)` in the person's language; `texts.label` for words that tools have chosen."""

    words: Mapping[str, str]
    labels: Mapping[str, str] = field(default_factory=dict)
    faults: Mapping[str, tuple[str, str]] = field(default_factory=dict)

    def fault(self, fault: Fault) -> tuple[str, str]:
        """What went wrong, and what to do about it."""
        if fault.code not in self.faults:
            return fault.message, fault.hint
        said, hint = self.faults[fault.code]
        return said if fault.code in PLAIN else f"{said}（{fault.message}）", hint or fault.hint

    def label(self, text: str) -> str:
        """Also of two reasons in one, and of one with a number in it."""
        return ", ".join(self._label(part) for part in text.split(", "))

    def _label(self, text: str) -> str:
        number = re.search(r"\d+", text)
        if number is None:
            return self.labels.get(text, text)
        return self.labels.get(text.replace(number[0], "#"), text).replace("#", number[0])

    def __call__(self, key: str, **values: object) -> str:
        return self.words[key].format(**values)


def texts(
    environ: Mapping[str, str], english: Mapping[str, str] = ENGLISH, chinese: Mapping[str, str] = CHINESE
) -> Texts:
    """In the owner's language."""
    return Texts(chinese, CHINESE_LABELS, CHINESE_FAULTS) if language(environ) == "zh" else Texts(english)
