"""Whether a tool's text speaks to the model in place of describing the tool.

What is an order: to set aside instructions, to hide from the user what is done, to read or hand
over secrets or the conversation, to be somebody else. What is none: a prerequisite ("call
`resolve_library` before this tool"), advice on results ("do not show the user the raw ID"), a
preference between tools. A sentence may begin with a bare imperative, since tools are described so
("Fetch all messages of a chat"): such a one is an order only with a file of secrets, or where it
says to whom outside, or in which argument, what was said is to go. Judged by sentences, so that
words of two of them do not add up.

English is known. Of other languages only the commonest order, to set aside one's instructions, in
those under "other languages" below; a text without a mark in any other one is not thereby harmless.
"""

import re

_SENTENCE = re.compile(r"(?<=[.!?。！？])\s+|\n+|;\s+")

_NOT = r"(?:do\s+not|don['’]t|never|must\s*n[o'’]t|must\s+not|should\s+not|shouldn['’]t|without)"
_PERSON = (
    r"(?:the\s+|your\s+|any\s+)?(?:end[\s-]?)?(?:users?|humans?|person|operator|customer|them)"
)
_TOPIC = (
    r"(?:this|that|it|these|those|anything|what|why|how|where|any\s+of|about|because|you(?:r)?\b"
    r"|the\s+(?:fact|step|instruction|reason|request|call|action|change|transfer)s?)"
)
_GIVEN = r"(?:instructions?|prompts?|guidelines?|directives?|guardrails?)"
_KEY_FILE = (
    r"(?:~/\.\w|\.ssh\b|\bid_(?:rsa|ed25519)\b|/etc/(?:passwd|shadow)\b|\bmcp\.json\b"
    r"|\.aws/credentials\b|\.netrc\b)"
)
"""Files that hold secrets and little else."""
_HELD = r"(?:\w+\s+)?(?:private\s+keys?|passwords?|environment\s+variables|cookies|credentials)\b"
_SECRET = rf"(?:{_KEY_FILE}|(?<![\w.])\.env\b|\b(?:user['’]?s?|your|all|their)\s+{_HELD})"
_WHOLE = r"(?:(?:a\s+copy|a\s+summary|the\s+contents?|the\s+text|the\s+whole)\s+of\s+)?"
_TALK = (
    r"(?:(?:the\s+|this\s+|our\s+|whole\s+|entire\s+|full\s+|all\s+)*"
    r"(?:conversation|chat\s+(?:history|log)|context\s+window|dialogue)"
    r"|(?:(?:all|any|every|previous|earlier|prior)\s+(?:of\s+)?)+(?:the\s+|other\s+|user['’]?s?\s+)*"
    r"(?:messages?|credentials|secrets?|(?:api\s+)?keys|passwords|tool\s+results))"
)
_AWAY = (
    r"(?:send|forward|upload|post|transmit|exfiltrate|e-?mail|bcc|leak|append|copy|paste|submit)"
)
_TAKE = r"(?:read|cat|open|load|include|pass|provide|fetch|print|attach|give|put|add)"
_HAND = r"(?:send|append|copy|paste|submit|include|pass|provide|attach|give|put|add)"
_ARGUMENT = r"(?:the\s+|this\s+)?(?:[`'\"]\w+[`'\"]|\w+)\s+(?:argument|parameter|field)\b"
_OUTSIDE = r"(?:https?://|[^\s@]{1,64}@\w|\battacker)"
_MODEL = (
    r"(?:(?:\b(?:you|agents?|assistants?|models?|ai)\s+(?:must|should|have\s+to|need\s+to)"
    r"|(?:^|[,:]\s*)(?:must|always|please)|^(?:also|first|now|then|instead)\b,?)\s+"
    r"(?:(?:always|also|first|please|then)\s+)*)"
)
"""Words that speak to the model, or to whoever reads."""
_START = r"(?:^|\b(?:you\s+must|must|always|please|first|then|and|also|instead|now|to)\s+|[,:]\s*)"

