"""What the terminal itself says, in English and Chinese. The agent answers in the language it is spoken to."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from palmclaw.core.errors import Fault

ENGLISH = {
    "welcome": "PalmClaw {version} · {provider} · {device}\n"
    "Type a message, or /help. Ctrl-C stops a turn, Ctrl-D leaves.",
    "help": (
        "/new      start a new conversation\n"
        "/stop     stop the turn (while it runs: Ctrl-C)\n"
        "/tools    list the tools\n"
        "/model    show the model; /model NAME changes it here\n"
        "/attach   /attach FILE: send a file with your next message\n"
        "/sessions list conversations; /sessions NAME changes to one\n"
        "/exit     leave (or Ctrl-D)"
    ),
    "unknown_command": "There is no command {name}. /help lists them.",
    "nothing_to_stop": "Nothing is running.",
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
        "/new      开始新对话\n"
        "/stop     停止当前一轮（运行时按 Ctrl-C）\n"
        "/tools    列出工具\n"
        "/model    显示模型；/model 名称 为本对话更换\n"
        "/attach   /attach 文件：随下一条消息发送\n"
        "/sessions 列出对话；/sessions 名称 可切换\n"
        "/exit     退出（或 Ctrl-D）"
    ),
    "unknown_command": "没有 {name} 这个命令。/help 可查看全部。",
    "nothing_to_stop": "没有正在运行的任务。",
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


CHINESE_LABELS = {  # of previews and reasons; what is not here is shown as it is
    "To": "收件人",
    "Text": "内容",
    "From": "从",
    "File": "文件",
    "Replace": "替换",
    "With": "为",
    "When": "时间",
    "Where": "地点",
    "Title": "标题",
    "Calendar": "日历",
    "Repeats": "重复",
    "Reminders": "提醒",
    "Invites": "邀请",
    "Name": "姓名",
    "Phones": "电话",
    "Company": "公司",
    "Emails": "邮箱",
    "Address": "地址",
    "Kind": "类型",
    "Page": "网页",
    "Days": "日期",
    "Label": "名称",
    "Cuts": "将断开",
    "Still connected": "仍可用",
    "Disconnects": "将断开",
    "Call": "拨打",
    "Connect": "连接",
    "Send a text message": "发送短信",
    "Add a contact": "新建联系人",
    "Add an event": "新建日程",
    "Edit a file": "修改文件",
    "Create a file": "新建文件",
    "Replace a file": "覆盖文件",
    "Add to a file": "追加到文件",
    "Move a file": "移动文件",
    "Copy a file": "复制文件",
    "Delete (to the trash)": "删除（可从回收站恢复）",
    "Open a page in the browser": "在浏览器中打开网页",
    "Forget the Bluetooth device": "取消蓝牙配对",
    "reads": "要读取内容",
    "uses a sensor": "要使用传感器",
    "tells a web server something": "会向网站透露内容",
    "writes a file": "要写文件",
    "writes outside the workspace": "要写到工作区之外",
    "changes the phone": "要更改手机",
    "switches a network link": "要切换网络",
    "changes your calendar": "要更改日历",
    "changes your contacts": "要更改联系人",
    "speaks for you": "要替你说话",
    "deletes something": "要删除内容",
    "runs a command": "要运行命令",
    "is remembered for later": "会被长期记住",
    "and words of others are in this conversation": "而且本次对话里有他人的文字",
    "has no declared effect": "影响不明",
}


CHINESE_FAULTS = {  # what went wrong and what to do, by the code of the fault; the details follow in brackets
    "stopped": ("已按你的要求停止。", ""),
    "length": ("回答达到了模型的输出上限。", "说“继续”可以接着说。"),
    "content_filter": ("服务的内容过滤拦下了这个回答。", "换个说法，或换一个模型。"),
    "unfinished": ("模型因自身原因停下了。", "说“继续”可以接着说。"),
    "empty_reply": ("模型什么也没有回答。", "请重试，或换一个模型。"),
    "round_limit": ("达到了轮数上限，任务还没有完成。", "说“继续”可以接着做。"),
    "repeated_call": ("同样的操作重复多次、结果相同，已停止。", "换个说法，或换一个模型。"),
    "auth": ("密钥缺失或被拒绝。", "检查密钥：palmclaw config set provider.api_key 密钥"),
    "quota": ("账户没有余额了。", "请充值，或换一个服务。"),
    "budget": (
        "今天的预算已用完。",
        "午夜后重新计算。想多用：palmclaw config set budget.tokens 数量",
    ),
    "rate_limited": ("请求太频繁。", "请稍后再试。"),
    "unreachable": ("无法连接到模型服务。", "检查地址（palmclaw config get provider.base_url）和网络。"),
    "no_network": ("手机没有网络。", "没有网络时离线助手仍可用：/model offline"),
    "bad_certificate": (
        "连接不安全，什么也没有发送。",
        "检查地址、时钟和网络；自己的服务器：provider.ca_file。",
    ),
    "unavailable": ("模型服务出了故障。", "请稍后再试。"),
    "overloaded": ("模型服务太忙。", "请稍后再试，或换一个模型。"),
    "context_too_long": ("内容超出了模型的窗口。", "用 /new 开始新对话，或换一个窗口更大的模型。"),
    "bad_request": ("服务拒绝了这个请求。", ""),
    "model_not_found": ("服务没有这个模型。", "检查名称：palmclaw config set provider.model 名称"),
    "no_endpoint": ("这个地址上没有模型服务。", "地址对吗？多数以 /v1 结尾：palmclaw config get provider.base_url"),
    "bad_reply": ("收到的不是模型的回答。", "这是模型服务的地址吗？palmclaw config get provider.base_url"),
    "bad_call": ("模型写的工具调用无法读取。", "请换一个小一点的要求。"),
    "stream_cut": ("回答在中途断开。", "请重试；说“继续”可以接着说。"),
    "no_attachments": ("模型不能看附件，只会得到说明。", ""),
    "storage": ("无法写入存储。", ""),
    "config": ("设置有误。", ""),
    "internal": ("PalmClaw 出了错误，详见 palmclaw.log。", ""),
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
        return f"{said}（{fault.message}）", hint or fault.hint

    def label(self, text: str) -> str:
        """Also of two reasons in one."""
        return ", ".join(self.labels.get(part, part) for part in text.split(", "))

    def __call__(self, key: str, **values: object) -> str:
        return self.words[key].format(**values)


def texts(environ: Mapping[str, str]) -> Texts:
    """PALMCLAW_LANG, else the locale; English unless it is Chinese."""
    language = environ.get("PALMCLAW_LANG") or environ.get("LC_ALL") or environ.get("LANG") or ""
    return Texts(CHINESE, CHINESE_LABELS, CHINESE_FAULTS) if language.lower().startswith("zh") else Texts(ENGLISH)
