"""What to do about it, by the English pattern: {} is whatever stands there. A command stays as it is typed."""

CHINESE = {
    # nothing but a command
    "palmclaw tools": "palmclaw tools",
    "palmclaw serve --background": "palmclaw serve --background",
    "palmclaw config unset device.name": "palmclaw config unset device.name",
    "palmclaw config unset channels.{}": "palmclaw config unset channels.{}",
    "palmclaw config set provider.fallbacks offline": "palmclaw config set provider.fallbacks offline",
    "palmclaw config set {}.protocol {}": "palmclaw config set {}.protocol {}",
    "palmclaw config set {}.max_tokens 0": "palmclaw config set {}.max_tokens 0",
    "palmclaw config set {} {}": "palmclaw config set {} {}",
    "palmclaw config set {} NAME": "palmclaw config set {} 名称",
    "palmclaw config set {} URL": "palmclaw config set {} 地址",
    # where to look
    "See: palmclaw logs": "请看：palmclaw logs",
    "palmclaw logs, then palmclaw stop": "先 palmclaw logs，再 palmclaw stop",
    "palmclaw serve --background, or palmclaw chat": "palmclaw serve --background，或 palmclaw chat",
    "palmclaw tools lists them": "palmclaw tools 可列出",
    "palmclaw models lists them": "palmclaw models 可列出",
    "Look into it: {}": "请看：{}",
    "Look in the chat; what is missing must be said again.": "请到聊天里看；缺的需要再说一遍。",
    "Look at the disk and its free space.": "请检查磁盘及其剩余空间。",
    "Is it alive? palmclaw status": "它在运行吗？palmclaw status",
    "Start it: palmclaw serve --background": "启动：palmclaw serve --background",
    'Say so, or something else, there: palmclaw chat --session {} "go on"': (
        '在那里说继续，或说别的：palmclaw chat --session {} "继续"'
    ),
    # model services
    "palmclaw models lists services; palmclaw config set provider.name NAME, or provider.base_url URL": (
        "palmclaw models 列出服务；palmclaw config set provider.name 名称，或 provider.base_url 地址"
    ),
    "Check the network; start the service, or mend the address: palmclaw config set provider.base_url URL": (
        "检查网络；启动服务，或改正地址：palmclaw config set provider.base_url 地址"
    ),
    "No model is named; many services want one: palmclaw config set provider.model NAME": (
        "没有写明模型，很多服务需要：palmclaw config set provider.model 名称"
    ),
    "To forget it all: rm {}": "全部忘掉：rm {}",
    "Get one at {}, then: {}": "在 {} 获取，然后：{}",
    "{}palmclaw config set {}.api_key KEY (or set {})": "{}palmclaw config set {}.api_key 密钥（或设 {}）",
    "palmclaw config set {}.api_key KEY (or set {})": "palmclaw config set {}.api_key 密钥（或设 {}）",
    "palmclaw config set services.{}.api_key KEY (or set {})": (
        "palmclaw config set services.{}.api_key 密钥（或设 {}）"
    ),
    "In the conversation: /model default, or /model NAME. For one message: chat --model NAME": (
        "在对话里：/model default 或 /model 名称。只为一条消息：chat --model 名称"
    ),
    "US dollars per million tokens: input, output, and where they differ cached, cache_write": (
        "每百万 token 的美元：input、output，不同时还有 cached、cache_write"
    ),
    "Set its price (prices.input and prices.output, in dollars per million tokens) or budget.tokens": (
        "设置它的价格（prices.input 和 prices.output，每百万 token 的美元），或 budget.tokens"
    ),
    "Set the key again: palmclaw config set provider.api_key KEY": (
        "重新设置密钥：palmclaw config set provider.api_key 密钥"
    ),
    "Copy it again, without spaces.": "请重新复制，不带空格。",
    "Put your own address there: palmclaw config set {} URL": "写上你自己的地址：palmclaw config set {} 地址",
    "Write https://, or, if you know what you do: {}": "请写 https://；如果清楚后果：{}",
    "{} true": "{} true",
    "Other kinds of proxy (SOCKS) are not supported.": "不支持其他代理（SOCKS）。",
    # settings
    "There are: {}": "有：{}",
    "Common settings: {}": "常用设置：{}",
    "Like services.home.base_url": "例如 services.home.base_url",
    "Take them away first, or set them again afterwards: palmclaw config unset {}": (
        "先去掉，或之后重新设置：palmclaw config unset {}"
    ),
    "To take it away: palmclaw config unset {}": "去掉它：palmclaw config unset {}",
    "To take it away: palmclaw config unset {}.api_key": "去掉它：palmclaw config unset {}.api_key",
    "Mend that line; the file has been left as it is.": "请改正那一行；文件没有动。",
    "The file has been left as it is.": "文件没有动。",
    "Choose one outside PALMCLAW_HOME.": "请选 PALMCLAW_HOME 之外的。",
    "Make it, or take it out again.": "请建立它，或从设置里去掉。",
    "Write it like /sdcard/Documents.": "请写成 /sdcard/Documents 这样。",
    "Write it like Asia/Hong_Kong.": "请写成 Asia/Hong_Kong 这样。",
    "Name one of {} before it.": "请在前面写明 {} 之一。",
    "Take one of them out.": "请去掉其中一个。",
    "Name the tools of a family of your own: tools = […]": "自建的工具组要列出工具：tools = […]",
    "Kinds of words: {}": "词类有：{}",
    "Add {} to the bindings of one.": "请把 {} 加入其中一个的 bindings。",
    "Give it another name.": "请换个名字。",
    "Take it out of one of them.": "请从其中一个里去掉。",
    "Write channel, channel:chat or channel:chat:thread.": "请写成 channel、channel:chat 或 channel:chat:thread。",
    "Write the id of each person who may talk to the agent.": "请写下每个可以说话的人的 ID。",
    "Write the id of the person in this channel.": "请写下这个人在该渠道的 ID。",
    "Write the id: it is in the log when they have written, and palmclaw pair list shows it.": (
        "请写 ID：对方发过消息后，日志里会有，palmclaw pair list 也会显示。"
    ),
    "name owners = […] in [channels.{}], or let somebody in with palmclaw pair approve CODE": (
        "在 [channels.{}] 里写上 owners = […]，或用 palmclaw pair approve 代码 允许某人"
    ),
    # files, disks, homes
    "Use {}.": "请用 {}。",
    "Images (PNG, JPEG, GIF, WebP) and PDF go along; a text can be pasted, or piped: palmclaw chat -": (
        "可以附上图片（PNG、JPEG、GIF、WebP）和 PDF；文字可以粘贴，或用管道：palmclaw chat -"
    ),
    "Make it smaller.": "请缩小它。",
    "Leave --device out, or end the gateway first: palmclaw stop": "去掉 --device，或先结束网关：palmclaw stop",
    "Free some.": "请腾出一些。",
    "Free some space.": "请腾出一些空间。",
    "Keep a copy of {}.": "请留一份 {} 的副本。",
    "Keep a copy of the file, then move it away and start again.": "请留一份副本，然后移走它再启动。",
    "Is the disk full or read-only?": "磁盘满了，还是只读？",
    "It says which files hold what strangers wrote. Delete it if you trust all files of the workspace.": (
        "它记着哪些文件含有陌生人写的内容。如果你信任工作区的全部文件，可以删掉它。"
    ),
    "The next start begins with a new virtual phone. To go back, repair that file and rename it.": (
        "下次启动会用新的虚拟手机。想恢复，请修好那个文件并改回名字。"
    ),
    "Make the folder writable, or set PALMCLAW_HOME.": "请让文件夹可写，或设置 PALMCLAW_HOME。",
    "Make the folder writable, or choose another with PALMCLAW_HOME.": "请让文件夹可写，或用 PALMCLAW_HOME 换一个。",
    "Choose another home with PALMCLAW_HOME.": "请用 PALMCLAW_HOME 换一个目录。",
    "Finish there first, or set PALMCLAW_HOME to use another home.": "先在那边结束，或用 PALMCLAW_HOME 换一个目录。",
    "Close the program that has it open (an editor of databases, a backup); then try again.": (
        "请关掉打开它的程序（数据库编辑器、备份），然后重试。"
    ),
    "Update PalmClaw: pip install -U palmclaw": "请更新 PalmClaw：pip install -U palmclaw",
    "Stop it first, with /stop in it.": "请先在那里用 /stop 停止。",
    "Answer it where it is asked: process {}": "请在询问的地方回答：进程 {}",
    "It is sent with every request.": "每次请求都会发送它。",
    "Mend it, or move it away.": "请修改它，或把它移走。",
    "Mend or move away: {}": "请修改或移走：{}",
    "palmclaw templates edit {}": "palmclaw templates edit {}",
    # memory
    "palmclaw memory edit": "palmclaw memory edit",
    "It is tried again when more is said there. See: palmclaw logs": "那里再说一些话后会重试。请看：palmclaw logs",
    "Shorten it: palmclaw memory edit": "请缩短：palmclaw memory edit",
    "Forget or shorten something first: palmclaw memory edit": "请先忘掉或缩短一些：palmclaw memory edit",
    "Move it away; then: palmclaw memory edit": "请先移走它；然后：palmclaw memory edit",
    "Make it readable.": "请让它可读。",
}
