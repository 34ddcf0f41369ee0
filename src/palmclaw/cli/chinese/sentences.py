"""What the commands say themselves, by the English that stands where it is said."""

CHINESE = {
    "Error: {problem}": "错误：{problem}",
    # counts: “2 messages”
    "message": "{count} 条消息",
    "day": "{count} 天",
    "older message": "{count} 条较早的消息",
    "message waits": "{count} 条消息在等待",
    "approval waits for you": "有 {count} 项等你确认",
    # approvals
    "{who}: {verdict}": "{who}：{verdict}",
    "{verdict}; {otherwise} if {fact}": "{verdict}；如果{fact}：{otherwise}",
    "{tool} for {target}": "{tool}：{target}",
    "always, in every conversation": "总是允许，所有对话",
    "only in the conversation {session}": "只在对话 {session} 里允许",
    "since {since}, said in {session}": "自 {since} 起，在 {session} 里同意的",
    "since {since}": "自 {since} 起",
    "to take it back: palmclaw approvals revoke {number}": "收回：palmclaw approvals revoke {number}",
    "Nothing is allowed for good.": "没有长期允许的操作。",
    "Taken back: from now on it is asked again.": "已收回：以后会再次询问。",
    "in {session}, until {clock}": "{session}，{clock} 之前有效",
    "Nothing waits for an answer.": "没有等你确认的事。",
    "Answered.": "已回答。",
    # sessions
    "No conversations yet. Start one: palmclaw chat": "还没有对话。开始一个：palmclaw chat",
    "({count} more of sub-agents: palmclaw sessions list --all)": (
        "（另有 {count} 个子代理的对话：palmclaw sessions list --all）"
    ),
    "{messages} in {file}": "{messages}，已写入 {file}",
    "Delete {name} with {messages}? This cannot be undone": "删除 {name}（{messages}）？无法恢复",
    "Deleted {name}.": "已删除 {name}。",
    # pair
    "{role}, in config.toml": "{role}，写在 config.toml 里",
    "{role}, since {since}": "{role}，自 {since} 起",
    "waits for you: palmclaw pair approve {code} (until {until})": (
        "等你同意：palmclaw pair approve {code}（{until} 之前）"
    ),
    "Nobody: it takes no message of any chat app.": "没有任何人：不接收聊天软件的消息。",
    "may talk to the agent": "可以和助手说话",
    "may do everything you may": "可以做你能做的一切",
    "{person} is let in, and {may}.": "已允许 {person}，对方{may}。",
    "Forgotten.": "已移除。",
    # trash, phone
    "The trash is empty.": "回收站是空的。",
    "Restored {path}.": "已恢复到 {path}。",
    "Delete everything in the trash? This cannot be undone": "删除回收站里的全部内容？无法恢复",
    "Reset the virtual phone? Everything on it is lost": "重置虚拟手机？上面的一切都会丢失",
    "The phone is as new.": "手机已恢复如新。",
    "Battery": "电池",
    "Network": "网络",
    "Sound": "声音",
    "On": "已开启",
    "Messages": "短信",
    "Contacts": "联系人",
    "Calendar": "日历",
    "Bluetooth": "蓝牙",
    "charging": "正在充电",
    "not charging": "未充电",
    "nothing special": "没有",
    "off": "关",
    " (connected)": "（已连接）",
    "{count}, {unread} unread": "{count} 条，{unread} 条未读",
    # models
    "{title}, on your own machine": "{title}，在你自己的机器上",
    " (default)": "（默认）",
    "${input:g} in, ${output:g} out per million tokens": "每百万 token：输入 ${input:g}，输出 ${output:g}",
    "reads {tokens}": "可读 {tokens}",
    "as of {date}: {source}": "截至 {date}：{source}",
    "needs no key": "不需要密钥",
    "get one at {address}": "获取：{address}",
    "key: found": "密钥：已有",
    "key: {name}, or config set": "密钥：{name}，或用 config set 设置",
    # tools
    "effect: {effect}": "影响：{effect}",
    "needs the permission: {names}": "需要权限：{names}",
    # config
    "Nothing is set. There are: {names}": "还没有设置。可以设置：{names}",
    "{key} is set for {where} (in {file}, readable by you alone).": (
        "{key} 已设置，用于 {where}（存于 {file}，只有你能读）。"
    ),
    "{key} is set (in {file}, readable by you alone).": "{key} 已设置（存于 {file}，只有你能读）。",
    "{key} is back to its default.": "{key} 已恢复默认。",
    # doctor
    "{name}: {text}": "{name}：{text}",
    # memory
    "{count} of {limit} characters": "{count} / {limit} 个字符",
    "It has {count} characters; the agent sees the first {limit} and adds nothing until it is shorter.": (
        "它有 {count} 个字符；助手只看到前 {limit} 个，缩短之前不会再添加。"
    ),
    "  (not in the file yet)": "（还没有写进文件）",
    "Forgotten: {text}": "已忘记：{text}",
    "Nothing has been changed yet.": "还没有改动过。",
    "Nothing is remembered yet.": "还没有记住什么。",
    "Nothing was changed.": "什么也没有改。",
    "Remembered: {text}": "已记住：{text}",
    "Saved.": "已保存。",
    "Taken back.": "已撤销。",
    "That is remembered already: {text}": "已经记着：{text}",
    "That takes back what you wrote yourself. Do it": "这会撤销你自己写的内容。继续吗",
    "from what was said in {session}": "来自 {session} 里说过的话",
    "not recorded yet: your own edit": "还没有记录：你自己的改动",
    "the agent": "助手",
    "the agent, in {session}": "助手，在 {session} 里",
    # skills
    "Install it, and switch it on": "安装并启用它吗",
    "Move {name} into the trash": "把 {name} 移到回收站吗",
    "Nothing in it looks dangerous. Read it all the same.": "没有发现危险的内容。但还是请读一遍。",
    "Nothing was installed.": "什么也没有安装。",
    "Nothing was installed: look at this, and say so with --yes.": "什么也没有安装：请先看看，再用 --yes 同意。",
    "Any change puts it off again. Use it as it is now": "任何改动都会让它再次停用。按现在的样子启用吗",
    "Written: {path}": "已写入：{path}",
    "and {count} more: --json shows all": "还有 {count} 项：用 --json 看全部",
    "file": "{count} 个文件",
    "script": "脚本",
    "the registry warns: {flag}": "技能库警告：{flag}",
    "{files}, {size} bytes": "{files}，{size} 字节",
    "{name} is off.": "{name} 已停用。",
    "{name} is on.": "{name} 已启用。",
    "{name} is installed and on.": "{name} 已安装并启用。",
    "{name} is installed. To use it: palmclaw skills enable {name}": (
        "{name} 已安装。要使用它：palmclaw skills enable {name}"
    ),
    "{name} is built in. Put your own skill in its place": "{name} 是内置技能。用你自己的代替它吗",
    "A built-in skill has this name, and stays in use until you put yours in.": (
        "有同名的内置技能；在你换上自己的之前，用的还是它。"
    ),
    "It is off. Put your own words into that file; then:": "它没有启用。请把文件里的文字换成你自己的，然后：",
    "It is not filled in yet: palmclaw skills check {name}": "还没有填写：palmclaw skills check {name}",
    "It is not filled in yet: the text that a new skill begins with still stands in it.": (
        "还没有填写：里面还是新技能开头的文字。"
    ),
    "{name} is in the trash: palmclaw trash list": "{name} 在回收站里：palmclaw trash list",
    "built in": "内置",
    "yours": "你的",
    "built-in": "自带",
    "yours, not in every request": "你的，不在每次请求里",
    "built-in, not in every request": "自带，不在每次请求里",
    "Your text is kept, and opened by the next edit: {path}": "你的文字已保留，下次 edit 会打开它：{path}",
    "It goes on from your text that was refused: {path}": "接着改上次没能用的文字：{path}",
    "You have no copy of your own.": "你没有自己的副本。",
    "It says the same as the built-in one.": "与自带的相同。",
    "It is in the trash as {name}.": "已放入回收站，名为 {name}。",
    "of a conversation": "对话里的",
    "of an extension": "扩展里的",
    "switched off by you": "你关掉的",
    "always there": "始终可用",
    "always there, because you pinned it": "你固定的，始终可用",
}
