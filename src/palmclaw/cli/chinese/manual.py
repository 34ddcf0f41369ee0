"""The help pages: each paragraph, and what is said of each option, by the English on one line."""

CHINESE = {
    # the list of commands
    "What may run without asking, and what was allowed for good.": "哪些操作不必询问，哪些已长期允许。",
    "Talk to the agent: a conversation, or one message.": "和助手说话：一段对话，或一条消息。",
    "Print the shell code that completes commands.": "输出用于补全命令的 shell 代码。",
    "Show and change settings.": "查看和更改设置。",
    "Check that everything works, and say what to mend.": "检查一切是否正常，并说明如何修复。",
    "Show the log of the gateway.": "查看网关的日志。",
    "List model services: addresses, keys, prices.": "列出模型服务：地址、密钥、价格。",
    "Say who may talk to the agent in a chat app.": "决定谁可以在聊天软件里和助手说话。",
    "Look at the virtual phone, or reset it.": "查看或重置虚拟手机。",
    "Show the exact request that a message would send.": "查看一条消息会发出的完整请求。",
    "Keep the agent running, for the terminal, chat apps and schedules.": (
        "让助手持续运行，供终端、聊天软件和定时任务使用。"
    ),
    "List, show, export and delete conversations.": "列出、查看、导出和删除对话。",
    "Show whether the gateway runs, and what it does.": "查看网关是否在运行、在做什么。",
    "End the gateway.": "结束网关。",
    "List the tools, or explain one.": "列出工具，或说明其中一个。",
    "List and restore files that the agent deleted.": "列出和恢复助手删除的文件。",
    "Show what was spent on model services.": "查看模型服务的花费。",
    # palmclaw
    "PalmClaw: an AI agent that lives on your phone.": "PalmClaw：住在你手机里的 AI 助手。",
    "Without a command it opens a conversation. It needs no key: the offline assistant answers until you connect a "
    "model (palmclaw models lists services).": (
        "不带命令时打开一段对话。不需要密钥：在你接入模型之前，由离线助手回答（palmclaw models 列出可用的服务）。"
    ),
    "Show the version and exit.": "显示版本。",
    "Show this message and exit.": "显示这页说明。",
    # options of several
    "For machines.": "供程序读取。",
    "For machines: all of them.": "供程序读取：全部列出。",
    "For machines: one object a line.": "供程序读取：每行一个对象。",
    "Do not ask.": "不再询问。",
    "Which conversation.": "哪一段对话。",
    # approvals
    "What may run without asking, what waits for your answer, and what was allowed for good.": (
        "哪些操作不必询问，哪些在等你确认，哪些已长期允许。"
    ),
    "The table: effect by who asked.": "规则表：按影响和由谁发起。",
    "What you have allowed for good: for a conversation, or always; since when, and how to take it back.": (
        "你长期允许的操作：限于一段对话，或总是允许；自何时起，如何收回。"
    ),
    "Take a lasting answer back; NUMBER is from `approvals list`.": "收回一项长期允许；NUMBER 见 `approvals list`。",
    "Questions that wait for your answer.": "等你确认的问题。",
    "Answer a question; ID is from `approvals pending`, or a beginning of it that fits no other.": (
        "回答一个问题；ID 见 `approvals pending`，也可以只写不会混淆的开头几位。"
    ),
    # chat
    "Talk to the agent.": "和助手说话。",
    "With TEXT (or - for standard input) it answers that one message: the answer on stdout, everything else on "
    "stderr, exit code 0 unless the turn failed. Without TEXT it opens a conversation. Where a gateway runs "
    "(palmclaw serve), both go through it.": (
        "给出 TEXT（或用 - 读标准输入）时只回答这一条消息：回答写到标准输出，其他写到标准错误；除非失败，退出码"
        "为 0。不给 TEXT 时打开一段对话。有网关在运行时（palmclaw serve），两者都经过网关。"
    ),
    "One JSON event per line on stdout.": "标准输出每行一个 JSON 事件。",
    "Who answers approvals: you (the default in a terminal), or a fixed yes or no.": (
        "由谁确认：你自己（终端里的默认），或固定的同意、拒绝。"
    ),
    "Which phone: virtual (the default) or an installed backend.": "哪部手机：virtual（默认），或已安装的后端。",
    "For this once: SERVICE/MODEL, SERVICE or MODEL.": "仅这一次：服务/模型、服务，或模型。",
    "Attach an image or a PDF.": "附上图片或 PDF。",
    "What TEXT does where something runs: steer, collect, followup or interrupt.": (
        "正在做别的事时 TEXT 怎么办：steer（加入）、collect（合并等待）、followup（排队）或 interrupt（打断）。"
    ),
    "Only the answer and errors.": "只显示回答和错误。",
    # config
    "Where the configuration lies.": "配置文件的位置。",
    "The value of one setting, of a table such as budget, or all that are set. Keys are shown as ***.": (
        "一项设置的值，或一张表（例如 budget），或全部已设置的。密钥显示为 ***。"
    ),
    "Set KEY to VALUE; comments and everything else in the file stay.": (
        "把 KEY 设为 VALUE；文件中的注释和其他内容不变。"
    ),
    "Lists are written a,b,c. Without VALUE it is asked for; a key is not shown as it is typed.": (
        "列表写成 a,b,c。不写 VALUE 时会询问；输入密钥时不显示。"
    ),
    "Go back to the default of KEY.": "把 KEY 恢复为默认值。",
    # doctor, logs
    "Check that everything works, and say what to mend. The exit code is 1 when something is wrong.": (
        "检查一切是否正常，并说明如何修复。有问题时退出码为 1。"
    ),
    "Show the log of the gateway: what it did, what went wrong, and when.": (
        "查看网关的日志：做了什么，出了什么错，什么时候。"
    ),
    "It tells of its start and end, of each message (where it came from, what became of it), each turn and how it "
    "ended, each tool that was called and its outcome, of what was asked of you, what was sent and what could not "
    "be, and of senders that were refused. The words of messages are not in it; palmclaw sessions show has them.": (
        "其中有启动和结束，每条消息（来自哪里、结果如何），每一轮及其结局，每次工具调用及其结果，问过你什么，发"
        "出了什么、什么没能发出，以及被拒绝的发送者。消息的内容不在其中，请用 palmclaw sessions show 查看。"
    ),
    "LEVEL is debug, info, warning or error: with --level warning you see only what went wrong.": (
        "LEVEL 是 debug、info、warning 或 error：用 --level warning 只看出错的。"
    ),
    "Lines to show.": "显示多少行。",
    "Go on showing what is added; Ctrl-C ends that.": "继续显示新增的内容；按 Ctrl-C 结束。",
    "What is at least so grave.": "至少这么严重的。",
    # models
    "List the model services, or explain one: its address, key and models.": (
        "列出模型服务，或说明其中一个：地址、密钥和模型。"
    ),
    "Any other service works by its address: palmclaw config set provider.base_url URL": (
        "其他服务用地址接入：palmclaw config set provider.base_url URL"
    ),
    # pair
    "Whoever writes to it for the first time gets a code, valid for an hour. Approve the code here, and they are "
    "an owner, who may do everything, or a guest, who may only talk. Ids that config.toml names need no code.": (
        "第一次给它写消息的人会收到一个一小时内有效的代码。在这里同意代码后，对方就是主人（可以做一切）或客人（"
        "只能说话）。config.toml 里写明的 ID 不需要代码。"
    ),
    "Who may talk, and whose code waits to be approved.": "谁可以说话，谁的代码在等你同意。",
    "Let in whoever was given CODE, as an owner.": "允许收到 CODE 的人进来，作为主人。",
    "They may only talk: no commands, nothing of yours.": "对方只能说话：不能用命令，也碰不到你的东西。",
    "Let somebody in no longer; CHANNEL and ID are from `pair list`.": "不再允许某人；CHANNEL 和 ID 见 `pair list`。",
    # phone
    "Look at the virtual phone; --json shows all of it.": "查看虚拟手机；--json 显示全部。",
    "The whole state, for machines.": "完整状态，供程序读取。",
    "Give the virtual phone its first contents again; everything on it is lost.": (
        "让虚拟手机回到最初的内容；上面的一切都会丢失。"
    ),
    "Set the phone's clock to MOMENT (2026-06-15T09:00); without it, follow the real time again.": (
        "把手机的时钟设为 MOMENT（2026-06-15T09:00）；不写则重新跟随真实时间。"
    ),
    "Stop the clock there.": "让时钟停在那里。",
    "Time zone, like Asia/Hong_Kong.": "时区，例如 Asia/Hong_Kong。",
    "Make the phone misbehave, to see what happens; VALUE false ends it.": (
        "让手机出故障，看看会怎样；VALUE 为 false 时结束。"
    ),
    "KIND is denied, ask, dialog (a permission); slow, hang, storage_full (a capability); airplane.": (
        "KIND 是 denied、ask、dialog（针对权限），slow、hang、storage_full（针对能力），或 airplane。"
    ),
    # prompt, tools
    "Show the exact request that TEXT would send, with the size of each part. Nothing is sent or stored.": (
        "查看 TEXT 会发出的完整请求和各部分的大小。不会发送或保存任何东西。"
    ),
    "Where no model is connected it shows what a service would be sent: the offline assistant needs less.": (
        "没有接入模型时，显示接入服务后会发送的内容：离线助手用不了这么多。"
    ),
    "With --tokens the sizes are counted where the package bpe-openai is installed, else estimated.": (
        "用 --tokens 时，装有 bpe-openai 就准确计数，否则估算。"
    ),
    "Only what each part of it costs, tool by tool.": "只看各部分的花费，逐个工具列出。",
    "The request body alone, as it goes on the wire.": "只看请求体，与实际发送的一样。",
    "List the tools by family, or explain NAME: a tool's arguments, effect and needs, or a family's tools.": (
        "按组列出工具，或说明 NAME：一个工具的参数、作用和所需条件，或一个组里的工具。"
    ),
    # serve, status, stop
    "Keep the agent running: one gateway that the terminal, chat apps and schedules share.": (
        "让助手持续运行：终端、聊天软件和定时任务共用一个网关。"
    ),
    "Ctrl-C ends it: running turns have a few seconds, what waits is taken up at the next start.": (
        "按 Ctrl-C 结束：进行中的任务还有几秒，等待中的消息在下次启动时继续。"
    ),
    "Where one runs already, nothing is started twice: with --background that is well (exit code 0, and its number "
    "is printed), so a start script may call it again and again; without, it is an error (1).": (
        "已有网关在运行时不会重复启动：用 --background 时这算成功（退出码 0，并输出其进程号），所以启动脚本可以"
        "反复调用；不用时是错误（1）。"
    ),
    "Detach, and print the process's number once it answers.": "转到后台，有回应后输出进程号。",
    "The exit code is 0 when it runs, 3 when it does not, 1 when it does not answer.": (
        "在运行时退出码为 0，没有运行为 3，没有回应为 1。"
    ),
    "End the gateway: running turns have a few seconds, what waits is kept for the next start.": (
        "结束网关：进行中的任务还有几秒，等待中的消息留到下次启动。"
    ),
    "A gateway that does not answer is told to end, and then killed; the next start closes what it was doing. When "
    "none runs, that is well too.": (
        "没有回应的网关会先被要求结束，再被强制结束；下次启动时会处理它未完成的事。没有网关在运行也没关系。"
    ),
    # sessions
    "All conversations, the last used first; where a gateway runs, also what each of them does.": (
        "全部对话，最近用过的在前；有网关在运行时，还有各自在做什么。"
    ),
    "Those of sub-agents too, below the ones they work for.": "也列出子代理的对话，排在它们所服务的对话下面。",
    "What was said in a conversation.": "一段对话里说过的话。",
    "Every message whole, for machines.": "每条消息的全部内容，供程序读取。",
    "Write a conversation as JSON lines: one message a line.": "把一段对话写成 JSON 行：每行一条消息。",
    "A file instead of stdout.": "写入文件，而不是标准输出。",
    "Delete a conversation, everything said in it and what was attached. Files of its workspace stay.": (
        "删除一段对话、其中所有的话和附件。工作区的文件会保留。"
    ),
    # trash, usage
    "What lies in the trash.": "回收站里的内容。",
    "Move NAME out of the trash to the folder or file TO, which must not exist as a file.": (
        "把 NAME 从回收站移到文件夹或文件 TO；TO 不能是已有的文件。"
    ),
    "Delete for good what lies in the trash.": "彻底删除回收站里的内容。",
    "Show tokens and dollars spent.": "查看用掉的 token 和美元。",
    "“~” marks sums with requests that the service did not count itself.": "“~”表示其中有服务自己没有计数的请求。",
    "day (the default), model, session, turn, purpose or request.": (
        "按什么汇总：day（默认）、model、session、turn、purpose 或 request。"
    ),
    "How far back.": "往前多少天。",
    # memory
    "A number before a change is for `undo`.": "改动前面的编号用于 `undo`。",
    "Bring back what stood there before the last change, or before change NUMBER and all later ones.": (
        "恢复到最后一次改动之前，或第 NUMBER 次改动（及其后全部改动）之前。"
    ),
    "Forget ENTRY: its number, or words of it that no other has.": "忘记 ENTRY：它的编号，或只有它才有的几个字。",
    "How many changes.": "多少次改动。",
    "It asks where that would also take back what you wrote yourself.": "如果也会撤销你自己写的内容，会先询问。",
    "It is one file of yours, MEMORY.md: sections with a line for each thing. The agent adds what you tell it to "
    "remember, and what mattered in your conversations. Whatever you write stays as you wrote it.": (
        "它是你的一个文件 MEMORY.md：分成几节，每件事一行。助手会加入你要它记住的和对话里重要的事。你写的内容保持原样。"
    ),
    "Open MEMORY.md in your editor (EDITOR).": "用你的编辑器（EDITOR）打开 MEMORY.md。",
    "Remember TEXT in every conversation.": "在所有对话里都记住 TEXT。",
    "Show and change what the agent remembers in every conversation.": "查看和更改助手在所有对话里记住的事。",
    "Show and change what the agent remembers.": "查看和更改助手记住的事。",
    "The agent may add to it meanwhile: then both are kept, and you are told.": (
        "期间助手可能也在添加：两者都会保留，并会告诉你。"
    ),
    "Under which heading; without one: Notes.": "放在哪个标题下；不写则是 Notes。",
    "What is remembered, with numbers.": "记住的事，带编号。",
    "Who changed what, and when; the newest first.": "谁在什么时候改了什么；最新的在前。",
    # templates
    "Show and change what every request begins with.": "查看和更改每次请求开头的文字。",
    "Show and change the texts that every request begins with.": "查看和更改每次请求开头的文字。",
    "A copy of your own wins over the built-in text, and stays when PalmClaw is updated.": (
        "你自己的副本优先于自带的文字，更新 PalmClaw 时会保留。"
    ),
    "Which there are, and which of them are yours.": "有哪些，其中哪些是你自己的。",
    "The text of NAME as it is sent: without comments, with everything filled in.": (
        "NAME 发送时的文字：去掉注释，填好占位。"
    ),
    "A text that cannot be used is kept beside it, and opened the next time.": "不能用的文字会保留在旁边，下次再打开。",
    "Open your copy of NAME in your editor (EDITOR); it is made when you save something else than is there.": (
        "用你的编辑器（EDITOR）打开 NAME 的副本；保存了不同的内容才会建立。"
    ),
    "How your copy of NAME differs from the built-in text of this version.": "你的 NAME 副本与此版本自带文字的差别。",
    "Use the built-in text of NAME again; your copy goes into the trash.": (
        "重新使用 NAME 自带的文字；你的副本进入回收站。"
    ),
    # palmclaw skills
    "Show, write, install and switch skills.": "查看、编写、安装和启停技能。",
    "Show, write, install and switch skills: instructions that the agent reads when a matter calls for them.": (
        "查看、编写、安装和启停技能：遇到相关的事时助手会读的说明。"
    ),
    "A skill is a folder with a SKILL.md in it. Yours lie in the folder skills of your home; the agent may write some "
    "into the folder of a conversation, and those do nothing until you look at them and switch them on.": (
        "技能是一个含有 SKILL.md 的文件夹。你的技能在主目录的 skills 文件夹里；助手可能在对话的文件夹里写技能，"
        "在你看过并启用之前它们不起作用。"
    ),
    "All skills, which of them are in use, and why the others are not.": "所有技能：哪些在用，其余的为什么没用。",
    "Also in place of one from elsewhere.": "也可代替来自别处的同名技能。",
    "Do not ask: install it and switch it on.": "不询问：安装并启用。",
    "Install a skill from a folder, a zip, a git repository or ClawHub, after you have looked at what is in it.": (
        "从文件夹、zip、git 仓库或 ClawHub 安装技能；先让你看看里面有什么。"
    ),
    "Leave it switched off.": "保持停用。",
    "Look into the skill NAME, or a folder or zip with one: what is wrong, what it needs, what may do harm.": (
        "检查技能 NAME，或含有技能的文件夹、zip：哪里不对，需要什么，可能有什么危害。"
    ),
    "Move your skill NAME into the trash, from where you can take it back.": (
        "把你的技能 NAME 移到回收站，可以再拿回来。"
    ),
    "NAME may be a folder.": "NAME 可以是文件夹。",
    "One of yours that is in a built-in one's place gives that back.": "如果它代替了内置技能，内置的会恢复。",
    "Switch the skill NAME off.": "停用技能 NAME。",
    "Switch the skill NAME on; for one of a conversation, as it is now.": (
        "启用技能 NAME；对话里的技能按现在的样子启用。"
    ),
    "What it is for, and when.": "它做什么、什么时候用。",
    "What the skill NAME says, where it lies, and whether it is in use.": "技能 NAME 的内容、位置，以及是否在用。",
    "Which one, where there are several.": "有多个时选哪一个。",
    "Write a skeleton of a skill NAME for you to fill in. It is off until you switch it on.": (
        "写一个技能 NAME 的框架，由你填写。启用之前不起作用。"
    ),
}
