"""What the runtime itself says in a conversation, in English and Chinese."""

from collections.abc import Mapping

from palmclaw.core.values import dataclass

ENGLISH: Mapping[str, str] = {
    "stopped": "Stopped.",
    "nothing": "Nothing is running.",
    "taken_away": " {count} waiting message{s} taken away.",
    "subagents": " {count} sub-agent{s} stopped.",
    "queue": "Messages that come while I work: {mode} (silence {debounce:g} s, at most {cap}, full: {drop}).",
    "new": "We begin anew. What was said before is kept.",
    "model": "The model here is {model}.",
    "model_set": "From now on here: {model}.",
    "no_question": "Nothing is waiting for an answer.",
    "which": "Several questions wait; name one: /approve ID yes",
    "no_answer": "Answer with yes, session, always or no: /approve ID yes",
    "answered": "Answered: {answer}.",
    "question": "{id}: {action}",
    "not_taken": "I did not take this message: {reason}.",
    "at_rest": "Nothing is running here.",
    "running": "Working on your message.",
    "waiting": " {count} message{s} waiting.",
    "ask": "May I do this? {action}\n{lines}\n(because it {reason})\nAnswer {answers}, or: /approve {id} yes",
    "yes": "yes",
    "session": "session",
    "always": "always",
    "no": "no",
    "nothing_older": "There is nothing older to sum up.",
    "compacting": "Summing up what is older; I say when it is done.",
    "compaction_stopped": "Stopped; nothing was summed up.",
    "compacted": "{count} older message{s} summed up: {before:,} → {after:,} tokens of history.",
    "context": "The next request holds about {all:,} of {room:,} tokens of history: {messages} messages {history:,} "
    "(results {results:,}), summary {summary:,}; besides policy {policy:,} and {tools} tools {tool_tokens:,}.",
    "help": "/stop ends what I do · /queue says how messages wait · /steer TEXT joins what I do · /new begins anew · "
    "/compact sums up what is older · /context · /model NAME · /status · /approvals · /approve ID yes",
    "pair": "I do not know you yet. My owner can let you in within an hour: palmclaw pair approve {code}",
    "crashed_twice": "PalmClaw stopped twice while it worked on this. Say “go on” to continue.",
}
CHINESE: Mapping[str, str] = {
    "stopped": "已停止。",
    "nothing": "没有正在运行的任务。",
    "taken_away": "已取消 {count} 条等待中的消息。",
    "subagents": "已停止 {count} 个子代理。",
    "queue": "我工作时收到的消息：{mode}（静默 {debounce:g} 秒，最多 {cap} 条，满了：{drop}）。",
    "new": "重新开始。之前的内容会保留。",
    "model": "这里的模型是 {model}。",
    "model_set": "此后这里使用：{model}。",
    "no_question": "没有等待回答的问题。",
    "which": "有几个问题在等待，请指明：/approve 编号 是",
    "no_answer": "请回答 是、本次、总是 或 否：/approve 编号 是",
    "answered": "已回答：{answer}。",
    "question": "{id}：{action}",
    "not_taken": "这条消息未被接收：{reason}。",
    "at_rest": "这里没有正在运行的任务。",
    "running": "正在处理你的消息。",
    "waiting": "有 {count} 条消息在等待。",
    "ask": "可以这样做吗？{action}\n{lines}\n（因为它{reason}）\n请回答 {answers}，或：/approve {id} 是",
    "yes": "是",
    "session": "本次",
    "always": "总是",
    "no": "否",
    "nothing_older": "没有更早的内容可以总结。",
    "compacting": "正在总结较早的内容，完成后告诉你。",
    "compaction_stopped": "已停止，没有总结任何内容。",
    "compacted": "已总结 {count} 条较早的消息：历史从 {before:,} 减到 {after:,} 个 token。",
    "context": "下一次请求的历史约 {all:,} / {room:,} 个 token：{messages} 条消息 {history:,}（工具结果 {results:,}），"
    "摘要 {summary:,}；另有规则 {policy:,}，{tools} 个工具 {tool_tokens:,}。",
    "help": "/stop 停止 · /queue 消息如何等待 · /steer 文字 加入当前任务 · /new 重新开始 · /compact 总结较早内容 · "
    "/context · /model 名称 · /status · /approvals · /approve 编号 是",
    "pair": "我还不认识你。我的主人可以在一小时内允许你：palmclaw pair approve {code}",
    "crashed_twice": "PalmClaw 在处理这件事时中断了两次。说“继续”可以接着做。",
}


def language(environ: Mapping[str, str]) -> str:
    """`zh` or `en`: PALMCLAW_LANG, else the locale; English unless it is Chinese."""
    names = ("PALMCLAW_LANG", "LC_ALL", "LC_MESSAGES", "LANG")
    said = next((found for name in names if (found := environ.get(name))), "")
    return "zh" if said.lower().startswith("zh") else "en"


@dataclass(frozen=True, slots=True)
class Words:
    """Sentences by key, in the owner's language; a `count` among the facts gives `s`, the ending of a plural."""

    language: str = "en"

    def __call__(self, key: str, **facts: object) -> str:
        ending = "" if facts.get("count") == 1 else "s"
        return (CHINESE if self.language == "zh" else ENGLISH)[key].format(s=ending, **facts)
