"""Which script plays for which intent."""

from collections.abc import Mapping

from palmclaw.providers.offline import agenda, papers, people, phone, sounds
from palmclaw.providers.offline.said import Said, ScriptOf
from palmclaw.providers.offline.script import Script


def plainly(key: str) -> ScriptOf:
    """An answer that needs no tool."""

    def script(said: Said) -> Script:
        yield from ()
        return said.say(key)

    return script


def list_tools(said: Said) -> Script:
    yield from ()
    names = said.say.listed(said.tools)
    return said.say("tools", count=len(said.tools), names=names) if said.tools else said.say("tools_none")


SCRIPTS: Mapping[str, ScriptOf] = {
    "battery": phone.battery,
    "storage": phone.storage,
    "network": phone.network,
    "time": phone.time,
    "date": phone.date,
    "torch_on": phone.switch("torch", True),
    "torch_off": phone.switch("torch", False),
    "torch_asked": phone.torch_asked,
    "brightness": phone.level("brightness"),
    "media_volume": phone.level("media_volume"),
    "mute_all": phone.mute_all,
    "ring_volume": phone.level("ring_volume"),
    "alarm_volume": phone.level("alarm_volume"),
    "ringer": phone.ringer,
    "dnd": phone.switch("dnd", True),
    "battery_saver": phone.switch("battery_saver", True),
    "clipboard_get": phone.clipboard_get,
    "clipboard_set": phone.clipboard_set,
    "location": phone.location,
    "wifi_on": phone.switch("wifi", True),
    "wifi_off": phone.switch("wifi", False),
    "open_app": phone.open_app,
    "list_apps": phone.list_apps,
    "notify": phone.notify,
    "notifications": phone.notifications,
    "open_page": phone.open_page,
    "weather": phone.weather,
    "contact_find": people.contact_find,
    "contact_add": people.contact_add,
    "text_someone": people.text_someone,
    "call_someone": people.call_someone,
    "unread_messages": people.unread_messages,
    "recent_messages": people.recent_messages,
    "calls": people.calls,
    "events_today": agenda.events_in(0),
    "events_tomorrow": agenda.events_in(1),
    "events_on_day": agenda.events_on_day,
    "next_event": agenda.next_event,
    "create_event": agenda.create_event,
    "delete_event": agenda.delete_event,
    "list_files": papers.list_files,
    "read_file": papers.read_file,
    "write_file": papers.write_file,
    "append_file": papers.append_file,
    "find_files": papers.find_files,
    "search_files": papers.search_files,
    "remember": papers.remember,
    "forget": papers.forget,
    "what_do_you_know": papers.what_do_you_know,
    "play_music": sounds.play_music,
    "pause_music": sounds.pause_music,
    "list_photos": sounds.list_photos,
    "record_start": sounds.record_start,
    "record_stop": sounds.record_stop,
    "bluetooth_on": sounds.bluetooth(True),
    "bluetooth_off": sounds.bluetooth(False),
    "bluetooth_connect": sounds.bluetooth_connect,
    "bluetooth_disconnect": sounds.bluetooth_disconnect,
    "bluetooth_list": sounds.bluetooth_list,
    "alarm_set": sounds.alarm_set,
    "reminder": sounds.reminder,
    "timer_set": sounds.timer_set,
    "alarms_list": sounds.alarms_list,
    "list_tools": list_tools,
    "help": plainly("help"),
    "greeting": plainly("hello"),
    "thanks": plainly("welcome"),
    "bye": plainly("bye"),
}
