"""One form for the many ways to write the same: traditional characters, "telephone", "gonna".

A folded sentence is matched; the words of its slots are taken from the original, so each character keeps its place.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

# Frequent traditional characters and the simplified ones that stand in the templates, one below the other.
_TRADITIONAL = (
    "開關閉電燈筒機網絡線連接藍牙設備聲響鈴鬧鐘計時間點後從會議給發傳訊簡單話號碼聯係繫人錄檔資夾檢視顯示"
    "讀寫記錄憶體儲內容還剩餘幾個這裡裏裡面麼嗎請幫麻煩將調為滿請問靜震動轉換應該應用"
    "氣溫預報雨風圖片張攝歌樂曲暫停繼續備忘剛復複製貼剪簿詢問經緯處歲當現實無線勿擾"
    "擋擾螢幕亮極數據雲聽說讓對過個兩週禮拜號緊盡遠離約飯車門學習醫師銀行買賣東西運動員書報紙頭條條項務處"
    "辦樣麽們誰妳您嚴確認證據達頻選擇啟啓啟閃爍進來時長專註層級遲鐵雙單獨與賬戶飛馬魚鳥黃紅綠藍飲歡聖誕節慶"
    "幣價錢顧擔覺認識訂購購買檢查幹嘛囉喲臺灣東區縣廣場隊組織練習試驗題標簽稱謂連結結束終於斷開關"
    "傷勁勞勝勸務勳協卻廳參報壓壞壯報塊夠夢奪奮妝媽婦孫寧寶實審寫寬將專尋導層岡島嶺帥師帶幫廟廢張強彎彈徑態"
    "憂憶應戰戲擁據擊擔擠攜敗敘數斷於暈曬歷歲殺氣決沒況減測湯溝滅濕灣無爺牆獎獨獲環療發盤睜禮種積穩"
    "窗簾筆節範籃糧糾紀級納純紙細終經綁網綜緒線緣編練總績繞聞職肅腦臉臨舊艙藝蘋蘭蟲術衛裝補製複見規視親"
    "觀覽觸計訓記許訴診詞詩話誤課調談諾謝識譯譜議護讀變讓豐財貨費貼資賽趕跡蹤軟較輕輛輪輸轉農邊遞適還郵"
    "鄰釋針鋼鎖鍵錯錶鏡鐵門閱際陽陰陳階隨雜雞難雲電靈韓頁順須頓預領頭頻顏類風飄養館駕騎驗驚驟鬆鬥魚鮮麗黨齊龍"
)
_SIMPLIFIED = (
    "开关闭电灯筒机网络线连接蓝牙设备声响铃闹钟计时间点后从会议给发传讯简单话号码联系系人录档资夹检视显示"
    "读写记录忆体储内容还剩余几个这里里里面么吗请帮麻烦将调为满请问静震动转换应该应用"
    "气温预报雨风图片张摄歌乐曲暂停继续备忘刚复复制贴剪簿询问经纬处岁当现实无线勿扰"
    "挡扰荧幕亮极数据云听说让对过个两周礼拜号紧尽远离约饭车门学习医师银行买卖东西运动员书报纸头条条项务处"
    "办样么们谁你您严确认证据达频选择启启启闪烁进来时长专注层级迟铁双单独与账户飞马鱼鸟黄红绿蓝饮欢圣诞节庆"
    "币价钱顾担觉认识订购购买检查干嘛啰哟台湾东区县广场队组织练习试验题标签称谓连结结束终于断开关"
    "伤劲劳胜劝务勋协却厅参报压坏壮报块够梦夺奋妆妈妇孙宁宝实审写宽将专寻导层冈岛岭帅师带帮庙废张强弯弹径态"
    "忧忆应战戏拥据击担挤携败叙数断于晕晒历岁杀气决没况减测汤沟灭湿湾无爷墙奖独获环疗发盘睁礼种积稳"
    "窗帘笔节范篮粮纠纪级纳纯纸细终经绑网综绪线缘编练总绩绕闻职肃脑脸临旧舱艺苹兰虫术卫装补制复见规视亲"
    "观览触计训记许诉诊词诗话误课调谈诺谢识译谱议护读变让丰财货费贴资赛赶迹踪软较轻辆轮输转农边递适还邮"
    "邻释针钢锁键错表镜铁门阅际阳阴陈阶随杂鸡难云电灵韩页顺须顿预领头频颜类风飘养馆驾骑验惊骤松斗鱼鲜丽党齐龙"
)
_COLON = re.compile(r"(?<![0-9])[:：](?!//)|(?<=[0-9])[:：](?![0-9/])")
_SPACE_AT_CJK = re.compile(r"(?<=[\u3000-\u9fff\uff00-\uffef])\s+|\s+(?=[\u3000-\u9fff\uff00-\uffef])")
MARK = "ː"  # stands for a colon, which hassil would drop; it must be a letter to be found at a word's edge


def simplified(text: str) -> str:
    """The text with its frequent traditional characters simplified; every character keeps its place."""
    return text.translate(_table())


@cache
def _table() -> dict[int, int]:
    return {ord(t): ord(s) for t, s in zip(_TRADITIONAL, _SIMPLIFIED, strict=True) if t != s}


@dataclass(frozen=True, slots=True)
class Folding:
    """The words that one language writes in several ways: a pattern for each group, and the word for it."""

    language: str
    pattern: "re.Pattern[str] | None" = None
    words: tuple[str, ...] = ()

    def folded(self, sentence: str) -> tuple[str, list[int]]:
        """The sentence as hassil matches it, and for each of its characters the place in the original."""
        found = {m.start(): m for m in self.pattern.finditer(sentence)} if self.pattern else {}
        text = simplified(sentence) if self.language == "zh" else sentence
        dropped = _dropped(sentence, self.language)
        chars: list[str] = []
        offsets: list[int] = []
        at = 0
        while at < len(sentence):
            match = found.get(at)
            end = match.end() if match else at + 1
            piece = self.words[(match.lastindex or 1) - 1] if match else dropped.get(at, text[at])
            chars.append(piece)
            offsets += [min(at + n, end - 1) for n in range(len(piece) - 1)] + [end - 1] * bool(piece)
            at = end
        return "".join(chars), [*offsets, len(sentence)]


def folding(language: str, written: Mapping[str, str]) -> Folding:
    """From the `folds` of a data file: `"gonna|goin to" = "going to"`."""
    if not written:
        return Folding(language)
    pattern = "|".join(f"({words})" for words in written)
    return Folding(language, re.compile(rf"\b(?:{pattern})\b", re.IGNORECASE), tuple(written.values()))


def _dropped(sentence: str, language: str) -> dict[int, str]:
    """The single characters that are written otherwise: colons, quotes, and in Chinese commas and gaps."""
    mark = MARK if language == "zh" else f" {MARK} "
    same = {"‘": "'", "’": "'", ",": "，" if language == "zh" else ","}
    changed = {at: same[char] for at, char in enumerate(sentence) if char in same}
    changed |= {m.start(): mark for m in _COLON.finditer(sentence)}
    if language == "zh":
        changed |= {at: "" for m in _SPACE_AT_CJK.finditer(sentence) for at in range(*m.span())}
    return changed
