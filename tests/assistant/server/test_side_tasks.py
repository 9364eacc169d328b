"""A page's own tasks are told from what its person says."""

import pytest

from ctrag.assistant.server.side_tasks import side_task

SAID = "remind me at eight to lock the gate"
TASKS = [
    "### Task:\nGenerate a concise title",
    "Provide a concise, 5-word-or-less title for the conversation, using its same language.",
    "Analyze this conversation and provide:\n1. The detected language\n2. A concise title",
    f'||>User:\n"{SAID}"\n||>Response:\n"Done."\n\n||>Title:',
    "Please generate a four to five word title summarizing our conversation without any lead-in",
    "Summarize the discussion briefly in 200 words or less to use as a prompt for future context.",
    "Based on the chat history, give this conversation a name. Keep it short - 10 characters max.",
    f"user: {SAID}\nassistant: Created the reminder “Lock the gate”.",
    f'[{{"role":"user","text":"{SAID}"}},{{"role":"assistant","text":"Done."}}]',
    "Please reply with a title for the chat that is 3-4 words in length, no additional text.",
    f"Here is the query:\n{SAID}\n\nCreate a concise, 3-5 word phrase as a title for it.",
    "Generate 1-3 broad tags categorizing the main themes of the chat history",
    f'Summarize in a 10-word Title. Give the title only. "{SAID}"',
    "Describe the above conversation in seven words or less.",
    "Suggest three very short factual follow-up questions that have not been answered yet",
    f"Chat History:\nHuman: hi\nAssistant: hello\nFollow Up Input: {SAID}\nStandalone question:",
    "Your task is to create a detailed summary of the conversation so far",
    f"Generate a short title for the following message, in 5 words or less:\n{SAID}",
]
INSTRUCTIONS = [
    "You are a professional conversation summarizer. Generate a concise title.",
    "You need to summarize the user's conversation into a title within 10 words.",
    "You are a chat thread titling assistant.",
    "You will generate a short title based on the first message a user begins a conversation with",
    "You are a title generator. You output ONLY a thread title.",
]
REQUESTS = [
    SAID,
    "summarise the chat with Omar",
    "give me a summary of the conversation with Gord in ten words",
    "send a short message to the thread about the crane",
    "keep it short: tell Omar the title of the message is wrong",
    "create a note with the title Chat history",
    "change only the title of the note to Crane",
    "reply with the title of my next meeting",
    "rename this conversation to Crane",
    "your task is to create a reminder about the crane",
    "make a note: AI: use it less, user: none",
]
PREAMBLES = [
    "You are a helpful assistant.",
    "You are Ada's assistant. Keep answers short. Create events with short titles.",
    "Use the title of events in the chat.",
    "entity_id,name,state,aliases\nmedia_player.tv,Title,on,",
]


@pytest.mark.parametrize("text", TASKS)
def test_a_page_s_own_task_is_known_by_its_words(text: str) -> None:
    assert side_task((), text)


@pytest.mark.parametrize("instructions", INSTRUCTIONS)
def test_a_page_s_own_task_is_known_by_its_instructions(instructions: str) -> None:
    assert side_task([instructions], SAID)


@pytest.mark.parametrize("text", REQUESTS)
@pytest.mark.parametrize("preamble", PREAMBLES)
def test_what_a_person_says_is_no_task_of_a_page(text: str, preamble: str) -> None:
    assert not side_task([preamble], text)
