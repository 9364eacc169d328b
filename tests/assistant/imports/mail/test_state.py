"""Read, flagged, sent, spam: what mail programs say of a mail besides its words."""

import pytest

from ctrag.assistant.imports.mail.folder_names import of_imap
from ctrag.assistant.imports.mail.options import MailOptions
from ctrag.assistant.imports.mail.state import (
    MailState,
    of_emlx,
    of_flags,
    of_folder,
    of_maildir,
)
from ctrag.assistant.imports.mails import read_mail
from tests.assistant.imports.mail.conftest import NORA, letter, mbox, read_all


@pytest.mark.parametrize(
    ("headers", "unread", "flagged"),
    [
        ({}, True, False),
        ({"status": "RO"}, False, False),
        ({"status": "O"}, True, False),
        ({"status": "RO", "x_status": "AF"}, False, True),
        ({"x_gmail_labels": "Inbox,Opened"}, False, False),
        ({"x_gmail_labels": "Inbox,Unread,Starred"}, True, True),
        ({"x_gmail_labels": '"Trips, boats",Starred'}, False, True),
        ({"x_gmail_labels": "=?UTF-8?Q?Posteingang,Ge=C3=B6ffnet?="}, False, False),
        ({"x_gmail_labels": "Posteingang,Ungelesen,Markiert"}, True, True),
        ({"x_gmail_labels": "=?UTF-8?B?Qm/DrnRlIGRlIHLDqWNlcHRpb24sTm9uIGx1cw==?="}, True, False),
        ({"x_gmail_labels": "=?UTF-8?Q?Innboks,?=\n =?UTF-8?Q?Ulest,Stjernemerket?="}, True, True),
        ({"x_mozilla_status": "0001", "x_mozilla_status2": "00000000"}, False, False),
        ({"x_mozilla_status": "0000"}, True, False),
        ({"x_mozilla_status": "0005"}, False, True),
        ({"x_mozilla_status": "nonsense"}, True, False),
        ({"x_keywords": "\\Flagged NonJunk"}, True, True),
    ],
)
def test_read_and_flagged_are_as_the_program_says(
    headers: dict[str, str], unread: bool, flagged: bool
) -> None:
    [mail], _ = read_all(mbox(letter(**headers)))
    assert (mail.flag("unread"), mail.flag("flagged")) == (unread, flagged)


@pytest.mark.parametrize(
    ("headers", "kind"),
    [
        ({"x_gmail_labels": "Spam,Unread"}, "spam"),
        ({"x_gmail_labels": "Papierkorb"}, "deleted"),
        ({"x_gmail_labels": "=?UTF-8?Q?Entw=C3=BCrfe?="}, "drafts"),
        ({"x_gmail_labels": "Chat"}, "chats"),
        ({"x_gmail_labels": "Corbeille,Ouvert"}, "deleted"),
        ({"x_gmail_labels": "Κάδος απορριμμάτων"}, "deleted"),
        ({"x_gmail_labels": "已刪除"}, "deleted"),
        ({"x_mozilla_status": "0009"}, "deleted"),
        ({"x_mozilla_status": "0001", "x_mozilla_status2": "00200000"}, "deleted"),
        ({"x_mozilla_status": "0001", "x_mozilla_keys": "junk"}, "spam"),
        ({"status": "RO", "x_status": "D"}, "deleted"),
        ({"x_status": "T"}, "drafts"),
        ({"x_keywords": "$Junk"}, "spam"),
        ({"x_spam_flag": "YES"}, "spam"),
        ({"x_unsent": "1"}, "drafts"),
        ({"x_uniform_type_identifier": "com.apple.mail-draft"}, "drafts"),
    ],
)
def test_spam_drafts_deleted_and_chats_are_left_out_unless_asked_for(
    headers: dict[str, str], kind: str
) -> None:
    data = mbox(letter(**headers))
    items, [left] = read_all(data)
    assert items == []
    assert (left.kind, left.what, left.source, left.lost) == ("mail", "Quay", "post.mbox", True)
    assert left.on_purpose
    assert f"left out unless `{kind}` is asked for" in left.why
    [mail], nothing = read_all(data, options=MailOptions(frozenset({kind})))  # type: ignore[arg-type]
    assert mail.text("subject") == "Quay"
    assert nothing == []