_ORDERS = re.compile(
    rf"""
      # set aside what was said before
      \b(?:ignore|disregard|forget|override|bypass|overrule)\b
        [^.]{{0,30}}?\b(?:all|any|every|your|previous|prior|earlier|above|preceding|other
          |system|user['’]?s?)\b
        [^.]{{0,30}}?\b{_GIVEN}\b
    | \b(?:ignore|disregard|forget|override|bypass|overrule)\b
        [^.]{{0,30}}?\b(?:your|previous|prior|earlier|preceding|safety)\b[^.]{{0,30}}?\brules?\b
    | \b(?:ignore|disregard|forget)\s+(?:everything|anything|all|whatever|what)\b
        [^.]{{0,30}}?\b(?:above|before|previous(?:ly)?|prior|earlier|told|said|learned)\b
    | \b(?:ignore|disregard|forget)\s+(?:all\s+|everything\s+)?(?:of\s+)?the\s+(?:above
          |previous\s+text)\b
    | \b(?:ignore|disregard|forget|override|bypass)\s+(?:(?:the|all|any|every|of)\s+){{0,3}}
          (?:{_GIVEN}|rules?)\s+(?:above|before|given|of\s+the\s+user|you)\b
    | \bnew\s+(?:system\s+)?instructions?\s*:
    | \bfrom\s+now\s+on\b[^.]{{0,20}}\b(?:you|always|never|ignore|send|respond|answer)\b
    | \byou\s+are\s+(?:now|no\s+longer)\s+(?:an?|the|in|bound|required|restricted)\b
    | \b(?:act|behave|pretend)\s+(?:as|to\s+be)\s+(?:if\s+you\s+|an?\s+)?(?:unrestricted
          |different|another|jailbroken|root|administrator|were|are)\b
    # the model's own instructions
    | \b(?:print|reveal|repeat|output|show|leak|return|include|disclose|dump|copy|paste
          |expose|tell|send)s?\b
        [^.]{{0,40}}?\b(?:your|the|its|hidden)\s+(?:\w+\s+)?(?:system|developer|initial)\s+
          (?:prompt|message|instruction)s?\b
    | \byour\s+(?:system|developer|initial)\s+(?:prompt|message|instruction)s?\b
    | </?\s*(?:system|important|instructions?|assistant|tool_call|secret|user)\s*>
    # hide from the user
    | \b{_NOT}\s+(?:ever\s+)?(?:tell|telling|inform|informing|notify|notifying|alert|alerting
          |warn|warning)\s+
        {_PERSON}\s*(?:$|[.!,)]|\b(?:that|about|of|what|why|how|where|when|anything|this
          |these|before|if|either)\b)
    | \b{_NOT}\s+(?:ever\s+)?(?:mention|reveal|disclose|show|display|say|admit|explain|report
          |mentioning|revealing|disclosing)\s+
        (?:to\s+{_PERSON}\s+)?{_TOPIC}\b[^.]{{0,60}}?\b(?:{_PERSON}|anyone|anybody)\b
    | \b{_NOT}\s+(?:ever\s+)?(?:mention|reveal|disclose|admit|say)\s+to\s+{_PERSON}\s+{_TOPIC}
    | \b(?:keep|hide|conceal|withhold)\s+(?:this|it|that|these|all\s+of\s+this|the\s+(?:step
          |call|instruction|transfer)s?)\b
        [^.]{{0,30}}?\b(?:secret|hidden|confidential)?\s*\bfrom\s+{_PERSON}
    | \bkeep\s+(?:this|it|that)\s+(?:a\s+)?secret\b
    | \b(?:secretly|covertly|behind\s+the\s+user['’]s\s+back|without\s+the\s+user['’]?s?\s+
          (?:knowledge|noticing|knowing))\b
    # read secrets, hand over what was said
    | {_START}{_TAKE}\s+(?:(?!\b(?:e\.g|for\s+example|such\s+as|default)).){{0,60}}?{_KEY_FILE}
    | \b{_AWAY}\s+(?:(?!\b(?:e\.g|for\s+example)).){{0,60}}?{_KEY_FILE}
    | \b{_AWAY}\s+[^.]{{0,60}}?\b(?:user['’]s|your|their)\s+{_HELD}
    | \b{_AWAY}\s+.{{0,60}}?{_SECRET}.{{0,60}}?{_OUTSIDE}
    | {_MODEL}(?:{_TAKE}|{_AWAY})\s+(?:(?!\b(?:e\.g|for\s+example|such\s+as|default)).){{0,60}}?
        {_SECRET}
    | {_START}{_TAKE}\s+.{{0,60}}?{_SECRET}.{{0,40}}?\b(?:and|then)\s+{_HAND}\s+
        (?:it|them|(?:its|their|the)\s+contents?)\s+(?:as|in|into|to|via)\s+(?:[`'"]\w|{_ARGUMENT})
    | {_MODEL}(?:{_AWAY}|{_TAKE})\s+{_WHOLE}{_TALK}\b
    | {_START}{_HAND}\s+{_WHOLE}{_TALK}\b(?:\s+(?:so\s+far|history|with\s+the\s+user))?
        \s+(?:in|into|to|as|via)\s+{_ARGUMENT}
    | \b{_AWAY}\s+{_WHOLE}{_TALK}\b[^.]{{0,60}}?{_OUTSIDE}
    # the same, tied to the use of a tool
    | \b(?:before|after|whenever|when|instead\s+of|each\s+time)\s+(?:you\s+)?(?:us|call|invok
          |runn?|send)(?:e|ing)?\s+
        (?:this|any|other|another|the|an?)\b[^.]{{0,60}}?[,:]\s*(?:you\s+must\s+|always\s+
          |please\s+|first\s+|also\s+)*
        (?:{_AWAY}\b[^.]{{0,60}}?(?:{_OUTSIDE}|{_TALK})
          |{_TAKE}\s+(?:the\s+)?(?:contents?\s+of\s+)?(?:the\s+)?(?:file\s+)?[~/]\S
          |{_TAKE}\s+(?:{_WHOLE}{_TALK}\b|.{{0,60}}?{_SECRET}))
    | \b(?:bcc|forward|blind[\s-]copy)\b[^.]{{0,40}}?\b(?:all|every|each
          |any)\b[^.]{{0,40}}?\S+@\S+
    # other languages
    | \bignorier\w*\b[^.]{{0,40}}\b(?:anweisung|anleitung|regel|vorherig|bisherig)\w*
    | \bvergiss\b[^.]{{0,30}}\b(?:anweisung|vorherig|bisherig)\w*
    | \bignore[rz]\b[^.]{{0,40}}\b(?:instructions|consignes|règles)\b
    | \bignor[ae]\b[^.]{{0,40}}\b(?:instrucciones|instruções|istruzioni)\b
    | \bnegeer\b[^.]{{0,40}}\b(?:instructies|regels|aanwijzingen)\b
    | \bignorera\b[^.]{{0,40}}\b(?:instruktioner|regler)\w*
    | \bzignoruj\w*[^.]{{0,40}}\b(?:instrukcj|polece|regu[łl])\w*
    | \b(?:önceki|tüm)\b[^.]{{0,30}}\btalimat\w*[^.]{{0,20}}\b(?:yok\s+say|unut|dikkate\s+alma)
    | \b(?:игнорируй|проигнорируй|забудь)(?:те)?\b[^.]{{0,40}}\b(?:инструкци|указани|правил)\w*
    | (?:تجاهل|انس)[^.]{{0,30}}(?:التعليمات|الأوامر|القواعد)
    | (?:以前|前|すべて|全て)[^。]{{0,8}}(?:指示|命令|ルール)[^。]{{0,6}}(?:無視|忘れ)
    | (?:이전|모든)[^.]{{0,8}}(?:지시|명령|규칙)[^.]{{0,8}}(?:무시|잊)
    | (?:忽略|无视|無視)[^。]{{0,12}}(?:指令|指示|说明|提示|规则)
    """,
    re.IGNORECASE | re.VERBOSE,
)
_HARMLESS = re.compile(
    r"\b(?:never|do\s+not|don['’]t|must\s+not|not)\s+(?:\w+\s+){0,6}"
    r"without\s+(?:tell|inform|notify|alert|warn)",
    re.IGNORECASE,
)
"""A double negative: what must not happen unless the user knows of it."""


def gives_orders(text: str) -> bool:
    """Whether a sentence of the text gives the model orders; see the module."""
    return any(_is_order(sentence) for sentence in _SENTENCE.split(text))


def _is_order(sentence: str) -> bool:
    flat = " ".join(sentence.split())
    return bool(_ORDERS.search(_HARMLESS.sub(" ", flat)))
