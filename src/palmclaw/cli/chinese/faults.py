"""What went wrong and what to do, by the code of the fault; the details follow in brackets."""

FAULTS = {
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
    "context_too_long": ("内容超出了模型的窗口。", "用 /compact 总结，用 /new 开始新对话，或换一个窗口更大的模型。"),
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
    "crashed": ("PalmClaw 在这一轮中途停止了，这一轮已经关闭。", ""),
    "crashed_twice": ("PalmClaw 在处理这件事时停止了两次，不再自动重试。", "说“继续”可以接着做。"),
    "interrupted": ("这一步在运行前被中断，什么也没有做。", ""),
    "outcome_unknown": ("这一步在进行中被中断，不知道是否已经生效。", "请先查看当前状态，不要直接重做。"),
    "skipped": ("没有运行：你在此期间说了别的话。", ""),
    "not_begun": ("这一轮没能开始。", "请稍后再试。"),
    "superseded": ("这一轮已经结束，之后的内容没有保留。", ""),
    "withdrawn": ("这条消息在此期间已被撤回。", ""),
    "not_open": ("它已经有了回答、被撤回，或已经结束。", ""),
    "draining": ("网关正在停止或重启，什么也没有保存。", "请稍后再试。"),
    "gateway_gone": ("网关没有回应。", "它在运行吗？palmclaw status；启动：palmclaw serve --background"),
    "home_busy": ("另一个进程正在使用这个目录。", "先在那边结束，或用 PALMCLAW_HOME 换一个目录。"),
    "session_not_found": ("没有这个对话。", "查看全部：palmclaw sessions list"),
    "other_version": ("网关的版本与这里不同。", "palmclaw stop，然后 palmclaw serve --background"),
    "forbidden": ("只为本机的程序服务。", ""),
    "channel": ("聊天平台拒绝了。", ""),
    "invalid_arguments": ("参数不对。", ""),
    "too_many": ("同时进行的子代理已经够多了。", "等其他的完成，或自己来做。"),
    "timeout": ("时间到了，还没有结果。", ""),
    "broken_skill": ("这个技能不能用。", ""),
    "unsafe_package": ("没有安装：里面的内容不安全。", ""),
}

PLAIN = frozenset(
    (
        "stopped",
        "crashed",
        "crashed_twice",
        "not_begun",
        "draining",
        "empty_reply",
        "interrupted",
        "outcome_unknown",
        "skipped",
    )
)
"""Of these the message says no more than the words do."""

EXACT = frozenset(("config", "storage", "not_open", "home_busy", "session_not_found", "invalid_arguments"))
"""Of these the message alone is enough, where it has Chinese words."""