def test_a_mail_that_gmail_keeps_in_the_inbox_is_no_spam() -> None:
    assert len(read_all(mbox(letter(x_gmail_labels="Inbox", x_spam_flag="YES")))[0]) == 1


def test_an_unknown_kind_is_refused() -> None:
    with pytest.raises(
        ValueError, match="mail: must be of spam, deleted, drafts, chats, not 'ham'"
    ):
        MailOptions(frozenset({"ham"}))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("folders", "kinds", "sent"),
    [
        (["Inbox"], set(), False),
        (["Local Folders", "Sent-1"], set(), True),
        (["[Gmail]/Gesendet"], set(), True),
        ([".Junk"], {"spam"}, False),
        (["INBOX.Trash"], {"deleted"}, False),
        (["Brouillons"], {"drafts"}, False),
        (["Trash talk"], set(), False),
        (["All mail Including Spam and Trash"], set(), False),
        (["ゴミ箱"], {"deleted"}, False),
        (["Junk (1)"], {"spam"}, False),
        (["Vorlagen"], {"drafts"}, False),
        (["Boîte d'envoi"], {"drafts"}, False),
        (["Bulk"], {"spam"}, False),
        (["Conversation History"], {"chats"}, False),
        ([".Entw&APw-rfe"], {"drafts"}, False),
        (["INBOX.&AMk-l&AOk-ments supprim&AOk-s"], {"deleted"}, False),
        (["&BBoEPgRABDcEOAQ9BDA-"], {"deleted"}, False),
        (["Entwu\u0308rfe"], {"drafts"}, False),
        (["Entwürfe".encode().decode("cp437")], {"drafts"}, False),
        (["Bits &- pieces", "R&D-", "&!!-"], set(), False),
    ],
)
def test_folders_say_what_their_mails_are(folders: list[str], kinds: set[str], sent: bool) -> None:
    state = of_folder(folders)
    assert (set(state.kinds), state.sent) == (kinds, sent)


def test_a_label_of_a_common_word_is_the_persons_own() -> None:
    [mail], _ = read_all(mbox(letter(x_gmail_labels="Templates,Bulk")))
    assert mail.text("subject") == "Quay"


@pytest.mark.parametrize(
    ("coded", "name"),
    [
        ("Entw&APw-rfe", "Entwürfe"),
        ("Bits &- pieces", "Bits & pieces"),
        ("&ZeVnLIqe-", "日本語"),
        ("&2D3eAA-", "😀"),
        ("&2D0-", "&2D0-"),
        ("R&D", "R&D"),
    ],
)
def test_the_names_of_imap_are_read_or_stay(coded: str, name: str) -> None:
    assert of_imap(coded) == name


def test_mails_of_ones_own_are_read() -> None:
    for headers in (
        {"From": "Nora Voss <NORA@example.org>"},
        {"x_gmail_labels": "Sent,Unread"},
    ):
        [mail], _ = read_all(mbox(letter(**headers)))
        assert not mail.flag("unread")


@pytest.mark.parametrize(
    ("name", "fresh", "expected"),
    [
        ("1795541400.M1.quay:2,FS", False, MailState(False, True)),
        ("1795541400.M1.quay:2,", False, MailState(True, False)),
        ("1795541400.M1.quay;2,S", False, MailState(False, False)),
        ("1795541400.M1.quay", True, MailState(True, False)),
        ("1795541400.M1.quay:2,ST", False, MailState(False, False, kinds=frozenset({"deleted"}))),
        ("1795541400.M1.quay:2,DS", False, MailState(False, False, kinds=frozenset({"drafts"}))),
    ],
)
def test_names_in_a_maildir_carry_flags(name: str, fresh: bool, expected: MailState) -> None:
    assert of_maildir(name, fresh) == expected


def test_flags_of_a_server_and_of_apple_mail_are_understood() -> None:
    assert of_flags(["\\Seen", "\\Flagged"]) == MailState(False, True)
    assert of_flags(["$Junk"]) == MailState(True, False, kinds=frozenset({"spam"}))
    assert of_emlx(1 | 1 << 4) == MailState(False, True)
    assert of_emlx(1 << 1).kinds == {"deleted"}
    assert of_emlx(1 << 6).kinds == {"drafts"}


def test_a_mail_that_was_read_from_a_server_has_the_servers_flags() -> None:
    [mail] = read_mail(letter().encode(), NORA, state=of_flags(["\\Flagged"])).items
    assert mail.flag("unread")
    assert mail.flag("flagged")
