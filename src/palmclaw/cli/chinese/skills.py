"""What is wrong with skills, and what to do about it, by the English pattern: {} is whatever stands there."""

CHINESE = {
    # the command
    "it cannot be used: {}": "它不能用：{}",
    "it is no skill that can be used: {}": "这不是能用的技能：{}",
    "there is no skill {}; see palmclaw skills list": "没有技能 {}；见 palmclaw skills list",
    "{} is built in; to switch it off: palmclaw skills disable {}": "{} 是内置的；要停用：palmclaw skills disable {}",
    "{} conversations have a skill of that name; name its folder:\n{}": (
        "有 {} 个对话里有这个名字的技能；请写出它的文件夹：\n{}"
    ),
    # why one is not in use
    "it is switched off": "已停用",
    "palmclaw skills enable {}": "palmclaw skills enable {}",
    "palmclaw skills disable {}": "palmclaw skills disable {}",
    "palmclaw skills check {}": "palmclaw skills check {}",
    "To put it in its place: {}": "要用它代替：{}",
    "To put it in its place: palmclaw skills enable {}": "要用它代替：palmclaw skills enable {}",
    "your own skill of this name is in its place": "你自己的同名技能代替了它",
    "a built-in skill has this name": "有同名的内置技能",
    "another skill has this name": "有同名的技能",
    "another skill has this name, and one of a workspace never takes its place": (
        "有同名的技能，对话里的技能不会代替别的"
    ),
    "you have not approved it": "你还没有同意使用它",
    "it has changed since you approved it": "在你同意之后它被改过",
    "what you decided about skills cannot be read": "读不出你对技能的决定",
    "Mend or delete skills.json.": "请修改或删除 skills.json。",
    "the program {} is not installed": "没有安装程序 {}",
    "none of the programs {} is installed": "这些程序都没有安装：{}",
    "the variable {} is not set": "没有设置变量 {}",
    "it is for {} only": "它只用于 {}",
    "this phone cannot do {}": "这台手机做不到 {}",
    # what is wrong with a file
    "{}, line {#}": "{} 第 {} 行",
    "is empty": "是空的",
    "is missing": "不存在",
    "is missing{}": "不存在{}",
    "is missing: rename {}": "不存在：请把 {} 改名",
    "is no regular file": "不是普通文件",
    "cannot be read: {}": "读不了：{}",
    "has {} bytes; at most {}": "有 {} 字节；最多 {}",
    "has {} bytes; at most {} in a workspace": "有 {} 字节；在对话里最多 {}",
    "has more than {} files": "文件超过 {} 个",
    "is {}; a skill holds files and folders only": "是{}；技能里只能有文件和文件夹",
    "a link": "链接",
    "a special file": "特殊文件",
    "changes while it is read": "在读的时候变了",
    "is no {} text: save it as UTF-8": "不是 {} 文本：请存为 UTF-8",
    "the line --- before it is missing: begin with ---, name: …, description: …, and --- again": (
        "前面缺少 --- 一行：请以 ---、name: …、description: …、再一个 --- 开头"
    ),
    "it has no front matter: begin with ---, name: …, description: …, and --- again": (
        "没有开头部分：请以 ---、name: …、description: …、再一个 --- 开头"
    ),
    "the front matter that begins here never ends: write --- after it": "这里的开头部分没有结束：请在后面写 ---",
    "the front matter has more than {} characters": "开头部分超过 {} 个字符",
    "the front matter is no table: write name: …, description: …": "开头部分不是表：请写 name: …、description: …",
    "no YAML: {}": "不是 YAML：{}",
    "{}: begin with ---, name: …, description: …, and --- again": (
        "{}：请以 ---、name: …、description: …、再一个 --- 开头"
    ),
    "no YAML: a value is not what it looks like; put it between quotes": "不是 YAML：有个值不是看上去那样；请加上引号",
    "is nested too deeply": "嵌套太深",
    "references (*name) are not taken": "不接受引用（*name）",
    "read as if it were quoted; put the text after the first colon between quotes": (
        "按加了引号来读；请给第一个冒号后的文字加上引号"
    ),
    "line {#}": "第 {} 行",
    "{} is missing": "缺少 {}",
    "name is missing; read as {}": "缺少 name；按 {} 来读",
    "{} has {} characters; at most {}": "{} 有 {} 个字符；最多 {}",
    "{} must be a text, and is {}; put it between quotes": "{} 必须是文字，现在是 {}；请加上引号",
    "{} must be a list of texts, and is {}": "{} 必须是文字列表，现在是 {}",
    "{} must be a table, and is {}": "{} 必须是表，现在是 {}",
    "{} must be true or false": "{} 必须是 true 或 false",
    "name is {}; it may hold small letters, digits and single hyphens between them": (
        "name 是 {}；只能有小写字母、数字和它们之间的单个连字符"
    ),
    "name is {}, but the folder is called {}: rename one of them": "name 是 {}，但文件夹叫 {}：请改其中一个",
    # what is not installed
    "there is no {} in it": "里面没有 {}",
    "there is no SKILL.md in it": "里面没有 SKILL.md",
    "A skill is a folder with a SKILL.md.": "技能是含有 SKILL.md 的文件夹。",
    "there is no skill {} in it; there are: {}": "里面没有技能 {}；有：{}",
    "there are {} skills in it: {}": "里面有 {} 个技能：{}",
    "Choose one: --skill NAME": "请选一个：--skill 名称",
    "you have no skill {} of your own": "你没有自己的技能 {}",
    "palmclaw skills list": "palmclaw skills list",
    "palmclaw skills show {}": "palmclaw skills show {}",
    "the name {}": "名称 {}",
    "there is a skill {} already": "已经有技能 {}",
    "there is a skill {} already, from elsewhere": "已经有来自别处的技能 {}",
    "First: palmclaw skills remove {}": "请先：palmclaw skills remove {}",
    "{} changes while it is read": "{} 在读的时候变了",
    "it has more than {} files": "文件超过 {} 个",
    "it is larger than {} bytes": "大于 {} 字节",
    "it is encrypted": "它加了密",
    "it has two files of the name {}": "有两个文件叫 {}",
    "{} is no zip that can be read": "{} 不是能读的 zip",
    "{} unfolds to more than it should": "{} 解开后过大",
    "it holds {}, {}": "里面有{} {}",
    "the name {} is not one of a file in a folder": "名称 {} 不是文件夹里的文件",
    "the name {} leads out of its folder, or too deep": "名称 {} 指到文件夹外面，或者太深",
    "Is the disk full?": "磁盘满了吗？",
    # where it comes from
    "{}: only https addresses are taken": "{}：只接受 https 地址",
    "{}: only https addresses are downloaded from": "{}：只从 https 地址下载",
    "a user name or key inside an address is not taken": "地址里不能有用户名或密钥",
    "Name a folder, a zip, an https address of a git repository, or clawhub:NAME.": (
        "请写文件夹、zip、git 仓库的 https 地址，或 clawhub:名称。"
    ),
    "there is no {}": "没有 {}",
    "git could not fetch {}: {}": "git 取不到 {}：{}",
    "Check the address and the network.": "请检查地址和网络。",
    "git cannot be started": "启动不了 git",
    "Install it: pkg install git, or apt install git": "请安装：pkg install git，或 apt install git",
    "{} is no name of a skill at ClawHub": "{} 不是 ClawHub 上的技能名",
    "It looks like: clawhub:trip-packing": "写法如：clawhub:trip-packing",
    "the registry knows no skill of that name": "技能库里没有这个名字的技能",
    "Look it up at the registry's site.": "请到技能库的网站上查。",
    "the registry asks to slow down": "技能库要求慢一点",
    "Try again in a minute.": "请一分钟后再试。",
    "{} answered {}": "{} 回答 {}",
    "Try again later.": "请稍后再试。",
    "{} redirects in a circle": "{} 来回跳转",
    "{} took too long": "{} 太久没有回应",
    "the registry": "技能库",
    "Check the network, and try again.": "请检查网络后再试。",
    "cannot reach {}: {}": "连不上 {}：{}",
    "the registry's answer cannot be read": "读不懂技能库的回答",
    "the registry's answer is too long": "技能库的回答太长",
    "Is this the address of a ClawHub registry? See PALMCLAW_CLAWHUB.": (
        "这是 ClawHub 技能库的地址吗？见 PALMCLAW_CLAWHUB。"
    ),
    "what came is not what the registry promised: its digest is another": "收到的与技能库说的不符：摘要不同",
    "It says which skills are on. Mend it, or delete it.": "它记录哪些技能已启用。请修改或删除它。",
}
